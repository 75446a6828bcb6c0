//! Secrets of tenants: sealed at rest, opened for the tool that needs them, never shown.
//!
//! `envelope.rs` is the cryptography, [`Vault`] opens and seals, [`CredentialAdmin`] is what administrators do,
//! [`CallSecrets`] keeps what tools pass on and are given out of the log.

mod call_secrets;
pub mod credentials;
mod definition_parts;
mod envelope;
mod tool_secrets;
mod vault;

pub use crate::{
    call_secrets::{CallSecrets, OpenedCall},
    credentials::{CredentialAdmin, References, Trial, Tried, UsedBy, credential_mark},
    definition_parts::{DefinitionParts, HiddenInput},
    envelope::TenantKey,
    tool_secrets::open as open_secrets,
    vault::{OpenedCredential, Stamp, Stamped, Vault},
};
