//! The background work that sends.
//!
//! A look finds the webhooks that have something due, and begins a task for each that takes some deliveries, tries them
//! at once and takes the next. A claim runs out by the time of the database, so what a dead server had claimed is taken
//! over by another. A slow receiver holds up the webhook that it belongs to, at worst its tenant.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use serde_json::Value;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinSet,
    time::{Instant, MissedTickBehavior, interval},
};
use tw_base::{Error, Result};
use tw_egress::{Method, Request};
use tw_model::{DeliveryStatus, TenantId, Timestamp, WebhookId, WebhookOff};
use tw_store::{DeliveryTry, Webhook, WebhookDelivery};
use zeroize::Zeroizing;

use crate::{Webhooks, message, signing};

/// What a test by hand sends. Nobody subscribes to it.
pub(crate) const TEST: &str = "webhook.test";

/// When a delivery is tried again, counted from the try before. The last lies beyond [`FAILING_MAX`].
const AGAIN_AFTER: [Duration; 11] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(5 * 60),
    Duration::from_secs(30 * 60),
    Duration::from_secs(2 * 3600),
    Duration::from_secs(5 * 3600),
    Duration::from_secs(10 * 3600),
    Duration::from_secs(14 * 3600),
    Duration::from_secs(20 * 3600),
    Duration::from_secs(24 * 3600),
];
/// For how long a receiver may take nothing before its webhook is switched off.
const FAILING_MAX: Duration = Duration::from_secs(3 * 24 * 3600);
/// How long a receiver has to answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);
/// How much of an answer is read, and how much of that is kept.
const ANSWER_BYTES_MAX: usize = 4 << 10;
const ANSWER_CHARS_KEPT: usize = 1_000;
/// For how long a claim holds: longer than a try and writing down how it went.
const CLAIMED_FOR: Duration = Duration::from_secs(30);
/// How many messages are under way to one webhook.
const AT_ONCE: usize = 4;

const LOOK_EVERY: Duration = Duration::from_secs(1);
const FORGET_EVERY: Duration = Duration::from_secs(600);
/// For how long deliveries are kept.
const KEPT_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// The time of the database, from a moment on at which it was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    asked: Timestamp,
    since: Instant,
}

impl Clock {
    pub(crate) fn at(asked: Timestamp) -> Self {
        Self { asked, since: Instant::now() }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.asked.plus(self.since.elapsed())
    }

    pub(crate) fn claim_end(&self) -> Timestamp {
        self.now().plus(CLAIMED_FOR)
    }
}

/// A webhook that this server is sending to, until dropped.
struct AtWork {
    webhooks: Webhooks,
    id: WebhookId,
}

impl Drop for AtWork {
    fn drop(&mut self) {
        let mut at_work = self.webhooks.inner.at_work.lock().unwrap_or_else(PoisonError::into_inner);
        at_work.remove(&self.id);
    }
}

impl Webhooks {
    /// Sends whatever is due, for ever.
    pub async fn keep_sending(&self) {
        let mut sending = JoinSet::new();
        let mut ticks = interval(LOOK_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut forget = interval(FORGET_EVERY);
        forget.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            tokio::select! {
                () = self.inner.store.wake().deliveries() => {}
                // More may have come while it was at work.
                Some(_) = sending.join_next() => {}
                _ = ticks.tick() => {}
                _ = forget.tick() => self.forget_old().await,
            }
            let begun = async {
                let now = self.inner.store.now().await?;
                self.begin_due(now, &mut sending).await
            };
            if let Err(error) = begun.await {
                tracing::debug!(%error, "due webhooks could not be looked for");
            }
        }
    }

    /// Sends what is due at this moment, and waits until all of it was tried.
    pub async fn send_due(&self, now: Timestamp) -> Result<()> {
        let mut sending = JoinSet::new();
        let begun = self.begin_due(now, &mut sending).await;
        begun.map_err(Error::store("looking for due webhooks"))?;
        while sending.join_next().await.is_some() {}
        Ok(())
    }

