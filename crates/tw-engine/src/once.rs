//! Writes that are not runs, made once under an idempotency key.

use std::time::Duration;

use tw_base::{Error, Result};
use tw_model::{Caller, Timestamp};
use tw_store::{KeyScope, TenantScope};

use crate::{
    Engine,
    corridor::{IdempotencyKey, KEY_KEPT},
};

/// How long to wait before a key is closed again that could not be.
const CLOSE_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// For how long a claim of which nothing is known may still turn up; see `settle.rs`.
const DOUBT: Duration = Duration::from_secs(30);

/// Whether a write is to be made, or was made before.
#[derive(Debug)]
pub enum Once {
    /// Make it, then say how it went with [`Engine::keep`] or [`Engine::release`].
    Make(Claimed),
    /// The answer from the first time, as it was kept.
    Again(String),
}

/// A key that was taken for one write.
#[derive(Clone, Debug)]
pub struct Claimed {
    scope: TenantScope,
    principal: String,
    key: IdempotencyKey,
    at: Timestamp,
}

impl Engine {
    /// What a body with a secret in it is remembered by. A plain digest of a weak password would be as good as
    /// the password.
    #[must_use]
    pub fn blinded(&self, body: &[u8]) -> [u8; 32] {
        self.inner.secrets.blinded(body)
    }

    /// Takes the key for a write, or finds the answer it got before.
    pub async fn once(&self, caller: &Caller, key: &IdempotencyKey) -> Result<Once> {
        // A key of a server that nobody has heard of would be free for all.
        self.announce().await?;
        let at = Timestamp::now();
        let (scope, principal) = (self.inner.store.tenant(caller.tenant), caller.principal.label());
        let claimed = Claimed { scope, principal, key: key.clone(), at };
        let doing = "claiming an idempotency key";
        match claimed.scope.claim_key(claimed.place(), &key.body_hash, at, at.plus(KEY_KEPT)).await {
            Ok(true) => return Ok(Once::Make(claimed)),
            Ok(false) => {}
            Err(error) => {
                if error.is_retryable() {
                    self.in_background(async move { claimed.release_if_it_turns_up().await });
                }
                return Err(Error::store(doing)(error));
            }
        }
        let used = claimed.scope.idempotency(claimed.place()).await.map_err(Error::store(doing))?;
        match used {
            Some(used) if used.body_hash != key.body_hash => Err(Error::IdempotencyMismatch),
            Some(tw_store::Used { answer: Some(answer), .. }) => Ok(Once::Again(answer)),
            Some(_) | None => Err(Error::IdempotencyInFlight),
        }
    }

    /// Keeps the answer of a write that was made, as the door writes it. One-time secrets do not belong in it.
    pub async fn keep(&self, claimed: Claimed, answer: String) {
        self.close_key(claimed, Some(answer)).await;
    }

    /// Gives the key back after a write that was refused.
    pub async fn release(&self, claimed: Claimed) {
        self.close_key(claimed, None).await;
    }

    /// Says how a write under a key went. While the database is away this goes on in the background: a key
    /// that is left as it is looks like a write that is still being made.
    async fn close_key(&self, claimed: Claimed, answer: Option<String>) {
        let Err(error) = claimed.close(answer.as_deref()).await else { return };
        tracing::warn!(error = &error as &dyn std::error::Error, "an idempotency key could not be closed");
        if error.is_retryable() {
            self.in_background(async move { claimed.insist(answer.as_deref()).await });
        }
    }

    fn in_background(&self, work: impl Future<Output = ()> + Send + 'static) {
        let end = self.inner.end.clone();
        tokio::spawn(async move { end.run_until_cancelled(work).await });
    }
}

impl Claimed {
    fn place(&self) -> KeyScope<'_> {
        KeyScope { principal: &self.principal, route: &self.key.route, key: &self.key.key }
    }

    async fn close(&self, answer: Option<&str>) -> tw_store::Result<()> {
        match answer {
            Some(answer) => self.scope.keep_answer(self.place(), self.at, answer).await,
            None => self.scope.release_key(self.place(), self.at).await,
        }
    }

    async fn insist(&self, answer: Option<&str>) {
        while self.close(answer).await.is_err_and(|error| error.is_retryable()) {
            tokio::time::sleep(CLOSE_AGAIN_AFTER).await;
        }
    }

    /// Gives back a key that may have been taken although the database did not say so, or may be yet.
    async fn release_if_it_turns_up(&self) {
        let mut pause = CLOSE_AGAIN_AFTER;
        let mut doubted = Duration::ZERO;
        loop {
            self.insist(None).await;
            if DOUBT <= doubted {
                return;
            }
            tokio::time::sleep(pause).await;
            doubted += pause;
            pause *= 2;
        }
    }
}
