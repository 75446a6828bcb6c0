//! Words for people, made from the names that programs use.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Up to this many choices fit on the screen at once; more are picked from a list.
const SELECT_MAX: usize = 6;

/// Short forms that people write in capitals, however the program spelled them.
const ACRONYMS: &[&str] = &[
    "ai", "api", "crm", "css", "csv", "eur", "fte", "gbp", "html", "http", "https", "id", "ip", "irr",
    "json", "kpi", "llm", "mcp", "npv", "pdf", "roi", "sku", "sla", "sql", "ui", "uri", "url", "usd", "uuid",
    "vat", "xml",
];

/// A field's name as a label: `annual_budget`, `annual-budget` and `annualBudget` are all
/// `Annual Budget`.
///
/// A word in capitals keeps them (`userID` is `User ID`), unless the whole name shouts
/// (`ANNUAL_BUDGET`). A few short forms that are always written in capitals get them.
#[must_use]
pub fn humanize_field_name(name: &str) -> String {
    let shouts = !name.contains(char::is_lowercase) && words(name).len() > 1;
    let labels: Vec<String> = words(name).iter().map(|word| title_case(word, shouts)).collect();
    labels.join(" ")
}

fn title_case(word: &str, shouts: bool) -> String {
    let lower = word.to_lowercase();
    if ACRONYMS.contains(&lower.as_str()) {
        return lower.to_uppercase();
    }
    let several = word.chars().nth(1).is_some();
    if several && !shouts && !word.contains(char::is_lowercase) {
        return word.to_owned();
    }
    let mut rest = word.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    first + &rest.as_str().to_lowercase()
}

/// The words of a name: what stands between signs, and what capitals set apart.
///
/// A run of capitals is one word up to the last of them, which begins the next: `HTTPServer` is
/// `HTTP` and `Server`. Digits belong to the word before them, and a capital after one to both:
/// `3D` is one word.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, letter) in letters.iter().enumerate() {
            let before = index.checked_sub(1).map(|index| letters[index]);
            let after_small = before.is_some_and(|before| !before.is_uppercase() && !before.is_numeric());
            let before_small = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
            if letter.is_uppercase() && before.is_some() && (after_small || before_small) {
                words.push(std::mem::take(&mut word));
            }
            word.push(*letter);
        }
        words.push(word);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// How a person sets the value of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Control {
    Select,
    MultiSelect,
    Number,
    Range,
    Toggle,
    Text,
}

/// One property by which a list can be filtered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilterField {
    pub name: String,
    pub label: String,
    pub control: Control,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minimum: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maximum: Option<Value>,
}

/// The filters that the properties of a schema allow, in their order.
///
/// `visible` keeps only the named ones. An object has no control and is left out. A number has a
/// range only where both ends are known, since half a slider cannot be drawn.
#[must_use]
pub fn filter_fields(properties: &Map<String, Value>, visible: Option<&[String]>) -> Vec<FilterField> {
    let visible: Option<HashSet<&String>> = visible.map(|names| names.iter().collect());
    let is_visible = |name: &String| visible.as_ref().is_none_or(|visible| visible.contains(name));
    let wanted = properties.iter().filter(|(name, _)| is_visible(name));
    wanted.filter_map(|(name, property)| filter_field(name, property)).collect()
}

fn filter_field(name: &str, property: &Value) -> Option<FilterField> {
    let list = |value: &Value| value.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
    let bound = |keyword: &str| property.get(keyword).filter(|bound| bound.is_number()).cloned();
    let (minimum, maximum) = (bound("minimum"), bound("maximum"));
    let (control, options) = match type_of(property) {
        "object" => return None,
        "boolean" => (Control::Toggle, Vec::new()),
        "number" | "integer" if minimum.is_some() && maximum.is_some() => (Control::Range, Vec::new()),
        "number" | "integer" => (Control::Number, Vec::new()),
        "array" => {
            let options = property.get("items").map(list).unwrap_or_default();
            (if options.is_empty() { Control::Text } else { Control::MultiSelect }, options)
        }
        _ => {
            let options = list(property);
            let control = match options.len() {
                0 => Control::Text,
                1..=SELECT_MAX => Control::Select,
                _ => Control::MultiSelect,
            };
            (control, options)
        }
    };
    let title = property.get("title").and_then(Value::as_str);
    let label = title.map_or_else(|| humanize_field_name(name), str::to_owned);
    Some(FilterField { name: name.to_owned(), label, control, options, minimum, maximum })
}

