//! Webhooks: who is told when something happens, and what they were told.

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::Response,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_engine::{Webhook, WebhookDelivery};
use tw_identity::rights::{ReadWebhooks, WriteWebhooks};
use tw_model::{DeliveryStatus, Timestamp, WebhookDeliveryId, WebhookId};
use tw_webhooks::{NewWebhook, WebhookChange, WebhookWish, Webhooks, webhook_mark};
use uuid::Uuid;

use super::{
    List,
    authoring::{author, marks},
};
use crate::{
    App,
    answer::JsonAnswer,
    auth::{Allowed, AllowedList},
    body::JsonBytes,
    idempotent::Write,
    members::{Body, Nothing},
    problem::{ProblemDocument, Result},
    query::{Id, Params, TwoIds},
};

/// A webhook without its secret.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct WebhookView {
    id: Uuid,
    url: String,
    /// `run.completed`, `run.failed`, `approval.requested`, `approval.decided`, `tool.published`, `mcp.drift`.
    events: Vec<&'static str>,
    enabled: bool,
    /// Why the server switched it off: `gone` after an answer of 410, `failing` after three days without success.
    disabled_reason: Option<&'static str>,
    /// When deliveries began to fail; `null` after a success.
    #[schema(value_type = Option<String>, format = DateTime)]
    failing_since: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
    #[schema(value_type = Object)]
    created_by: Value,
}

impl From<Webhook> for WebhookView {
    fn from(webhook: Webhook) -> Self {
        Self {
            id: webhook.id.uuid(),
            url: webhook.url,
            events: webhook.events.iter().map(|event| event.as_str()).collect(),
            enabled: webhook.enabled,
            disabled_reason: webhook.off.map(|why| why.as_str()),
            failing_since: webhook.failing_since,
            created_at: webhook.created,
            updated_at: webhook.updated,
            created_by: author(&webhook.created_by),
        }
    }
}

/// A webhook with its secret, which is shown only once.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct NewWebhookView {
    #[serde(flatten)]
    view: WebhookView,
    /// The key that signs messages: `whsec_` and base64, as Standard Webhooks libraries expect it.
    secret: String,
}

fn whole(status: StatusCode, webhook: Webhook) -> JsonAnswer {
    let etag = etag(&webhook);
    JsonAnswer::new(status, &WebhookView::from(webhook)).with(header::ETAG, &etag)
}

fn etag(webhook: &Webhook) -> String {
    format!("\"{}\"", webhook_mark(webhook))
}

/// The answer shows the secret; the one that is kept for the same `Idempotency-Key` does not.
fn with_secret(status: StatusCode, made: NewWebhook) -> JsonAnswer {
    let etag = etag(&made.webhook);
    let view = |secret: &str| NewWebhookView { view: made.webhook.clone().into(), secret: secret.to_owned() };
    JsonAnswer::new(status, &view(&made.secret)).keeping(&view("***")).with(header::ETAG, &etag)
}

/// The delivery of one event to a webhook.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct DeliveryView {
    /// The `webhook-id` of every attempt.
    id: Uuid,
    webhook_id: Uuid,
    r#type: String,
    /// `pending`, `delivered` or `failed`.
    status: &'static str,
    attempts: i64,
    /// The HTTP status of the receiver's last answer; `null` if there was none.
    response_status: Option<i64>,
    /// The beginning of that answer.
    response_body: Option<String>,
    /// The error of the last attempt.
    error: Option<String>,
    duration_ms: Option<i64>,
    /// When the event happened.
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    last_attempt_at: Option<Timestamp>,
    /// `null` during an attempt and after the last one.
    #[schema(value_type = Option<String>, format = DateTime)]
    next_attempt_at: Option<Timestamp>,
    /// The body of the message; `null` before the first attempt.
    #[schema(value_type = Option<Object>)]
    payload: Option<Value>,
}

