//! Test cases: inputs of a tool, and what has to come of them.
//!
//! They are kept beside the tool and run by whoever asks, as calls like any other: this module makes the calls through
//! [`CaseRunner`], which the engine is.

mod expect;

use std::{sync::Arc, time::Duration};

use futures::{StreamExt as _, TryStreamExt as _};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};
use tokio::time::Instant;
use toolwright_sdk::{HeavyPool, Overload};
use tw_base::{Error, Page, PageRequest, Result, by, faultless, name_violation};
use tw_exec::BoxFuture;
use tw_identity::rights::{Permit, ReadHistory, RunTools, TestTools, UpdateTools};
use tw_model::{
    Authored, Caller, RunId, TenantId, TestCaseId, Timestamp, ToolFailure, ToolId, check_name, left_redacted,
    redacted, unredacted,
};
use tw_schema::Violation;
use tw_store::{AddedCase, Changed, NewAudit, TestCase, TestResult};
use tw_vault::CallSecrets;

pub use self::expect::{Diff, EndStatus, Expectation, Outcome};
use crate::{
    Registry,
    catalogue::{Own, ToolEntry, content_hash},
    tools::find,
};

/// How many test cases a tool may have. All of them run in one request.
const CASES_MAX: i64 = 100;
/// How large an input, and an expectation, may be as text.
const PART_BYTES_MAX: usize = 64 << 10;
/// As long as a filter of `json_transform`.
const FILTER_BYTES_MAX: usize = 16_384;
const ERROR_CODE_BYTES_MAX: usize = 64;
/// How many calls of a batch run at once. One author's tests are not everybody's load.
pub const AT_ONCE: usize = 4;
/// How long all calls of a batch may take together: as long as a caller may wait for a run.
pub const BATCH_TIME: Duration = Duration::from_secs(120);
/// How long an output may take to be compared, behind other costly work of the tenant.
pub const COMPARE_TIME: Duration = Duration::from_secs(10);
/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;

/// Who makes the calls of test cases.
pub trait CaseRunner: Send + Sync + std::fmt::Debug {
    /// Calls a tool and says what came of it. A call that would wait for somebody is taken back.
    fn call<'a>(&'a self, permit: &'a Permit<RunTools>, call: CaseCall) -> BoxFuture<'a, Result<CaseEnd>>;

    /// All results of a jq filter.
    fn jq<'a>(
        &'a self,
        tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>>;

    /// What is wrong with a jq filter.
    fn check_jq(&self, filter: &str) -> Result<(), String>;
}

/// A call of a test case.
#[derive(Debug)]
pub struct CaseCall {
    pub tool: ToolId,
    pub against: Against,
    pub input: Box<RawValue>,
    /// What the case holds and no record may show.
    pub secrets: Option<Arc<CallSecrets>>,
    /// When its time is over, where that is sooner than the tool's own.
    pub until: Instant,
}

/// What of a tool a case is held against.
#[derive(Clone, Debug)]
pub enum Against {
    /// What was saved last.
    Saved,
    /// A number that was given.
    Version(String),
    /// What is about to go live, be it saved or not.
    Draft(ToolEntry),
}

impl Against {
    /// Reads `draft`, which is also meant by nothing, or the number of a version.
    pub fn read(sent: Option<&str>, path: &str) -> Result<Self> {
        match sent {
            None | Some("draft") => Ok(Self::Saved),
            Some(number) => {
                semver::Version::parse(number)
                    .map_err(|error| Error::invalid(path, Violation::version(error.to_string())))?;
                Ok(Self::Version(number.to_owned()))
            }
        }
    }
}

/// How the call of a case ended.
#[derive(Debug)]
pub struct CaseEnd {
    /// A refused call leaves no run.
    pub run: Option<RunId>,
    pub outcome: Outcome,
}

/// A test case as it may be shown.
#[derive(Clone, Debug)]
pub struct Case {
    pub id: TestCaseId,
    pub name: String,
    pub input: Value,
    pub expect: Value,
    pub result: Option<TestResult>,
    pub created: Timestamp,
    pub updated: Timestamp,
    pub created_by: String,
}