/// The type that a property has when it is not null.
fn type_of(property: &Value) -> &str {
    match property.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or_default()
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_every_spelling_become_title_case() {
        for (name, label) in [
            ("annual_budget", "Annual Budget"),
            ("annual-budget", "Annual Budget"),
            ("annualBudget", "Annual Budget"),
            ("AnnualBudget", "Annual Budget"),
            ("ANNUAL_BUDGET", "Annual Budget"),
            ("annual budget", "Annual Budget"),
            ("__annual__budget__", "Annual Budget"),
            ("data.annualBudget", "Data Annual Budget"),
            ("year2Total", "Year2 Total"),
            ("3DViewer", "3D Viewer"),
            ("a", "A"),
            ("aB", "A B"),
            ("straße_über", "Straße Über"),
            ("", ""),
            ("--", ""),
        ] {
            assert_eq!(humanize_field_name(name), label, "{name}");
        }
    }

    #[test]
    fn short_forms_are_written_in_capitals() {
        for (name, label) in [
            ("userID", "User ID"),
            ("user_id", "User ID"),
            ("userId", "User ID"),
            ("HTTPServer", "HTTP Server"),
            ("parseXMLFile", "Parse XML File"),
            ("USER_ID", "User ID"),
            ("roi", "ROI"),
            ("NATOMember", "NATO Member"),
            ("idle", "Idle"),
        ] {
            assert_eq!(humanize_field_name(name), label, "{name}");
        }
    }

    #[track_caller]
    fn control(property: Value) -> Control {
        let properties = Map::from_iter([("a".to_owned(), property)]);
        filter_fields(&properties, None)[0].control
    }

    #[test]
    fn every_row_of_the_table_has_its_control() {
        let six: Vec<String> = (0..6).map(|n| n.to_string()).collect();
        let seven: Vec<String> = (0..7).map(|n| n.to_string()).collect();
        assert_eq!(control(json!({ "type": "string", "enum": six })), Control::Select);
        assert_eq!(control(json!({ "type": "string", "enum": seven })), Control::MultiSelect);
        assert_eq!(control(json!({ "type": "number" })), Control::Number);
        assert_eq!(control(json!({ "type": "integer" })), Control::Number);
        assert_eq!(control(json!({ "type": "integer", "minimum": 0, "maximum": 10 })), Control::Range);
        assert_eq!(control(json!({ "type": "number", "minimum": 0 })), Control::Number);
        assert_eq!(control(json!({ "type": "boolean" })), Control::Toggle);
        assert_eq!(control(json!({ "type": "array", "items": { "enum": ["x"] } })), Control::MultiSelect);
        assert_eq!(control(json!({ "type": "array", "items": { "type": "string" } })), Control::Text);
        assert_eq!(control(json!({ "type": "string" })), Control::Text);
        assert_eq!(control(json!({ "type": ["null", "boolean"] })), Control::Toggle);
        assert_eq!(control(json!({ "enum": ["x", "y"] })), Control::Select);
        assert_eq!(control(json!(true)), Control::Text);
    }

    #[test]
    fn filters_keep_the_order_and_only_what_is_visible() {
        let properties = json!({
            "unit_price": { "type": "number", "minimum": 0, "maximum": 9.5 },
            "state": { "type": "string", "title": "Status", "enum": ["open", "closed"] },
            "address": { "type": "object" },
        });
        let properties = properties.as_object().unwrap();
        let all = filter_fields(properties, None);
        assert_eq!(
            serde_json::to_value(&all).unwrap(),
            json!([
                { "name": "unit_price", "label": "Unit Price", "control": "range", "minimum": 0, "maximum": 9.5 },
                { "name": "state", "label": "Status", "control": "select", "options": ["open", "closed"] },
            ])
        );
        let one = filter_fields(properties, Some(&["state".to_owned(), "unknown".to_owned()]));
        assert_eq!(one, all[1..]);
        assert!(filter_fields(properties, Some(&[])).is_empty());
    }
}
