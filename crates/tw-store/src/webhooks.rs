//! Addresses that are told when something happens, and what they are told.
//!
//! What is told is written in the transaction of what it tells of, so neither is without the other: for runs and
//! approvals in `log/`, for everything else by [`TenantScope::tell_webhooks`].

use std::time::Duration;

use serde_json::{Value, json};
use tw_model::{
    DeliveryStatus, RunId, TenantId, Timestamp, WebhookDeliveryId, WebhookEvent, WebhookId, WebhookOff,
};
use uuid::Uuid;

use crate::{
    audit_line::{By, NewAudit},
    db::{Db, Tx, on, within},
    error::{Error, Result},
    filter::{Arg, Conditions},
    row::row,
    scope::{Store, TenantScope, now_us},
    tenants::Changed,
};

/// A webhook as stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    pub events: Vec<WebhookEvent>,
    pub enabled: bool,
    /// Why the program switched it off.
    pub off: Option<WebhookOff>,
    /// What is sent is signed with this. Sealed.
    pub secret: Vec<u8>,
    /// The one before, sealed, and until when it signs along.
    pub old_secret: Option<(Vec<u8>, Timestamp)>,
    /// Since when nothing was taken.
    pub failing_since: Option<Timestamp>,
    pub created: Timestamp,
    /// Moves with every change, so it names the row as it stands.
    pub updated: Timestamp,
    /// Who made it, as [`By::actor`].
    pub created_by: String,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Webhook");
        shown.field("id", &self.id).field("events", &self.events).field("enabled", &self.enabled);
        shown.finish_non_exhaustive()
    }
}

impl Webhook {
    /// The moment of a change to it: now, but later than the one before.
    #[must_use]
    pub fn moment_after(&self) -> Timestamp {
        Timestamp::from_micros(now_us().max(self.updated.micros() + 1))
    }

    fn object(&self) -> String {
        format!("webhook:{}", self.id)
    }

    /// What the audit shows. A URL can hold a key in its path or its query, so it shows the host alone.
    fn audited(&self) -> Value {
        let events: Vec<_> = self.events.iter().map(|event| event.as_str()).collect();
        let mut shown = json!({ "site": site(&self.url), "events": events, "enabled": self.enabled });
        if let Some(off) = self.off {
            shown["disabled_reason"] = json!(off.as_str());
        }
        shown
    }
}

/// Scheme, host and port of a URL.
fn site(url: &str) -> &str {
    let from = url.find("://").map_or(0, |at| at + 3);
    let end = url[from..].find(['/', '?', '#']).map_or(url.len(), |at| from + at);
    &url[..end]
}

/// One event on its way to one webhook.
#[derive(Clone, Debug)]
pub struct WebhookDelivery {
    pub id: WebhookDeliveryId,
    pub webhook: WebhookId,
    /// A [`WebhookEvent`], or `webhook.test`.
    pub kind: String,
    /// The run that it is about; `None` where what is told came with it.
    pub run: Option<RunId>,
    /// What is told, as JSON. Of a run it is there from the first try on.
    pub data: Option<String>,
    pub at: Timestamp,
    pub status: DeliveryStatus,
    /// How often it was tried, or is being tried.
    pub attempts: i64,
    /// When it is tried next; while a server is at it, when another one may take it over.
    pub next: Timestamp,
    /// A server is at it.
    pub is_claimed: bool,
    pub tried: Option<Timestamp>,
    pub duration_us: Option<i64>,
    pub status_code: Option<i64>,
    /// How the answer begins.
    pub answer: Option<String>,
    pub error: Option<String>,
}

/// How a try went.
#[derive(Clone, Debug)]
pub struct DeliveryTry {
    pub at: Timestamp,
    pub duration: Duration,
    pub status_code: Option<u16>,
    pub answer: Option<String>,
    pub error: Option<String>,
    pub becomes: DeliveryStatus,
    /// When it is tried again, where it is.
    pub next: Timestamp,
    /// Whether it says something about the receiver. A test by hand does not.
    pub counts: bool,
}

