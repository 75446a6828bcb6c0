//! Tools that are a call to somebody's HTTP service.
//!
//! [`HttpSpec`] is what an author wrote, read once. [`HttpSpec::call`] fills it in, asks the circuit, sends
//! by way of the guarded client, and makes data of the answer. A credential is in the request and nowhere
//! else: whatever comes back is searched for it before it is handed on.

mod answer;
mod call;
mod fill;
mod kind;
mod literals;
mod retry;
mod save;
mod spec;

pub use crate::circuit::{Circuit, CircuitKey, Circuits};
pub use call::{Jq, SecretOpener, World};
pub(crate) use kind::Http;
pub(crate) use retry::short_wait;
pub use spec::HttpSpec;
