//! What is wrong with something that was sent, in words for those who sent it.

use std::{collections::BTreeSet, fmt::Display};

use serde::{Deserializer, de::DeserializeOwned};
use serde_json::{Map, Value, json};
use serde_path_to_error::{Path, Segment};
use tw_model::{NAME_MAX, NameError};
use tw_schema::{Fault, FaultCode, Violation};

use crate::error::Error;

/// Reads something that was sent, or tells what is wrong with it and at which place below `place`.
pub fn read_sent<'de, T: DeserializeOwned, D: Deserializer<'de, Error: Display>>(
    place: &str,
    sent: D,
) -> Result<T, Fault> {
    serde_path_to_error::deserialize(sent).map_err(|error| {
        let path = format!("{place}{}", pointer(error.path()));
        told(path, &error.into_inner().to_string())
    })
}

/// How many places with a client's own members are looked for in one value: more than any type of ours has.
const OWN_PLACES_MAX: usize = 16;

/// Whether a member is a client's own: it is taken, and not kept.
#[must_use]
pub fn is_of_client(name: &str) -> bool {
    name.starts_with("x_")
}

/// As [`read_sent`], without a client's own members wherever unknown ones are refused. Elsewhere, as in a map, such a
/// name is one like any other.
pub fn read_value<T: DeserializeOwned>(place: &str, mut sent: Value) -> Result<T, Fault> {
    for _ in 0..OWN_PLACES_MAX {
        match read_sent(place, &sent) {
            Err(fault) if drop_refused_of_client(&mut sent, place, &fault) => {}
            read => return read,
        }
    }
    read_sent(place, sent)
}

/// Takes out a client's own members where one of them was refused, also in the other items of a list. False where the
/// fault is another.
pub fn drop_refused_of_client(sent: &mut Value, place: &str, fault: &Fault) -> bool {
    let path = fault.path.strip_prefix(place).filter(|_| fault.code == FaultCode::UnknownMember);
    let Some((parent, _)) =
        path.and_then(|path| path.rsplit_once('/')).filter(|(_, name)| is_of_client(name))
    else {
        return false;
    };
    let steps: Vec<String> =
        parent.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
    drop_of_client(sent, &steps);
    true
}

/// Takes a client's own members out of the object at a place; a step into a list leads to all of its items.
pub fn drop_of_client(value: &mut Value, steps: &[impl AsRef<str>]) {
    match (value, steps) {
        (Value::Object(members), []) => members.retain(|name, _| !is_of_client(name)),
        (Value::Object(members), [step, rest @ ..]) => {
            if let Some(member) = members.get_mut(step.as_ref()) {
                drop_of_client(member, rest);
            }
        }
        (Value::Array(items), [_, rest @ ..]) => items.iter_mut().for_each(|item| drop_of_client(item, rest)),
        _ => {}
    }
}

/// How large a body may be for all that is wrong with it to be told. It is read once for every fault.
const LOOKED_THROUGH_MAX: usize = 64 << 10;
/// How many faults of a body are looked for.
const FAULTS_MAX: usize = 20;

/// Reads a body that was sent, or tells everything that is wrong with its members.
///
/// A reader stops at the first thing that it cannot use. So what is wrong is put right, or something that fits is put
/// in the place of what is missing, and the rest is read again.
pub fn read_body<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Vec<Fault>> {
    let read = |bytes: &[u8]| read_sent::<T, _>("", &mut serde_json::Deserializer::from_slice(bytes));
    let first = match read(bytes) {
        Ok(value) => return Ok(value),
        Err(fault) => fault,
    };
    let members = serde_json::from_slice::<Map<String, Value>>(bytes);
    let (Ok(mut members), true) = (members, bytes.len() <= LOOKED_THROUGH_MAX) else {
        return Err(vec![first]);
    };
    let look = |members: &Map<String, Value>| read(&serde_json::to_vec(members).unwrap_or_default()).err();
    let mut faults: Vec<Fault> = Vec::new();
    let mut told = BTreeSet::new();
    let mut next = Some(first);
    while let Some(fault) = next.take()
        && faults.len() < FAULTS_MAX
    {
        let Some(name) = member_of(&fault) else {
            faults.push(fault);
            break;
        };
        // One that was taken out for what is wrong with it is not missing as well.
        if told.insert(name.clone()) {
            faults.push(fault);
        }
        next = match members.shift_remove(&name) {
            Some(_) => look(&members),
            None => stand_in(&mut members, &name, look),
        };
    }
    Err(faults)
}

