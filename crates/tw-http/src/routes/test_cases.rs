//! Test cases of tools: what authors expect, and whether it holds.

use axum::{
    extract::{FromRequestParts, Path, State},
    http::{StatusCode, header, request::Parts},
    response::Response,
};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use tw_engine::TestResult;
use tw_identity::rights::{ReadHistory, TestTools, UpdateTools};
use tw_model::{Code, RunId, TestCaseId, Timestamp};
use tw_registry::{Case, CaseReport, Expectation, SentCase};
use uuid::Uuid;

use super::{List, authoring::author};
use crate::{
    App,
    answer::JsonAnswer,
    auth::AllowedList,
    body::JsonBytes,
    calling::{CallBody, Calling},
    front::RequestId,
    idempotent::Write,
    members::Body,
    object::{given_object, object},
    problem::{Problem, ProblemDocument, Result},
    query::{Params, ToolName},
};

/// Members that only the server sets.
const READ_ONLY: &[&str] = &["id", "last_result", "created_at", "updated_at", "created_by"];

/// A test case of a tool. Values that are named like secrets read `***`, and sending that back keeps them.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TestCaseView {
    id: Uuid,
    name: String,
    #[schema(value_type = Object)]
    input: Value,
    #[schema(value_type = ExpectationView)]
    expect: Value,
    /// How it went last against what was saved of the tool; `null` since it was changed, or if it never ran.
    last_result: Option<LastResult>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Object)]
    created_by: Value,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct LastResult {
    passed: bool,
    run_id: Option<Uuid>,
    /// The content that it was held against, as in the history of the tool.
    content_hash: String,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
}

impl From<TestResult> for LastResult {
    fn from(result: TestResult) -> Self {
        let TestResult { content_hash, passed, run, at } = result;
        Self { passed, run_id: run.map(RunId::uuid), content_hash, at }
    }
}

impl From<Case> for TestCaseView {
    fn from(case: Case) -> Self {
        Self {
            id: case.id.uuid(),
            name: case.name,
            input: case.input,
            expect: case.expect,
            last_result: case.result.map(LastResult::from),
            created_at: case.created,
            updated_at: case.updated,
            created_by: author(&case.created_by),
        }
    }
}

/// What has to come of the call. All that is given must hold; where nothing is, `status` must be `success`.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = Expectation)]
#[expect(dead_code, reason = "described, not read: the registry has the type")]
pub(crate) struct ExpectationView {
    /// The output, equal in canonical form: neither the order of members nor the spelling of numbers counts.
    output: Option<Value>,
    /// A part of the output: members by their names, items of an array anywhere in the array.
    contains: Option<Value>,
    /// `success`, `error`, `timed_out` or `cancelled`. A call that is refused has ended with `error`.
    status: Option<String>,
    error_code: Option<String>,
    /// A jq filter that makes `true` of the output.
    jq: Option<String>,
}

/// A new test case.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTestCase {
    name: String,
    /// What the tool is called with: an object, or anything to show that it is refused. Without any, an empty object.
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Value, required = false)]
    input: Option<Value>,
    #[serde(default, deserialize_with = "object")]
    #[schema(value_type = Option<ExpectationView>)]
    expect: Option<Expectation>,
}

impl Body for CreateTestCase {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// A change to a test case, property by property; each is replaced as a whole.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeTestCase {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Value, required = false)]
    input: Option<Value>,
    /// `null` expects nothing but success.
    #[serde(default, deserialize_with = "given_object")]
    #[schema(value_type = Option<ExpectationView>)]
    expect: Option<Option<Expectation>>,
}

impl Body for ChangeTestCase {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// A member that is there, be it `null`.
fn given<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    sent: D,
) -> std::result::Result<Option<T>, D::Error> {
    T::deserialize(sent).map(Some)
}

/// The test cases of a tool, oldest first.
#[utoipa::path(get, path = "/api/tools/{tool}/tests", tag = "tools", operation_id = "list_test_cases",
    params(("tool" = String, Path, description = "Slug or id"),
           ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<TestCaseView>), (status = 404, body = ProblemDocument)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadHistory>,
    ToolName(name): ToolName,
    params: Params,
) -> Result<Response> {
    let page = app.engine.registry().test_cases(&permit, &name, &params.page()?).await?;
    place.page(move || List::from(page.map(TestCaseView::from))).await
}

