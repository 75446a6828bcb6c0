//! Language models: one way to ask any of them, and what an answer took.
//!
//! An operator names models in the configuration ([`ModelSpec`]); a caller asks one by its name ([`Models::ask`]) and
//! gets text, piece by piece and as a whole. Each provider has a file in `wire/` with the structs of its own format;
//! nothing outside that folder knows one. A request leaves by the client of `tw-egress` alone, and only after its worst
//! case was reserved with the [`Ledger`]. A key is in a header of the request and nowhere else: whatever comes back is
//! searched for it.
//!
//! This room knows no tools, no store and no doors. Start with [`Models`], then `attempt.rs` and `wire.rs`.

mod answer;
mod ask;
mod attempt;
mod key;
mod ledger;
mod models;
mod spec;
mod wire;

pub use answer::{ModelAnswer, ModelStop, TextSink};
pub use ask::{ModelAsker, ModelRequest, ModelTurn, TurnRole};
pub use ledger::{Ledger, Reservation};
pub use models::{ModelFault, Models};
pub use spec::{ModelKey, ModelPrice, ModelSpec, Provider};