    async fn begin_due(&self, now: Timestamp, sending: &mut JoinSet<()>) -> tw_store::Result<()> {
        for (tenant, id) in self.inner.store.due_webhooks(now).await? {
            if !self.inner.at_work.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
                continue;
            }
            let at_work = AtWork { webhooks: self.clone(), id };
            sending.spawn(async move {
                let sent = at_work.webhooks.send_to(tenant, id, Clock::at(now)).await;
                if let Err(error) = sent {
                    tracing::warn!(%error, %tenant, webhook_id = %id, "deliveries of a webhook were interrupted");
                }
            });
        }
        Ok(())
    }

    /// Tries what is due of one webhook, some at a time.
    async fn send_to(&self, tenant: TenantId, id: WebhookId, clock: Clock) -> Result<()> {
        let scope = self.inner.store.tenant(tenant);
        loop {
            let _places = self.places(tenant).await;
            let webhook = scope.webhook(id).await.map_err(Error::store("reading a webhook"))?;
            let Some(webhook) = webhook.filter(|webhook| webhook.enabled) else { return Ok(()) };
            let most = i64::try_from(AT_ONCE).unwrap_or(1);
            let claimed = scope.claim_deliveries(id, clock.now(), clock.claim_end(), most).await;
            let claimed = claimed.map_err(Error::store("claiming deliveries"))?;
            if claimed.is_empty() {
                return Ok(());
            }
            let mut tries = JoinSet::new();
            for delivery in claimed {
                let (webhooks, webhook) = (self.clone(), webhook.clone());
                tries.spawn(async move { webhooks.attempt(tenant, &webhook, delivery, clock).await });
            }
            while let Some(tried) = tries.join_next().await {
                tried.unwrap_or_else(|panic| Err(Error::internal("sending to a webhook", panic)))?;
            }
        }
    }

    /// Room for a round of one webhook. A tenant waits for its own rounds before it waits for those of others.
    async fn places(&self, tenant: TenantId) -> [OwnedSemaphorePermit; 2] {
        let own =
            self.inner.tenants.get_with(tenant, || Arc::new(Semaphore::new(crate::SENT_AT_ONCE_PER_TENANT)));
        let most = u32::try_from(AT_ONCE).unwrap_or(1);
        let own = own.acquire_many_owned(most).await.expect("nobody closes it");
        let all = Arc::clone(&self.inner.all).acquire_many_owned(most).await.expect("nobody closes it");
        [own, all]
    }

    /// Sends a claimed delivery once and writes down how that went.
    pub(crate) async fn attempt(
        &self,
        tenant: TenantId,
        webhook: &Webhook,
        delivery: WebhookDelivery,
        clock: Clock,
    ) -> Result<()> {
        let body = self.body(tenant, &delivery).await?.to_string();
        let secrets = self.open_secrets(tenant, webhook, clock.now()).await?;
        let (at, begun) = (clock.now(), Instant::now());
        let seconds = at.micros().div_euclid(1_000_000);
        let id = delivery.id.to_string();
        let signature =
            signing::signature(secrets.iter().map(|secret| secret.as_slice()), &id, seconds, &body);
        let request = Request::new(Method::Post, &webhook.url)
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", seconds.to_string())
            .header("webhook-signature", signature)
            .body(body)
            .timeout(ANSWERED_WITHIN);
        let answered = self.ask(tenant, request).await;
        let tried = outcome(&delivery, answered, at, begun.elapsed());
        let outcome = if tried.becomes == DeliveryStatus::Delivered { "delivered" } else { "failed" };
        metrics::counter!("toolwright_webhook_attempts_total", "outcome" => outcome).increment(1);
        let scope = self.inner.store.tenant(tenant);
        let failing_since = scope.finish_delivery(&delivery, &tried).await;
        let failing_since = failing_since.map_err(Error::store("noting how a delivery went"))?;
        let off = match (tried.status_code, failing_since) {
            (Some(410), Some(_)) => Some(WebhookOff::Gone),
            (_, Some(since)) if FAILING_MAX <= at.since(since) => Some(WebhookOff::Failing),
            _ => None,
        };
        if let Some(why) = off {
            let switched = scope.switch_off_webhook(webhook.id, why).await;
            switched.map_err(Error::store("switching a webhook off"))?;
            self.inner.epochs.ask(tenant).await?;
            tracing::info!(%tenant, webhook_id = %webhook.id, why = why.as_str(), "switched a webhook off");
        }
        Ok(())
    }

    /// The body of a delivery. What it tells is settled at the first try, and is the same from then on.
    async fn body(&self, tenant: TenantId, delivery: &WebhookDelivery) -> Result<Value> {
        let told = delivery.data.as_deref().map(serde_json::from_str).transpose();
        let told = told.map_err(|error| Error::internal("reading what a webhook is told", error))?;
        if let Some(data) = &told
            && 1 < delivery.attempts
        {
            return Ok(message::body(delivery, data));
        }
        let data = match told {
            Some(data) => data,
            None => {
                let data = message::data(&self.inner.store, tenant, delivery).await;
                data.map_err(Error::store("reading what a webhook is told"))?
            }
        };
        let data = message::linked(self.inner.base.as_deref(), delivery, data);
        let scope = self.inner.store.tenant(tenant);
        let kept = scope.keep_delivery_data(delivery.id, &data.to_string()).await;
        kept.map_err(Error::store("keeping what a webhook is told"))?;
        Ok(message::body(delivery, &data))
    }

    /// What messages are signed with: the secret, and the one before while it still counts.
    async fn open_secrets(
        &self,
        tenant: TenantId,
        webhook: &Webhook,
        now: Timestamp,
    ) -> Result<Vec<Zeroizing<Vec<u8>>>> {
        let key = self.inner.vault.new_tool_secrets(tenant).await?;
        let old = webhook.old_secret.as_ref().filter(|(_, until)| now < *until).map(|(old, _)| old);
        let open = |sealed: &Vec<u8>| {
            key.open_for_webhook(webhook.id, sealed).ok_or_else(|| {
                let why = format!("the secret of webhook {} does not open", webhook.id);
                Error::internal("signing for a webhook", why)
            })
        };
        [Some(&webhook.secret), old].into_iter().flatten().map(open).collect()
    }

    async fn ask(&self, tenant: TenantId, request: Request) -> Result<(u16, String), tw_egress::Error> {
        let mut answer = self.inner.network.egress(tenant).open(request).await?;
        let mut begin = Vec::new();
        // The status is what counts: a body that breaks off changes nothing about it.
        while begin.len() < ANSWER_BYTES_MAX
            && let Ok(Some(piece)) = answer.chunk().await
        {
            begin.extend_from_slice(&piece[..piece.len().min(ANSWER_BYTES_MAX - begin.len())]);
        }
        let text: String = String::from_utf8_lossy(&begin).chars().take(ANSWER_CHARS_KEPT).collect();
        // PostgreSQL has no NUL in text.
        Ok((answer.status, text.replace('\0', "\u{fffd}")))
    }

    async fn forget_old(&self) {
        let forget = async {
            let before = self.inner.store.now().await?.minus(KEPT_FOR);
            while self.inner.store.drop_old_deliveries(before).await? {}
            Ok::<_, tw_store::Error>(())
        };
        if let Err(error) = forget.await {
            tracing::debug!(%error, "old deliveries could not be forgotten");
        }
    }
}

