//! Tools: why somebody sees or may call one, or why not.

use axum::extract::State;
use serde::Serialize;
use serde_json::{Value, json};
use tw_identity::rights::UpdateTools;
use tw_registry::{Check, ExplainAbout, Explained};
use tw_schema::Violation;

use crate::{
    App,
    auth::Allowed,
    problem::{Problem, ProblemDocument, Result},
    query::{Params, ToolName},
};

/// Why a subject can or cannot see or call a tool.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ExplainView {
    tool: String,
    /// The person or agent that the answer is about.
    #[schema(value_type = Object)]
    subject: Value,
    /// Whether the tool is in the subject's catalogue.
    visible: bool,
    /// Whether a call would run, if need be after an approval.
    callable: bool,
    /// `allow`, `ask` or `deny`.
    #[schema(value_type = String)]
    decision: Value,
    reason: String,
    /// The rule that decided, or the check that failed before the rules were evaluated.
    rule: &'static str,
    /// The checks of a call in their order.
    #[schema(value_type = Vec<Object>)]
    checks: Vec<Check>,
}

/// Explain why the caller, a member or the owner of a key can or cannot see or call a tool.
#[utoipa::path(get, path = "/api/tools/{tool}/explain", tag = "tools", operation_id = "explain_tool",
    params(("tool" = String, Path, description = "Slug or id"),
           ("user" = Option<uuid::Uuid>, Query, description = "A member of the tenant"),
           ("key" = Option<uuid::Uuid>, Query, description = "An API key of the tenant")),
    responses((status = 200, body = ExplainView), (status = 404, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn explain(
    State(app): State<App>,
    Allowed(permit): Allowed<UpdateTools>,
    ToolName(name): ToolName,
    mut params: Params,
) -> Result<axum::Json<ExplainView>> {
    let id = || Violation::format("uuid");
    let (user, key) = (params.parsed("user", id()), params.parsed("key", id()));
    params.check()?;
    let subject = match (user, key) {
        (None, None) => ExplainAbout::Asker,
        (Some(user), None) => ExplainAbout::User(user),
        (None, Some(key)) => ExplainAbout::Key(key),
        (Some(_), Some(_)) => {
            return Err(Problem::invalid("/key", Violation::one_member(["user", "key"])));
        }
    };
    let Explained { tool, subject, visible, callable, decision, reason, rule, checks } =
        app.engine.registry().explain_tool(&permit, &name, subject).await?;
    let (subject, decision) = (json!(subject), json!(decision));
    Ok(axum::Json(ExplainView { tool, subject, visible, callable, decision, reason, rule, checks }))
}
