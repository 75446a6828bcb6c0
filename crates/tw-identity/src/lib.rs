//! Who somebody is and what they may do: keys, logins, people, tenants, and rights as types.
//!
//! Start with [`Identity`], which turns credentials into a [`tw_model::Caller`]; [`rights`] says how an operation
//! asks for a right.

mod callers;
mod epochs;
pub mod keys;
mod passwords;
pub mod people;
pub mod rights;
mod sign_in;
mod tenant;
mod throttle;

pub use crate::{
    callers::{Freshness, Identity, ParkedCaller, PersonBehind},
    epochs::Epochs,
    keys::{CreatedKey, KeyRequest},
    passwords::Passwords,
    people::UserRequest,
    rights::Permit,
    sign_in::SignedIn,
    tenant::{spending_limits, tenant_mark},
};
