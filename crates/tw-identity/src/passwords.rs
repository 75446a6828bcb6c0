//! Hashing passwords, off the threads that answer requests.

use std::sync::Arc;

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;
use tw_base::{Error, Result, processors};
use tw_schema::Violation;

const LENGTH_MIN: usize = 10;
const LENGTH_MAX: usize = 1024;

/// The one place where passwords are hashed. How many may wait for it is for the throttle to say.
#[derive(Clone, Debug)]
pub struct Passwords {
    /// Each takes a core, and 19 MiB. Half of the cores stay free for those who are signed in.
    places: Arc<Semaphore>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new((processors() / 2).max(1))) }
    }
}

impl Passwords {
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
    pub(crate) async fn hash(&self, password: String) -> Result<String> {
        if !(LENGTH_MIN..=LENGTH_MAX).contains(&password.len()) {
            return Err(Error::invalid("/password", Violation::byte_length(LENGTH_MIN, LENGTH_MAX)));
        }
        let hashed = self.run(move || Argon2::default().hash_password(password.as_bytes()));
        match hashed.await {
            Some(Ok(hash)) => Ok(hash.to_string()),
            Some(Err(error)) => Err(Error::internal("hashing a password", error.to_string())),
            None => Err(Error::internal("hashing a password", "its thread ended")),
        }
    }

    /// Runs work on a thread for blocking work. The place is held until it has ended: a caller who hangs up does
    /// not stop a hash, and must not make room for another beside it.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
        let done = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(place);
            done
        });
        done.await.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn password_fits_its_own_hash_only() {
        let passwords = Passwords::default();
        let hash = passwords.hash("correct horse".to_owned()).await.unwrap();
        assert!(passwords.verify("correct horse".to_owned(), Some(hash.clone())).await);
        assert!(!passwords.verify("wrong horse!".to_owned(), Some(hash)).await);
        assert!(!passwords.verify("correct horse".to_owned(), None).await);
        assert!(passwords.hash("short".to_owned()).await.is_err());
    }
}
