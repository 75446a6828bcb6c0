//! Servers that may list something else than before are asked sooner.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{runtime::Handle, sync::Notify, time::Instant};
use tw_mcp_client::ListWatch;
use tw_model::{TenantId, Timestamp};
use tw_store::Store;

use crate::limits::SERVERS_MAX;

/// A server that keeps saying that it has changed is asked so often, and no more.
const AGAIN_AFTER: Duration = Duration::from_secs(60);
/// How many servers are remembered that have said so.
const HEARD_MAX: usize = 10_000;

/// Has servers asked that may have changed.
#[derive(Debug)]
pub(crate) struct Hastening {
    store: Store,
    /// When each was heard of that is not left alone yet, and whether it is to be asked once more then.
    heard: Mutex<HashMap<(TenantId, String), (Instant, bool)>>,
    wanted: Arc<Notify>,
}

impl Hastening {
    pub(crate) fn new(store: Store, wanted: Arc<Notify>) -> Self {
        Self { store, heard: Mutex::default(), wanted }
    }

    /// How long a server may wait that was heard of now; `None` where that is settled already.
    fn wait(&self, tenant: TenantId, url: &str) -> Option<Duration> {
        let now = Instant::now();
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if HEARD_MAX <= heard.len() {
            heard.retain(|_, (at, _)| now.duration_since(*at) < AGAIN_AFTER);
        }
        let key = (tenant, url.to_owned());
        match heard.get_mut(&key) {
            Some((at, again)) if now.duration_since(*at) < AGAIN_AFTER => {
                let left = AGAIN_AFTER - now.duration_since(*at);
                (!std::mem::replace(again, true)).then_some(left)
            }
            _ => {
                heard.insert(key, (now, false));
                Some(Duration::ZERO)
            }
        }
    }
}

impl ListWatch for Hastening {
    fn may_have_changed(&self, tenant: TenantId, url: &str) {
        let Ok(runtime) = Handle::try_current() else { return };
        let Some(wait) = self.wait(tenant, url) else { return };
        let due = Timestamp::now().plus(wait);
        let (store, url, wanted) = (self.store.clone(), url.to_owned(), Arc::clone(&self.wanted));
        runtime.spawn(async move {
            match hasten(&store, tenant, &url, due).await {
                Ok(()) if wait.is_zero() => wanted.notify_one(),
                Ok(()) => {}
                Err(error) => {
                    tracing::warn!(%error, "an MCP server that may have changed is not asked sooner");
                }
            }
        });
    }
}

/// Has the servers at an address asked at `due`.
async fn hasten(store: &Store, tenant: TenantId, url: &str, due: Timestamp) -> tw_store::Result<()> {
    let scope = store.tenant(tenant);
    for server in scope.mcp_servers(None, SERVERS_MAX).await?.iter().filter(|server| server.url == url) {
        scope.hasten_mcp_server(server.id, due).await?;
    }
    Ok(())
}
