//! Rate limits. Every call counts once, at the door, whatever becomes of it.

use std::num::NonZeroU32;

use governor::{Quota, RateLimiter, clock::Clock, clock::DefaultClock, state::keyed::DashMapStateStore};
use tw_base::{Error, Result};
use tw_model::{Caller, ToolId};

/// Calls per minute; `None` for no limit, which is the default.
#[derive(Clone, Copy, Debug, Default, serde::Deserialize, serde::Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct RateLimits {
    pub per_tenant: Option<NonZeroU32>,
    pub per_key: Option<NonZeroU32>,
    pub per_tool: Option<NonZeroU32>,
}

type Limiter = RateLimiter<String, DashMapStateStore<String>, DefaultClock>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Per {
    Tenant,
    Key,
    Tool,
}

impl Per {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Tenant => "tenant",
            Self::Key => "key",
            Self::Tool => "tool",
        }
    }
}

#[derive(Debug)]
struct Limit {
    per: Per,
    per_minute: NonZeroU32,
    limiter: Limiter,
}

/// The limits of this replica.
#[derive(Debug)]
pub(crate) struct Limits(Vec<Limit>);

impl Limits {
    pub(crate) fn new(limits: RateLimits) -> Self {
        let limit = |per, per_minute: Option<NonZeroU32>| {
            per_minute.map(|per_minute| {
                let limiter = RateLimiter::dashmap(Quota::per_minute(per_minute));
                Limit { per, per_minute, limiter }
            })
        };
        // A call that is over a limit has used up those before it. The tenant's comes last: one key or one tool that is
        // called too often would otherwise leave nothing to all others.
        let limits = [
            limit(Per::Key, limits.per_key),
            limit(Per::Tool, limits.per_tool),
            limit(Per::Tenant, limits.per_tenant),
        ];
        Self(limits.into_iter().flatten().collect())
    }

    /// Counts one call. A name that no tool has counts for its tenant and its key.
    pub(crate) fn count(&self, caller: &Caller, tool: Option<ToolId>) -> Result<()> {
        for limit in &self.0 {
            let key = match (limit.per, tool) {
                (Per::Tenant, _) => caller.tenant.to_string(),
                (Per::Key, _) => caller.key.map_or_else(|| caller.principal.label(), |key| key.to_string()),
                (Per::Tool, Some(tool)) => format!("{}/{tool}", caller.tenant),
                (Per::Tool, None) => continue,
            };
            if let Err(until) = limit.limiter.check_key(&key) {
                let retry_after = until.wait_time_from(DefaultClock::default().now());
                let (limit, per_minute) = (limit.per.as_str(), limit.per_minute);
                return Err(Error::OverLimit { limit, per_minute, retry_after });
            }
        }
        Ok(())
    }
}
