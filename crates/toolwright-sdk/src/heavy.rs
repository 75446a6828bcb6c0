//! Work whose cost an author or a caller chooses, off the threads that serve everybody.
//!
//! A template, a schema or a large input can keep a processor busy for seconds. On an async thread that stops
//! every tenant, so such work runs here: on few threads, and on fewer for one tenant than there are.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use serde_json::Value;
use tokio::{
    runtime::{Builder, Runtime},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::{AbortHandle, JoinHandle},
    time::{Instant, timeout_at},
};
use tw_model::{Code, TenantId, ToolFailure};

/// How many pieces of work one tenant may have, waiting and under way. What waits holds its input in memory.
const QUEUE_MAX: usize = 256;

/// The threads. They yield to the threads that serve everybody: on a machine whose processors are all busy, a call that
/// wakes up would otherwise wait until the system takes the processor from costly work, some milliseconds later.
static THREADS: LazyLock<Runtime> = LazyLock::new(|| {
    let mut threads = Builder::new_multi_thread();
    threads.worker_threads(1).thread_name("heavy").on_thread_start(yield_to_others);
    threads.build().expect("a process that runs can begin a thread")
});

/// Does work that keeps a processor busy, on a thread that yields to those that serve everybody. Who asks for it bounds
/// how much of it there is; what is done for a tenant takes a place in a [`HeavyPool`] instead.
pub fn spawn_yielding<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    THREADS.spawn_blocking(work)
}

/// On Linux a thread has a priority of its own. Elsewhere it would be that of the whole process, which stays as it is.
fn yield_to_others() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "threads for costly work have the priority of all others");
    }
}

/// As far below others as `nice` goes without being told.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Threads for costly work, shared fairly between tenants. Cheap to clone; clones share the threads.
///
/// One tenant never has all threads: what it has beyond its share waits behind its own work, and nobody else
/// waits for it.
#[derive(Clone)]
pub struct HeavyPool {
    inner: Arc<Shared>,
}

struct Shared {
    seats: Arc<Semaphore>,
    seats_per_tenant: usize,
    queue_max: usize,
    lanes: Mutex<HashMap<TenantId, Lane>>,
}

struct Lane {
    seats: Arc<Semaphore>,
    /// Pieces of work that wait or are under way. The last one takes the lane along.
    pieces: usize,
}

/// Why a piece of work gave nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Overload {
    #[error("this tenant has too much work of this kind waiting; try again in a moment")]
    Full,
    #[error("the work was not done within {after:?}")]
    Late { after: Duration },
    #[error("the work crashed; the server's log says why")]
    Crashed,
    #[error("the server is about to stop")]
    Stopping,
}

impl From<Overload> for ToolFailure {
    fn from(overload: Overload) -> Self {
        let code = match overload {
            Overload::Full => Code::RateLimited,
            Overload::Late { .. } => Code::Timeout,
            Overload::Crashed => Code::Internal,
            Overload::Stopping => Code::Cancelled,
        };
        Self::with_code(code, overload.to_string())
    }
}

/// Up to this size a value is read on the thread that serves others. It takes less than a millisecond.
pub const INLINE_BYTES_MAX: usize = 256 << 10;

/// About how large a value is, counted no further than [`INLINE_BYTES_MAX`]: `usize::MAX` for what is larger.
#[must_use]
pub fn bytes_of(value: &Value) -> usize {
    let mut left = INLINE_BYTES_MAX;
    if fits(value, &mut left) { INLINE_BYTES_MAX - left } else { usize::MAX }
}

fn fits(value: &Value, left: &mut usize) -> bool {
    // About what an item costs beside its text.
    const ITEM: usize = 16;
    let own = ITEM + value.as_str().map_or(0, str::len);
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, left)),
        Value::Object(members) => members.iter().all(|(name, member)| {
            *left = left.saturating_sub(name.len());
            fits(member, left)
        }),
        _ => true,
    }
}

