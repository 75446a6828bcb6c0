//! The JSON Schema Test Suite for 2020-12, run through [`Schema`] as a call meets it.
//!
//! Where we differ from the suite we do so on purpose, in three ways, and the lists below are held to
//! be exactly that: a case that differs without being listed fails, and so does one that is listed
//! and does not differ.
//!
//! - **References.** Nothing is ever fetched, so a schema that refers to another document does not
//!   compile. The suite would have it served at `localhost:1234`.
//! - **Formats** are checked, where the specification has them as notes by default. The suite's tests
//!   for formats that are checked run as well, without exception.
//! - **`$schema`** is ignored at the root: every schema is read as 2020-12, whatever meta-schema it names.
//!
//! **Patterns** run on an engine of linear time, without look-around and back-references, and keep to the
//! `u` flag. No required test needs more.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::{collections::BTreeSet, fs, path::Path};

use serde_json::Value;
use tw_schema::{Schema, SchemaFault};

/// Groups whose schema refers to a document that would have to be fetched.
const REMOTE: &[&str] = &[
    "dynamicRef: strict-tree schema, guards against misspelled properties",
    "dynamicRef: tests for implementation dynamic anchor and reference link",
    "dynamicRef: $ref and $dynamicAnchor are independent of order - $defs first",
    "dynamicRef: $ref and $dynamicAnchor are independent of order - $ref first",
    "dynamicRef: $ref to $dynamicRef finds detached $dynamicAnchor",
    "refRemote: remote ref",
    "refRemote: fragment within remote ref",
    "refRemote: anchor within remote ref",
    "refRemote: ref within remote ref",
    "refRemote: base URI change",
    "refRemote: base URI change - change folder",
    "refRemote: base URI change - change folder in subschema",
    "refRemote: root ref in remote ref",
    "refRemote: remote ref with ref to defs",
    "refRemote: Location-independent identifier in remote ref",
    "refRemote: retrieved nested refs resolve relative to their URI not $id",
    "refRemote: remote HTTP ref with different $id",
    "refRemote: remote HTTP ref with different URN $id",
    "refRemote: remote HTTP ref with nested absolute ref",
    "refRemote: $ref to $ref finds detached $anchor",
];

/// Formats that are checked. Each has one case in the suite that says it is only a note.
const CHECKED: &[&str] = &[
    "date",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "iri",
    "iri-reference",
    "json-pointer",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "uuid",
];

/// The case that asks a meta-schema of its own to switch validation off.
const OWN_META_SCHEMA: &str = "vocabulary: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates";

/// What came of one folder of the suite.
#[derive(Default)]
struct Outcome {
    passed: usize,
    /// Groups whose schema was refused because it refers to another document.
    remote: BTreeSet<String>,
    /// Cases that we answer the other way.
    different: BTreeSet<String>,
}

#[test]
fn required_tests_pass_but_for_what_differs_on_purpose() {
    let outcome = run("draft2020-12");
    assert_eq!(outcome.remote, REMOTE.iter().map(ToString::to_string).collect());
    let as_note = |name: &&str| {
        format!("format: {name} format: invalid {name} string is only an annotation by default")
    };
    let mut different: BTreeSet<String> = CHECKED.iter().map(as_note).collect();
    different.insert(OWN_META_SCHEMA.to_owned());
    assert_eq!(outcome.different, different);
    // So that a folder that was not found does not pass.
    assert_eq!(outcome.passed, 1_195);
}

#[test]
fn every_format_that_is_checked_is_checked_as_the_suite_says() {
    assert_eq!(files("format"), CHECKED);
    let outcome = run("format");
    assert_eq!((outcome.remote, outcome.different), (BTreeSet::new(), BTreeSet::new()));
    assert_eq!(outcome.passed, 408);
}

fn folder(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite").join(name)
}

/// The names of the files in a folder, in order.
fn files(name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<String> =
        entries.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    files.sort_unstable();
    files
}

fn run(name: &str) -> Outcome {
    let mut outcome = Outcome::default();
    for file in files(name) {
        let text = fs::read_to_string(folder(name).join(&file).with_extension("json")).unwrap();
        let groups: Vec<Value> = serde_json::from_str(&text).unwrap();
        for group in &groups {
            outcome.group(&format!("{file}: {}", group["description"].as_str().unwrap()), group);
        }
    }
    outcome
}

impl Outcome {
    fn group(&mut self, name: &str, group: &Value) {
        let schema = match Schema::compile(&group["schema"]) {
            Ok(schema) => schema,
            Err(SchemaFault::RemoteReference { reference }) => {
                assert!(reference.starts_with("http://localhost:1234/"), "{name}: {reference}");
                self.remote.insert(name.to_owned());
                return;
            }
            Err(fault) => panic!("{name}: {fault}"),
        };
        for test in group["tests"].as_array().unwrap() {
            let name = format!("{name}: {}", test["description"].as_str().unwrap());
            let is_valid = schema.is_valid(&test["data"]);
            assert_eq!(schema.faults(&test["data"]).is_empty(), is_valid, "{name}");
            if Some(is_valid) == test["valid"].as_bool() {
                self.passed += 1;
            } else {
                self.different.insert(name);
            }
        }
    }
}
