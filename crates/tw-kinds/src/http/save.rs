//! What is refused of a tool that is saved now. One that was saved before it was refused runs as it did.

use serde_json::Value;
use tw_model::names_a_secret;
use tw_schema::{Fault, Violation};

use super::spec::{HttpSpec, PATH};
use crate::faults::below;

pub(super) fn faults(spec: &HttpSpec, implementation: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (name, _) in spec.url.written_out().filter(|(name, _)| names_a_secret(name)) {
        faults.push(Violation::url_secret(name).at(below(PATH, "url")));
    }
    faults.extend(files(spec, implementation));
    faults
}

/// The parts of a form with files are told apart by a text that its content type names, so only one who writes
/// the whole body as a text can name it.
fn files(spec: &HttpSpec, implementation: &Value) -> Option<Fault> {
    let headers = implementation.get("headers")?.as_object()?;
    let (name, kind) = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"))?;
    let is_form = kind.as_str()?.trim_start().to_ascii_lowercase().starts_with("multipart/");
    let is_text = implementation.get("body").is_some_and(Value::is_string);
    (is_form && !is_text && spec.sends_a_body())
        .then(|| Violation::multipart().at(below(&below(PATH, "headers"), name)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Circuits, Http};
    use super::*;

    #[track_caller]
    fn check(implementation: Value, places: &[&str]) {
        let read = |is_new| Http::read(&implementation, &Circuits::default(), is_new);
        let faults = read(true).err().unwrap_or_default();
        let found: Vec<_> = faults.iter().map(|fault| fault.path.as_str()).collect();
        assert_eq!(found, places, "{implementation}");
        assert!(!format!("{faults:?}").contains("hunter2"), "{faults:?}");
        assert!(read(false).is_ok(), "what was saved before still runs");
    }

    #[test]
    fn secret_that_is_written_out_in_a_url_is_refused() {
        for url in [
            "https://h.test/x?api_key=hunter2",
            "https://h.test/x?a=1&api%5Fkey=hunter2",
            "https://h.test/?access_token=hunter2{{ input.a }}",
        ] {
            check(json!({ "url": url }), &["/implementation/url"]);
        }
        for url in [
            "https://h.test/x?token_type=bearer&max_tokens=7&api_key=",
            "https://h.test/x?api_key=secret:crm&token={{ input.token }}&password=(secret:crm)",
            "https://h.test/api_key=1",
        ] {
            check(json!({ "url": url }), &[]);
        }
        check(json!({ "url": "https://h.test/x", "query": { "api_key": "hunter2" } }), &[]);
    }

    #[test]
    fn form_with_files_that_is_no_text_is_refused() {
        let form = |method: &str, body: Value| {
            let headers = json!({ "content-Type": "multipart/form-data" });
            json!({ "url": "https://h.test/", "method": method, "headers": headers, "body": body })
        };
        let place = ["/implementation/headers/content-Type"];
        check(form("POST", json!({ "a": 1 })), &place);
        check(form("POST", Value::Null), &place);
        check(form("POST", json!("--x\r\n{{ input.parts }}")), &[]);
        check(form("GET", Value::Null), &[]);
    }
}
