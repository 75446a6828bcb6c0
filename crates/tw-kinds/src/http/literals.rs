//! Finds the secrets that an author wrote out in a definition.

use serde_json::{Map, Value};
use tw_model::secret_texts;

/// The secrets that are written out in what is sent.
pub(super) fn literals(members: &Map<String, Value>) -> Vec<String> {
    let sent = ["query", "body", "headers"].into_iter();
    let sent = sent.filter_map(|name| Some((name.to_owned(), members.get(name)?.clone())));
    secret_texts(&Value::Object(sent.collect()))
}
