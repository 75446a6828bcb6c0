//! From names to addresses.
//!
//! The answer goes to the guard and from there to the socket; nothing asks a second time, so a name
//! cannot mean one thing when it is checked and another when it is connected.

use std::{
    fmt, io,
    net::{IpAddr, ToSocketAddrs as _},
    sync::Arc,
};

use futures::future::BoxFuture;
use tokio::sync::Semaphore;

/// Finds the addresses of a name.
pub trait Resolve: fmt::Debug + Send + Sync + 'static {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>>;
}

/// How many names may be looked up at once. The system's resolver blocks a thread for as long as a
/// foreign name server likes, and a caller who has gone away does not free it.
const LOOKUPS_MAX: usize = 64;

/// The resolver of the system, with its hosts file and its caches.
#[derive(Debug)]
pub(crate) struct System {
    lookups: Arc<Semaphore>,
}

impl Default for System {
    fn default() -> Self {
        Self { lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }
}

impl Resolve for System {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let lookups = Arc::clone(&self.lookups);
        Box::pin(async move {
            let permit = lookups.acquire_owned().await.map_err(io::Error::other)?;
            let name = name.to_owned();
            let lookup = move || {
                let found = (name.as_str(), 0).to_socket_addrs()?.map(|found| found.ip()).collect();
                drop(permit);
                Ok(found)
            };
            tokio::task::spawn_blocking(lookup).await.map_err(io::Error::other)?
        })
    }
}
