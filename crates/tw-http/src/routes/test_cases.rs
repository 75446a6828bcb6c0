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

/// Properties that only the server sets.
const READ_ONLY: &[&str] = &["id", "last_result", "created_at", "updated_at", "created_by"];

/// A test case of a tool. Values with names of secrets are shown as `***`; sending `***` back keeps them.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TestCaseView {
    id: Uuid,
    name: String,
    #[schema(value_type = Object)]
    input: Value,
    #[schema(value_type = ExpectationView)]
    expect: Value,
    /// The latest result with a saved definition of the tool; `null` if the test case never ran or was changed since.
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
    /// The content hash of the tested definition, as in the history of the tool.
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

/// The expected result. Every given expectation must be met; if there is none, `status` must be `success`.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = Expectation)]
#[expect(dead_code, reason = "described, not read: the registry has the type")]
pub(crate) struct ExpectationView {
    /// The exact output, ignoring the order of properties and the notation of numbers.
    output: Option<Value>,
    /// A part of the output: properties by name, array items at any position.
    contains: Option<Value>,
    /// `success`, `error`, `timed_out` or `cancelled`. A refused call counts as `error`.
    status: Option<String>,
    error_code: Option<String>,
    /// A jq filter that must return `true` for the output.
    jq: Option<String>,
}

/// A new test case.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateTestCase {
    name: String,
    /// The input of the call. Any JSON value, so that a test can expect a refusal; default: an empty object.
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

/// Changes to a test case. Each property is replaced as a whole.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeTestCase {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, deserialize_with = "given")]
    #[schema(value_type = Value, required = false)]
    input: Option<Value>,
    /// `null` expects only success.
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

/// List the test cases of a tool, oldest first.
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

/// Add a test case to one of the tenant's own tools.
#[utoipa::path(post, path = "/api/tools/{tool}/tests", tag = "tools", operation_id = "create_test_case",
    params(("tool" = String, Path, description = "Slug or id"), ("Idempotency-Key" = Option<String>, Header)),
    request_body = CreateTestCase,
    responses((status = 201, body = TestCaseView), (status = 404, body = ProblemDocument),
              (status = 409, description = "The tool has the maximum number of test cases", body = ProblemDocument),
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

/// The tool and the test case that the path names.
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

/// Change a test case. Its latest result is discarded.
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

/// Delete a test case.
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

/// The request to run test cases.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunTestCases {
    /// A version, or `draft` for the latest draft (the published version if there is no draft). The default is `draft`.
    #[serde(default)]
    against: Option<String>,
    /// The test cases to run; default: all.
    #[serde(default)]
    #[schema(value_type = Option<Vec<Uuid>>)]
    ids: Option<Vec<TestCaseId>>,
}

impl Body for RunTestCases {}

impl CallBody for RunTestCases {
    type Right = TestTools;
}

/// The results of a tool's test cases.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestReport)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct ReportView {
    /// The number of test cases that passed.
    passed: usize,
    /// The number of test cases that failed.
    failed: usize,
    #[schema(value_type = Vec<ResultView>)]
    items: Vec<ResultView>,
}

/// The result of a test case.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestCaseResult)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct ResultView {
    id: Uuid,
    name: String,
    passed: bool,
    /// `null` if the call was refused or the time ran out before it.
    run_id: Option<Uuid>,
    #[schema(value_type = Vec<DiffView>)]
    diff: Vec<DiffView>,
}

/// A difference between the expected and the actual result.
#[derive(Debug, utoipa::ToSchema)]
#[schema(as = TestDiff)]
#[expect(dead_code, reason = "described, not written: the registry has the type")]
pub(crate) struct DiffView {
    /// A JSON Pointer: `/status`, `/error_code`, `/error`, `/jq`, or a place in `/output`.
    path: String,
    expected: Value,
    actual: Value,
}

/// Run the test cases of a tool as calls of the caller in mode `debug`.
///
/// A call that needs approval is cancelled, and its test case fails.
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