impl From<WebhookDelivery> for DeliveryView {
    fn from(delivery: WebhookDelivery) -> Self {
        let waits = delivery.status == DeliveryStatus::Pending && !delivery.is_claimed;
        Self {
            payload: Webhooks::payload(&delivery),
            id: delivery.id.uuid(),
            webhook_id: delivery.webhook.uuid(),
            r#type: delivery.kind,
            status: delivery.status.as_str(),
            attempts: delivery.attempts,
            response_status: delivery.status_code,
            response_body: delivery.answer,
            error: delivery.error,
            duration_ms: delivery.duration_us.map(|duration| duration / 1000),
            created_at: delivery.at,
            last_attempt_at: delivery.tried,
            next_attempt_at: waits.then_some(delivery.next),
        }
    }
}

/// List webhooks without their secrets.
#[utoipa::path(get, path = "/api/webhooks", operation_id = "list_webhooks", tag = "administration",
    params(("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query), ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<WebhookView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadWebhooks>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.webhooks().list(&permit, &params.page()?).await?;
    place.page(move || List::from(page.map(WebhookView::from))).await
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CreateWebhook {
    /// The URL to POST messages to. Redirects are not followed.
    url: String,
    /// The events to send; at least one.
    events: Vec<String>,
    #[serde(default = "yes")]
    enabled: bool,
}

const fn yes() -> bool {
    true
}

const READ_ONLY: &[&str] =
    &["id", "disabled_reason", "failing_since", "created_at", "updated_at", "created_by"];

impl Body for CreateWebhook {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// Create a webhook. Only this answer contains its secret.
#[utoipa::path(post, path = "/api/webhooks", operation_id = "create_webhook", tag = "administration",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body(content = CreateWebhook, example = json!({
        "url": "https://example.com/hooks/toolwright", "events": ["run.failed", "approval.requested"],
    })),
    responses((status = 201, body = NewWebhookView), (status = 409, body = ProblemDocument),
              (status = 422, body = ProblemDocument)))]
pub(crate) async fn create(
    write: Write<WriteWebhooks>,
    JsonBytes(body, bytes): JsonBytes<CreateWebhook>,
) -> Result<Response> {
    let wish = WebhookWish { url: body.url, events: body.events, enabled: body.enabled };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made = app.engine.webhooks().create(&permit, wish, Some(&request_id)).await?;
            let location = format!("/api/webhooks/{}", made.webhook.id);
            Ok(with_secret(StatusCode::CREATED, made).with(header::LOCATION, &location))
        })
        .await
}

/// Get a webhook without its secret.
#[utoipa::path(get, path = "/api/webhooks/{id}", operation_id = "read_webhook", tag = "administration",
    params(("id" = Uuid, Path)),
    responses((status = 200, body = WebhookView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn read(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadWebhooks>,
    Id(id): Id<WebhookId>,
) -> Result<JsonAnswer> {
    Ok(whole(StatusCode::OK, app.engine.webhooks().get(&permit, id).await?))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeWebhook {
    #[serde(default)]
    url: Option<String>,
    /// The events to send; at least one. Replaces the current list.
    #[serde(default)]
    events: Option<Vec<String>>,
    /// While `false`, nothing is sent, and new events are not stored for later.
    #[serde(default)]
    enabled: Option<bool>,
}

impl Body for ChangeWebhook {
    const READ_ONLY: &'static [&'static str] = READ_ONLY;
}

/// Change properties of a webhook.
#[utoipa::path(patch, path = "/api/webhooks/{id}", operation_id = "change_webhook", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    request_body = ChangeWebhook,
    responses((status = 200, body = WebhookView), (status = 404, body = ProblemDocument),
              (status = 412, body = ProblemDocument), (status = 422, body = ProblemDocument)))]
pub(crate) async fn change(
    write: Write<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    headers: HeaderMap,
    JsonBytes(body, bytes): JsonBytes<ChangeWebhook>,
) -> Result<Response> {
    let marks = marks(&headers)?;
    let change = WebhookChange { url: body.url, events: body.events, enabled: body.enabled };
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let webhooks = app.engine.webhooks();
            let changed = webhooks.change(&permit, id, change, marks.as_deref(), Some(&request_id)).await?;
            Ok(whole(StatusCode::OK, changed))
        })
        .await
}

