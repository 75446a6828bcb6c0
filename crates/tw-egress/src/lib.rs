//! The one HTTP client that may leave the house.
//!
//! URLs come from tenants, from agents and from answers of strangers, and this process stands inside
//! a network that trusts it. So every address is judged behind the name server and before the socket,
//! nothing is followed, and everything that comes back has a limit. No other crate opens a connection
//! to somewhere else, and nothing in here may know of tools, tenants or the store. The types of the
//! HTTP library stay inside.
//!
//! Start with [`Egress`], then [`Policy`]; what decides is in `address.rs` and `guard.rs`, and the one
//! socket is opened in `connect.rs`.

mod address;
mod answer;
mod charset;
mod connect;
mod egress;
mod error;
mod failure;
mod guard;
mod gunzip;
mod headers;
mod limits;
mod line;
mod policy;
mod request;
mod resolve;
mod sse;
mod stream;
mod target;

pub use address::Class;
pub use answer::{OpenResponse, Response};
pub use charset::Charset;
pub use egress::{Builder, Egress, Exchange, Observe};
pub use error::{AnswerPart, Error, Obstacle, Site};
pub use headers::Headers;
pub use limits::RequestLimits;
pub use policy::{Policy, PolicyError, Reach};
pub use request::{Method, Request};
pub use resolve::Resolve;
pub use sse::{EventTooLarge, SseReader};
