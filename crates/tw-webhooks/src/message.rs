//! What a receiver is told: ids, names, states and times. Inputs and outputs stay here; a link leads to them.

use serde_json::{Map, Value, json};
use tw_model::{TenantId, Timestamp, WebhookEvent};
use tw_store::{Store, ToldApproval, ToldRun, WebhookDelivery};

/// How much of a summary and of an error is told.
const TEXT_CHARS_MAX: usize = 500;

/// What this delivery tells, as it is kept with it.
pub(crate) async fn data(
    store: &Store,
    tenant: TenantId,
    delivery: &WebhookDelivery,
) -> tw_store::Result<Value> {
    let Some(run) = delivery.run else { return Ok(Value::Null) };
    let scope = store.tenant(tenant);
    let about = match WebhookEvent::parse(&delivery.kind) {
        Some(WebhookEvent::ApprovalRequested) => scope.told_approval(run).await?.map(|told| requested(&told)),
        Some(WebhookEvent::ApprovalDecided) => scope.told_approval(run).await?.map(|told| decided(&told)),
        _ => scope.told_run(run).await?.map(|told| ended(&told)),
    };
    // What it was about may have been deleted since.
    Ok(about.unwrap_or_else(|| json!({ "run_id": run })))
}

fn ended(run: &ToldRun) -> Value {
    json!({
        "run_id": run.id, "tool_id": run.tool_id, "tool": run.tool, "version": run.version, "status": run.status,
        "summary": cut(run.summary.as_deref()), "error": cut(run.error.as_deref()), "error_code": run.error_code,
        "source": run.source, "session_id": run.session_id, "actor": value(&run.actor),
        "requested_at": moment(run.requested_us), "started_at": run.started_us.map(moment),
        "finished_at": run.finished_us.map(moment),
        "duration_ms": run.duration_us.map(|duration| duration / 1000),
    })
}

fn requested(approval: &ToldApproval) -> Value {
    json!({
        "approval_id": approval.id, "run_id": approval.run_id, "tool_id": approval.tool_id, "tool": approval.tool,
        "version": approval.version, "level": approval.level, "reason": approval.reason, "status": "pending",
        "requested_by": approval.requested_by, "requested_at": moment(approval.requested_us),
        "expires_at": moment(approval.expires_us),
    })
}

fn decided(approval: &ToldApproval) -> Value {
    let mut told = requested(approval);
    told["status"] = json!(approval.status);
    told["decided_by"] = json!(approval.decided_by);
    told["decided_at"] = json!(approval.decided_us.map(moment));
    told
}

fn moment(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn cut(text: Option<&str>) -> Option<String> {
    text.map(|text| text.chars().take(TEXT_CHARS_MAX).collect())
}

/// The same with a link to the page that shows what it is about.
pub(crate) fn linked(base: Option<&str>, delivery: &WebhookDelivery, data: Value) -> Value {
    let Value::Object(mut data) = data else { return json!({}) };
    if let Some(base) = base
        && let Some(path) = page(&delivery.kind, &data)
    {
        data.insert("url".to_owned(), json!([base, &path].concat()));
    }
    Value::Object(data)
}

/// The body that is sent.
pub(crate) fn body(delivery: &WebhookDelivery, data: &Value) -> Value {
    json!({ "type": delivery.kind, "timestamp": delivery.at, "data": data })
}

/// The page that shows what it is about.
fn page(kind: &str, data: &Map<String, Value>) -> Option<String> {
    let named = |name: &str| data.get(name).and_then(Value::as_str);
    Some(match WebhookEvent::parse(kind)? {
        WebhookEvent::RunCompleted | WebhookEvent::RunFailed => format!("/runs/{}", named("run_id")?),
        WebhookEvent::ApprovalRequested | WebhookEvent::ApprovalDecided => {
            format!("/approvals/{}", named("approval_id")?)
        }
        WebhookEvent::ToolPublished => format!("/tools/{}", named("tool")?),
        WebhookEvent::McpDrift => "/admin/mcp-servers".to_owned(),
    })
}