row! {
    /// What is told of a run that has ended.
    #[derive(Debug)]
    pub struct ToldRun {
        pub id: Uuid,
        pub tool_id: Uuid,
        pub tool: String,
        pub version: String,
        pub status: String,
        pub summary: Option<String>,
        pub error: Option<String>,
        pub error_code: Option<String>,
        pub source: String,
        pub session_id: Uuid,
        /// JSON.
        pub actor: String,
        pub requested_us: i64,
        pub started_us: Option<i64>,
        pub finished_us: Option<i64>,
        pub duration_us: Option<i64>,
    }
}

row! {
    /// What is told of an approval.
    #[derive(Debug)]
    pub struct ToldApproval {
        pub id: Uuid,
        pub run_id: Uuid,
        pub tool_id: Uuid,
        pub tool: String,
        pub version: String,
        pub level: Option<String>,
        pub reason: String,
        pub status: String,
        pub requested_by: String,
        pub requested_us: i64,
        pub expires_us: i64,
        pub decided_by: Option<String>,
        pub decided_us: Option<i64>,
    }
}

row! {
    #[derive(Debug)]
    struct WebhookRow {
        id: Uuid,
        url: String,
        events: i64,
        enabled: bool,
        off_reason: Option<String>,
        secret: Vec<u8>,
        old_secret: Option<Vec<u8>>,
        old_secret_until_us: Option<i64>,
        failing_since_us: Option<i64>,
        created_us: i64,
        updated_us: i64,
        created_by: String,
    }
}

row! {
    #[derive(Debug)]
    struct DeliveryRow {
        id: Uuid,
        webhook_id: Uuid,
        kind: String,
        run_id: Option<Uuid>,
        data: Option<String>,
        at_us: i64,
        state: String,
        attempts: i64,
        next_us: i64,
        claimed_by: Option<Uuid>,
        tried_us: Option<i64>,
        duration_us: Option<i64>,
        status_code: Option<i64>,
        answer: Option<String>,
        error: Option<String>,
    }
}

/// The webhooks of the tenant `$1`; a condition follows.
macro_rules! webhooks {
    ($rest:literal) => {
        concat!(
            "SELECT id, url, events, enabled, off_reason, secret, old_secret, old_secret_until_us, failing_since_us,
             created_us, updated_us, created_by FROM webhooks WHERE tenant_id = $1 ",
            $rest
        )
    };
}

/// What is read of a delivery.
macro_rules! delivery {
    ($before:literal, $after:literal) => {
        concat!(
            $before,
            " id, webhook_id, type AS kind, run_id, data, at_us, state, attempts, next_us, claimed_by, tried_us,
             duration_us, status_code, answer, error ",
            $after
        )
    };
}

