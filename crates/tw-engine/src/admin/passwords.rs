//! Hashing passwords, and slowing down those who guess them.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use crate::error::{Error, Result};

const LENGTH_MIN: usize = 10;
const LENGTH_MAX: usize = 1024;

/// How often a name may be tried within the window before the door stays shut.
pub(super) const TRIES_MAX: u32 = 10;
const WINDOW: Duration = Duration::from_secs(15 * 60);
/// Names that are remembered at the most, so that guessing names cannot fill the memory.
const NAMES_MAX: usize = 100_000;

/// Failed sign-ins by name, and a limit on how many passwords are hashed at the same time: hashing is
/// meant to be slow, and must not be a way to keep the machine busy.
#[derive(Debug)]
pub(crate) struct Throttle {
    failures: Mutex<HashMap<String, (u32, Instant)>>,
    hashing: Semaphore,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { failures: Mutex::default(), hashing: Semaphore::new(2) }
    }
}

impl Throttle {
    /// Counts a try and says the how-manieth it is, or refuses a name that has failed too often. The answer is the same whether the name
    /// exists. A try counts before its password is looked at, so that a hundred at once are not more than
    /// a hundred in a row; [`Throttle::succeeded`] takes it back.
    pub(crate) fn attempt(&self, name: &str) -> Result<u32> {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        if NAMES_MAX < failures.len() {
            failures.retain(|_, (_, since)| since.elapsed() < WINDOW);
        }
        let entry = failures.entry(name.to_owned()).or_insert((0, Instant::now()));
        if WINDOW <= entry.1.elapsed() {
            *entry = (0, Instant::now());
        }
        if TRIES_MAX <= entry.0 {
            return Err(Error::RateLimited {
                why: "too many failed sign-ins; wait, or ask an operator for a sign-in link".to_owned(),
                retry_after: WINDOW.saturating_sub(entry.1.elapsed()),
            });
        }
        entry.0 += 1;
        Ok(entry.0)
    }

    pub(crate) fn succeeded(&self, name: &str) {
        self.failures.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    /// Whether the password is the one behind the hash. Takes as long for no hash as for a wrong one.
    pub(crate) async fn verify(&self, password: String, hash: Option<String>) -> bool {
        let _place = self.hashing.acquire().await;
        let checked = tokio::task::spawn_blocking(move || match hash.as_deref().map(PasswordHash::new) {
            Some(Ok(hash)) => Argon2::default().verify_password(password.as_bytes(), &hash).is_ok(),
            Some(Err(_)) | None => {
                let _ = Argon2::default().hash_password(password.as_bytes());
                false
            }
        });
        checked.await.unwrap_or(false)
    }

    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        let _place = self.hashing.acquire().await;
        hash(password).await
    }
}

/// Hashes a password that is fit to be one.
pub(crate) async fn hash(password: String) -> Result<String> {
    if !(LENGTH_MIN..=LENGTH_MAX).contains(&password.len()) {
        return Err(Error::invalid("/password", format!("has {LENGTH_MIN} to {LENGTH_MAX} bytes")));
    }
    let hashed = tokio::task::spawn_blocking(move || {
        Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string())
    });
    match hashed.await {
        Ok(Ok(hash)) => Ok(hash),
        _ => Err(Error::invalid("/password", "could not be hashed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn password_fits_its_own_hash_only() {
        let throttle = Throttle::default();
        let hash = throttle.hash("correct horse".to_owned()).await.unwrap();
        assert!(throttle.verify("correct horse".to_owned(), Some(hash.clone())).await);
        assert!(!throttle.verify("wrong horse!".to_owned(), Some(hash)).await);
        assert!(!throttle.verify("correct horse".to_owned(), None).await);
        assert!(throttle.hash("short".to_owned()).await.is_err());
    }

    #[test]
    fn name_that_fails_too_often_is_refused_until_it_succeeds() {
        let throttle = Throttle::default();
        for _ in 0..TRIES_MAX {
            throttle.attempt("a@b").unwrap();
        }
        assert!(throttle.attempt("a@b").is_err());
        throttle.attempt("c@d").unwrap();
        throttle.succeeded("a@b");
        throttle.attempt("a@b").unwrap();
    }
}
