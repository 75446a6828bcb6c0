//! Secrets of tenants: sealed at rest, opened for the tool that needs them, never shown.
//!
//! `envelope.rs` is the cryptography, [`Vault`] opens and seals, [`Credentials`] is what administrators do,
//! [`CallSecrets`] keeps what tools pass on out of the log.

mod call_secrets;
pub mod credentials;
mod envelope;
mod tool_secrets;
mod vault;

pub use crate::{
    call_secrets::{CallSecrets, OpenedCall},
    credentials::{Credentials, References, Trial, Tried, UsedBy, credential_mark},
    envelope::TenantKey,
    tool_secrets::open as open_secrets,
    vault::{Secret, Stamp, Vault},
};
