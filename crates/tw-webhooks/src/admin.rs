//! What administrators do with webhooks.

use tw_base::{Error, Page, PageRequest, Result, by, faultless};
use tw_identity::rights::{Permit, ReadWebhooks, WriteWebhooks};
use tw_model::{Caller, DeliveryStatus, Timestamp, WebhookDeliveryId, WebhookEvent, WebhookId};
use tw_schema::{Fault, Violation};
use tw_store::{Changed, Webhook, WebhookDelivery};
use zeroize::Zeroizing;

use crate::{
    Webhooks,
    sender::{Clock, TEST},
    signing,
};

/// How many webhooks a tenant may have: each costs a row for every event.
const WEBHOOKS_MAX: i64 = 50;
const URL_CHARS_MAX: usize = 2_000;
/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;
/// For how long a secret that was replaced signs along.
const OLD_SECRET_FOR: std::time::Duration = std::time::Duration::from_secs(24 * 3600);

/// Names a webhook as it stands.
#[must_use]
pub fn webhook_mark(webhook: &Webhook) -> String {
    format!("{:x}", webhook.updated.micros())
}

/// A webhook as somebody wants it.
#[derive(Clone, Debug)]
pub struct WebhookWish {
    pub url: String,
    pub events: Vec<String>,
    pub enabled: bool,
}

/// What is to change; `None` leaves as it is.
#[derive(Clone, Debug, Default)]
pub struct WebhookChange {
    pub url: Option<String>,
    pub events: Option<Vec<String>>,
    pub enabled: Option<bool>,
}

/// A webhook with a secret that is shown this once.
#[derive(Debug)]
pub struct NewWebhook {
    pub webhook: Webhook,
    pub secret: Zeroizing<String>,
}

