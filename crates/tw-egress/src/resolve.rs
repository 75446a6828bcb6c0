//! From names to addresses.
//!
//! The answer goes to the guard and from there to the socket; nothing asks a second time, so a name
//! cannot mean one thing when it is checked and another when it is connected.

use std::{
    fmt, io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

use crate::error::Obstacle;

/// Finds the addresses of a name.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// How many names may be looked up at once. The system's resolver blocks a thread for as long as a
/// foreign name server likes, and a caller who has gone away does not free it.
const LOOKUPS_MAX: usize = 256;
/// How many of them one lane may have, so that slow names of one tenant do not stop another's calls.
const LOOKUPS_PER_LANE: usize = 16;
/// How many look-ups of one lane may wait and be under way together.
const LANE_MAX: usize = 256;

/// A resolver, and how much of it is free: in all, and for one lane.
#[derive(Clone, Debug)]
pub(crate) struct Lookups {
    resolver: Arc<dyn Resolve>,
    all: Arc<Semaphore>,
    lane: Arc<Lane>,
}

#[derive(Debug)]
struct Lane {
    seats: Arc<Semaphore>,
    /// Look-ups that wait or are under way.
    lookups: AtomicUsize,
}

impl Lane {
    fn new() -> Arc<Self> {
        let seats = Arc::new(Semaphore::new(LOOKUPS_PER_LANE));
        Arc::new(Self { seats, lookups: AtomicUsize::new(0) })
    }

    fn enter(self: &Arc<Self>) -> Result<InLane, Obstacle> {
        let place = InLane(Arc::clone(self));
        let before = self.lookups.fetch_add(1, Ordering::Relaxed);
        if LANE_MAX <= before { Err(Obstacle::Crowded) } else { Ok(place) }
    }
}

/// One look-up in its lane.
struct InLane(Arc<Lane>);

impl Drop for InLane {
    fn drop(&mut self) {
        self.0.lookups.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Lookups {
    pub(crate) fn new(resolver: Arc<dyn Resolve>) -> Self {
        Self { resolver, all: Arc::new(Semaphore::new(LOOKUPS_MAX)), lane: Lane::new() }
    }

    /// The same resolver, with a lane of its own.
    pub(crate) fn apart(&self) -> Self {
        Self { lane: Lane::new(), ..self.clone() }
    }

    /// The addresses of a name; none where nobody knows it.
    ///
    /// A look-up keeps its seats until it is over, also when nobody waits for it any more: the thread that it
    /// blocks is not free either.
    pub(crate) async fn find(&self, name: &str) -> Result<Vec<IpAddr>, Obstacle> {
        let place = self.lane.enter()?;
        let closed = |_| Obstacle::NoAddress;
        let own = Arc::clone(&self.lane.seats).acquire_owned().await.map_err(closed)?;
        let seat = Arc::clone(&self.all).acquire_owned().await.map_err(closed)?;
        let (resolver, name) = (Arc::clone(&self.resolver), name.to_owned());
        let lookup = tokio::spawn(async move {
            let _held = (place, own, seat);
            resolver.resolve(&name).await
        });
        Ok(lookup.await.map_err(io::Error::other).flatten().unwrap_or_default())
    }
}

/// The resolver of the system, with its hosts file and its caches.
#[derive(Debug)]
pub(crate) struct System;

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let name = name.to_owned();
        let lookup = move || Ok((name.as_str(), 0).to_socket_addrs()?.map(|found| found.ip()).collect());
        Box::pin(async move { tokio::task::spawn_blocking(lookup).await.map_err(io::Error::other)? })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    /// Answers for names that are not slow, and for those never.
    #[derive(Debug, Default)]
    struct Slow {
        asked: AtomicUsize,
    }

    impl Resolve for Slow {
        fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if name.starts_with("slow") {
                return Box::pin(std::future::pending());
            }
            Box::pin(std::future::ready(Ok(vec![IpAddr::from([192, 0, 2, 1])])))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn slow_names_of_one_lane_do_not_stop_another() {
        let resolver = Arc::new(Slow::default());
        let lookups = Lookups::new(resolver.clone());
        let (slow, other) = (lookups.apart(), lookups.apart());
        let names = (0..150).map(|name| format!("slow-{name}.test"));
        let asked: Vec<_> = names
            .map(|name| {
                let slow = slow.clone();
                tokio::spawn(async move { slow.find(&name).await })
            })
            .collect();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(resolver.asked.load(Ordering::SeqCst), LOOKUPS_PER_LANE);
        assert_eq!(other.find("fast.test").await.unwrap().len(), 1);

        // Who has gone away makes no room: its look-up still blocks a thread.
        asked.iter().for_each(tokio::task::JoinHandle::abort);
        let waited = timeout(Duration::from_secs(60), slow.find("fast.test")).await;
        assert!(waited.is_err(), "{waited:?}");
        assert_eq!(other.find("fast.test").await.unwrap().len(), 1);
    }

    #[tokio::test]
    async fn queue_of_a_lane_has_an_end() {
        let lookups = Lookups::new(Arc::new(Slow::default()));
        let lane = lookups.apart();
        let held: Vec<_> = (0..LANE_MAX).map(|_| lane.lane.enter().unwrap()).collect();
        assert_eq!(lane.find("fast.test").await, Err(Obstacle::Crowded));
        assert!(lookups.apart().find("fast.test").await.is_ok());
        drop(held);
        assert!(lane.find("fast.test").await.is_ok());
    }
}
