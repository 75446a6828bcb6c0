//! A line of the audit log before it is written: who, and what.

use serde_json::Value;

/// Who makes a change.
#[derive(Clone, Debug)]
pub struct By {
    /// A [`tw_model::Actor`] as JSON, or `{"kind":"operator"}`, `{"kind":"system"}` or `{"kind":"stranger"}`.
    pub actor: String,
    pub request_id: Option<String>,
}

impl By {
    /// Somebody at the machine itself, through the command line.
    #[must_use]
    pub fn operator() -> Self {
        Self { actor: r#"{"kind":"operator"}"#.to_owned(), request_id: None }
    }

    /// The server itself, which nobody asked.
    #[must_use]
    pub fn system() -> Self {
        Self { actor: r#"{"kind":"system"}"#.to_owned(), request_id: None }
    }

    /// Somebody at the door who has not shown who they are.
    #[must_use]
    pub fn stranger(request_id: Option<&str>) -> Self {
        Self { actor: r#"{"kind":"stranger"}"#.to_owned(), request_id: request_id.map(str::to_owned) }
    }
}

/// A line to be written.
#[derive(Clone, Debug)]
pub struct NewAudit {
    /// Such as `key.revoked`.
    pub action: String,
    /// What was changed, such as `key:01932c07-…`.
    pub object: String,
    pub before: Option<Value>,
    pub after: Option<Value>,
    pub note: Option<String>,
}

impl NewAudit {
    pub(crate) fn change(action: &str, object: String, before: Option<Value>, after: Option<Value>) -> Self {
        Self { action: action.to_owned(), object, before, after, note: None }
    }
}
