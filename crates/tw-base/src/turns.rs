//! Turns at the door, so that many cheap requests of one do not hold up the few of another.
//!
//! What is ready to go on is served in the order in which it got ready. Whoever keeps a hundred requests under way would
//! therefore have a hundred pieces of work before everybody else's. While several ask, each has a few requests at work,
//! and its others wait behind those. A request that has to wait itself, for the disk or for a tool, gives its turn back
//! and takes another one to go on: turns bound what wants a processor, not what is under way.

use std::{
    collections::HashMap,
    future::poll_fn,
    net::IpAddr,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    time::{Duration, Instant},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;
use tw_model::TenantId;

use crate::processors;

/// How long somebody who has asked counts as being there. Who is alone needs no turns.
const THERE_FOR: Duration = Duration::from_secs(1);
/// From how many lanes on those are forgotten that nobody is in.
const KEPT_MAX: usize = 1024;

/// Who asks: a tenant, or somebody who has not said who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asker {
    Tenant(TenantId),
    Address(IpAddr),
}

/// The turns of all who ask. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Turns {
    width: usize,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    lanes: HashMap<Asker, Arc<Semaphore>>,
    /// Who asked last, and when it last was somebody else than before.
    last: Option<Asker>,
    changed: Option<Instant>,
}

/// The turn of one request.
#[derive(Clone, Debug)]
pub struct Turn {
    turns: Turns,
    /// Where the request comes from, for as long as nobody knows who asks.
    stranger: Option<IpAddr>,
    phase: Arc<Mutex<Phase>>,
}

#[derive(Debug, Default)]
enum Phase {
    #[default]
    Before,
    Holding(Arc<Semaphore>, #[expect(dead_code, reason = "given back when dropped")] OwnedSemaphorePermit),
    /// It has waited, and needs another turn to go on.
    Between(PollSemaphore),
    Over,
}

impl Phase {
    /// Takes another turn where it needs one.
    fn poll_turn(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if let Self::Between(lane) = self {
            let held = ready!(lane.poll_acquire(context)).expect("a lane is never closed");
            *self = Self::Holding(lane.clone_inner(), held);
        }
        Poll::Ready(())
    }

    fn has_to_wait(&mut self) {
        if let Self::Holding(lane, _) = self {
            *self = Self::Between(PollSemaphore::new(Arc::clone(lane)));
        }
    }
}

impl Default for Turns {
    /// Each has half of the processors, and one at least.
    fn default() -> Self {
        Self { width: (processors() / 2).max(1), state: Arc::default() }
    }
}

impl Turns {
    /// For a request that has just come.
    #[must_use]
    pub fn begin(&self) -> Turn {
        Turn { turns: self.clone(), stranger: None, phase: Arc::default() }
    }

    /// For a request that has just come from an address.
    #[must_use]
    pub fn begin_from(&self, address: IpAddr) -> Turn {
        Turn { stranger: Some(address), ..self.begin() }
    }

    /// Where the asker has to wait; nowhere while nobody else is there.
    fn lane(&self, asker: Asker, now: Instant) -> Option<Arc<Semaphore>> {
        let mut state = lock(&self.state);
        let before = state.last.replace(asker);
        if before.is_some_and(|before| before != asker) {
            state.changed = Some(now);
        }
        state.changed.filter(|changed| now.duration_since(*changed) < THERE_FOR)?;
        if KEPT_MAX <= state.lanes.len() {
            // Whoever waits in a lane, or has a place in it, holds it too.
            state.lanes.retain(|_, lane| 1 < Arc::strong_count(lane));
        }
        let lane = state.lanes.entry(asker).or_insert_with(|| Arc::new(Semaphore::new(self.width)));
        Some(Arc::clone(lane))
    }
}

impl Turn {
    /// Waits for the asker's turn, unless the request has had one.
    pub async fn take(&self, asker: Asker) {
        if !matches!(*lock(&self.phase), Phase::Before) {
            return;
        }
        let Some(lane) = self.turns.lane(asker, Instant::now()) else { return };
        let held = Arc::clone(&lane).acquire_owned().await.expect("a lane is never closed");
        *lock(&self.phase) = Phase::Holding(lane, held);
    }

    /// Waits for the turn of the address that the request comes from, for work that is done before anybody knows who
    /// asks.
    pub async fn take_as_stranger(&self) {
        if let Some(address) = self.stranger {
            self.take(Asker::Address(address)).await;
        }
    }

    /// Waits for the turn of a tenant that has shown who it is. One that was taken as a stranger is given back.
    pub async fn take_as(&self, tenant: TenantId) {
        {
            let mut phase = lock(&self.phase);
            if !matches!(*phase, Phase::Over) {
                *phase = Phase::Before;
            }
        }
        self.take(Asker::Tenant(tenant)).await;
    }

