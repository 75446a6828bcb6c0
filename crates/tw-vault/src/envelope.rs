//! Envelopes: a secret under a random key of its own, and that key under one derived from the master key.
//!
//! Changing the master key then means to wrap some keys anew, and what they open is never touched. Both layers
//! are bound to where they are stored, so a row that is copied elsewhere does not open there.

use std::fmt;

use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use tw_base::{MasterKey, secrets};
use tw_model::{CredentialId, McpServerId, RunId, TenantId, ToolId, WebhookId};
use tw_store::SealedSecret;
use zeroize::Zeroizing;

const NONCE: usize = 24;

/// What an envelope is bound to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) tenant: TenantId,
    pub(crate) id: CredentialId,
    pub(crate) revision: i64,
}

/// The key that wraps data keys.
#[derive(Clone)]
pub(crate) struct Wrapping {
    key: Zeroizing<[u8; 32]>,
    id: String,
}

impl fmt::Debug for Wrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wrapping").field("id", &self.id).finish_non_exhaustive()
    }
}

/// The two layers, so that neither can stand where the other is expected.
#[derive(Clone, Copy)]
enum Layer {
    Payload,
    DataKey,
}

impl Binding {
    fn bytes(self, layer: Layer) -> Vec<u8> {
        let name: &[u8] = match layer {
            Layer::Payload => b"toolwright credential payload 1\0",
            Layer::DataKey => b"toolwright credential data key 1\0",
        };
        let (tenant, id) = (self.tenant.uuid(), self.id.uuid());
        [name, tenant.as_bytes(), id.as_bytes(), &self.revision.to_be_bytes()].concat()
    }
}

impl Wrapping {
    pub(crate) fn of(master: &MasterKey) -> Self {
        let key = Zeroizing::new(master.derive("toolwright 2026 credentials"));
        let id = secrets::hex(&blake3::derive_key("toolwright 2026 credentials key id", &*key)[..8]);
        Self { key, id }
    }

    /// The name of this key, which tells nothing about it.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn seal(&self, binding: Binding, secret: &[u8]) -> SealedSecret {
        let data_key = Zeroizing::new(secrets::random::<32>());
        SealedSecret {
            ciphertext: encrypt(&data_key, &binding.bytes(Layer::Payload), secret),
            wrapped_key: encrypt(&self.key, &binding.bytes(Layer::DataKey), &*data_key),
            key_id: self.id.clone(),
        }
    }

    /// What was sealed, or `None`: by another key, for another binding, or not as it was.
    pub(crate) fn open(&self, binding: Binding, sealed: &SealedSecret) -> Option<Zeroizing<Vec<u8>>> {
        let data_key = self.data_key(binding, sealed)?;
        decrypt(&data_key, &binding.bytes(Layer::Payload), &sealed.ciphertext)
    }

    /// The data key of an envelope, wrapped by another key.
    pub(crate) fn rewrap(&self, binding: Binding, sealed: &SealedSecret, next: &Self) -> Option<Vec<u8>> {
        let data_key = self.data_key(binding, sealed)?;
        Some(encrypt(&next.key, &binding.bytes(Layer::DataKey), &*data_key))
    }

    /// A new key for a tenant, wrapped.
    pub(crate) fn new_tenant_key(&self, tenant: TenantId) -> Vec<u8> {
        let key = Zeroizing::new(secrets::random::<32>());
        encrypt(&self.key, &tenant_key_of(tenant), &*key)
    }

    pub(crate) fn tenant_key(&self, tenant: TenantId, wrapped: &[u8]) -> Option<TenantKey> {
        let bytes = decrypt(&self.key, &tenant_key_of(tenant), wrapped)?;
        let key: &[u8; 32] = bytes.as_slice().try_into().ok()?;
        Some(TenantKey {
            tenant,
            secrets: Zeroizing::new(blake3::derive_key("toolwright 2026 tool secrets", key)),
            nonces: Zeroizing::new(blake3::derive_key("toolwright 2026 tool secret nonces", key)),
        })
    }

    pub(crate) fn rewrap_tenant_key(&self, tenant: TenantId, wrapped: &[u8], next: &Self) -> Option<Vec<u8>> {
        let key = decrypt(&self.key, &tenant_key_of(tenant), wrapped)?;
        Some(encrypt(&next.key, &tenant_key_of(tenant), &key))
    }

    fn data_key(&self, binding: Binding, sealed: &SealedSecret) -> Option<Zeroizing<[u8; 32]>> {
        let bytes = decrypt(&self.key, &binding.bytes(Layer::DataKey), &sealed.wrapped_key)?;
        Some(Zeroizing::new(bytes.as_slice().try_into().ok()?))
    }
}

fn tenant_key_of(tenant: TenantId) -> Vec<u8> {
    [b"toolwright tenant key 1\0", &tenant.uuid().as_bytes()[..]].concat()
}

