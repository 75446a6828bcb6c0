//! Step 8: rate limits and concurrency groups.

use std::{
    collections::HashMap,
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use governor::{Quota, RateLimiter, clock::Clock, clock::DefaultClock, state::keyed::DashMapStateStore};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tw_model::{Caller, TenantId};

use crate::{
    catalogue::Tool,
    error::{Error, Result},
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

/// How many runs of a concurrency group may overlap, and the places themselves.
#[derive(Debug)]
struct Group {
    size: u32,
    places: Arc<Semaphore>,
}

#[derive(Debug)]
pub(crate) struct Slots {
    limits: Vec<Limit>,
    groups: Mutex<HashMap<(TenantId, String), Group>>,
}

/// A place in the tool's concurrency group, given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _place: Option<OwnedSemaphorePermit>,
}

impl Slots {
    pub(crate) fn new(limits: RateLimits) -> Self {
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
        Self { limits: limits.into_iter().flatten().collect(), groups: Mutex::default() }
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
        let Some(most) = tool.def.execution.max_concurrency else { return Ok(Slot { _place: None }) };
        let group = self.group(caller.tenant, &tool.def.execution.concurrency_group, most);
        match tokio::time::timeout(patience, group.acquire_owned()).await {
            Ok(place) => Ok(Slot { _place: place.ok() }),
            Err(_) => Err(Error::RateLimited {
                why: format!(
                    "the concurrency group `{}` was full for {} ms",
                    tool.def.execution.concurrency_group,
                    patience.as_millis()
                ),
                retry_after: Duration::from_secs(1),
            }),
        }
    }

    fn group(&self, tenant: TenantId, name: &str, most: u32) -> Arc<Semaphore> {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        let group = groups
            .entry((tenant, name.to_owned()))
            .or_insert_with(|| Group { size: most, places: Arc::new(Semaphore::new(most as usize)) });
        // The tools of a group may name different numbers; the smallest binds.
        if most < group.size {
            group.places.forget_permits((group.size - most) as usize);
            group.size = most;
        }
        Arc::clone(&group.places)
    }
}