/// Adds a test case to a tool of the tenant's own.
#[utoipa::path(post, path = "/api/tools/{tool}/tests", tag = "tools", operation_id = "create_test_case",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateTestCase,
    responses((status = 201, body = TestCaseView), (status = 404, body = ProblemDocument),
              (status = 409, description = "The tool has as many as it may have", body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<UpdateTools>,
    ToolName(name): ToolName,
    JsonBytes(body, bytes): JsonBytes<CreateTestCase>,
) -> Result<Response> {
    let sent = SentCase { name: Some(body.name), input: body.input, expect: body.expect };
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made =
                app.engine.registry().create_test_case(&permit, &name, sent, Some(&request_id)).await?;
            let location = format!("/api/tools/{name}/tests/{}", made.id);
            Ok(JsonAnswer::new(StatusCode::CREATED, &TestCaseView::from(made))
                .with(header::LOCATION, &location))
        })
        .await
}

/// A tool and one of its test cases, out of the path.
pub(crate) struct ToolCase {
    name: String,
    id: TestCaseId,
}

impl FromRequestParts<App> for ToolCase {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let bad = || Problem::new(Code::BadRequest, "the path is not UTF-8");
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((name, id)) = path.map_err(|_| bad())?;
        let name = ToolName::checked(&name)?;
        // What is no id names no case; whether there is such a tool is the first question.
        Ok(Self { name, id: id.parse().unwrap_or_else(|_| TestCaseId::from_uuid(Uuid::nil())) })
    }
}

/// Changes a test case, property by property. How it went before counts no longer.
#[utoipa::path(patch, path = "/api/tools/{tool}/tests/{id}", tag = "tools", operation_id = "change_test_case",
    params(("tool" = String, Path, description = "Slug or id"), ("id" = Uuid, Path),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ChangeTestCase,
    responses((status = 200, body = TestCaseView), (status = 404, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<UpdateTools>,
    ToolCase { name, id }: ToolCase,
    JsonBytes(body, bytes): JsonBytes<ChangeTestCase>,
) -> Result<Response> {
    let expect = body.expect.map(Option::unwrap_or_default);
    let sent = SentCase { name: body.name, input: body.input, expect };
    write
        .once_with_secret(&bytes, |Write { app, permit, request_id, .. }| async move {
            let registry = app.engine.registry();
            let changed = registry.change_test_case(&permit, &name, id, sent, Some(&request_id)).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &TestCaseView::from(changed)))
        })
        .await
}

/// Removes a test case.
#[utoipa::path(delete, path = "/api/tools/{tool}/tests/{id}", tag = "tools", operation_id = "remove_test_case",
    params(("tool" = String, Path, description = "Slug or id"), ("id" = Uuid, Path),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument)))]
pub(crate) async fn remove(write: Write<UpdateTools>, ToolCase { name, id }: ToolCase) -> Result<Response> {
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            app.engine.registry().remove_test_case(&permit, &name, id, Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// What the test cases are held against.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunTestCases {
    /// `draft` for what was saved last (the default; what is live where there is no draft), or the number of a version.
    #[serde(default)]
    against: Option<String>,
    /// Which test cases run; without it, all of them.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Uuid>>)]
    ids: Option<Vec<TestCaseId>>,
}

impl Body for RunTestCases {}

impl CallBody for RunTestCases {
    type Right = TestTools;
}

/// How the test cases of a tool went.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestReport)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct ReportView {
    /// How many passed.
    passed: usize,
    /// How many did not.
    failed: usize,
    #[schema(value_type = Vec<ResultView>)]
    items: Vec<ResultView>,
}

/// How one test case went.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestCaseResult)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct ResultView {
    id: Uuid,
    name: String,
    passed: bool,
    /// `null` where the call was refused or there was no time left for it.
    run_id: Option<Uuid>,
    #[schema(value_type = Vec<DiffView>)]
    diff: Vec<DiffView>,
}

/// One difference between what was expected and what came.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestDiff)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct DiffView {
    /// A JSON pointer: `/status`, `/error_code`, `/error`, `/jq`, or into `/output`.
    path: String,
    expected: Value,
    actual: Value,
}

/// Runs the test cases of a tool, as calls of the caller in the mode `debug`, and says how they went.
///
/// A call that would wait for somebody's approval is cancelled, and its case has not passed.
#[utoipa::path(post, path = "/api/tools/{tool}/tests/run", tag = "tools", operation_id = "run_test_cases",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = RunTestCases,
    responses((status = 200, body = ReportView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn run(
    State(app): State<App>,
    RequestId(request_id): RequestId,
    Calling { permit, tool: name, key, body, bytes }: Calling<RunTestCases>,
) -> Result<Response> {
    Write::new(app, permit, request_id, key)
        .once(&bytes, |Write { app, permit, .. }| async move {
            let RunTestCases { against, ids } = body;
            let registry = app.engine.registry();
            let report: CaseReport =
                registry.run_test_cases(&permit, &name, against.as_deref(), ids.as_deref()).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &report))
        })
        .await
}