impl TenantScope {
    /// Adds a webhook to a tenant that has fewer than `most`; `false` where it has as many.
    pub async fn create_webhook(&self, new: &Webhook, most: i64, by: &By) -> Result<bool> {
        const COUNT: &str = "SELECT count(*) FROM webhooks WHERE tenant_id = $1";
        const Q: &str =
            "INSERT INTO webhooks (tenant_id, id, url, events, enabled, secret, created_us, updated_us,
            created_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let count: i64 = within!(&mut tx, c => sqlx::query_scalar(COUNT)
            .bind(self.tenant.uuid()).fetch_one(c).await)
        .map_err(Error::doing("counting webhooks"))?;
        if most <= count {
            return Ok(false);
        }
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(new.id.uuid()).bind(&new.url).bind(WebhookEvent::bits(&new.events))
            .bind(new.enabled).bind(&new.secret).bind(new.created.micros()).bind(&new.created_by)
            .execute(c).await.map(drop))
        .map_err(Error::doing("adding a webhook"))?;
        let audit = NewAudit::change("webhook.created", new.object(), None, Some(new.audited()));
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_webhooks(tx).await?;
        Ok(true)
    }

    pub async fn webhook(&self, id: WebhookId) -> Result<Option<Webhook>> {
        const Q: &str = webhooks!("AND id = $2");
        let mut conn = self.read().await?;
        let row: Option<WebhookRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a webhook"))?;
        Ok(row.map(WebhookRow::read))
    }

    /// Webhooks after the one given, oldest first.
    pub async fn webhooks(&self, after: Option<WebhookId>, limit: i64) -> Result<Vec<Webhook>> {
        const Q: &str = webhooks!("AND id > $2 ORDER BY id LIMIT $3");
        let after = after.map_or(Uuid::nil(), WebhookId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<WebhookRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(after).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing webhooks"))?;
        Ok(rows.into_iter().map(WebhookRow::read).collect())
    }

    pub async fn count_webhooks(&self) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        self.count("webhooks", &conditions).await
    }

    /// Writes a webhook over the one that was last changed at `seen`, with this line of the audit.
    pub async fn change_webhook(
        &self,
        after: &Webhook,
        seen: Timestamp,
        action: &str,
        by: &By,
    ) -> Result<Changed<()>> {
        const Q: &str =
            "UPDATE webhooks SET url = $4, events = $5, enabled = $6, off_reason = $7, secret = $8,
            old_secret = $9, old_secret_until_us = $10, failing_since_us = $11, updated_us = $12
            WHERE tenant_id = $1 AND id = $2 AND updated_us = $3";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.webhook_in(&mut tx, after.id).await? else { return Ok(Changed::Missing) };
        let (old, until) = after.old_secret.clone().unzip();
        let changed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(after.id.uuid()).bind(seen.micros()).bind(&after.url)
            .bind(WebhookEvent::bits(&after.events)).bind(after.enabled).bind(after.off.map(WebhookOff::as_str))
            .bind(&after.secret).bind(old).bind(until.map(Timestamp::micros))
            .bind(after.failing_since.map(Timestamp::micros)).bind(after.updated.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("changing a webhook"))?;
        if changed == 0 {
            return Ok(Changed::Stale(()));
        }
        let audit = NewAudit::change(action, after.object(), Some(before.audited()), Some(after.audited()));
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_webhooks(tx).await?;
        // What waited for it to be enabled may go out now.
        self.store.wake().deliveries_wait();
        Ok(Changed::Done(()))
    }

    /// Removes a webhook that was last changed at `seen`. What waits for it is given up, and forgotten when it is old.
    pub async fn remove_webhook(&self, id: WebhookId, seen: Timestamp, by: &By) -> Result<Changed<()>> {
        const Q: &str = "DELETE FROM webhooks WHERE tenant_id = $1 AND id = $2 AND updated_us = $3";
        // Whoever looks for what is due passes by what is left beyond this many.
        const GIVE_UP: &str = "UPDATE webhook_deliveries SET state = 'failed' WHERE id IN (
            SELECT id FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND state = 'pending'
            ORDER BY next_us LIMIT 10000)";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.webhook_in(&mut tx, id).await? else { return Ok(Changed::Missing) };
        let removed = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(seen.micros())
            .execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("removing a webhook"))?;
        if removed == 0 {
            return Ok(Changed::Stale(()));
        }
        within!(&mut tx, c => sqlx::query(GIVE_UP)
            .bind(self.tenant.uuid()).bind(id.uuid()).execute(c).await.map(drop))
        .map_err(Error::doing("giving deliveries up"))?;
        let audit = NewAudit::change("webhook.removed", before.object(), Some(before.audited()), None);
        self.audit_in(&mut tx, by, audit).await?;
        self.commit_webhooks(tx).await?;
        Ok(Changed::Done(()))
    }

    /// Switches a webhook off for the program itself, unless it is off.
    pub async fn switch_off_webhook(&self, id: WebhookId, why: WebhookOff) -> Result<()> {
        const Q: &str = "UPDATE webhooks SET enabled = $3, off_reason = $4, updated_us = $5
            WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        self.bump_epoch(&mut tx).await?;
        let Some(before) = self.webhook_in(&mut tx, id).await?.filter(|webhook| webhook.enabled) else {
            return Ok(());
        };
        let after =
            Webhook { enabled: false, off: Some(why), updated: before.moment_after(), ..before.clone() };
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(false).bind(why.as_str()).bind(after.updated.micros())
            .execute(c).await.map(drop))
        .map_err(Error::doing("switching a webhook off"))?;
        let (object, before) = (after.object(), Some(before.audited()));
        let audit = NewAudit::change("webhook.disabled", object, before, Some(after.audited()));
        let system = By { actor: r#"{"kind":"system"}"#.to_owned(), request_id: None };
        self.audit_in(&mut tx, &system, audit).await?;
        self.commit_webhooks(tx).await
    }

    async fn webhook_in(&self, tx: &mut Tx, id: WebhookId) -> Result<Option<Webhook>> {
        const Q: &str = webhooks!("AND id = $2");
        let row: Option<WebhookRow> = within!(tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a webhook"))?;
        Ok(row.map(WebhookRow::read))
    }

    /// Ends a change of webhooks: the log learns what the tenant's webhooks ask for together with the epoch.
    async fn commit_webhooks(&self, mut tx: Tx) -> Result<()> {
        const ALL: &str = "SELECT events FROM webhooks WHERE tenant_id = $1 AND enabled";
        const Q: &str = "UPDATE tenant_epoch SET webhook_events = $2 WHERE tenant_id = $1";
        let events: Vec<i64> = within!(&mut tx, c => sqlx::query_scalar(ALL)
            .bind(self.tenant.uuid()).fetch_all(c).await)
        .map_err(Error::doing("reading webhooks"))?;
        let events = events.into_iter().fold(0, |all, events| all | events);
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(events).execute(c).await.map(drop))
        .map_err(Error::doing("noting what webhooks are told"))?;
        self.commit_bumped(tx).await
    }

    /// Tells the tenant's webhooks of something in the transaction in which it happens. The caller wakes the sender
    /// with [`crate::Wake::deliveries_wait`] once that is committed.
    pub(crate) async fn tell_webhooks(
        &self,
        tx: &mut Tx,
        event: WebhookEvent,
        data: &Value,
        at: Timestamp,
    ) -> Result<()> {
        const ASKING: &str = "SELECT id, events FROM webhooks WHERE tenant_id = $1 AND enabled";
        let asking: Vec<(Uuid, i64)> = within!(tx, c => sqlx::query_as(ASKING)
            .bind(self.tenant.uuid()).fetch_all(c).await)
        .map_err(Error::doing("reading webhooks"))?;
        for (webhook, _) in asking.into_iter().filter(|(_, events)| events & event.bit() != 0) {
            let delivery = WebhookDelivery {
                id: WebhookDeliveryId::new(),
                webhook: WebhookId::from_uuid(webhook),
                kind: event.as_str().to_owned(),
                run: None,
                data: Some(data.to_string()),
                at,
                status: DeliveryStatus::Pending,
                attempts: 0,
                next: at,
                is_claimed: false,
                tried: None,
                duration_us: None,
                status_code: None,
                answer: None,
                error: None,
            };
            self.insert_delivery(tx, &delivery).await?;
        }
        Ok(())
    }

    async fn insert_delivery(&self, tx: &mut Tx, new: &WebhookDelivery) -> Result<()> {
        const Q: &str = "INSERT INTO webhook_deliveries
            (tenant_id, id, webhook_id, type, data, at_us, state, attempts, next_us, claimed_by)
            VALUES ($1, $2, $3, $4, $5, $6, 'pending', $7, $8, $9)";
        let claimed_by = new.is_claimed.then(|| self.store.replica().uuid());
        within!(tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(new.id.uuid()).bind(new.webhook.uuid()).bind(&new.kind).bind(&new.data)
            .bind(new.at.micros()).bind(new.attempts).bind(new.next.micros()).bind(claimed_by)
            .execute(c).await.map(drop))
        .map_err(Error::doing("telling a webhook"))
    }

    /// Writes a delivery that this server is about to try by itself.
    pub async fn add_delivery(&self, new: &WebhookDelivery) -> Result<()> {
        let mut tx = self.begin().await?;
        self.insert_delivery(&mut tx, new).await?;
        tx.commit().await
    }

    /// Deliveries of a webhook that are older than `before`, newest first.
    pub async fn webhook_deliveries(
        &self,
        webhook: WebhookId,
        before: Option<WebhookDeliveryId>,
        limit: i64,
    ) -> Result<Vec<WebhookDelivery>> {
        const Q: &str = delivery!(
            "SELECT",
            "FROM webhook_deliveries WHERE tenant_id = $1 AND webhook_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4"
        );
        let before = before.map_or(Uuid::max(), WebhookDeliveryId::uuid);
        let mut conn = self.read().await?;
        let rows: Vec<DeliveryRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(webhook.uuid()).bind(before).bind(limit).fetch_all(c).await)
        .map_err(Error::doing("listing deliveries"))?;
        rows.into_iter().map(DeliveryRow::read).collect()
    }

    pub async fn count_webhook_deliveries(&self, webhook: WebhookId) -> Result<Option<i64>> {
        let mut conditions = Conditions::default();
        conditions.and("tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and("webhook_id =", Arg::Id(webhook.uuid()));
        self.count("webhook_deliveries", &conditions).await
    }

    pub async fn webhook_delivery(&self, id: WebhookDeliveryId) -> Result<Option<WebhookDelivery>> {
        const Q: &str = delivery!("SELECT", "FROM webhook_deliveries WHERE tenant_id = $1 AND id = $2");
        let mut conn = self.read().await?;
        let row: Option<DeliveryRow> = on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading a delivery"))?;
        row.map(DeliveryRow::read).transpose()
    }

    /// Takes deliveries of a webhook that are due, oldest first, to try them until a moment at the latest. Another
    /// server gets none of them until then.
    pub async fn claim_deliveries(
        &self,
        webhook: WebhookId,
        now: Timestamp,
        until: Timestamp,
        most: i64,
    ) -> Result<Vec<WebhookDelivery>> {
        // The condition stands twice: whoever waited for another server's claim looks at it again.
        const Q: &str = delivery!(
            "UPDATE webhook_deliveries SET claimed_by = $5, next_us = $4, attempts = attempts + 1
            WHERE id IN (SELECT id FROM webhook_deliveries
                    WHERE webhook_id = $2 AND tenant_id = $1 AND state = 'pending' AND next_us <= $3
                    ORDER BY next_us LIMIT $6)
                AND state = 'pending' AND next_us <= $3
            RETURNING",
            ""
        );
        let mut tx = self.begin().await?;
        let rows: Vec<DeliveryRow> = within!(&mut tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(webhook.uuid()).bind(now.micros()).bind(until.micros())
            .bind(self.store.replica().uuid()).bind(most).fetch_all(c).await)
        .map_err(Error::doing("claiming deliveries"))?;
        tx.commit().await?;
        let mut deliveries = rows.into_iter().map(DeliveryRow::read).collect::<Result<Vec<_>>>()?;
        deliveries.sort_by_key(|delivery| delivery.id);
        Ok(deliveries)
    }

    /// Takes one delivery, due or not, to try it once more; `None` where a server is at it.
    pub async fn claim_delivery(
        &self,
        id: WebhookDeliveryId,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Option<WebhookDelivery>> {
        const Q: &str = delivery!(
            "UPDATE webhook_deliveries SET claimed_by = $5, next_us = $4, attempts = attempts + 1, state = 'pending'
            WHERE tenant_id = $1 AND id = $2 AND (claimed_by IS NULL OR next_us <= $3)
            RETURNING",
            ""
        );
        let mut tx = self.begin().await?;
        let row: Option<DeliveryRow> = within!(&mut tx, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(now.micros()).bind(until.micros())
            .bind(self.store.replica().uuid()).fetch_optional(c).await)
        .map_err(Error::doing("claiming a delivery"))?;
        tx.commit().await?;
        row.map(DeliveryRow::read).transpose()
    }

    /// What is told of a run. Its input and output, which can be large, are not read.
    pub async fn told_run(&self, run: RunId) -> Result<Option<ToldRun>> {
        const Q: &str = "SELECT id, tool_id, tool, version, status, summary, error, error_code, source, session_id,
            actor, requested_us, started_us, finished_us, duration_us FROM runs WHERE tenant_id = $1 AND id = $2";
        let mut conn = self.read().await?;
        on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(run.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading what is told of a run"))
    }

    /// What is told of the approval of a run, without the input.
    pub async fn told_approval(&self, run: RunId) -> Result<Option<ToldApproval>> {
        const Q: &str =
            "SELECT id, run_id, tool_id, tool, version, level, reason, status, requested_by, requested_us,
            expires_us, decided_by, decided_us FROM approvals WHERE tenant_id = $1 AND run_id = $2";
        let mut conn = self.read().await?;
        on!(conn, c => sqlx::query_as(Q)
            .bind(self.tenant.uuid()).bind(run.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading what is told of an approval"))
    }

    /// Keeps what is told, so that every later try tells the same.
    pub async fn keep_delivery_data(&self, id: WebhookDeliveryId, data: &str) -> Result<()> {
        const Q: &str = "UPDATE webhook_deliveries SET data = $3 WHERE tenant_id = $1 AND id = $2";
        let mut tx = self.begin().await?;
        within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(id.uuid()).bind(data).execute(c).await.map(drop))
        .map_err(Error::doing("keeping what a webhook is told"))?;
        tx.commit().await
    }

    /// Notes how a try of a claimed delivery went. Returns since when the webhook's receiver takes nothing. Where
    /// another server has taken the delivery over, its word counts and nothing is noted.
    pub async fn finish_delivery(
        &self,
        claimed: &WebhookDelivery,
        tried: &DeliveryTry,
    ) -> Result<Option<Timestamp>> {
        const Q: &str =
            "UPDATE webhook_deliveries SET claimed_by = NULL, state = $4, next_us = $5, tried_us = $6,
            duration_us = $7, status_code = $8, answer = $9, error = $10
            WHERE tenant_id = $1 AND id = $2 AND attempts = $3 AND claimed_by = $11";
        const TAKEN: &str = "UPDATE webhooks SET failing_since_us = NULL
            WHERE tenant_id = $1 AND id = $2 AND failing_since_us IS NOT NULL";
        const FAILED: &str = "UPDATE webhooks SET failing_since_us = coalesce(failing_since_us, $3)
            WHERE tenant_id = $1 AND id = $2 RETURNING failing_since_us";
        let mut tx = self.begin().await?;
        let noted = within!(&mut tx, c => sqlx::query(Q)
            .bind(self.tenant.uuid()).bind(claimed.id.uuid()).bind(claimed.attempts)
            .bind(tried.becomes.as_str()).bind(tried.next.micros()).bind(tried.at.micros())
            .bind(i64::try_from(tried.duration.as_micros()).unwrap_or(i64::MAX))
            .bind(tried.status_code.map(i64::from)).bind(&tried.answer).bind(&tried.error)
            .bind(self.store.replica().uuid()).execute(c).await.map(|done| done.rows_affected()))
        .map_err(Error::doing("noting how a delivery went"))?;
        let since = match (noted, tried.counts) {
            (0, _) | (_, false) => None,
            (_, true) if tried.becomes == DeliveryStatus::Delivered => {
                within!(&mut tx, c => sqlx::query(TAKEN)
                    .bind(self.tenant.uuid()).bind(claimed.webhook.uuid()).execute(c).await.map(drop))
                .map_err(Error::doing("noting that a webhook works"))?;
                None
            }
            (_, true) => within!(&mut tx, c => sqlx::query_scalar::<_, Option<i64>>(FAILED)
                .bind(self.tenant.uuid()).bind(claimed.webhook.uuid()).bind(tried.at.micros())
                .fetch_optional(c).await)
            .map_err(Error::doing("noting that a webhook fails"))?
            .flatten(),
        };
        tx.commit().await?;
        Ok(since.map(Timestamp::from_micros))
    }
}

impl Store {
    /// The webhooks of all tenants that have something to be sent now. Ids only.
    pub async fn due_webhooks(&self, now: Timestamp) -> Result<Vec<(TenantId, WebhookId)>> {
        // From one webhook to the next by the index, however much waits for each.
        const SQLITE: &str = "WITH RECURSIVE waiting (id) AS (
                SELECT x'00000000000000000000000000000000'
                UNION ALL
                SELECT (SELECT d.webhook_id FROM webhook_deliveries d WHERE d.state = 'pending' AND d.webhook_id > w.id
                    ORDER BY d.webhook_id LIMIT 1)
                FROM waiting w WHERE w.id IS NOT NULL)
            SELECT h.tenant_id, h.id FROM waiting w CROSS JOIN webhooks h
            WHERE h.id = w.id AND h.enabled AND EXISTS (SELECT 1 FROM webhook_deliveries d
                WHERE d.webhook_id = h.id AND d.state = 'pending' AND d.next_us <= $1)";
        const PG: &str = "SELECT tenant_id, id FROM tw_due_webhooks($1)";
        let sql = if self.is_shared() { PG } else { SQLITE };
        let mut conn = self.db.read("{}").await?;
        let rows: Vec<(Uuid, Uuid)> = on!(conn, c => sqlx::query_as(sql)
            .bind(now.micros()).fetch_all(c).await)
        .map_err(Error::doing("looking for due webhooks"))?;
        Ok(rows
            .into_iter()
            .map(|(tenant, id)| (TenantId::from_uuid(tenant), WebhookId::from_uuid(id)))
            .collect())
    }

    /// Makes due what an earlier server was sending when it ended. For a database that no other server uses.
    pub async fn release_deliveries(&self, now: Timestamp) -> Result<()> {
        let Db::Sqlite { .. } = &self.db else { return Ok(()) };
        const SQLITE: &str = "UPDATE webhook_deliveries SET claimed_by = NULL, next_us = $1
            WHERE state = 'pending' AND claimed_by IS NOT NULL";
        let mut tx = self.db.begin("{}").await?;
        within!(&mut tx, c => sqlx::query(SQLITE).bind(now.micros()).execute(c).await.map(drop))
            .map_err(Error::doing("taking over deliveries"))?;
        tx.commit().await
    }

    /// Forgets deliveries of events before this moment, some at a time. Says whether there may be more.
    pub async fn drop_old_deliveries(&self, before: Timestamp) -> Result<bool> {
        const MOST: i64 = 1_000;
        const SQLITE: &str =
            "WITH old AS (SELECT id FROM webhook_deliveries WHERE at_us < $1 ORDER BY at_us LIMIT $2)
            DELETE FROM webhook_deliveries WHERE id IN (SELECT id FROM old)";
        const PG: &str = "SELECT tw_drop_old_deliveries($1, $2)";
        let mut tx = self.db.begin("{}").await?;
        let (before, most) = (before.micros(), MOST);
        let gone = match &mut tx {
            Tx::Sqlite(tx, _) => {
                let done = sqlx::query(SQLITE).bind(before).bind(most).execute(&mut **tx).await;
                done.map(|done| i64::try_from(done.rows_affected()).unwrap_or(i64::MAX))
            }
            Tx::Pg(tx) => {
                let (c, presence) = tx.parts();
                presence.in_time(sqlx::query_scalar(PG).bind(before).bind(most).fetch_one(c)).await
            }
        };
        let gone: i64 = gone.map_err(Error::doing("forgetting old deliveries"))?;
        tx.commit().await?;
        Ok(gone == MOST)
    }
}

impl WebhookRow {
    fn read(self) -> Webhook {
        let until = self.old_secret_until_us.map(Timestamp::from_micros);
        Webhook {
            id: WebhookId::from_uuid(self.id),
            url: self.url,
            events: WebhookEvent::of_bits(self.events),
            enabled: self.enabled,
            off: self.off_reason.as_deref().and_then(WebhookOff::parse),
            secret: self.secret,
            old_secret: self.old_secret.zip(until),
            failing_since: self.failing_since_us.map(Timestamp::from_micros),
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
            created_by: self.created_by,
        }
    }
}

impl DeliveryRow {
    fn read(self) -> Result<WebhookDelivery> {
        let status = DeliveryStatus::parse(&self.state).ok_or_else(|| Error::Corrupt {
            what: format!("delivery {} has status {}", self.id, self.state),
        })?;
        Ok(WebhookDelivery {
            id: WebhookDeliveryId::from_uuid(self.id),
            webhook: WebhookId::from_uuid(self.webhook_id),
            kind: self.kind,
            run: self.run_id.map(RunId::from_uuid),
            data: self.data,
            at: Timestamp::from_micros(self.at_us),
            status,
            attempts: self.attempts,
            next: Timestamp::from_micros(self.next_us),
            is_claimed: self.claimed_by.is_some(),
            tried: self.tried_us.map(Timestamp::from_micros),
            duration_us: self.duration_us,
            status_code: self.status_code,
            answer: self.answer,
            error: self.error,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::site;

    #[test]
    fn audit_shows_the_site_of_a_url_and_nothing_behind_it() {
        for (url, shown) in [
            ("https://hooks.example.com/services/T0/B0/key", "https://hooks.example.com"),
            ("http://127.0.0.1:80?key=x", "http://127.0.0.1:80"),
            ("https://a.example#x", "https://a.example"),
            ("https://a.example", "https://a.example"),
        ] {
            assert_eq!(site(url), shown);
        }
    }
}
