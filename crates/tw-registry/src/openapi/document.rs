//! An OpenAPI document and its references.

use serde_json::Value;
use tw_schema::{Fault, Violation};

/// How many references may lead from one to the next.
const HOPS_MAX: usize = 16;

#[derive(Clone, Copy, Debug)]
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
    /// Whether schemas are in the dialect of 3.0.
    pub(super) is_3_0: bool,
}

impl<'a> Document<'a> {
    pub(super) fn read(root: &'a Value) -> Result<Self, Vec<Fault>> {
        if !root.is_object() {
            return Err(vec![Violation::typed(&["object"], root).at("/document")]);
        }
        let mut faults = Vec::new();
        let version = root["openapi"].as_str().unwrap_or_default();
        let is_3_0 = version.starts_with("3.0");
        if !is_3_0 && !version.starts_with("3.1") {
            faults.push(Violation::openapi_version().at("/document/openapi"));
        }
        if !root["paths"].is_object() {
            faults.push(Violation::typed(&["object"], &root["paths"]).at("/document/paths"));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self { root, is_3_0 })
    }

    /// What a reference leads to, or the value itself.
    pub(super) fn follow(&self, mut value: &'a Value) -> Result<&'a Value, String> {
        for _ in 0..HOPS_MAX {
            match value.get("$ref").and_then(Value::as_str) {
                None => return Ok(value),
                Some(reference) => value = self.target(reference)?,
            }
        }
        Err("a reference leads to itself".to_owned())
    }

    pub(super) fn target(&self, reference: &str) -> Result<&'a Value, String> {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!(
                "`{reference}` must not refer to another document: references are not fetched"
            ));
        };
        let pointer = percent_decoded(pointer);
        self.root
            .pointer(&pointer)
            .ok_or_else(|| format!("`{reference}` refers to a part that does not exist"))
    }
}

/// A pointer in a reference is part of a URL.
fn percent_decoded(pointer: &str) -> String {
    let decoded = url_decoded(pointer.as_bytes());
    String::from_utf8(decoded).unwrap_or_else(|_| pointer.to_owned())
}

fn url_decoded(bytes: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, behind)) = rest.split_first() {
        let code = (first == b'%').then(|| behind.get(..2)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok());
        match code {
            Some(byte) => {
                decoded.push(byte);
                rest = &behind[2..];
            }
            None => {
                decoded.push(first);
                rest = behind;
            }
        }
    }
    decoded
}
