//! Hashing passwords, off the threads that answer requests.

use std::{sync::Arc, time::Duration};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolwright_sdk::spawn_yielding;
use tw_base::{Error, Lanes, Result, processors};
use tw_model::TenantId;
use tw_schema::Violation;

const LENGTH_MIN: usize = 10;
const LENGTH_MAX: usize = 1024;
/// How many requests of one tenant to set a password are under way and waiting at the most. Each takes a few hashes of
/// some tens of milliseconds, so the last one waits for a few seconds.
const TURNS_MAX: usize = 16;

/// The one place where passwords are hashed. How many sign-ins may wait for it is for the throttle to say. What members
/// of a tenant ask for has to take a [`PasswordTurn`] first, so that a tenant has one hash among the sign-ins of all.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// Each takes a core, and 19 MiB. Half of the cores stay free for those who are signed in.
    places: Arc<Semaphore>,
    turns: Lanes,
}

/// A tenant's turn to have passwords set, until dropped.
#[derive(Debug)]
pub(crate) struct PasswordTurn(#[expect(dead_code, reason = "given back when dropped")] OwnedSemaphorePermit);

impl Default for Passwords {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new((processors() / 2).max(1))), turns: Lanes::new(1) }
    }
}

/// Refuses what is not fit to be a password. Costs nothing, and comes before everything that does.
pub(crate) fn check_length(password: &str) -> Result<()> {
    if (LENGTH_MIN..=LENGTH_MAX).contains(&password.len()) {
        return Ok(());
    }
    Err(Error::invalid("/password", Violation::byte_length(LENGTH_MIN, LENGTH_MAX)))
}

impl Passwords {
    /// Waits for the tenant's turn, behind its own requests and nobody else's.
    pub(crate) async fn turn(&self, tenant: TenantId) -> Result<PasswordTurn> {
        let turn = self.turns.enter_if_short(tenant, TURNS_MAX).await;
        turn.map(PasswordTurn).ok_or_else(|| Error::RateLimited {
            why: "this tenant sets too many passwords at once; try again in a moment".to_owned(),
            retry_after: Duration::from_secs(1),
        })
    }

    /// Whether the password is the one behind the hash. Takes as long for no hash as for a wrong one.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> bool {
        let verified = self.run(move || match hash.as_deref().map(PasswordHash::new) {
            Some(Ok(hash)) => Argon2::default().verify_password(password.as_bytes(), &hash).is_ok(),
            Some(Err(_)) | None => {
                let _ = Argon2::default().hash_password(password.as_bytes());
                false
            }
        });
        verified.await.unwrap_or(false)
    }

    /// Hashes a password that is fit to be one.
    pub(crate) async fn hash(&self, password: String, _turn: &PasswordTurn) -> Result<String> {
        check_length(&password)?;
        let hashed = self.run(move || Argon2::default().hash_password(password.as_bytes()));
        match hashed.await {
            Some(Ok(hash)) => Ok(hash.to_string()),
            Some(Err(error)) => Err(Error::internal("hashing a password", error.to_string())),
            None => Err(Error::internal("hashing a password", "its thread ended")),
        }
    }

    /// Runs work on a thread for costly work. The place is held until it has ended: a caller who hangs up does
    /// not stop a hash, and must not make room for another beside it.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let done = spawn_yielding(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn password_fits_its_own_hash_only() {
        let passwords = Passwords::default();
        let turn = passwords.turn(TenantId::new()).await.unwrap();
        let hash = passwords.hash("correct horse".to_owned(), &turn).await.unwrap();
        assert!(passwords.verify("correct horse".to_owned(), Some(hash.clone())).await);
        assert!(!passwords.verify("wrong horse!".to_owned(), Some(hash)).await);
        assert!(!passwords.verify("correct horse".to_owned(), None).await);
        assert!(passwords.hash("short".to_owned(), &turn).await.is_err());
    }

    #[tokio::test]
    async fn tenant_that_sets_many_passwords_leaves_the_hashing_to_others() {
        let (passwords, busy) = (Passwords::default(), TenantId::new());
        let first = passwords.turn(busy).await.unwrap();
        let mut waiting: Vec<_> = (1..TURNS_MAX).map(|_| Box::pin(passwords.turn(busy))).collect();
        assert!(waiting.iter_mut().all(|turn| turn.as_mut().now_or_never().is_none()), "one at a time");

        let refused = passwords.turn(busy).await.unwrap_err();

        assert!(matches!(refused, Error::RateLimited { .. }), "{refused}");
        assert!(passwords.turn(TenantId::new()).now_or_never().is_some());
        assert!(!passwords.verify("a sign-in".to_owned(), None).await);
        drop(first);
        assert!(waiting.remove(0).await.is_ok());
    }
}
