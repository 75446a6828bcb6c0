//! What is wrong with something that was sent, in words for those who sent it.

use std::fmt::Display;

use serde::{Deserializer, de::DeserializeOwned};
use serde_path_to_error::{Path, Segment};
use tw_schema::Fault;

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
    let expected = message.rsplit_once("expected ").map_or("", |(_, expected)| expected);
    let message = if message.starts_with("missing field") {
        path = format!("{path}/{}", escaped(quoted));
        "is required".to_owned()
    } else if message.starts_with("unknown field") {
        let below = format!("/{}", escaped(quoted));
        if !path.ends_with(&below) {
            path.push_str(&below);
        }
        "is not a known property".to_owned()
    } else if message.starts_with("unknown variant") {
        let words: Vec<_> = expected.split('`').skip(1).step_by(2).collect();
        format!("is one of {}", words.join(", "))
    } else if message.starts_with("invalid type") || message.starts_with("invalid value") {
        wanted(expected)
    } else if message == "expected value" {
        // One word of several, where something else than text stands.
        "is text".to_owned()
    } else if message.starts_with("UUID parsing failed") {
        "is an id".to_owned()
    } else {
        message.to_owned()
    };
    Fault { path, message }
}

/// What is expected at a place, in the words of JSON.
fn wanted(expected: &str) -> String {
    let from_to = |max: u64| format!("is a whole number from 0 to {max}");
    match expected {
        "a boolean" => "is true or false".to_owned(),
        "a string" | "a borrowed string" | "string or map" | "a character" => "is text".to_owned(),
        "u8" => from_to(u8::MAX.into()),
        "u16" => from_to(u16::MAX.into()),
        "u32" => from_to(u32::MAX.into()),
        "u64" | "usize" => from_to(u64::MAX),
        "i8" | "i16" | "i32" | "i64" | "isize" => "is a whole number".to_owned(),
        "f32" | "f64" => "is a number".to_owned(),
        "a sequence" => "is a list".to_owned(),
        "a map" => "is an object".to_owned(),
        "a formatted UUID string" => "is an id".to_owned(),
        expected if expected.starts_with("struct ") => "is an object".to_owned(),
        "" => "is something else".to_owned(),
        expected => format!("is {expected}"),
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
        for (sent, path, message) in [
            (r#"{}"#, "/role", "is required"),
            (r#"{"role":"admin","a/b":1}"#, "/a~1b", "is not a known property"),
            (r#"{"role":"king"}"#, "/role", "is one of admin, builder, member, approver, viewer, agent"),
            (r#"{"role":5}"#, "/role", "is text"),
            (r#"{"role":"admin","tags":["a","",5]}"#, "/tags/2", "is text"),
            (r#"{"role":"admin","tags":"a"}"#, "/tags", "is a list"),
            (r#"{"role":"admin","wait":-1}"#, "/wait", "is a whole number from 0 to 4294967295"),
            (r#"{"role":"admin","wait":"soon"}"#, "/wait", "is a whole number from 0 to 4294967295"),
            (r#"{"role":"admin","is_pure":"yes"}"#, "/is_pure", "is true or false"),
            (r#"{"role":"admin","inner":{"role":"admin","inner":{}}}"#, "/inner/inner/role", "is required"),
            (r#"{"role":"admin","inner":"x"}"#, "/inner", "is an object"),
        ] {
            let by_text =
                read_sent::<Sent, _>("", &mut serde_json::Deserializer::from_str(sent)).unwrap_err();
            let value: serde_json::Value = serde_json::from_str(sent).unwrap();
            let by_value = read_sent::<Sent, _>("", value).unwrap_err();
            for fault in [by_text, by_value] {
                assert_eq!((fault.path.as_str(), fault.message.as_str()), (path, message), "{sent}");
            }
        }
    }
}
