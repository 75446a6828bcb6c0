//! What the crates behind the doors share: errors, pages of lists, reading what was sent, a lane per tenant, and the
//! keys that are derived from the master key.

mod error;
mod lanes;
mod page;
pub mod secrets;
mod turns;
mod wording;

use tw_model::Caller;
use tw_store::By;

pub use crate::{
    error::{Error, Result},
    lanes::{Lanes, processors},
    page::{Page, PageRequest},
    secrets::{MasterKey, Secrets},
    turns::{Asker, Turn, Turns},
    wording::{
        drop_of_client, drop_refused_of_client, faultless, is_of_client, members, name_violation, read_body,
        read_sent, read_value,
    },
};

/// Who did something, for the audit log.
#[must_use]
pub fn by(caller: &Caller, request_id: Option<&str>) -> By {
    By {
        actor: serde_json::to_string(&caller.actor()).expect("an actor is plain JSON"),
        request_id: request_id.map(str::to_owned),
    }
}
