//! What `manageTools` takes and gives.

use serde_json::{Map, Value, json};
use tw_base::PageRequest;
use tw_model::{Level, Policy, ToolStatus};

use super::Action;

/// One flat object: clients that read the properties of the top level find them all.
pub(super) fn input() -> Value {
    let mut properties = Map::new();
    for (name, mut schema, description) in in_properties() {
        schema["description"] = json!(description);
        properties.insert(name.to_owned(), schema);
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["action"],
        "properties": properties,
        "examples": [
            { "action": "list", "q": "report" },
            { "action": "create", "slug": "greet", "name": "Greet", "description": "Says whom to greet.",
              "implementation_type": "internal",
              "input_schema": { "type": "object", "properties": { "who": { "type": "string" } } } },
        ],
    })
}

fn in_properties() -> Vec<(&'static str, Value, &'static str)> {
    let text = || json!({ "type": "string" });
    let flag = || json!({ "type": "boolean" });
    let object = || json!({ "type": "object" });
    let words = || json!({ "type": "array", "items": { "type": "string" } });
    let objects = || json!({ "type": "array", "items": { "type": "object" } });
    let one_of = |words: Vec<&str>| json!({ "type": "string", "enum": words });
    let number = |least: i64, most: Option<i64>| match most {
        Some(most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        None => json!({ "type": "integer", "minimum": least }),
    };
    vec![
        (
            "action",
            one_of(Action::ALL.map(Action::as_str).into()),
            "What to do. `create` needs `slug`, `name`, `description` and `input_schema` or `fields`; `update`, \
             `delete` and `get` need `slug`.",
        ),
        ("slug", text(), "The tool's slug: for `create` the new slug, otherwise the slug or id."),
        ("name", text(), "What people call it."),
        ("description", text(), "For people and models: what it does and when to use it."),
        (
            "i18n",
            object(),
            "Name and description in other languages: `{ \"de\": { \"name\", \"description\" } }`.",
        ),
        ("category", text(), "The category. For `list`: only tools of this category."),
        ("icon", text(), "Name of a Lucide icon."),
        ("tags", words(), "Words to find it by."),
        ("aliases", words(), "Other names under which it is found."),
        ("input_schema", object(), "What it takes: JSON Schema of type object."),
        (
            "fields",
            objects(),
            "What it takes, as fields `{ name, type, label, required, … }` instead of a schema.",
        ),
        ("output_schema", object(), "The output, as JSON Schema."),
        ("output_sections", objects(), "How a person sees the parts of the output."),
        ("form_spec", object(), "How the form of the input is laid out."),
        ("view_spec", object(), "How the output is laid out."),
        (
            "implementation_type",
            text(),
            "The execution kind, such as `internal`. For `list`: only tools of this kind.",
        ),
        ("implementation", object(), "The settings of the kind. Secrets as `secret:<label>`."),
        ("execution_spec", object(), "What runs, for prompts and compositions."),
        ("execution", object(), "Execution settings: `is_pure`, `concurrency_group`, …"),
        (
            "permission_level",
            one_of(Level::ALL.iter().map(|level| level.as_str()).collect()),
            "How dangerous a call is.",
        ),
        (
            "permission_policy",
            one_of(Policy::ALL.iter().map(|policy| policy.as_str()).collect()),
            "Whether an agent's call needs an approval.",
        ),
        ("required_permission", text(), "The permission a caller must hold."),
        ("collaborative", flag(), "Whether several people can answer together."),
        ("visible", flag(), "Whether a space shows the call."),
        ("is_async", flag(), "Whether the result comes later."),
        ("timeout_ms", number(1, None), "How long a call may take."),
        ("is_active", flag(), "Whether it can be called."),
        ("enabled", flag(), "Whether it is in the catalogue."),
        (
            "status",
            one_of(ToolStatus::ALL.iter().map(|status| status.as_str()).collect()),
            "For `update`: the new status. For `list`: only tools with this status.",
        ),
        ("version", text(), "For `create`: the version, such as 1.0.0."),
        ("publish", flag(), "For `update`: publish at once instead of saving a draft."),
        (
            "accept_breaking",
            flag(),
            "When publishing: publish even if callers of the published version can break.",
        ),
        ("ignore_tests", flag(), "When publishing: publish without running the test cases."),
        ("q", text(), "Of a list: words in slug, name or description."),
        ("limit", number(1, Some(PageRequest::LIMIT_MAX)), "For `list`: how many tools; default 50."),
        ("offset", number(0, Some(PageRequest::OFFSET_MAX)), "For `list`: how many tools to skip."),
    ]
}

pub(super) fn output() -> Value {
    let text = json!({ "type": "string" });
    let text_or_null = json!({ "type": ["string", "null"] });
    let flag = json!({ "type": "boolean" });
    let brief = json!({
        "slug": text, "name": text, "description": text, "category": text, "kind": text,
        "implementation_type": text, "status": text, "version": text, "available": flag,
        "unavailable_reason": text_or_null, "has_draft": flag, "permission_level": text_or_null,
        "permission_policy": text_or_null,
    });
    let mut whole = brief.clone();
    whole["icon"] = text.clone();
    whole["i18n"] = json!({ "type": ["object", "null"] });
    whole["tags"] = json!({ "type": "array", "items": text });
    whole["timeout_ms"] = json!({ "type": "integer" });
    whole["input_schema"] = json!({ "type": "object" });
    whole["output_schema"] = json!({ "type": ["object", "boolean", "null"] });
    whole["implementation"] = json!({ "type": ["object", "null"], "description": "The settings of the kind; secrets are shown as `***`." });
    whole["execution_spec"] = json!({ "type": ["object", "null"] });
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "additionalProperties": false,
        "required": ["action"],
        "properties": {
            "action": { "type": "string", "enum": Action::ALL.map(Action::as_str), "description": "What was done." },
            "tool": {
                "type": "object", "additionalProperties": false, "required": keys(&whole), "properties": whole,
                "description": "Of create, update and get: the tool as it is now.",
            },
            "warnings": {
                "type": "array", "description": "For create and update: warnings about what is allowed but not recommended.",
                "items": {
                    "type": "object", "additionalProperties": false, "required": ["path", "code", "params", "message"],
                    "properties": { "path": text, "code": text, "params": { "type": "object" }, "message": text },
                },
            },
            "deleted": { "type": "string", "description": "For delete: the slug of the deleted tool." },
            "tools": {
                "type": "array", "description": "Of list: the tools, by slug.",
                "items": {
                    "type": "object", "additionalProperties": false, "required": keys(&brief), "properties": brief,
                },
            },
            "total": { "type": "integer", "description": "Of list: how many there are in all." },
        },
    })
}

fn keys(properties: &Value) -> Vec<&String> {
    properties.as_object().into_iter().flat_map(Map::keys).collect()
}
