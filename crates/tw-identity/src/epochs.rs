//! The newest epoch of every tenant that this replica has heard of.

use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

use tw_base::{Error, Result};
use tw_model::TenantId;
use tw_store::Store;

#[derive(Debug)]
pub struct Epochs {
    store: Store,
    known: RwLock<HashMap<TenantId, i64>>,
}

impl Epochs {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, known: RwLock::default() }
    }

    /// As last heard; 0 for a tenant nobody has asked for yet.
    #[must_use]
    pub fn last_heard(&self, tenant: TenantId) -> i64 {
        self.known.read().unwrap_or_else(PoisonError::into_inner).get(&tenant).copied().unwrap_or(0)
    }

    /// As the database has it now.
    pub async fn ask(&self, tenant: TenantId) -> Result<i64> {
        let epoch =
            self.store.tenant(tenant).epoch().await.map_err(Error::store("reading the tenant's epoch"))?;
        self.hear(tenant, epoch);
        Ok(epoch)
    }

    /// Reads all of them; run often, so it is one query whatever the number of tenants.
    pub async fn ask_all(&self) -> Result<()> {
        let all = self.store.all_epochs().await.map_err(Error::store("reading epochs"))?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        for (tenant, epoch) in all {
            let newest = known.entry(tenant).or_insert(epoch);
            *newest = epoch.max(*newest);
        }
        Ok(())
    }

    fn hear(&self, tenant: TenantId, epoch: i64) {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let newest = known.entry(tenant).or_insert(epoch);
        *newest = epoch.max(*newest);
    }
}
