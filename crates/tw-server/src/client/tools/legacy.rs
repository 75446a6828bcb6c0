//! Rows of a registry from before tools had a status.
//!
//! Such a row was live when it was active. It is told by the words that only that registry has, and what
//! it leaves out is filled in as its own migration did.

use serde_json::{Map, Value, json};

/// Words that no other way of writing a tool down has.
const MARKS: &[&str] = &[
    "config_schema",
    "schema",
    "tenant_id",
    "is_system",
    "artifact_id",
    "artifact_version",
    "builtin_key",
    "builtin_template_id",
    "is_builtin_template",
];

/// What a member of the implementation says about its kind.
const TELLING: &[(&str, &str)] = &[
    ("server_url", "mcp"),
    ("function_name", "function"),
    ("pipeline_id", "rag_retrieval"),
    ("target_agent_id", "agent_call"),
    ("target_agent_slug", "agent_call"),
    ("url", "http"),
    ("source", "artifact"),
    ("builtin_key", "internal"),
];

/// A row in words that are understood here, and whether it was live where it comes from.
pub(super) struct Row {
    pub(super) definition: Map<String, Value>,
    pub(super) was_live: bool,
    /// What was done to it, for a person.
    pub(super) notes: Vec<String>,
}

/// Reads a row of that registry; `None` for any other definition.
pub(super) fn row(definition: &Map<String, Value>) -> Option<Row> {
    if !MARKS.iter().any(|mark| definition.contains_key(*mark)) {
        return None;
    }
    let mut row = definition.clone();
    let mut notes = Vec::new();
    let system = row.shift_remove("is_system") == Some(Value::Bool(true));
    let global = row.get("scope").is_some_and(|scope| scope == "global");
    if global {
        row.shift_remove("scope");
    }
    if system || global {
        notes.push("was shared by all tenants; here it belongs to this tenant".to_owned());
    }
    row.shift_remove("tenant_id");
    let mut was_live = false;
    if unsaid(&row, "status") {
        row.shift_remove("status");
        if row.get("is_active") == Some(&Value::Bool(false)) {
            row.insert("status".to_owned(), json!("disabled"));
            notes.push("set to `disabled`: it had no status and was not active".to_owned());
        } else {
            was_live = true;
        }
    }
    if unsaid(&row, "version") {
        row.insert("version".to_owned(), json!("1.0.0"));
    }
    if unsaid(&row, "implementation_type") {
        let kind = kind_of(&row, system);
        notes.push(format!("had no implementation_type: `{kind}`"));
        row.insert("implementation_type".to_owned(), json!(kind));
    }
    into_implementation(&mut row);
    Some(Row { definition: row, was_live, notes })
}

fn unsaid(row: &Map<String, Value>, key: &str) -> bool {
    row.get(key).is_none_or(Value::is_null)
}

fn kind_of(row: &Map<String, Value>, system: bool) -> String {
    if !unsaid(row, "artifact_id") {
        return "artifact".to_owned();
    }
    let nested = row.get("config_schema").and_then(|config| config.get("implementation"));
    let implementation =
        nested.or_else(|| row.get("implementation_config")).or_else(|| row.get("implementation"));
    if let Some(kind) = implementation.and_then(|members| members.get("type")?.as_str()) {
        return kind.to_owned();
    }
    let says =
        |key: &str| implementation.and_then(|members| members.get(key)).is_some_and(|value| !value.is_null());
    if let Some((_, kind)) = TELLING.iter().find(|(key, _)| says(key)) {
        return (*kind).to_owned();
    }
    if system || !unsaid(row, "builtin_key") { "internal" } else { "custom" }.to_owned()
}

/// Columns that say what runs belong to what is said about that.
fn into_implementation(row: &mut Map<String, Value>) {
    let columns = ["artifact_id", "artifact_version", "builtin_key"];
    let moved: Vec<(&str, Value)> = columns
        .into_iter()
        .filter_map(|key| Some((key, row.shift_remove(key)?)))
        .filter(|(_, value)| !value.is_null())
        .collect();
    if moved.is_empty() {
        return;
    }
    // Wherever the row keeps it; a second place for the same would contradict the first.
    let nested = row.get("config_schema").is_some_and(Value::is_object);
    let place = if nested {
        row.get_mut("config_schema")
            .and_then(Value::as_object_mut)
            .map(|config| config.entry("implementation"))
    } else if row.contains_key("implementation_config") {
        Some(row.entry("implementation_config"))
    } else {
        Some(row.entry("implementation"))
    };
    let Some(place) = place.map(|place| place.or_insert(Value::Null)) else { return };
    if place.is_null() {
        *place = json!({});
    }
    if let Value::Object(members) = place {
        for (key, value) in moved {
            members.entry(key).or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(row: Value) -> Option<(Value, bool)> {
        let Value::Object(row) = row else { panic!("a row is an object") };
        super::row(&row).map(|row| (Value::Object(row.definition), row.was_live))
    }

    #[test]
    fn other_definitions_are_left_alone() {
        assert_eq!(read(json!({ "name": "greet", "inputSchema": {}, "isAsync": false })), None);
        assert_eq!(read(json!({ "slug": "greet", "is_active": true, "input_schema": {} })), None);
    }

    #[test]
    fn active_row_without_a_status_was_live() {
        let (row, was_live) = read(json!({ "slug": "a", "schema": {}, "is_active": true })).unwrap();
        assert!(was_live);
        assert_eq!(
            row,
            json!({ "slug": "a", "schema": {}, "is_active": true, "version": "1.0.0", "implementation_type": "custom" })
        );

        let (row, was_live) = read(json!({ "slug": "a", "schema": {}, "is_active": false })).unwrap();
        assert!(!was_live);
        assert_eq!(row["status"], "disabled");

        let (row, was_live) = read(json!({ "slug": "a", "schema": {}, "status": "draft" })).unwrap();
        assert!(!was_live, "a row that says so has the word");
        assert_eq!(row["status"], "draft");
    }

    #[test]
    fn kind_is_inferred_from_artifact_configuration_and_system() {
        let kind = |row: Value| read(row).unwrap().0["implementation_type"].clone();
        assert_eq!(
            kind(json!({ "artifact_id": "x", "config_schema": { "implementation": { "url": "u" } } })),
            "artifact"
        );
        assert_eq!(kind(json!({ "config_schema": { "implementation": { "type": "http" } } })), "http");
        assert_eq!(kind(json!({ "config_schema": { "implementation": { "server_url": "u" } } })), "mcp");
        assert_eq!(kind(json!({ "config_schema": {}, "is_system": true })), "internal");
        assert_eq!(kind(json!({ "config_schema": {}, "is_system": false })), "custom");
        assert_eq!(
            kind(json!({ "schema": {}, "implementation_type": "function", "is_system": true })),
            "function"
        );
    }

    #[test]
    fn columns_that_say_what_runs_go_where_that_is_said() {
        let (row, _) =
            read(json!({ "builtin_key": "web_fetch", "config_schema": { "execution": {} } })).unwrap();
        assert_eq!(row["config_schema"]["implementation"], json!({ "builtin_key": "web_fetch" }));
        let (row, _) =
            read(json!({ "artifact_id": "a", "artifact_version": null, "tenant_id": "t" })).unwrap();
        assert_eq!(row["implementation"], json!({ "artifact_id": "a" }));
        assert!(row.get("artifact_version").is_none() && row.get("tenant_id").is_none());
    }
}
