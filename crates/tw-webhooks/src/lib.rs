//! Webhooks: others are told when something happens.
//!
//! What is told is written by the store in the transaction of what happened; see `tw_store::log`. [`Webhooks`] is what
//! administrators do with webhooks and the background work that sends, in `sender.rs`. `signing.rs` signs as the Standard
//! Webhooks specification says, `message.rs` makes what is sent.

mod admin;
mod message;
mod sender;
mod signing;

use std::{
    collections::HashSet,
    fmt,
    sync::{Arc, Mutex},
};

use tokio::sync::Semaphore;
use toolwright_sdk::Network;
use tw_base::Secrets;
use tw_identity::Epochs;
use tw_model::{TenantId, WebhookId};
use tw_store::Store;
use tw_vault::Vault;

pub use crate::admin::{NewWebhook, WebhookChange, WebhookWish, webhook_mark};

/// How many messages of all tenants are sent at a time, and of one tenant: one whose receivers are slow delays itself
/// alone.
const SENT_AT_ONCE: usize = 256;
const SENT_AT_ONCE_PER_TENANT: usize = 8;

/// The webhooks of all tenants. Cheap to clone.
#[derive(Clone)]
pub struct Webhooks {
    inner: Arc<Inside>,
}

struct Inside {
    store: Store,
    vault: Vault,
    epochs: Arc<Epochs>,
    secrets: Secrets,
    network: Arc<dyn Network>,
    /// Where people find this server, for links.
    base: Option<String>,
    all: Arc<Semaphore>,
    tenants: moka::sync::Cache<TenantId, Arc<Semaphore>>,
    /// Those that this server is sending to.
    at_work: Mutex<HashSet<WebhookId>>,
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Webhooks").field("base", &self.inner.base).finish_non_exhaustive()
    }
}

impl Webhooks {
    #[must_use]
    pub fn new(
        store: Store,
        vault: Vault,
        epochs: Arc<Epochs>,
        secrets: Secrets,
        network: Arc<dyn Network>,
        base: Option<String>,
    ) -> Self {
        let base = base.map(|base| base.trim_end_matches('/').to_owned());
        Self {
            inner: Arc::new(Inside {
                store,
                vault,
                epochs,
                secrets,
                network,
                base,
                all: Arc::new(Semaphore::new(SENT_AT_ONCE)),
                tenants: moka::sync::Cache::new(100_000),
                at_work: Mutex::default(),
            }),
        }
    }
}