/// The member of the body that a fault is about.
fn member_of(fault: &Fault) -> Option<String> {
    let name = fault.path.split('/').nth(1)?;
    Some(name.replace("~1", "/").replace("~0", "~"))
}

/// Puts something in the place of a member that has to be there, and tells what else is wrong.
fn stand_in(
    members: &mut Map<String, Value>,
    name: &str,
    look: impl Fn(&Map<String, Value>) -> Option<Fault>,
) -> Option<Fault> {
    const ID: &str = "00000000-0000-7000-8000-000000000000";
    let mut candidates = vec![json!(""), json!("a"), json!(0), json!(false), json!([]), json!({}), json!(ID)];
    while let Some(candidate) = candidates.pop() {
        members.insert(name.to_owned(), candidate);
        match look(members) {
            Some(fault) if member_of(&fault).as_deref() == Some(name) => {
                // One word of several: the fault names them, and one of them will do.
                if fault.code == FaultCode::Enum
                    && let Some(word) = fault.params.get("values").and_then(|values| values.get(0))
                    && members.get(name) != Some(word)
                {
                    candidates = vec![word.clone()];
                }
            }
            other => return other,
        }
    }
    None
}

/// A place as a JSON pointer.
fn pointer(path: &Path) -> String {
    let mut pointer = String::new();
    for segment in path.iter() {
        pointer.push('/');
        match segment {
            Segment::Seq { index } => pointer.push_str(&index.to_string()),
            Segment::Map { key } => pointer.push_str(&escaped(key)),
            Segment::Enum { variant } => pointer.push_str(variant),
            Segment::Unknown => pointer.push('?'),
        }
    }
    pointer
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// What serde says is meant for those who wrote the types.
fn told(mut path: String, message: &str) -> Fault {
    // Where in the text it happened helps nobody who did not write the text by hand.
    let message = message.split(" at line ").next().unwrap_or_default();
    let quoted = message.split('`').nth(1).unwrap_or_default();
    let (found, expected) = message.rsplit_once("expected ").unwrap_or((message, ""));
    let violation = if message.starts_with("missing field") {
        path = format!("{path}/{}", escaped(quoted));
        Violation::required()
    } else if message.starts_with("unknown field") {
        let below = format!("/{}", escaped(quoted));
        if !path.ends_with(&below) {
            path.push_str(&below);
        }
        Violation::unknown_member()
    } else if message.starts_with("unknown variant") {
        Violation::words(expected.split('`').skip(1).step_by(2))
    } else if let Some(found) = found.strip_prefix("invalid type: ") {
        wanted(json_type(found), expected)
    } else if let Some(found) = found.strip_prefix("invalid value: ") {
        wanted(json_type(found), expected)
    } else if message == "expected value" {
        // One word of several, where something else than text stands.
        Violation::wrong_type("string", "number")
    } else if message.starts_with("invalid length") && expected.starts_with("struct ") {
        // A list of values would pass for the members in their order.
        Violation::wrong_type("object", "array")
    } else if message.starts_with("UUID parsing failed") {
        Violation::format("uuid")
    } else {
        Violation::invalid(message)
    };
    violation.at(path)
}

/// The type of JSON behind what serde calls a value.
fn json_type(found: &str) -> &'static str {
    match found.split([' ', ',']).next().unwrap_or_default() {
        "null" | "unit" | "Option" => "null",
        "boolean" => "boolean",
        "integer" | "floating" | "number" => "number",
        "string" | "character" => "string",
        "sequence" => "array",
        _ => "object",
    }
}

/// What is expected at a place, in the words of JSON.
fn wanted(found: &'static str, expected: &str) -> Violation {
    let max: u64 = match expected {
        "u8" => u8::MAX.into(),
        "u16" => u16::MAX.into(),
        "u32" => u32::MAX.into(),
        "u64" | "usize" => u64::MAX,
        _ => 0,
    };
    let name = match expected {
        "a boolean" => "boolean",
        "a string" | "a borrowed string" | "string or map" | "a character" => "string",
        "u8" | "u16" | "u32" | "u64" | "usize" if found == "number" => return Violation::range(0, max),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i8" | "i16" | "i32" | "i64" | "isize" => "integer",
        "f32" | "f64" => "number",
        "a sequence" => "array",
        "a formatted UUID string" => return Violation::format("uuid"),
        "a map" => "object",
        expected if expected.starts_with("struct ") => "object",
        expected => return Violation::invalid(format!("expected {expected}")),
    };
    Violation::wrong_type(name, found)
}

