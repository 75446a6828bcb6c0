//! Step 8: rate limits and concurrency groups.

use std::{mem, num::NonZeroU32, time::Duration};

use governor::{Quota, RateLimiter, clock::Clock, clock::DefaultClock, state::keyed::DashMapStateStore};
use tokio::time::Instant;
use tw_model::{Caller, TenantId, Timestamp};
use tw_store::{Store, TenantScope};

use super::groups::{Groups, Held};
use crate::{
    catalogue::Tool,
    error::{Error, Result},
    life::DEAD_AFTER,
};

/// Calls per minute; `None` for no limit, which is the default.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    pub per_tenant: Option<NonZeroU32>,
    pub per_key: Option<NonZeroU32>,
    pub per_tool: Option<NonZeroU32>,
}

type Limiter = RateLimiter<String, DashMapStateStore<String>, DefaultClock>;

#[derive(Debug)]
struct Limit {
    name: &'static str,
    per_minute: NonZeroU32,
    limiter: Limiter,
}

/// How soon a full group is looked at again.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// How long after the end of its time a run may still hold its place.
const HOLD_MORE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Slots {
    store: Store,
    limits: Vec<Limit>,
    groups: Groups,
}

/// A place in the tool's concurrency group, given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _here: Option<Held>,
    _everywhere: Option<Place>,
}

impl Slot {
    /// For calls that need no place of their own.
    pub(crate) fn none() -> Self {
        Self { _here: None, _everywhere: None }
    }
}

/// A place among all servers, given back when dropped.
#[derive(Debug)]
struct Place {
    scope: TenantScope,
    group: String,
    number: i64,
    until: Timestamp,
}

impl Drop for Place {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (scope, group) = (self.scope.clone(), mem::take(&mut self.group));
        let (number, until) = (self.number, self.until);
        // Where this fails, the place is free again when its time is over.
        runtime.spawn(async move {
            if let Err(error) = scope.leave_place(&group, number, until).await {
                tracing::warn!(%error, group, "a place in a concurrency group was not given back");
            }
        });
    }
}

impl Slots {
    pub(crate) fn new(store: Store, limits: RateLimits) -> Self {
        let limit = |name, per_minute: Option<NonZeroU32>| {
            per_minute.map(|per_minute| {
                let limiter = RateLimiter::dashmap(Quota::per_minute(per_minute));
                Limit { name, per_minute, limiter }
            })
        };
        let limits = [
            limit("tenant", limits.per_tenant),
            limit("key", limits.per_key),
            limit("tool", limits.per_tool),
        ];
        Self { store, limits: limits.into_iter().flatten().collect(), groups: Groups::default() }
    }

    /// Counts the call against the limits, then waits for a place, `patience` at the most.
    pub(crate) async fn take(&self, caller: &Caller, tool: &Tool, patience: Duration) -> Result<Slot> {
        for limit in &self.limits {
            let key = match limit.name {
                "tenant" => caller.tenant.to_string(),
                "key" => caller.key.map_or_else(|| caller.principal.label(), |key| key.to_string()),
                _ => format!("{}/{}", caller.tenant, tool.def.id),
            };
            if let Err(until) = limit.limiter.check_key(&key) {
                let retry_after = until.wait_time_from(DefaultClock::default().now());
                return Err(Error::OverLimit {
                    limit: limit.name,
                    per_minute: limit.per_minute,
                    retry_after,
                });
            }
        }
        let Some(most) = tool.def.execution.max_concurrency else { return Ok(Slot::none()) };
        let name = &tool.def.execution.concurrency_group;
        let full = || Error::RateLimited {
            why: format!("the concurrency group `{name}` was full for {} ms", patience.as_millis()),
            retry_after: Duration::from_secs(1),
        };
        let give_up = Instant::now() + patience;
        let here = self.groups.take(caller.tenant, name, most);
        let here = tokio::time::timeout_at(give_up, here).await.map_err(|_| full())?;
        let everywhere = if self.store.is_shared() {
            let hold = tool.def.timeout() + HOLD_MORE;
            let place = self.place_everywhere(caller.tenant, name, most, hold, give_up).await?;
            Some(place.ok_or_else(full)?)
        } else {
            None
        };
        Ok(Slot { _here: Some(here), _everywhere: everywhere })
    }

    /// A place among all servers, once one is free.
    async fn place_everywhere(
        &self,
        tenant: TenantId,
        group: &str,
        size: u32,
        hold: Duration,
        give_up: Instant,
    ) -> Result<Option<Place>> {
        let scope = self.store.tenant(tenant);
        let mut pause = PAUSE_FIRST;
        loop {
            let now = self.store.now().await.map_err(Error::store("asking for the time"))?;
            let (until, since) = (now.plus(hold), now.minus(DEAD_AFTER));
            let (scope, group) = (scope.clone(), group.to_owned());
            // In a task of its own: a caller who hangs up meanwhile must not leave a place taken.
            let taking = tokio::spawn(async move {
                let number = scope.take_place(&group, size, until, now, since).await?;
                Ok(number.map(|number| Place { scope, group, number, until }))
            });
            let taken = taking.await.unwrap_or_else(|_| Ok(None));
            if let Some(place) = taken.map_err(Error::store("taking a place"))? {
                return Ok(Some(place));
            }
            if give_up <= Instant::now() + pause {
                return Ok(None);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