impl HeavyPool {
    /// The pool of this process.
    #[must_use]
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<HeavyPool> = LazyLock::new(|| {
            let processors = thread::available_parallelism().map_or(2, usize::from);
            let seats = processors.clamp(2, 8);
            HeavyPool::new(seats, seats / 2)
        });
        &SHARED
    }

    /// A pool of so many threads, of which one tenant may use so many at once.
    #[must_use]
    pub fn new(seats: usize, seats_per_tenant: usize) -> Self {
        let inner = Shared {
            seats: Arc::new(Semaphore::new(seats.max(1))),
            seats_per_tenant: seats_per_tenant.max(1),
            queue_max: QUEUE_MAX,
            lanes: Mutex::new(HashMap::new()),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Does a piece of work for a tenant. `limit` bounds waiting and working together.
    ///
    /// Work that has begun cannot be stopped from outside, so it must have bounds of its own. When the limit
    /// has passed, or the caller is gone, it keeps its thread until it ends, and its outcome is thrown away.
    pub async fn run<T: Send + 'static>(
        &self,
        tenant: TenantId,
        limit: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Overload> {
        let late = |_| Overload::Late { after: limit };
        let end = Instant::now() + limit;
        let (place, lane) = self.enter(tenant)?;
        let seats = async {
            let own = lane.acquire_owned().await?;
            Ok((own, Arc::clone(&self.inner.seats).acquire_owned().await?))
        };
        let seats: Result<Seats, _> = timeout_at(end, seats).await.map_err(late)?;
        let seats = seats.map_err(|_: tokio::sync::AcquireError| Overload::Stopping)?;
        let span = tracing::Span::current();
        let mut task = spawn_yielding(move || {
            let _held = (seats, place);
            span.in_scope(work)
        });
        let _unqueue = Unqueue(task.abort_handle());
        let joined = timeout_at(end, &mut task).await.map_err(late)?;
        joined.map_err(|error| if error.is_panic() { Overload::Crashed } else { Overload::Stopping })
    }

    fn enter(&self, tenant: TenantId) -> Result<(InLane, Arc<Semaphore>), Overload> {
        let mut lanes = self.inner.lanes();
        let lane = lanes.entry(tenant).or_insert_with(|| Lane {
            seats: Arc::new(Semaphore::new(self.inner.seats_per_tenant)),
            pieces: 0,
        });
        if self.inner.queue_max <= lane.pieces {
            return Err(Overload::Full);
        }
        lane.pieces += 1;
        Ok((InLane { tenant, inner: Arc::clone(&self.inner) }, Arc::clone(&lane.seats)))
    }
}

type Seats = (OwnedSemaphorePermit, OwnedSemaphorePermit);

impl Shared {
    fn lanes(&self) -> MutexGuard<'_, HashMap<TenantId, Lane>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One piece of work in the lane of its tenant.
struct InLane {
    tenant: TenantId,
    inner: Arc<Shared>,
}

impl Drop for InLane {
    fn drop(&mut self) {
        let mut lanes = self.inner.lanes();
        let Some(lane) = lanes.get_mut(&self.tenant) else { return };
        lane.pieces -= 1;
        if lane.pieces == 0 {
            lanes.remove(&self.tenant);
        }
    }
}

/// Takes work that still waits for a thread out of the queue when its caller is gone.
struct Unqueue(AbortHandle);

impl Drop for Unqueue {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl fmt::Debug for HeavyPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeavyPool")
            .field("free", &self.inner.seats.available_permits())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use futures::future::join_all;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[tokio::test]
    async fn tenant_with_much_work_does_not_hold_up_another() {
        let pool = HeavyPool::new(2, 1);
        let (busy, other) = (TenantId::new(), TenantId::new());
        let (finish, may_finish) = mpsc::channel::<()>();
        let may_finish = Arc::new(Mutex::new(may_finish));
        let pieces = (0..8).map(|piece| {
            let may_finish = Arc::clone(&may_finish);
            pool.run(busy, PATIENCE, move || {
                may_finish.lock().unwrap().recv().unwrap();
                piece
            })
        });
        let other_is_served = async {
            for piece in 0..20 {
                assert_eq!(pool.run(other, PATIENCE, move || piece).await, Ok(piece));
            }
            (0..8).for_each(|_| finish.send(()).unwrap());
        };
        let (done, ()) = tokio::join!(join_all(pieces), other_is_served);
        assert_eq!(done, (0..8).map(Ok).collect::<Vec<_>>());
        assert!(pool.inner.lanes().is_empty(), "lanes go with their last piece of work");
    }

    #[tokio::test]
    async fn work_over_its_limit_is_given_up_and_keeps_its_thread_until_it_ends() {
        let pool = HeavyPool::new(2, 1);
        let tenant = TenantId::new();
        let (finish, may_finish) = mpsc::channel::<()>();
        let after = Duration::from_millis(20);
        let late = pool.run(tenant, after, move || may_finish.recv().unwrap()).await;
        assert_eq!(late, Err(Overload::Late { after }));
        assert_eq!(pool.inner.seats.available_permits(), 1);
        assert_eq!(pool.run(tenant, after, || ()).await, Err(Overload::Late { after }), "it still waits");
        finish.send(()).unwrap();
        assert_eq!(pool.run(tenant, PATIENCE, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn queue_of_a_tenant_has_an_end() {
        let mut pool = HeavyPool::new(2, 1);
        Arc::get_mut(&mut pool.inner).unwrap().queue_max = 2;
        let (busy, other) = (TenantId::new(), TenantId::new());
        let waiting = [pool.enter(busy).unwrap(), pool.enter(busy).unwrap()];
        assert_eq!(pool.run(busy, PATIENCE, || ()).await, Err(Overload::Full));
        assert_eq!(pool.run(other, PATIENCE, || ()).await, Ok(()));
        drop(waiting);
        assert_eq!(pool.run(busy, PATIENCE, || ()).await, Ok(()));
    }

    #[tokio::test]
    async fn crash_stays_with_its_work() {
        let pool = HeavyPool::new(1, 1);
        let crashed = pool.run(TenantId::new(), PATIENCE, || panic!("the password is 1234")).await;
        assert_eq!(crashed, Err::<(), _>(Overload::Crashed));
        assert_eq!(pool.run(TenantId::new(), PATIENCE, || 1).await, Ok(1));
    }
}