/// Delete a webhook and its pending deliveries.
#[utoipa::path(delete, path = "/api/webhooks/{id}", operation_id = "remove_webhook", tag = "administration",
    params(("id" = Uuid, Path), ("If-Match" = Option<String>, Header, description = "The ETag that was read; the request fails with 412 if it changed"),
           ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 204), (status = 404, body = ProblemDocument), (status = 412, body = ProblemDocument)))]
pub(crate) async fn remove(
    write: Write<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    headers: HeaderMap,
) -> Result<Response> {
    let marks = marks(&headers)?;
    write
        .once(b"", |Write { app, permit, request_id, .. }| async move {
            app.engine.webhooks().remove(&permit, id, marks.as_deref(), Some(&request_id)).await?;
            Ok(JsonAnswer::empty(StatusCode::NO_CONTENT))
        })
        .await
}

/// Replace the secret of a webhook. For a day messages are signed with both secrets.
#[utoipa::path(post, path = "/api/webhooks/{id}/rotate-secret", operation_id = "rotate_webhook_secret",
    tag = "administration", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = NewWebhookView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn rotate_secret(
    write: Write<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let made = app.engine.webhooks().rotate_secret(&permit, id, Some(&request_id)).await?;
            Ok(with_secret(StatusCode::OK, made))
        })
        .await
}

/// Send one message of type `webhook.test` and return the result.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", operation_id = "test_webhook", tag = "administration",
    params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = DeliveryView), (status = 404, body = ProblemDocument)))]
pub(crate) async fn test(
    write: Write<WriteWebhooks>,
    Id(id): Id<WebhookId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    write
        .once(&bytes, |Write { app, permit, .. }| async move {
            let tried = app.engine.webhooks().test(&permit, id).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &DeliveryView::from(tried)))
        })
        .await
}

/// List the deliveries of a webhook in the last 30 days, newest first.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", operation_id = "list_webhook_deliveries",
    tag = "administration",
    params(("id" = Uuid, Path), ("limit" = Option<i64>, Query), ("cursor" = Option<String>, Query),
           ("offset" = Option<i64>, Query)),
    responses((status = 200, body = List<DeliveryView>), (status = 404, body = ProblemDocument)))]
pub(crate) async fn deliveries(
    State(app): State<App>,
    AllowedList(permit, place): AllowedList<ReadWebhooks>,
    Id(id): Id<WebhookId>,
    params: Params,
) -> Result<Response> {
    let page = app.engine.webhooks().deliveries(&permit, id, &params.page()?).await?;
    place.page(move || List::from(page.map(DeliveryView::from))).await
}

/// Repeat a delivery now with the same `webhook-id`, and return the result.
#[utoipa::path(post, path = "/api/webhooks/deliveries/{id}/redeliver", operation_id = "redeliver_webhook",
    tag = "administration", params(("id" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = DeliveryView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument)))]
pub(crate) async fn redeliver(
    write: Write<WriteWebhooks>,
    Id(delivery): Id<WebhookDeliveryId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    redeliver_one(write, None, delivery, &bytes).await
}

/// Repeat a delivery now. The path also names the webhook.
#[utoipa::path(post, path = "/api/webhooks/{id}/deliveries/{delivery}/redeliver",
    operation_id = "redeliver_webhook_delivery", tag = "administration",
    params(("id" = Uuid, Path), ("delivery" = Uuid, Path), ("Idempotency-Key" = Option<String>, Header)),
    responses((status = 200, body = DeliveryView), (status = 404, body = ProblemDocument),
              (status = 409, body = ProblemDocument)))]
pub(crate) async fn redeliver_of(
    write: Write<WriteWebhooks>,
    TwoIds(id, delivery): TwoIds<WebhookId, WebhookDeliveryId>,
    JsonBytes(Nothing {}, bytes): JsonBytes<Nothing>,
) -> Result<Response> {
    redeliver_one(write, Some(id), delivery, &bytes).await
}

async fn redeliver_one(
    write: Write<WriteWebhooks>,
    of: Option<WebhookId>,
    delivery: WebhookDeliveryId,
    bytes: &[u8],
) -> Result<Response> {
    write
        .once(bytes, |Write { app, permit, .. }| async move {
            let tried = app.engine.webhooks().redeliver(&permit, of, delivery).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &DeliveryView::from(tried)))
        })
        .await
}
