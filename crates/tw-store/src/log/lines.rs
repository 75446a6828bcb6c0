//! Lines of the audit that wait for a transaction of the log, in turns.
//!
//! Refused calls cost their caller nothing, so one tenant can bring thousands of them at once. Each tenant therefore
//! has a queue of its own with a limit, and a share of each transaction: whoever brings more waits behind its own
//! lines, not in front of other tenants' calls.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tw_model::{TenantId, Timestamp};

use super::entry::{Appended, Audit, Item, Rejected};

/// How many lines of one tenant wait at the most, or are being written. Whoever brings another waits for a place.
const TENANT_MAX: usize = 256;
/// How many lines of one tenant share a transaction.
const TENANT_SHARE: usize = 32;
/// How many lines of all tenants do.
const SHARE: usize = 256;

/// A line on its way, with the place in its tenant's queue that it holds until it is answered.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) item: Item,
    pub(super) answer: oneshot::Sender<Result<Appended, Rejected>>,
    pub(super) place: OwnedSemaphorePermit,
}

#[derive(Debug, Default)]
pub(super) struct Lines(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    /// Tenants that have lines, each once, the next one first.
    turns: VecDeque<TenantId>,
    tenants: HashMap<TenantId, Queue>,
    is_closed: bool,
}

#[derive(Debug)]
struct Queue {
    lines: VecDeque<Line>,
    places: Arc<Semaphore>,
}

impl Default for Queue {
    fn default() -> Self {
        Self { lines: VecDeque::new(), places: Arc::new(Semaphore::new(TENANT_MAX)) }
    }
}

impl Lines {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a line into its tenant's queue as soon as there is a place. Then it is written, also when nobody waits for
    /// the answer any more. `nudge` is called when there was no line before.
    pub(super) async fn add(
        &self,
        tenant: TenantId,
        audit: Box<Audit>,
        nudge: impl FnOnce(),
    ) -> Result<oneshot::Receiver<Result<Appended, Rejected>>, Rejected> {
        let places = Arc::clone(&self.lock().tenants.entry(tenant).or_default().places);
        let place = places.acquire_owned().await.map_err(|_| Rejected::Closed)?;
        let (answer, answered) = oneshot::channel();
        let item = Item::Line { tenant, at: Timestamp::now(), audit };
        let mut waiting = self.lock();
        if waiting.is_closed {
            return Err(Rejected::Closed);
        }
        let was_empty = waiting.turns.is_empty();
        let queue = waiting.tenants.entry(tenant).or_default();
        queue.lines.push_back(Line { item, answer, place });
        if queue.lines.len() == 1 {
            waiting.turns.push_back(tenant);
        }
        drop(waiting);
        if was_empty {
            nudge();
        }
        Ok(answered)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().turns.is_empty()
    }

    /// What goes into the next transaction: a line of each tenant in turn, again and again, up to its share.
    pub(super) fn take(&self) -> Vec<Line> {
        let mut waiting = self.lock();
        let waiting = &mut *waiting;
        let mut taken = Vec::new();
        let mut shares: HashMap<TenantId, usize> = HashMap::new();
        let mut served = VecDeque::new();
        while taken.len() < SHARE {
            let Some(tenant) = waiting.turns.pop_front() else { break };
            let Some(queue) = waiting.tenants.get_mut(&tenant) else { continue };
            taken.extend(queue.lines.pop_front());
            let share = shares.entry(tenant).or_default();
            *share += 1;
            match queue.lines.is_empty() {
                true => {}
                false if *share < TENANT_SHARE => waiting.turns.push_back(tenant),
                false => served.push_back(tenant),
            }
        }
        waiting.turns.append(&mut served);
        // Whoever waits for a place, or holds one, still counts on it.
        let is_used = |queue: &Queue| !queue.lines.is_empty() || 1 < Arc::strong_count(&queue.places);
        waiting.tenants.retain(|_, queue| is_used(queue));
        taken
    }

    /// Takes no more lines. Those that wait are still to be taken.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.is_closed = true;
        for queue in waiting.tenants.values() {
            queue.places.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit_line::{By, NewAudit};

    fn audit() -> Box<Audit> {
        let what = NewAudit::change("call.refused", "tool:echo".to_owned(), None, None);
        Box::new(Audit { by: By::operator(), what })
    }

    async fn bring(lines: &Lines, tenant: TenantId, count: usize) {
        for _ in 0..count {
            lines.add(tenant, audit(), || {}).await.unwrap();
        }
    }

    fn of(taken: &[Line], tenant: TenantId) -> usize {
        taken.iter().filter(|line| line.item.tenant() == tenant).count()
    }

    #[tokio::test]
    async fn flood_of_one_tenant_leaves_room_for_the_others() {
        let (loud, quiet, lines) = (TenantId::new(), TenantId::new(), Lines::default());
        bring(&lines, loud, TENANT_MAX).await;
        bring(&lines, quiet, 2).await;

        let taken = lines.take();

        assert_eq!((of(&taken, loud), of(&taken, quiet)), (TENANT_SHARE, 2));
        assert!(!lines.is_empty());
    }

    #[tokio::test]
    async fn tenants_take_turns_where_a_transaction_has_no_room_for_all() {
        let lines = Lines::default();
        let tenants: Vec<_> = (0..SHARE / 2).map(|_| TenantId::new()).collect();
        for tenant in &tenants {
            bring(&lines, *tenant, 3).await;
        }

        let first = lines.take();
        let second = lines.take();

        assert!(tenants.iter().all(|tenant| of(&first, *tenant) == 2), "everybody had two turns");
        assert!(tenants.iter().all(|tenant| of(&second, *tenant) == 1), "and the last comes next");
        assert!(lines.is_empty());
    }

    #[tokio::test]
    async fn line_beyond_the_limit_of_its_tenant_waits_for_a_place() {
        let (tenant, lines) = (TenantId::new(), Lines::default());
        bring(&lines, tenant, TENANT_MAX).await;
        let mut next = Box::pin(lines.add(tenant, audit(), || {}));
        assert!(futures::poll!(&mut next).is_pending());
        bring(&lines, TenantId::new(), 1).await;

        drop(lines.take());

        assert!(futures::poll!(&mut next).is_ready());
    }

    #[tokio::test]
    async fn closed_queue_refuses_new_lines_and_gives_out_those_it_has() {
        let (tenant, lines) = (TenantId::new(), Lines::default());
        bring(&lines, tenant, 1).await;

        lines.close();

        for tenant in [tenant, TenantId::new()] {
            assert!(matches!(lines.add(tenant, audit(), || {}).await, Err(Rejected::Closed)));
        }
        assert_eq!(lines.take().len(), 1);
        assert!(lines.take().is_empty());
    }
}
