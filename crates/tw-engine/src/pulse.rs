//! Background loops that are begun again where they die.

use std::{
    collections::BTreeMap,
    panic::AssertUnwindSafe,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::FutureExt;
use tokio::time::Instant;

/// How long a loop that died rests before it is begun again: one that dies at once must not take a core.
const BEGIN_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// For how long after a death the server does not call itself ready.
const UNWELL_FOR: Duration = Duration::from_secs(30);

/// When each background loop last died.
///
/// A loop never ends by itself: one that does has a bug. It is begun again, because a server that has met one bad
/// row can still do everything else, and its calls under way are worth more than a clean restart. It is told to
/// the log, the metrics and `/readyz`, so that a loop which dies over and over takes the server out of service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pulse {
    deaths: Arc<Mutex<BTreeMap<&'static str, Instant>>>,
}

impl Pulse {
    pub(crate) async fn keep_up<F: Future<Output = ()>>(self, name: &'static str, begin: impl Fn() -> F) {
        loop {
            let ended = AssertUnwindSafe(begin()).catch_unwind().await;
            let how = if ended.is_ok() { "ended" } else { "panicked" };
            tracing::error!(name, how, "a background loop died; it is begun again");
            self.died(name);
            tokio::time::sleep(BEGIN_AGAIN_AFTER).await;
        }
    }

    /// Notes a death: here of a loop, or of a task of the store, which begins its own again.
    pub(crate) fn died(&self, name: &'static str) {
        metrics::counter!("toolwright_background_deaths_total", "loop" => name).increment(1);
        self.deaths.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Instant::now());
    }

    /// The loop that died a moment ago, if one did.
    pub(crate) fn unwell(&self, now: Instant) -> Option<&'static str> {
        let deaths = self.deaths.lock().unwrap_or_else(PoisonError::into_inner);
        deaths.iter().find(|(_, died)| now.duration_since(**died) < UNWELL_FOR).map(|(name, _)| *name)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn loop_that_dies_is_begun_again_and_told_for_a_while() {
        let (pulse, begun) = (Pulse::default(), AtomicU32::new(0));
        let work = || async {
            match begun.fetch_add(1, Ordering::Relaxed) {
                0 => panic!("a bad row"),
                1 => {}
                _ => std::future::pending().await,
            }
        };
        assert_eq!(pulse.unwell(Instant::now()), None);
        let ran = tokio::time::timeout(Duration::from_secs(5), pulse.clone().keep_up("sweep", work)).await;
        assert!(ran.is_err(), "a loop never ends");
        assert_eq!(begun.load(Ordering::Relaxed), 3);
        assert_eq!(pulse.unwell(Instant::now()), Some("sweep"));
        assert_eq!(pulse.unwell(Instant::now() + UNWELL_FOR), None);
    }
}
