//! Writes that are not runs, made once under an idempotency key.

use std::time::Duration;

use tw_model::{Caller, Timestamp};
use tw_store::KeyScope;

use crate::{
    Engine,
    corridor::{IdempotencyKey, KEY_KEPT},
    error::{Error, Result},
};

/// How long to wait before a key is closed again that could not be.
const CLOSE_AGAIN_AFTER: Duration = Duration::from_millis(500);

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
        // A key of a server that nobody has heard of would be free for all.
        self.announce().await?;
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
    pub async fn keep(&self, caller: &Caller, key: &IdempotencyKey, status: u16, body: String) {
        self.close_key(caller, key, Some((status, body))).await;
    }

    /// Gives the key back after a write that was refused.
    pub async fn release(&self, caller: &Caller, key: &IdempotencyKey) {
        self.close_key(caller, key, None).await;
    }

    /// Says how a write under a key went. While the database is away this goes on in the background: a key
    /// that is left as it is looks like a write that is still being made.
    async fn close_key(&self, caller: &Caller, key: &IdempotencyKey, answer: Option<(u16, String)>) {
        let scope = self.inner.store.tenant(caller.tenant);
        let (principal, key) = (caller.principal.label(), key.clone());
        let close = move || {
            let (scope, principal, key, answer) =
                (scope.clone(), principal.clone(), key.clone(), answer.clone());
            async move {
                let place = KeyScope { principal: &principal, route: &key.route, key: &key.key };
                match answer {
                    Some((status, body)) => scope.keep_answer(place, status, &body).await,
                    None => scope.release_key(place).await,
                }
            }
        };
        let Err(error) = close().await else { return };
        tracing::warn!(error = &error as &dyn std::error::Error, "an idempotency key could not be closed");
        if error.is_retryable() {
            let end = self.inner.end.clone();
            let again = async move {
                while close().await.is_err_and(|error| error.is_retryable()) {
                    tokio::time::sleep(CLOSE_AGAIN_AFTER).await;
                }
            };
            tokio::spawn(async move { end.run_until_cancelled(again).await });
        }
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
