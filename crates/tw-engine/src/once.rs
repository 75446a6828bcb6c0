//! Writes that are not runs, made once under an idempotency key.

use tw_model::{Caller, Timestamp};
use tw_store::KeyScope;

use crate::{
    Engine,
    corridor::{IdempotencyKey, KEY_KEPT},
    error::{Error, Result},
};

/// Whether a write is to be made, or was made before.
#[derive(Debug)]
pub enum Once {
    /// Make it, then say how it went with [`Engine::keep`] or [`Engine::release`].
    Make,
    /// The answer from the first time.
    Again { status: u16, body: String },
}

impl Engine {
    /// Takes the key for a write, or finds the answer it got before.
    pub async fn once(&self, caller: &Caller, key: &IdempotencyKey) -> Result<Once> {
        let scope = self.inner.store.tenant(caller.tenant);
        let principal = caller.principal.label();
        let place = KeyScope { principal: &principal, route: &key.route, key: &key.key };
        let expires = Timestamp::now().plus(KEY_KEPT);
        let doing = "claiming an idempotency key";
        if scope.claim_key(place, &key.body_hash, expires).await.map_err(Error::store(doing))? {
            return Ok(Once::Make);
        }
        let used = scope.idempotency(place).await.map_err(Error::store(doing))?;
        match used {
            Some(used) if used.body_hash != key.body_hash => Err(Error::IdempotencyMismatch),
            Some(tw_store::Used { answer: Some((status, body)), .. }) => Ok(Once::Again { status, body }),
            Some(_) | None => Err(Error::IdempotencyInFlight),
        }
    }

    /// Keeps the answer of a write that was made. One-time secrets do not belong in it.
    pub async fn keep(&self, caller: &Caller, key: &IdempotencyKey, status: u16, body: &str) -> Result<()> {
        let principal = caller.principal.label();
        let place = KeyScope { principal: &principal, route: &key.route, key: &key.key };
        let kept = self.inner.store.tenant(caller.tenant).keep_answer(place, status, body).await;
        kept.map_err(Error::store("keeping an answer"))
    }

    /// Gives the key back after a write that was refused.
    pub async fn release(&self, caller: &Caller, key: &IdempotencyKey) -> Result<()> {
        let principal = caller.principal.label();
        let place = KeyScope { principal: &principal, route: &key.route, key: &key.key };
        let released = self.inner.store.tenant(caller.tenant).release_key(place).await;
        released.map_err(Error::store("releasing an idempotency key"))
    }

    /// The same caller, as long as its credentials still stand. For streams that stay open.
    pub async fn renew<R: crate::rights::Right>(
        &self,
        permit: &crate::rights::Permit<R>,
    ) -> Result<crate::rights::Permit<R>> {
        let caller = permit.caller();
        if self.inner.identity.epochs.ask(caller.tenant).await? == caller.epoch {
            return Ok(permit.clone());
        }
        crate::rights::Permit::check(self.inner.identity.again(caller).await?)
    }
}