/// The members of a body, which must be an object.
pub fn members(body: &Value) -> Result<Map<String, Value>, Error> {
    body.as_object().cloned().ok_or_else(|| Error::invalid("", Violation::typed(&["object"], body)))
}

/// Refuses what was sent if anything is wrong with it.
pub fn faultless(faults: Vec<Fault>) -> Result<(), Error> {
    if faults.is_empty() { Ok(()) } else { Err(Error::refused(faults)) }
}

/// What is wrong with a text that is to be a name.
#[must_use]
pub fn name_violation(error: &NameError) -> Violation {
    match error {
        NameError::Length => Violation::byte_length(1, NAME_MAX),
        NameError::Control => Violation::control_characters(),
        NameError::Unseen => Violation::invisible(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only ever read")]
    struct Sent {
        role: tw_model::Role,
        #[serde(default)]
        tags: Vec<String>,
        #[serde(default)]
        wait: Option<u32>,
        #[serde(default)]
        is_pure: bool,
        #[serde(default)]
        inner: Option<Box<Sent>>,
    }

    #[test]
    fn fault_is_told_at_its_place_and_without_the_words_of_the_program() {
        let roles = r#"must be one of "admin", "builder", "member", "approver", "viewer", "agent""#;
        for (sent, path, code, message) in [
            (r#"{}"#, "/role", "required", "is required"),
            (r#"{"role":"admin","a/b":1}"#, "/a~1b", "unknown_member", "is not a known member"),
            (r#"{"role":"king"}"#, "/role", "enum", roles),
            (r#"{"role":5}"#, "/role", "type", "must be a string, not a number"),
            (r#"{"role":"admin","tags":["a","",5]}"#, "/tags/2", "type", "must be a string, not a number"),
            (r#"{"role":"admin","tags":"a"}"#, "/tags", "type", "must be an array, not a string"),
            (
                r#"{"role":"admin","wait":-1}"#,
                "/wait",
                "range",
                "must be a whole number from 0 to 4294967295",
            ),
            (r#"{"role":"admin","wait":"soon"}"#, "/wait", "type", "must be an integer, not a string"),
            (r#"{"role":"admin","is_pure":"yes"}"#, "/is_pure", "type", "must be a boolean, not a string"),
            (
                r#"{"role":"admin","inner":{"role":"admin","inner":{}}}"#,
                "/inner/inner/role",
                "required",
                "is required",
            ),
            (r#"{"role":"admin","inner":"x"}"#, "/inner", "type", "must be an object, not a string"),
        ] {
            let by_text =
                read_sent::<Sent, _>("", &mut serde_json::Deserializer::from_str(sent)).unwrap_err();
            let value: serde_json::Value = serde_json::from_str(sent).unwrap();
            let by_value = read_sent::<Sent, _>("", value).unwrap_err();
            for fault in [by_text, by_value] {
                let told = (fault.path.as_str(), fault.code.as_str(), fault.message.as_str());
                assert_eq!(told, (path, code, message), "{sent}");
            }
        }
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only ever read")]
    struct Body {
        email: String,
        role: tw_model::Role,
        count: u32,
        #[serde(default)]
        tags: Vec<String>,
        user: tw_model::UserId,
        note: Option<String>,
    }

    #[test]
    fn body_is_told_everything_that_is_wrong_with_it() {
        let told = |body: &str| -> Vec<String> {
            let faults = read_body::<Body>(body.as_bytes()).unwrap_err();
            faults.iter().map(|fault| format!("{} {}", fault.path, fault.code.as_str())).collect()
        };
        assert_eq!(told("{}"), ["/email required", "/role required", "/count required", "/user required"]);
        assert_eq!(
            told(r#"{ "tags": [1], "rolle": 1, "role": "king", "x": 2, "note": "n" }"#),
            [
                "/tags/0 type",
                "/rolle unknown_member",
                "/role enum",
                "/x unknown_member",
                "/email required",
                "/count required",
                "/user required"
            ]
        );
        assert_eq!(told("[]"), [" type"]);
    }
}
