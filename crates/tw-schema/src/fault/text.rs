//! Messages, made of a template and values.
//!
//! In a template `{name}` stands for a value, `{name:how}` for a value that is shown in one of the ways of
//! [`shown`], and `{name|item|items}` for a number and the word that goes with it. `{{` and `}}` are braces.

use serde_json::{Map, Value};

pub(super) fn filled(template: &str, params: &Map<String, Value>) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(behind) = rest.strip_prefix("{{").or_else(|| rest.strip_prefix("}}")) {
            text.push_str(&rest[..1]);
            rest = behind;
            continue;
        }
        let (slot, behind) = rest[1..].split_once('}').unwrap_or((&rest[1..], ""));
        text.push_str(&slot_text(slot, params));
        rest = behind;
    }
    text.push_str(rest);
    text
}

fn slot_text(slot: &str, params: &Map<String, Value>) -> String {
    let value = |name: &str| params.get(name).unwrap_or(&Value::Null);
    if let Some((name, words)) = slot.split_once('|') {
        let (one, many) = words.split_once('|').unwrap_or((words, words));
        let count = value(name);
        return format!("{count} {}", if *count == 1 { one } else { many });
    }
    let (name, how) = slot.split_once(':').unwrap_or((slot, ""));
    shown(value(name), how)
}

/// A value, or several of them in a row.
fn shown(value: &Value, how: &str) -> String {
    let one = |value: &Value| match (how, value) {
        ("json", value) => value.to_string(),
        ("code" | "only", Value::String(text)) => format!("`{text}`"),
        ("type", Value::String(text)) => with_article(text).to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    };
    match (how, value) {
        ("more", Value::Null) => String::new(),
        ("more", count) => format!(" and {count} more"),
        ("only", Value::Array(values)) if values.is_empty() => String::new(),
        ("only", Value::Array(values)) => {
            format!(", only {}", values.iter().map(one).collect::<Vec<_>>().join(", "))
        }
        ("type", Value::Array(values)) => either(&values.iter().map(one).collect::<Vec<_>>()),
        (_, Value::Array(values)) => values.iter().map(one).collect::<Vec<_>>().join(", "),
        (_, value) => one(value),
    }
}

fn either(names: &[String]) -> String {
    match names.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    }
}

fn with_article(name: &str) -> &str {
    match name {
        "array" => "an array",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "object" => "an object",
        "string" => "a string",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::{FaultCode, Violation};

    #[test]
    fn message_is_made_of_its_template_and_its_values() {
        let params = json!({ "n": 1, "m": 2, "s": "a", "l": ["a", 5], "t": ["string", "null"], "more": 3 });
        let params = params.as_object().unwrap();
        for (template, expected) in [
            ("is {s}, {n}", "is a, 1"),
            ("{n|item|items}, {m|item|items}", "1 item, 2 items"),
            ("{l:json}{more:more}{less:more}", "\"a\", 5 and 3 more"),
            ("{l:code}", "`a`, 5"),
            ("{t:type}", "a string or null"),
            ("`{{{{` {s} `}}}}`", "`{{` a `}}`"),
        ] {
            assert_eq!(filled(template, params), expected, "{template}");
        }
    }

    #[test]
    fn every_template_uses_the_values_of_its_code_and_no_others() {
        for code in FaultCode::ALL {
            let plain = code.template().replace("{{", "").replace("}}", "");
            let slots = plain.split('{').skip(1).map(|rest| rest.split(['}', ':', '|']).next().unwrap());
            let used: BTreeSet<_> = slots.collect();
            let known: BTreeSet<_> = code.params().iter().copied().collect();
            assert_eq!(used, known, "{}", code.as_str());
        }
    }

    #[test]
    fn every_code_is_in_the_table_that_people_read() {
        let page = include_str!("../../../../docs/faults.md");
        for code in FaultCode::ALL {
            let row = format!("| `{}` | {} |", code.as_str(), code.template().replace('|', "\\|"));
            assert!(page.lines().any(|line| line == row), "docs/faults.md lacks this row:\n{row}");
        }
    }

    #[test]
    fn codes_are_lower_snake_case_and_stand_for_one_rule_each() {
        let mut seen = BTreeSet::new();
        for code in FaultCode::ALL {
            let word = code.as_str();
            assert!(
                word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
            );
            assert!(seen.insert(word), "{word} is there twice");
            assert_eq!(serde_json::to_value(code).unwrap(), json!(word));
        }
    }

    #[test]
    fn long_values_are_cut() {
        let fault = Violation::pattern("x".repeat(1_000)).at("");
        assert!(fault.message.len() < 400, "{}", fault.message);
        assert_eq!(fault.params["pattern"].as_str().unwrap().chars().count(), 301);
    }
}
