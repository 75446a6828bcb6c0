//! Headers that an author writes down.

use std::collections::BTreeMap;

use serde_json::Value;
use tw_egress::Error;
use tw_schema::Violation;

use crate::{
    faults::{Faults, below},
    template::{pieces::SecretReferences, text::Text},
};

const HEADERS_MAX: usize = 50;

/// Says why a header could not be sent.
pub(crate) type CheckHeader = fn(&str, &str) -> Result<(), Error>;

/// Reads headers, and tells everything that is wrong with them.
pub(crate) fn read(
    value: &Value,
    at: &str,
    names: &[&str],
    check: CheckHeader,
    faults: &mut Faults,
) -> Option<Vec<(String, Text)>> {
    let Some(members) = value.as_object() else {
        faults.say(at, Violation::typed(&["object"], value));
        return None;
    };
    if HEADERS_MAX < members.len() {
        faults.say(at, Violation::max_properties(HEADERS_MAX));
    }
    let mut seen = BTreeMap::new();
    let mut headers = Vec::new();
    for (name, value) in members {
        let at = below(at, name);
        check_name(name, &at, check, faults);
        if let Some(other) = seen.insert(name.to_ascii_lowercase(), name) {
            faults.say(&at, Violation::header_twice(other.as_str()));
        }
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null => continue,
            other => {
                faults.say(&at, Violation::typed(&["string"], other));
                continue;
            }
        };
        if !text.contains("{{")
            && let Err(Error::BadRequest { why }) = check(name, &text)
            && check(name, "").is_ok()
        {
            faults.say(&at, Violation::header(why));
        }
        match Text::read(&text, &at, names, SecretReferences::Secrets) {
            Ok(text) => headers.push((name.clone(), text)),
            Err(violation) => faults.say(at, violation),
        }
    }
    Some(headers)
}

/// A name that the client would refuse is refused here, where the author sees it.
pub(crate) fn check_name(name: &str, at: &str, check: CheckHeader, faults: &mut Faults) {
    match check(name, "") {
        Ok(()) => {}
        Err(Error::BadRequest { why }) => faults.say(at, Violation::header(why)),
        Err(error) => faults.say(at, Violation::header(error.to_string())),
    }
}
