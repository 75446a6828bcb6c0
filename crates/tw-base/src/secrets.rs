//! Keys derived from the master key, and what is made with them.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use uuid::Uuid;

/// The one secret of an installation: 32 bytes that everything else is derived from.
#[derive(Clone)]
pub struct MasterKey([u8; 32]);

impl MasterKey {
    /// Parses the base64 of 32 bytes, as `toolwright master-key` prints it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = base64::engine::general_purpose::STANDARD.decode(text.trim()).ok()?;
        bytes.try_into().ok().map(Self)
    }

    #[must_use]
    pub fn generate() -> Self {
        Self(random())
    }

    #[must_use]
    pub fn to_text(&self) -> String {
        base64::engine::general_purpose::STANDARD.encode(self.0)
    }

    /// What the database keeps to recognise the key by, without being able to use it.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        hex(&self.derive("toolwright 2026 master key check"))
    }

    pub fn derive(&self, purpose: &'static str) -> [u8; 32] {
        blake3::derive_key(purpose, &self.0)
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(***)")
    }
}

/// The keys that are derived from the master key.
#[derive(Clone)]
pub struct Secrets {
    seals: [u8; 32],
    cursors: [u8; 32],
    digests: [u8; 32],
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets(***)")
    }
}

impl Secrets {
    pub fn new(master: &MasterKey) -> Self {
        Self {
            seals: master.derive("toolwright 2026 approval seals"),
            cursors: master.derive("toolwright 2026 list cursors"),
            digests: master.derive("toolwright 2026 digests of secrets"),
        }
    }

    /// A digest of something that may hold a secret, which tells nobody who guesses whether they are right.
    pub fn blinded(&self, bytes: &[u8]) -> [u8; 32] {
        *blake3::keyed_hash(&self.digests, bytes).as_bytes()
    }

    pub fn seal(&self, text: &str) -> [u8; 32] {
        *blake3::keyed_hash(&self.seals, text.as_bytes()).as_bytes()
    }

    /// A place in a list that only the one it was given to can go on from.
    pub fn cursor(&self, list: &str, id: Uuid) -> String {
        let mut bytes = id.as_bytes().to_vec();
        bytes.extend_from_slice(&self.cursor_mac(list, id));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    pub(crate) fn read_cursor(&self, list: &str, text: &str) -> Option<Uuid> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let (id, mac) = bytes.split_at_checked(16)?;
        let id = Uuid::from_slice(id).ok()?;
        equal(mac, &self.cursor_mac(list, id)).then_some(id)
    }

    fn cursor_mac(&self, list: &str, id: Uuid) -> [u8; 16] {
        let mut hasher = blake3::Hasher::new_keyed(&self.cursors);
        hasher.update(list.as_bytes()).update(id.as_bytes());
        let mut mac = [0; 16];
        hasher.finalize_xof().fill(&mut mac);
        mac
    }
}

/// Compares without telling by the time it takes where the difference is.
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (a, b)| difference | (a ^ b)) == 0
}

/// Random bytes from the operating system.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// A secret for a link or a cookie, and the hash that is stored of it.
pub fn token() -> (String, [u8; 32]) {
    let text = URL_SAFE_NO_PAD.encode(random::<32>());
    let hash = hash(&text);
    (text, hash)
}

pub fn hash(text: &str) -> [u8; 32] {
    *blake3::hash(text.as_bytes()).as_bytes()
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_serves_only_the_list_it_was_made_for() {
        let secrets = Secrets::new(&MasterKey::generate());
        let id = Uuid::now_v7();
        let cursor = secrets.cursor("runs/user:1", id);

        assert_eq!(secrets.read_cursor("runs/user:1", &cursor), Some(id));
        assert_eq!(secrets.read_cursor("runs/user:2", &cursor), None);
        assert_eq!(secrets.read_cursor("runs/user:1", "garbage"), None);
        assert_eq!(Secrets::new(&MasterKey::generate()).read_cursor("runs/user:1", &cursor), None);
    }

    #[test]
    fn master_key_survives_its_text_and_is_never_shown() {
        let key = MasterKey::generate();
        let again = MasterKey::parse(&key.to_text()).unwrap();
        assert_eq!(again.fingerprint(), key.fingerprint());
        assert!(!format!("{key:?}").contains(&key.to_text()));
        assert!(MasterKey::parse("c2hvcnQ=").is_none());
    }
}
