//! A slot in the tool's concurrency group.

use std::{mem, time::Duration};

use tokio::time::Instant;
use tw_base::{Error, Result};
use tw_model::{Caller, TenantId, Timestamp};
use tw_registry::Tool;
use tw_store::{Store, TenantScope};

use super::groups::{Groups, Held};
use crate::flights::DEAD_AFTER;

/// How soon a full group is looked at again.
const PAUSE_FIRST: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_millis(250);
/// How long after the end of its time a run may still hold its slot.
const HOLD_MORE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub(crate) struct Slots {
    store: Store,
    groups: Groups,
}

/// A slot in the tool's concurrency group, given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    _here: Option<Held>,
    _everywhere: Option<SharedSlot>,
}

impl Slot {
    /// For calls that need no slot of their own.
    pub(crate) fn none() -> Self {
        Self { _here: None, _everywhere: None }
    }
}

/// A slot among all servers, given back when dropped.
#[derive(Debug)]
struct SharedSlot {
    scope: TenantScope,
    group: String,
    number: i64,
    until: Timestamp,
}

impl Drop for SharedSlot {
    fn drop(&mut self) {
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (scope, group) = (self.scope.clone(), mem::take(&mut self.group));
        let (number, until) = (self.number, self.until);
        // Where this fails, the slot is free again when its time is over.
        runtime.spawn(async move {
            if let Err(error) = scope.leave_slot(&group, number, until).await {
                tracing::warn!(%error, group, "a slot in a concurrency group was not given back");
            }
        });
    }
}

impl Slots {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, groups: Groups::default() }
    }

    /// Waits for a slot, `patience` at the most.
    pub(crate) async fn take(&self, caller: &Caller, tool: &Tool, patience: Duration) -> Result<Slot> {
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
            let slot = self.take_everywhere(caller.tenant, name, most, hold, give_up).await?;
            Some(slot.ok_or_else(full)?)
        } else {
            None
        };
        Ok(Slot { _here: Some(here), _everywhere: everywhere })
    }

    /// A slot among all servers, once one is free.
    async fn take_everywhere(
        &self,
        tenant: TenantId,
        group: &str,
        size: u32,
        hold: Duration,
        give_up: Instant,
    ) -> Result<Option<SharedSlot>> {
        let scope = self.store.tenant(tenant);
        let mut pause = PAUSE_FIRST;
        loop {
            let now = self.store.now().await.map_err(Error::store("asking for the time"))?;
            let (until, since) = (now.plus(hold), now.minus(DEAD_AFTER));
            let (scope, group) = (scope.clone(), group.to_owned());
            // In a task of its own: a caller who hangs up meanwhile must not leave a slot taken.
            let taking = tokio::spawn(async move {
                let number = scope.take_slot(&group, size, until, now, since).await?;
                Ok(number.map(|number| SharedSlot { scope, group, number, until }))
            });
            let taken = taking.await.unwrap_or_else(|_| Ok(None));
            if let Some(slot) = taken.map_err(Error::store("taking a slot"))? {
                return Ok(Some(slot));
            }
            if give_up <= Instant::now() + pause {
                return Ok(None);
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }
}