/// What is said about a test case. What is `None` stays, or is empty.
#[derive(Clone, Debug, Default)]
pub struct SentCase {
    pub name: Option<String>,
    pub input: Option<Value>,
    pub expect: Option<Expectation>,
}

/// How the cases of a tool went.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseReport {
    pub passed: usize,
    pub failed: usize,
    pub items: Vec<CaseResult>,
}

/// How one case went.
#[derive(Clone, Debug, Serialize)]
pub struct CaseResult {
    pub id: TestCaseId,
    pub name: String,
    pub passed: bool,
    pub run_id: Option<RunId>,
    pub diff: Vec<Diff>,
}

impl CaseReport {
    pub(crate) fn of(items: Vec<CaseResult>) -> Self {
        let passed = items.iter().filter(|item| item.passed).count();
        Self { passed, failed: items.len() - passed, items }
    }
}

/// A case with its secrets.
struct Opened {
    case: TestCase,
    input: Value,
    expect: Expectation,
    secrets: Option<Arc<CallSecrets>>,
}

impl Registry {
    /// The test cases of a tool, oldest first. A tool of the program has none.
    pub async fn test_cases(
        &self,
        permit: &Permit<ReadHistory>,
        name: &str,
        page: &PageRequest,
    ) -> Result<Page<Case>> {
        let caller = permit.caller();
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let tool = find(&view, caller, name)?.0.id();
        let place = format!("tests/{}/{tool}", caller.tenant);
        let after = self.secrets.open_cursor(&place, page)?.map(TestCaseId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.test_cases(tool, after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading test cases"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_test_cases(tool).await.map_err(Error::store("counting test cases"))?;
        self.secrets.page(rows, page, &place, total, |case| case.id.uuid()).try_map(|case| show(&case))
    }

    /// Adds a test case to a tool of the tenant's own.
    pub async fn create_test_case(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        sent: SentCase,
        request_id: Option<&str>,
    ) -> Result<Case> {
        let caller = permit.caller();
        let own = self.with_cases(caller, name).await?;
        let input = sent.input.unwrap_or_else(|| json!({}));
        let expect = sent.expect.unwrap_or_default();
        let name = sent.name.unwrap_or_default();
        self.check_case(&name, &input, &expect)?;
        let (by, now) = (by(caller, request_id), Timestamp::now());
        let case = TestCase {
            id: TestCaseId::new(),
            tool: own.stored.id,
            name,
            input: self.sealed(caller, own.stored.id, input).await?,
            expect: self.sealed(caller, own.stored.id, json!(expect)).await?,
            result: None,
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        let shown = show(&case)?;
        let audit = line("test_case.created", &own, case.id, None, Some(&shown));
        let added = self.store.tenant(caller.tenant).create_test_case(&case, CASES_MAX, audit, &by).await;
        match added.map_err(Error::store("adding a test case"))? {
            AddedCase::Done => {}
            AddedCase::NoTool => return Err(Error::ToolNotFound { tool: own.stored.slug.to_string() }),
            AddedCase::Full => {
                let why = format!("a tool must have at most {CASES_MAX} test cases: remove one first");
                return Err(Error::Conflict { why });
            }
        }
        self.identity.epochs().ask(caller.tenant).await?;
        Ok(shown)
    }

    /// Changes a test case, property by property. How it went before counts no longer.
    pub async fn change_test_case(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        id: TestCaseId,
        sent: SentCase,
        request_id: Option<&str>,
    ) -> Result<Case> {
        let caller = permit.caller();
        let own = self.with_cases(caller, name).await?;
        let (tool, by) = (own.stored.id, by(caller, request_id));
        for _ in 0..TRIES {
            let before = self.stored_case(caller, tool, id).await?;
            let (input, expect) = (parse(&before.input)?, parse(&before.expect)?);
            let name = sent.name.clone().unwrap_or_else(|| before.name.clone());
            let input = sent.input.clone().map_or_else(|| input.clone(), |new| unredacted(new, &input));
            let expect: Value = match &sent.expect {
                Some(new) => unredacted(json!(new), &expect),
                None => expect,
            };
            self.check_case(&name, &input, &read_expectation(expect.clone())?)?;
            let after = TestCase {
                name,
                input: self.sealed(caller, tool, input).await?,
                expect: self.sealed(caller, tool, expect).await?,
                result: None,
                updated: before.moment_after(),
                ..before.clone()
            };
            let is_same =
                (&after.name, &after.input, &after.expect) == (&before.name, &before.input, &before.expect);
            if is_same {
                return show(&before);
            }
            let (was, is) = (show(&before)?, show(&after)?);
            let audit = line("test_case.changed", &own, id, Some(&was), Some(&is));
            let scope = self.store.tenant(caller.tenant);
            let changed = scope.change_test_case(&after, before.updated, audit, &by).await;
            if let Changed::Done(()) = changed.map_err(Error::store("changing a test case"))? {
                self.identity.epochs().ask(caller.tenant).await?;
                return Ok(is);
            }
        }
        Err(Error::Busy { what: "test case" })
    }

    pub async fn remove_test_case(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        id: TestCaseId,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let own = self.with_cases(caller, name).await?;
        let was = show(&self.stored_case(caller, own.stored.id, id).await?)?;
        let audit = line("test_case.removed", &own, id, Some(&was), None);
        let (scope, by) = (self.store.tenant(caller.tenant), by(caller, request_id));
        let removed = scope.remove_test_case(own.stored.id, id, audit, &by).await;
        if !removed.map_err(Error::store("removing a test case"))? {
            return Err(missing());
        }
        self.identity.epochs().ask(caller.tenant).await?;
        Ok(())
    }

    /// Runs test cases of a tool as calls of this caller: against what was saved last, or a version.
    pub async fn run_test_cases(
        &self,
        permit: &Permit<TestTools>,
        name: &str,
        against: Option<&str>,
        only: Option<&[TestCaseId]>,
    ) -> Result<CaseReport> {
        let caller = permit.caller();
        let permit = Permit::<RunTools>::check(caller.clone())?;
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let entry = find(&view, caller, name)?.0;
        let against = Against::read(against, "/against")?;
        let own = entry.own("is a built-in tool and cannot have test cases")?;
        self.check_against(caller, entry, &against).await?;
        let mut cases = self.cases_of(caller, own.stored.id).await?;
        if let Some(only) = only {
            if !only.iter().all(|id| cases.iter().any(|case| case.id == *id)) {
                return Err(missing());
            }
            cases.retain(|case| only.contains(&case.id));
        }
        let report = self.run_cases(&permit, cases.clone(), &against).await?;
        if let Against::Saved = against {
            self.note_results(caller, own, &cases, &report).await?;
        }
        Ok(report)
    }

    /// Whether there is what calls of a tool are to be held against.
    pub async fn check_against(&self, caller: &Caller, entry: &ToolEntry, against: &Against) -> Result<()> {
        let Against::Version(number) = against else { return Ok(()) };
        let missing = || Error::NotFound { what: "version of this tool" };
        let ToolEntry::Own(own) = entry else { return Err(missing()) };
        if *number == own.stored.version {
            return Ok(());
        }
        let found = self.store.tenant(caller.tenant).tool_at_version(own.stored.id, number, false).await;
        found.map_err(Error::store("reading a version"))?.ok_or_else(missing)?;
        Ok(())
    }

    /// All test cases of a tool.
    pub(crate) async fn cases_of(&self, caller: &Caller, tool: ToolId) -> Result<Vec<TestCase>> {
        let cases = self.store.tenant(caller.tenant).test_cases(tool, None, CASES_MAX).await;
        cases.map_err(Error::store("reading test cases"))
    }

    pub(crate) async fn run_cases(
        &self,
        permit: &Permit<RunTools>,
        cases: Vec<TestCase>,
        against: &Against,
    ) -> Result<CaseReport> {
        let until = Instant::now() + BATCH_TIME;
        let results = futures::stream::iter(cases)
            .map(|case| self.run_case(permit, case, against, until))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        Ok(CaseReport::of(results))
    }

    async fn run_case(
        &self,
        permit: &Permit<RunTools>,
        case: TestCase,
        against: &Against,
        until: Instant,
    ) -> Result<CaseResult> {
        let tenant = permit.caller().tenant;
        let Opened { case, input, expect, secrets } = self.opened(tenant, case).await?;
        let ended = |run_id, diff: Vec<Diff>| CaseResult {
            id: case.id,
            name: case.name.clone(),
            passed: diff.is_empty(),
            run_id,
            diff,
        };
        if until <= Instant::now() {
            let wanted = expect.status.unwrap_or(EndStatus::Success).as_str();
            return Ok(ended(None, vec![Diff::new("/status", &json!(wanted), &json!("not_run"))]));
        }
        let call = CaseCall {
            tool: case.tool,
            against: against.clone(),
            input: serde_json::value::to_raw_value(&input).expect("a JSON value can be written as JSON"),
            secrets,
            until,
        };
        let runner = self.runner()?;
        let CaseEnd { run, outcome } = runner.call(permit, call).await?;
        // An author can make both sides large.
        let filter = expect.jq.clone();
        let compare = move || (expect.diffs(&outcome), outcome.output);
        let compared = HeavyPool::shared().run(tenant, COMPARE_TIME, compare).await;
        let (mut diff, output) = compared.map_err(late)?;
        if let Some(filter) = filter {
            diff.extend(judge_filter(runner.jq(tenant, &filter, &output).await));
        }
        Ok(ended(run, diff))
    }

    /// Keeps how cases went against what was saved, if that is still what is saved.
    async fn note_results(
        &self,
        caller: &Caller,
        own: &Own,
        cases: &[TestCase],
        report: &CaseReport,
    ) -> Result<()> {
        let scope = self.store.tenant(caller.tenant);
        let now = scope.custom_tool(own.stored.id).await.map_err(Error::store("reading a tool"))?;
        if now.is_none_or(|now| now.definition != own.stored.definition) {
            return Ok(());
        }
        let (content_hash, at) = (content_hash(&own.stored.definition), Timestamp::now());
        for (case, item) in cases.iter().zip(&report.items) {
            let (content_hash, passed, run) = (content_hash.clone(), item.passed, item.run_id);
            let result = TestResult { content_hash, passed, run, at };
            let noted = scope.note_test_result(case.tool, case.id, case.updated, &result).await;
            noted.map_err(Error::store("noting how a test case went"))?;
        }
        Ok(())
    }

    /// A tool that can have test cases.
    async fn with_cases(&self, caller: &Caller, name: &str) -> Result<Arc<Own>> {
        let view = self.catalogue.view(caller.tenant, caller.epoch).await?;
        let own = find(&view, caller, name)?.0.own("is a built-in tool and cannot have test cases")?;
        Ok(Arc::clone(own))
    }

    async fn stored_case(&self, caller: &Caller, tool: ToolId, id: TestCaseId) -> Result<TestCase> {
        let found = self.store.tenant(caller.tenant).test_case(tool, id).await;
        found.map_err(Error::store("reading a test case"))?.ok_or_else(missing)
    }

    /// Tells everything that is wrong with a case.
    fn check_case(&self, name: &str, input: &Value, expect: &Expectation) -> Result<()> {
        let mut faults = Vec::new();
        if let Err(error) = check_name(name) {
            faults.push(name_violation(&error).at("/name"));
        }
        for (path, part) in [("/input", input), ("/expect", &json!(expect))] {
            if PART_BYTES_MAX < part.to_string().len() {
                faults.push(Violation::byte_length(0, PART_BYTES_MAX).at(path));
            }
        }
        if let Some(at) = left_redacted(input) {
            faults.push(Violation::redacted().at(format!("/input{at}")));
        }
        if let Some(code) = &expect.error_code
            && !(1..=ERROR_CODE_BYTES_MAX).contains(&code.len())
        {
            faults.push(Violation::byte_length(1, ERROR_CODE_BYTES_MAX).at("/expect/error_code"));
        }
        if let Some(filter) = &expect.jq {
            if !(1..=FILTER_BYTES_MAX).contains(&filter.len()) {
                faults.push(Violation::byte_length(1, FILTER_BYTES_MAX).at("/expect/jq"));
            } else if let Err(why) = self.runner()?.check_jq(filter) {
                faults.push(Violation::jq(why).at("/expect/jq"));
            }
        }
        faultless(faults)
    }

    /// A part of a case as it is stored: what is named like a secret is sealed for the tool.
    async fn sealed(&self, caller: &Caller, tool: ToolId, mut part: Value) -> Result<String> {
        self.vault.seal_part(caller.tenant, tool, &mut part).await?;
        Ok(part.to_string())
    }

    async fn opened(&self, tenant: TenantId, case: TestCase) -> Result<Opened> {
        let (input, expect): (Value, Value) = (parse(&case.input)?, parse(&case.expect)?);
        // The secrets of a case are hidden like those of a tool that makes a call.
        let held = Authored { implementation: input, execution_spec: Some(expect), ..Authored::default() };
        let secrets = self.vault.call_secrets(tenant, case.tool, &held, None).await?;
        let input = self.vault.open_part(tenant, case.tool, &held.implementation).await?;
        let expect = held.execution_spec.unwrap_or_default();
        let expect = self.vault.open_part(tenant, case.tool, &expect).await?;
        // The record is without the secrets, so what it is held against is too.
        let expect = match &secrets {
            Some(secrets) => secrets.shown(&expect),
            None => expect,
        };
        Ok(Opened { case, input, expect: read_expectation(expect)?, secrets })
    }

    fn runner(&self) -> Result<&Arc<dyn CaseRunner>> {
        self.runner.get().ok_or(Error::ShuttingDown)
    }

    /// Names who makes the calls of test cases. Only the first counts.
    pub fn serve_cases(&self, runner: Arc<dyn CaseRunner>) {
        let _ = self.runner.set(runner);
    }
}

fn judge_filter(given: Result<Vec<Value>, ToolFailure>) -> Option<Diff> {
    let is_true = |value: &Value| *value == Value::Bool(true);
    let actual = match given {
        Ok(results) if !results.is_empty() && results.iter().all(is_true) => return None,
        Ok(mut results) if results.len() == 1 => results.remove(0),
        Ok(results) => Value::Array(results),
        Err(failure) => Value::String(failure.message),
    };
    Some(Diff::new("/jq", &json!(true), &actual))
}

fn late(overload: Overload) -> Error {
    let why = format!("comparing an output: {overload}");
    Error::RateLimited { why, retry_after: Duration::from_secs(1) }
}

fn missing() -> Error {
    Error::NotFound { what: "test case of this tool" }
}

fn show(case: &TestCase) -> Result<Case> {
    Ok(Case {
        id: case.id,
        name: case.name.clone(),
        input: redacted(&parse(&case.input)?),
        expect: redacted(&parse(&case.expect)?),
        result: case.result.clone(),
        created: case.created,
        updated: case.updated,
        created_by: case.created_by.clone(),
    })
}

/// A line of the audit log about a case.
fn line(action: &str, own: &Own, id: TestCaseId, before: Option<&Case>, after: Option<&Case>) -> NewAudit {
    let audited = |case: &Case| json!({ "tool": own.stored.slug, "name": case.name, "input": case.input, "expect": case.expect });
    NewAudit {
        action: action.to_owned(),
        object: format!("test_case:{id}"),
        before: before.map(audited),
        after: after.map(audited),
        note: None,
    }
}

fn parse(text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|error| Error::internal("reading a test case", error))
}

fn read_expectation(value: Value) -> Result<Expectation> {
    serde_json::from_value(value).map_err(|error| Error::internal("reading a test case", error))
}
