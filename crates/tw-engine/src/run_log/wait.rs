//! How anybody waits for something to change: by hints, and by looking now and then behind the hints.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tw_exec::BoxFuture;
use tw_store::Run;

use super::RunLog;

/// How often a waiter looks by itself.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Waits for a hint that it is worth to look again, `every` at the most and not beyond `until`.
pub(crate) async fn look_again<T>(hint: impl Future<Output = T>, every: Duration, until: Option<Instant>) {
    let look = Instant::now() + every;
    tokio::select! {
        _ = hint => {}
        () = sleep_until(until.map_or(look, |until| until.min(look))) => {}
    }
}

/// Says of a run that it need not be waited for any longer.
pub(crate) type Enough<'a> = &'a (dyn Fn(Run) -> BoxFuture<'a, bool> + Send + Sync);

impl RunLog {
    /// Waits until the run has ended, or the wait is over, or this replica is about to stop and the run is not under
    /// way on it. Whatever goes wrong while looking leaves the answer at what is known: the run itself is safe.
    pub(crate) async fn wait_for(&self, open: Run, wait: Duration) -> Run {
        self.wait_until(open, wait, &|_| Box::pin(std::future::ready(false))).await
    }

    /// The same, or until `enough` is true of the run.
    pub(crate) async fn wait_until<'a>(&self, open: Run, wait: Duration, enough: Enough<'a>) -> Run {
        let scope = self.store.tenant(open.tenant);
        let watch = self.store.wake().watch(open.session);
        let until = Instant::now() + wait;
        let mut newest = open;
        loop {
            let changed = watch.changed();
            // Asked before looking: a run that ends in between is seen to have ended.
            let leaving = self.flights.is_closed() && !self.flights.holds(newest.id);
            match scope.run(newest.id).await {
                Ok(Some(run)) => newest = run,
                Ok(None) => {}
                Err(error) => tracing::debug!(%error, "a waiter could not look at its run"),
            }
            if !newest.status.is_open() || leaving || until <= Instant::now() || enough(newest.clone()).await
            {
                return newest;
            }
            look_again(changed, LOOK_EVERY, Some(until)).await;
        }
    }
}
