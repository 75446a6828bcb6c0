//! Documents that have the shapes of those that well-known services publish.

use std::fmt::Write as _;

use expect_test::{ExpectFile, expect_file};

use super::*;

/// Every operation with what it sends, or why it became no tool.
fn check(text: &str, expected: ExpectFile) {
    let document = yaml::read(text).unwrap();
    let mut told = String::new();
    for (operation, draft) in planned(&document) {
        let place = format!("{} {}", operation.method, operation.path);
        let Some(draft) = draft else {
            writeln!(told, "{place} skipped: {}", operation.reason).unwrap();
            continue;
        };
        let (implementation, input) = (&draft.body["implementation"], &draft.body["input_schema"]);
        writeln!(told, "{place} {} {}", draft.slug, implementation["url"].as_str().unwrap()).unwrap();
        for part in ["query", "headers", "body"] {
            for (name, value) in implementation[part].as_object().into_iter().flatten() {
                writeln!(told, "  {part} {name}: {}", value.as_str().unwrap()).unwrap();
            }
        }
        let inputs: Vec<_> = input["properties"].as_object().unwrap().keys().cloned().collect();
        writeln!(told, "  inputs {}; required {}", inputs.join(" "), input["required"]).unwrap();
        if draft.body.get("output_schema").is_some() {
            writeln!(told, "  has an output schema").unwrap();
        }
        draft
            .credentials
            .iter()
            .for_each(|(label, kind)| writeln!(told, "  credential {label} {kind}").unwrap());
        draft.notes.iter().for_each(|note| writeln!(told, "  note: {note}").unwrap());
    }
    expected.assert_eq(&told);
}

#[test]
fn document_in_the_shape_of_a_code_hosts() {
    check(include_str!("../testdata/code-host.json"), expect_file!["../testdata/code-host.expected"]);
}

#[test]
fn document_in_the_shape_of_a_payment_services() {
    check(include_str!("../testdata/payments.json"), expect_file!["../testdata/payments.expected"]);
}

#[test]
fn document_in_the_shape_of_a_weather_services() {
    check(include_str!("../testdata/weather.yaml"), expect_file!["../testdata/weather.expected"]);
}
