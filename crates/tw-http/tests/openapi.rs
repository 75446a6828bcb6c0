//! The published description of the API is what the handlers say it is.

use std::collections::HashMap;

use expect_test::expect_file;

#[test]
fn committed_description_is_what_the_handlers_say() {
    let mut text = serde_json::to_string_pretty(&tw_http::openapi()).unwrap();
    text.push('\n');
    // After a change that is meant: `UPDATE_EXPECT=1 cargo nextest run -p tw-http`, and read the diff.
    expect_file!["../../../openapi/toolwright.json"].assert_eq(&text);
}

/// For those who make something of every code, such as the texts of the web app.
#[test]
fn committed_codes_are_those_of_the_program() {
    let errors: Vec<_> = tw_model::Code::ALL.iter().map(|code| code.as_str()).collect();
    let faults: serde_json::Map<_, _> = tw_schema::FaultCode::ALL
        .iter()
        .map(|code| (code.as_str().to_owned(), code.params().into()))
        .collect();
    let codes = serde_json::json!({ "errors": errors, "faults": faults });
    let mut text = serde_json::to_string_pretty(&codes).unwrap();
    text.push('\n');
    expect_file!["../../../openapi/codes.json"].assert_eq(&text);
}

#[test]
fn every_operation_is_described() {
    let api = serde_json::to_value(tw_http::openapi()).unwrap();
    assert_eq!(api["openapi"], "3.1.0");
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            assert!(
                operation["summary"].as_str().is_some_and(|text| text.ends_with('.')),
                "{place} says nothing"
            );
            assert!(!operation["responses"].as_object().unwrap().is_empty(), "{place} answers nothing");
        }
    }
}

#[test]
fn every_operation_has_a_name_of_its_own() {
    let api = serde_json::to_value(tw_http::openapi()).unwrap();
    let mut named: HashMap<String, String> = HashMap::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{place} has no name"));
            // What a generator makes a function of: a verb and what it is about.
            assert!(name.contains('_'), "{place}: `{name}` does not say of what");
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{place}: `{name}`");
            if let Some(other) = named.insert(name.to_owned(), place.clone()) {
                panic!("{place} and {other} are both `{name}`");
            }
        }
    }
}
