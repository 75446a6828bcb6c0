//! The one HTTP client that may leave the house.
//!
//! URLs come from tenants, from agents and from answers of strangers, and this process stands inside
//! a network that trusts it. So every address is judged behind the name server and before the socket,
//! nothing is followed, and everything that comes back has a limit. No other crate opens a connection
//! to somewhere else, and nothing in here may know of tools, tenants or the store. The types of the
//! HTTP library stay inside.
//!
//! Start with [`Class`].

mod address;

pub use address::Class;