    /// Gives the turn back, for a request of several parts. Returns what the parts take theirs by.
    #[must_use]
    pub fn part(self) -> Turns {
        *lock(&self.phase) = Phase::Over;
        self.turns
    }

    /// Does the work of the request, and gives the turn back when that is done, and while it has to wait.
    pub async fn hold<T>(&self, work: impl Future<Output = T>) -> T {
        let _over = Over(self);
        let mut work = pin!(work);
        poll_fn(|context| {
            ready!(lock(&self.phase).poll_turn(context));
            let polled = work.as_mut().poll(context);
            if polled.is_pending() {
                lock(&self.phase).has_to_wait();
            }
            polled
        })
        .await
    }
}

/// Gives a turn back, also of a request whose caller has hung up.
struct Over<'t>(&'t Turn);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        *lock(&self.0.phase) = Phase::Over;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, future::BoxFuture};
    use tokio::sync::oneshot;

    use super::*;

    fn turns() -> Turns {
        Turns { width: 1, ..Turns::default() }
    }

    async fn request(turns: &Turns, asker: Asker, work: impl Future<Output = ()>) {
        let turn = turns.begin();
        turn.hold(async {
            turn.take(asker).await;
            turn.take(asker).await;
            work.await;
        })
        .await;
    }

    fn tenant() -> Asker {
        Asker::Tenant(TenantId::new())
    }

    #[tokio::test]
    async fn who_is_alone_waits_for_no_turn() {
        let (turns, alone) = (turns(), tenant());
        let mut slow = Box::pin(request(&turns, alone, std::future::pending()));
        assert!(slow.as_mut().now_or_never().is_none());
        assert!(request(&turns, alone, async {}).now_or_never().is_some());
    }

    #[tokio::test]
    async fn requests_of_one_that_begin_wait_for_each_other_and_for_nobody_elses() {
        let (turns, busy, quiet) = (turns(), tenant(), tenant());
        request(&turns, quiet, async {}).await;
        let mut second = Box::pin(request(&turns, busy, async {}));
        let first = request(&turns, busy, async {
            assert!(second.as_mut().now_or_never().is_none(), "the first has the turn");
            assert!(request(&turns, quiet, async {}).now_or_never().is_some());
        });
        first.now_or_never().unwrap();
        assert!(second.now_or_never().is_some(), "the first is done");
    }

    #[tokio::test]
    async fn request_that_has_to_wait_gives_its_turn_back() {
        let (turns, busy, quiet) = (turns(), tenant(), tenant());
        request(&turns, quiet, async {}).await;
        let mut slow = Box::pin(request(&turns, busy, std::future::pending()));
        assert!(slow.as_mut().now_or_never().is_none());
        assert!(request(&turns, busy, async {}).now_or_never().is_some());
    }

    #[tokio::test]
    async fn stranger_waits_behind_its_address_until_it_is_known_who_it_is() {
        let (turns, quiet, known) = (turns(), tenant(), TenantId::new());
        let address = IpAddr::from([192, 0, 2, 1]);
        let from = |tenant: Option<TenantId>, work: BoxFuture<'static, ()>| {
            let turn = turns.begin_from(address);
            async move {
                let begun = async {
                    turn.take_as_stranger().await;
                    if let Some(tenant) = tenant {
                        turn.take_as(tenant).await;
                    }
                    work.await;
                };
                turn.hold(begun).await;
            }
            .boxed()
        };
        request(&turns, quiet, async {}).await;
        let lane = turns.lane(Asker::Address(address), Instant::now()).unwrap();
        let at_work = lane.try_acquire_owned().unwrap();
        let mut other = from(None, async {}.boxed());
        assert!(other.as_mut().now_or_never().is_none(), "another of this address is at work");
        assert!(request(&turns, quiet, async {}).now_or_never().is_some());
        drop(at_work);
        assert!(other.now_or_never().is_some());

        let lane = turns.lane(Asker::Address(address), Instant::now()).unwrap();
        let is_free = async move { assert_eq!(lane.available_permits(), 1) };
        from(Some(known), is_free.boxed()).now_or_never().expect("nobody else of this tenant is at work");
    }

    #[tokio::test]
    async fn request_that_has_waited_takes_another_turn_to_go_on() {
        let (turns, busy, quiet) = (turns(), tenant(), tenant());
        request(&turns, quiet, async {}).await;
        let (answer, answered) = oneshot::channel::<()>();
        let mut waits = Box::pin(request(&turns, busy, async { answered.await.unwrap() }));
        assert!(waits.as_mut().now_or_never().is_none());
        let other = request(&turns, busy, async {
            answer.send(()).unwrap();
            assert!(waits.as_mut().now_or_never().is_none(), "the other has the turn");
        });
        other.now_or_never().unwrap();
        assert!(waits.now_or_never().is_some(), "the other is done");
    }
}