/// What a secret is sealed as: one that lies in a tool, what a run is resumed with, what a webhook signs with, or what an
/// MCP server gave to those who signed in. Of one length, as in `seal_as`.
const TOOL_SECRET: &[u8; 25] = b"toolwright tool secret 1\0";
const RUN_SECRET: &[u8; 25] = b"toolwright runs secret 1\0";
const WEBHOOK_SECRET: &[u8; 25] = b"toolwright hook secret 1\0";
const MCP_SECRET: &[u8; 25] = b"toolwright mcps secret 1\0";

/// The key of a tenant, for the secrets that its tools hold themselves.
///
/// The same secret in the same tool looks the same whenever it is sealed: a definition that was not changed must
/// keep the name of its content. The nonce is made of the secret for that, so it never serves two of them.
pub struct TenantKey {
    tenant: TenantId,
    secrets: Zeroizing<[u8; 32]>,
    nonces: Zeroizing<[u8; 32]>,
}

impl fmt::Debug for TenantKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TenantKey").field("tenant", &self.tenant).finish_non_exhaustive()
    }
}

impl TenantKey {
    pub(crate) fn seal(&self, tool: ToolId, secret: &[u8]) -> Vec<u8> {
        self.seal_as(&self.binding(TOOL_SECRET, tool.uuid().as_bytes()), secret)
    }

    pub(crate) fn open(&self, tool: ToolId, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        decrypt(&self.secrets, &self.binding(TOOL_SECRET, tool.uuid().as_bytes()), sealed)
    }

    /// Seals what a run has to be resumed with and no record may show.
    #[must_use]
    pub fn seal_for_run(&self, run: RunId, secret: &[u8]) -> Vec<u8> {
        self.seal_as(&self.binding(RUN_SECRET, run.uuid().as_bytes()), secret)
    }

    /// What was sealed for this run, or `None`.
    #[must_use]
    pub fn open_for_run(&self, run: RunId, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        decrypt(&self.secrets, &self.binding(RUN_SECRET, run.uuid().as_bytes()), sealed)
    }

    /// Seals what the messages of this webhook are signed with.
    #[must_use]
    pub fn seal_for_webhook(&self, webhook: WebhookId, secret: &[u8]) -> Vec<u8> {
        self.seal_as(&self.binding(WEBHOOK_SECRET, webhook.uuid().as_bytes()), secret)
    }

    /// What was sealed for this webhook, or `None`.
    #[must_use]
    pub fn open_for_webhook(&self, webhook: WebhookId, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        decrypt(&self.secrets, &self.binding(WEBHOOK_SECRET, webhook.uuid().as_bytes()), sealed)
    }

    /// Seals what this MCP server gave to those who signed in, or what a sign-in there is ended with.
    #[must_use]
    pub fn seal_for_mcp_server(&self, server: McpServerId, secret: &[u8]) -> Vec<u8> {
        self.seal_as(&self.binding(MCP_SECRET, server.uuid().as_bytes()), secret)
    }

    /// What was sealed for this MCP server, or `None`.
    #[must_use]
    pub fn open_for_mcp_server(&self, server: McpServerId, sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        decrypt(&self.secrets, &self.binding(MCP_SECRET, server.uuid().as_bytes()), sealed)
    }

    fn seal_as(&self, binding: &[u8], secret: &[u8]) -> Vec<u8> {
        let mut hasher = blake3::Hasher::new_keyed(&self.nonces);
        // The binding has one length, so where it ends and the secret begins is no question.
        hasher.update(binding).update(secret);
        let mut nonce = [0; NONCE];
        hasher.finalize_xof().fill(&mut nonce);
        encrypt_with(nonce, &self.secrets, binding, secret)
    }

    fn binding(&self, name: &[u8; 25], of: &[u8; 16]) -> Vec<u8> {
        [&name[..], self.tenant.uuid().as_bytes(), of].concat()
    }
}

fn encrypt(key: &[u8; 32], bound_to: &[u8], secret: &[u8]) -> Vec<u8> {
    encrypt_with(secrets::random(), key, bound_to, secret)
}

/// The nonce, then what it was used for.
fn encrypt_with(nonce: [u8; NONCE], key: &[u8; 32], bound_to: &[u8], secret: &[u8]) -> Vec<u8> {
    let payload = Payload { msg: secret, aad: bound_to };
    let sealed = XChaCha20Poly1305::new(key.into())
        .encrypt(&XNonce::from(nonce), payload)
        .expect("a secret is shorter than what the cipher takes");
    [&nonce[..], &sealed].concat()
}

