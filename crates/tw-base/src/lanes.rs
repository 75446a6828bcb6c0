//! A few pieces of work at once for each tenant, so that no tenant waits for another.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tw_model::TenantId;

/// From how many tenants on those are forgotten that have nothing under way.
const KEPT_MAX: usize = 1024;

/// A lane for each tenant. What a tenant asks for beyond its lane waits behind its own work. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Lanes {
    width: usize,
    lanes: Arc<Mutex<HashMap<TenantId, Arc<Semaphore>>>>,
}

impl Lanes {
    /// Lanes in which so many pieces of work are under way at once.
    #[must_use]
    pub fn new(width: usize) -> Self {
        Self { width, lanes: Arc::default() }
    }

    /// Lanes for work that keeps a processor busy: a tenant gets half of the processors, and one at least.
    #[must_use]
    pub fn for_processors() -> Self {
        Self::new((processors() / 2).max(1))
    }

    /// Waits for a place in the lane of a tenant. It is given back when dropped.
    pub async fn enter(&self, tenant: TenantId) -> OwnedSemaphorePermit {
        let lane = self.lane(tenant, usize::MAX).expect("a lane without a bound is never full");
        lane.acquire_owned().await.expect("a lane is never closed")
    }

    /// As [`Self::enter`], or nothing where the tenant has `most` pieces of work under way and waiting already. For
    /// work that holds something while it waits.
    pub async fn enter_if_short(&self, tenant: TenantId, most: usize) -> Option<OwnedSemaphorePermit> {
        let lane = self.lane(tenant, most)?;
        Some(lane.acquire_owned().await.expect("a lane is never closed"))
    }

    fn lane(&self, tenant: TenantId, most: usize) -> Option<Arc<Semaphore>> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if KEPT_MAX <= lanes.len() {
            lanes.retain(|_, lane| 0 < pieces_of(lane));
        }
        let lane = lanes.entry(tenant).or_insert_with(|| Arc::new(Semaphore::new(self.width)));
        (pieces_of(lane) < most).then(|| Arc::clone(lane))
    }
}

/// Pieces of work in a lane. Whoever waits in it, or has a place in it, holds it beside the map; and it is taken from
/// the map under the lock alone, so that it cannot grow longer while somebody counts.
fn pieces_of(lane: &Arc<Semaphore>) -> usize {
    Arc::strong_count(lane) - 1
}

/// How many threads can be busy at once.
#[must_use]
pub fn processors() -> usize {
    thread::available_parallelism().map_or(2, usize::from)
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn tenant_waits_for_its_own_work_and_for_nobody_elses() {
        let (lanes, busy, quiet) = (Lanes::new(1), TenantId::new(), TenantId::new());
        let first = lanes.enter(busy).await;

        assert!(lanes.enter(busy).now_or_never().is_none());
        assert!(lanes.enter(quiet).now_or_never().is_some());
        drop(first);
        assert!(lanes.enter(busy).now_or_never().is_some());
    }

    #[tokio::test]
    async fn lane_takes_no_more_than_its_bound_and_again_once_somebody_leaves() {
        let (lanes, busy, quiet) = (Lanes::new(1), TenantId::new(), TenantId::new());
        let first = lanes.enter_if_short(busy, 2).await.unwrap();
        let mut second = Box::pin(lanes.enter_if_short(busy, 2));

        assert!(second.as_mut().now_or_never().is_none(), "the second waits");
        assert!(lanes.enter_if_short(busy, 2).await.is_none(), "there is no room for a third");
        assert!(lanes.enter_if_short(quiet, 2).await.is_some());
        drop(second);
        let second = lanes.enter_if_short(busy, 2);
        drop(first);
        assert!(second.await.is_some(), "who hangs up makes room");
    }

    #[tokio::test]
    async fn lane_with_work_in_it_is_not_forgotten() {
        let (lanes, busy) = (Lanes::new(1), TenantId::new());
        let _first = lanes.enter(busy).await;
        for _ in 0..2 * KEPT_MAX {
            drop(lanes.enter(TenantId::new()).await);
        }

        assert!(lanes.enter(busy).now_or_never().is_none());
        assert!(lanes.lanes.lock().unwrap().len() <= KEPT_MAX);
    }
}