/// What follows from an answer, or from none.
fn outcome(
    delivery: &WebhookDelivery,
    answered: Result<(u16, String), tw_egress::Error>,
    at: Timestamp,
    duration: Duration,
) -> DeliveryTry {
    let (status_code, answer, error) = match answered {
        Ok((status @ 200..=299, answer)) => (Some(status), Some(answer), None),
        Ok((status @ 300..=399, answer)) => (
            Some(status),
            Some(answer),
            Some(
                "the receiver answered with a redirect, which is not followed; set the final URL".to_owned(),
            ),
        ),
        Ok((status, answer)) => {
            (Some(status), Some(answer), Some(format!("the receiver answered with {status}")))
        }
        Err(error) => (None, None, Some(error.to_string())),
    };
    let is_test = delivery.kind == TEST;
    let tries = usize::try_from(delivery.attempts).unwrap_or(usize::MAX);
    let again = AGAIN_AFTER.get(tries.saturating_sub(1)).filter(|_| !is_test && status_code != Some(410));
    let becomes = match (&error, again) {
        (None, _) => DeliveryStatus::Delivered,
        (Some(_), Some(_)) => DeliveryStatus::Pending,
        (Some(_), None) => DeliveryStatus::Failed,
    };
    let next = again.filter(|_| error.is_some()).map_or(at, |after| at.plus(*after));
    DeliveryTry { at, duration, status_code, answer, error, becomes, next, counts: !is_test }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(attempts: i64, status: u16) -> DeliveryTry {
        let at = Timestamp::from_micros(0);
        let delivery = WebhookDelivery {
            id: tw_model::WebhookDeliveryId::new(),
            webhook: WebhookId::new(),
            kind: "run.failed".to_owned(),
            run: None,
            data: None,
            at,
            status: DeliveryStatus::Pending,
            attempts,
            next: at,
            is_claimed: true,
            tried: None,
            duration_us: None,
            status_code: None,
            answer: None,
            error: None,
        };
        outcome(&delivery, Ok((status, String::new())), at, Duration::ZERO)
    }

    #[test]
    fn failed_delivery_is_tried_again_later_and_later_for_three_days() {
        let mut all = Duration::ZERO;
        for (attempts, wait) in (1..).zip(AGAIN_AFTER) {
            let tried = tried(attempts, 500);
            assert_eq!(tried.becomes, DeliveryStatus::Pending);
            assert_eq!(tried.next.since(tried.at), wait);
            all += wait;
        }
        assert_eq!(AGAIN_AFTER[..4].iter().map(Duration::as_secs).collect::<Vec<_>>(), [1, 5, 30, 300]);
        assert_eq!(tried(12, 500).becomes, DeliveryStatus::Failed);
        assert!(FAILING_MAX < all, "a receiver that takes nothing is off before its messages are given up");
    }

    #[test]
    fn success_and_410_are_final() {
        assert_eq!(tried(1, 204).becomes, DeliveryStatus::Delivered);
        assert_eq!(tried(1, 410).becomes, DeliveryStatus::Failed);
        assert_eq!(tried(1, 304).becomes, DeliveryStatus::Pending);
    }
}