impl Webhooks {
    pub async fn create(
        &self,
        permit: &Permit<WriteWebhooks>,
        wish: WebhookWish,
        request_id: Option<&str>,
    ) -> Result<NewWebhook> {
        let caller = permit.caller();
        let mut faults = self.url_faults(caller, &wish.url);
        let events = read_events(&wish.events, &mut faults);
        faultless(faults)?;
        let (id, now, by) = (WebhookId::new(), Timestamp::now(), by(caller, request_id));
        let secret = signing::new_secret();
        let key = self.inner.vault.new_tool_secrets(caller.tenant).await?;
        let webhook = Webhook {
            id,
            url: wish.url,
            events,
            enabled: wish.enabled,
            off: None,
            secret: key.seal_for_webhook(id, &secret),
            old_secret: None,
            failing_since: None,
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        let scope = self.inner.store.tenant(caller.tenant);
        let made = scope.create_webhook(&webhook, WEBHOOKS_MAX, &by).await;
        if !made.map_err(Error::store("making a webhook"))? {
            let why = format!("a tenant must have at most {WEBHOOKS_MAX} webhooks: remove one first");
            return Err(Error::Conflict { why });
        }
        self.inner.epochs.ask(caller.tenant).await?;
        Ok(NewWebhook { webhook, secret: signing::secret_text(&secret) })
    }

    pub async fn list(&self, permit: &Permit<ReadWebhooks>, page: &PageRequest) -> Result<Page<Webhook>> {
        let caller = permit.caller();
        let place = format!("webhooks/{}/{}", caller.tenant, caller.principal.label());
        let after = self.inner.secrets.open_cursor(&place, page)?.map(WebhookId::from_uuid);
        let scope = self.inner.store.tenant(caller.tenant);
        let rows = scope.webhooks(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading webhooks"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_webhooks().await.map_err(Error::store("counting webhooks"))?;
        Ok(self.inner.secrets.page(rows, page, &place, total, |webhook| webhook.id.uuid()))
    }

    pub async fn get(&self, permit: &Permit<ReadWebhooks>, id: WebhookId) -> Result<Webhook> {
        self.stored(permit.caller(), id).await
    }

    /// Changes a webhook, property by property. One that is enabled again begins anew.
    pub async fn change(
        &self,
        permit: &Permit<WriteWebhooks>,
        id: WebhookId,
        change: WebhookChange,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<Webhook> {
        let caller = permit.caller();
        let mut faults = change.url.as_deref().map_or_else(Vec::new, |url| self.url_faults(caller, url));
        let events = change.events.as_deref().map(|events| read_events(events, &mut faults));
        // A webhook that is not there is told before what would be wrong with it.
        self.as_read(caller, id, marks).await?;
        faultless(faults)?;
        let plan = |before: &Webhook| {
            let mut after = before.clone();
            after.url = change.url.clone().unwrap_or(after.url);
            after.events = events.clone().unwrap_or(after.events);
            after.enabled = change.enabled.unwrap_or(after.enabled);
            if after.enabled != before.enabled || after.url != before.url {
                after.failing_since = None;
            }
            if after.enabled != before.enabled {
                after.off = None;
            }
            after
        };
        self.write(caller, id, marks, "webhook.changed", request_id, plan).await
    }

    pub async fn remove(
        &self,
        permit: &Permit<WriteWebhooks>,
        id: WebhookId,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            let removed = scope.remove_webhook(id, before.updated, &by).await;
            match removed.map_err(Error::store("removing a webhook"))? {
                Changed::Done(()) => {
                    self.inner.epochs.ask(caller.tenant).await?;
                    return Ok(());
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    /// Gives a webhook another secret. The one before signs along for a day, so that its receiver can change over.
    pub async fn rotate_secret(
        &self,
        permit: &Permit<WriteWebhooks>,
        id: WebhookId,
        request_id: Option<&str>,
    ) -> Result<NewWebhook> {
        let caller = permit.caller();
        self.stored(caller, id).await?;
        let secret = signing::new_secret();
        let key = self.inner.vault.new_tool_secrets(caller.tenant).await?;
        let sealed = key.seal_for_webhook(id, &secret);
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        let plan = |before: &Webhook| Webhook {
            secret: sealed.clone(),
            old_secret: Some((before.secret.clone(), now.plus(OLD_SECRET_FOR))),
            ..before.clone()
        };
        let webhook = self.write(caller, id, None, "webhook.secret_rotated", request_id, plan).await?;
        Ok(NewWebhook { webhook, secret: signing::secret_text(&secret) })
    }

    /// What a webhook was told, newest first, each with what is sent.
    pub async fn deliveries(
        &self,
        permit: &Permit<ReadWebhooks>,
        id: WebhookId,
        page: &PageRequest,
    ) -> Result<Page<WebhookDelivery>> {
        let caller = permit.caller();
        self.stored(caller, id).await?;
        let place = format!("deliveries/{}/{id}/{}", caller.tenant, caller.principal.label());
        let before = self.inner.secrets.open_cursor(&place, page)?.map(WebhookDeliveryId::from_uuid);
        let scope = self.inner.store.tenant(caller.tenant);
        let rows = scope.webhook_deliveries(id, before, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading deliveries"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_webhook_deliveries(id).await.map_err(Error::store("counting deliveries"))?;
        Ok(self.inner.secrets.page(rows, page, &place, total, |delivery| delivery.id.uuid()))
    }

    /// Tries a delivery once more, now, under the same id, and says how that went. `of` is the webhook where it is named.
    pub async fn redeliver(
        &self,
        permit: &Permit<WriteWebhooks>,
        of: Option<WebhookId>,
        id: WebhookDeliveryId,
    ) -> Result<WebhookDelivery> {
        let caller = permit.caller();
        let delivery = self.delivery(caller, id).await?;
        if of.is_some_and(|of| of != delivery.webhook) {
            return Err(Error::NotFound { what: "delivery" });
        }
        let webhook = self.stored(caller, delivery.webhook).await?;
        if !webhook.enabled {
            let why = "the webhook is disabled; enable it first".to_owned();
            return Err(Error::Conflict { why });
        }
        let clock = self.clock().await?;
        let scope = self.inner.store.tenant(caller.tenant);
        let claimed = scope.claim_delivery(id, clock.now(), clock.claim_end()).await;
        let Some(claimed) = claimed.map_err(Error::store("claiming a delivery"))? else {
            let why = "the delivery is being tried at this moment".to_owned();
            return Err(Error::Conflict { why });
        };
        self.attempt(caller.tenant, &webhook, claimed, clock).await?;
        self.delivery(caller, id).await
    }

    /// Sends a message that says nothing, and says how that went. It is tried once.
    pub async fn test(&self, permit: &Permit<WriteWebhooks>, id: WebhookId) -> Result<WebhookDelivery> {
        let caller = permit.caller();
        let webhook = self.stored(caller, id).await?;
        let clock = self.clock().await?;
        let delivery = WebhookDelivery {
            id: WebhookDeliveryId::new(),
            webhook: id,
            kind: TEST.to_owned(),
            run: None,
            data: Some(serde_json::json!({ "webhook_id": id }).to_string()),
            at: clock.now(),
            status: DeliveryStatus::Pending,
            attempts: 1,
            next: clock.claim_end(),
            is_claimed: true,
            tried: None,
            duration_us: None,
            status_code: None,
            answer: None,
            error: None,
        };
        let scope = self.inner.store.tenant(caller.tenant);
        scope.add_delivery(&delivery).await.map_err(Error::store("writing a delivery"))?;
        let id = delivery.id;
        self.attempt(caller.tenant, &webhook, delivery, clock).await?;
        self.delivery(caller, id).await
    }

    /// What is sent for a delivery, where that is known by now.
    #[must_use]
    pub fn payload(delivery: &WebhookDelivery) -> Option<serde_json::Value> {
        let data = serde_json::from_str(delivery.data.as_deref()?).ok()?;
        Some(crate::message::body(delivery, &data))
    }

    async fn clock(&self) -> Result<Clock> {
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        Ok(Clock::at(now))
    }

    async fn delivery(&self, caller: &Caller, id: WebhookDeliveryId) -> Result<WebhookDelivery> {
        let found = self.inner.store.tenant(caller.tenant).webhook_delivery(id).await;
        found.map_err(Error::store("reading a delivery"))?.ok_or(Error::NotFound { what: "delivery" })
    }

    async fn stored(&self, caller: &Caller, id: WebhookId) -> Result<Webhook> {
        let found = self.inner.store.tenant(caller.tenant).webhook(id).await;
        found.map_err(Error::store("reading a webhook"))?.ok_or(Error::NotFound { what: "webhook" })
    }

    async fn as_read(&self, caller: &Caller, id: WebhookId, marks: Option<&[String]>) -> Result<Webhook> {
        let stored = self.stored(caller, id).await?;
        match marks {
            Some(seen) if !seen.contains(&webhook_mark(&stored)) => Err(Error::Stale { what: "webhook" }),
            _ => Ok(stored),
        }
    }

    async fn write(
        &self,
        caller: &Caller,
        id: WebhookId,
        marks: Option<&[String]>,
        action: &str,
        request_id: Option<&str>,
        plan: impl Fn(&Webhook) -> Webhook,
    ) -> Result<Webhook> {
        let by = by(caller, request_id);
        let scope = self.inner.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            let mut after = plan(&before);
            if after == before {
                return Ok(before);
            }
            after.updated = before.moment_after();
            let changed = scope.change_webhook(&after, before.updated, action, &by).await;
            match changed.map_err(Error::store("changing a webhook"))? {
                Changed::Done(()) => {
                    self.inner.epochs.ask(caller.tenant).await?;
                    return Ok(after);
                }
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    /// What is wrong with an address, as far as can be said without asking anybody. The rest is found at every try.
    fn url_faults(&self, caller: &Caller, url: &str) -> Vec<Fault> {
        let violation = if URL_CHARS_MAX < url.chars().count() {
            Some(Violation::max_length(URL_CHARS_MAX))
        } else {
            match self.inner.network.egress(caller.tenant).check(url) {
                Ok(()) => None,
                Err(tw_egress::Error::BadUrl { why }) => Some(Violation::url(why)),
                Err(error) => Some(Violation::egress_denied(error.to_string())),
            }
        };
        violation.map(|violation| violation.at("/url")).into_iter().collect()
    }
}

fn read_events(words: &[String], faults: &mut Vec<Fault>) -> Vec<WebhookEvent> {
    if words.is_empty() {
        faults.push(Violation::min_items(1).at("/events"));
    }
    let mut events = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let place = format!("/events/{index}");
        match WebhookEvent::parse(word) {
            None => faults.push(Violation::words(WebhookEvent::ALL.map(WebhookEvent::as_str)).at(place)),
            Some(event) if events.contains(&event) => {
                faults.push(Violation::duplicate(event.as_str()).at(place));
            }
            Some(event) => events.push(event),
        }
    }
    events.sort_unstable();
    events
}

fn busy() -> Error {
    Error::Busy { what: "tenant" }
}
