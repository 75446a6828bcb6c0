//! Administration of one's own tenant, and what an operator does on the database itself.

mod authoring;
mod credentials;
mod explain;
mod keys;
mod manage;
mod operator;
mod passwords;
mod people;
mod sign_in;
mod tenant;
mod throttle;
mod tools;

use tw_model::Caller;
use tw_store::By;

pub use authoring::{Asked, Compared, History, UsedBy};
pub use credentials::{Trial, Tried, credential_mark};
pub use explain::{Check, Explained, ExplainedFor, Subject};
pub use keys::{CreatedKey, KeyRequest};
pub(crate) use manage::ManageTools;
pub use manage::definition as manage_tools;
pub use operator::{FirstRun, Operator};
pub(crate) use passwords::Passwords;
pub use people::UserRequest;
pub use sign_in::SignedIn;
pub use tenant::tenant_mark;
pub(crate) use throttle::Throttle;
pub(crate) use tools::seen;
pub use tools::{Listed, ToolFilter};
pub use tw_store::{ApiKey, Note, ToolVersion};

/// Who did it, for the audit log.
pub(crate) fn by(caller: &Caller, request_id: Option<&str>) -> By {
    By {
        actor: serde_json::to_string(&caller.actor()).expect("an actor is plain JSON"),
        request_id: request_id.map(str::to_owned),
    }
}