fn decrypt(key: &[u8; 32], bound_to: &[u8], bytes: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (nonce, sealed) = bytes.split_at_checked(NONCE)?;
    let nonce: [u8; NONCE] = nonce.try_into().ok()?;
    let payload = Payload { msg: sealed, aad: bound_to };
    let opened = XChaCha20Poly1305::new(key.into()).decrypt(&XNonce::from(nonce), payload);
    opened.ok().map(Zeroizing::new)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binding() -> Binding {
        Binding { tenant: TenantId::new(), id: CredentialId::new(), revision: 3 }
    }

    #[test]
    fn envelope_opens_where_it_was_made_for_and_nowhere_else() {
        let (wrapping, binding) = (Wrapping::of(&MasterKey::generate()), binding());
        let sealed = wrapping.seal(binding, b"hunter2");

        assert_eq!(wrapping.open(binding, &sealed).unwrap().as_slice(), b"hunter2");
        for elsewhere in [
            Binding { tenant: TenantId::new(), ..binding },
            Binding { id: CredentialId::new(), ..binding },
            Binding { revision: 4, ..binding },
        ] {
            assert!(wrapping.open(elsewhere, &sealed).is_none(), "{elsewhere:?}");
        }
        assert!(Wrapping::of(&MasterKey::generate()).open(binding, &sealed).is_none());
    }

    #[test]
    fn envelope_of_which_a_bit_was_changed_does_not_open() {
        let (wrapping, binding) = (Wrapping::of(&MasterKey::generate()), binding());
        let sealed = wrapping.seal(binding, b"hunter2");
        for index in 0..sealed.ciphertext.len() {
            let mut forged = sealed.clone();
            forged.ciphertext[index] ^= 1;
            assert!(wrapping.open(binding, &forged).is_none(), "byte {index} of the payload");
        }
        for index in 0..sealed.wrapped_key.len() {
            let mut forged = sealed.clone();
            forged.wrapped_key[index] ^= 1;
            assert!(wrapping.open(binding, &forged).is_none(), "byte {index} of the key");
        }
        let short = SealedSecret { ciphertext: vec![1; 5], ..sealed };
        assert!(wrapping.open(binding, &short).is_none());
    }

    #[test]
    fn same_secret_looks_different_every_time() {
        let (wrapping, binding) = (Wrapping::of(&MasterKey::generate()), binding());
        let (one, two) = (wrapping.seal(binding, b"hunter2"), wrapping.seal(binding, b"hunter2"));
        assert_ne!(one.ciphertext, two.ciphertext);
        assert_ne!(one.wrapped_key, two.wrapped_key);
    }

    #[test]
    fn wrapped_anew_it_opens_with_the_new_key_only() {
        let (old, new) = (Wrapping::of(&MasterKey::generate()), Wrapping::of(&MasterKey::generate()));
        let binding = binding();
        let sealed = old.seal(binding, b"hunter2");
        let wrapped_key = old.rewrap(binding, &sealed, &new).unwrap();
        let moved = SealedSecret { wrapped_key, key_id: new.id().to_owned(), ..sealed.clone() };

        assert_eq!(new.open(binding, &moved).unwrap().as_slice(), b"hunter2");
        assert!(old.open(binding, &moved).is_none());
        assert!(new.rewrap(binding, &sealed, &old).is_none(), "the old one is not under the new key");
    }

    #[test]
    fn secret_of_a_tool_looks_the_same_in_that_tool_and_in_no_other() {
        let wrapping = Wrapping::of(&MasterKey::generate());
        let (tenant, tool, other) = (TenantId::new(), ToolId::new(), ToolId::new());
        let wrapped = wrapping.new_tenant_key(tenant);
        let key = wrapping.tenant_key(tenant, &wrapped).unwrap();
        let sealed = key.seal(tool, b"hunter2");

        assert_eq!(key.seal(tool, b"hunter2"), sealed);
        assert_ne!(key.seal(tool, b"hunter3")[..NONCE], sealed[..NONCE]);
        assert_ne!(key.seal(other, b"hunter2")[..NONCE], sealed[..NONCE]);
        assert_eq!(key.open(tool, &sealed).unwrap().as_slice(), b"hunter2");
        assert!(key.open(other, &sealed).is_none());
        assert!(wrapping.tenant_key(TenantId::new(), &wrapped).is_none());

        let next = Wrapping::of(&MasterKey::generate());
        let moved = wrapping.rewrap_tenant_key(tenant, &wrapped, &next).unwrap();
        assert_eq!(next.tenant_key(tenant, &moved).unwrap().seal(tool, b"hunter2"), sealed);
        assert!(wrapping.tenant_key(tenant, &moved).is_none());
    }

    #[test]
    fn key_is_not_shown() {
        let wrapping = Wrapping::of(&MasterKey::generate());
        assert!(!format!("{wrapping:?}").contains(&format!("{:?}", &wrapping.key[..4])[1..]));
    }
}
