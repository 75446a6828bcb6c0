//! Each dialect as its own documents write it.

use expect_test::{Expect, expect};
use serde_json::json;

use super::*;

#[track_caller]
fn read_as(body: Value, expected: Value) {
    let read = canonical_manifest(&body).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(read, expected);
}

#[track_caller]
fn refused(body: Value, expected: Expect) {
    let faults = canonical_manifest(&body).expect_err("the body is refused");
    let lines: Vec<String> =
        faults.iter().map(|fault| format!("{}: {}", fault.path, fault.message)).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[test]
fn manifest_with_an_execution_type_is_taken_as_written() {
    read_as(
        json!({
            "name": "confirmAction",
            "description": "Ask the user to confirm an action",
            "inputSchema": { "type": "object" },
            "executionType": "space",
            "visible": true,
            "isAsync": true,
            "timeout": 30000,
            "execution": { "url": "https://example.com", "method": "POST" },
        }),
        json!({
            "slug": "confirmAction",
            "name": "confirmAction",
            "description": "Ask the user to confirm an action",
            "input_schema": { "type": "object" },
            "execution_type": "space",
            "implementation_type": "space",
            "implementation": { "url": "https://example.com", "method": "POST" },
            "visible": true,
            "is_async": true,
            "timeout_ms": 30000,
        }),
    );
    read_as(
        json!({ "name": "fetchWeather", "executionType": "gateway", "execution": { "url": "https://api.weather.com/current", "method": "GET", "headers": { "X-Key": "secret:weather" } } }),
        json!({
            "slug": "fetchWeather", "name": "fetchWeather", "execution_type": "gateway", "implementation_type": "http", "visible": true,
            "implementation": { "url": "https://api.weather.com/current", "method": "GET", "headers": { "X-Key": "secret:weather" } },
        }),
    );
}

#[test]
fn how_long_an_answer_is_taken_may_stand_beside_the_timeout() {
    let expected = json!({
        "slug": "a", "name": "a", "implementation_type": "external", "timeout_ms": 10,
        "implementation": { "pending_ttl_ms": 700 },
    });
    let body = json!({ "name": "a", "implementation_type": "external", "timeout_ms": 10 });
    for (key, implementation) in [
        ("pending_ttl_ms", json!({})),
        ("pendingTtlMs", json!(null)),
        ("pending_ttl_ms", json!({ "pending_ttl_ms": 700 })),
    ] {
        let mut body = body.clone();
        body[key] = json!(700);
        body["implementation"] = implementation;
        assert_eq!(canonical_manifest(&body), Ok(expected.clone()), "{body}");
    }
    refused(
        json!({ "name": "a", "pendingTtlMs": 700, "implementation": { "pending_ttl_ms": 800 } }),
        expect![
            "/pendingTtlMs: `implementation.pending_ttl_ms` and `pendingTtlMs` contradict each other; give one of them"
        ],
    );
}

#[test]
fn built_in_may_be_named_beside_the_kind() {
    read_as(
        json!({ "name": "a", "implementation_type": "internal", "builtin_key": "json_transform" }),
        json!({ "slug": "a", "name": "a", "implementation_type": "internal",
                "implementation": { "builtin_key": "json_transform" } }),
    );
    read_as(
        json!({ "name": "a", "builtin_key": null, "implementation": {} }),
        json!({ "slug": "a", "name": "a", "implementation": {} }),
    );
    refused(
        json!({ "name": "a", "builtin_key": "x", "implementation": { "builtin_key": "y" } }),
        expect![
            "/builtin_key: `implementation.builtin_key` and `builtin_key` contradict each other; give one of them"
        ],
    );
}

#[test]
fn visible_has_a_default_only_where_an_execution_type_is_given() {
    for (kind, visible) in [("gateway", true), ("external", true), ("space", true), ("internal", false)] {
        let read = canonical_manifest(&json!({ "name": "a", "executionType": kind })).unwrap();
        assert_eq!(read["visible"], json!(visible), "{kind}");
        let read =
            canonical_manifest(&json!({ "name": "a", "executionType": kind, "visible": !visible })).unwrap();
        assert_eq!(read["visible"], json!(!visible), "{kind}");
    }
    for kind in ["http", "external", "space", "internal", "function"] {
        let read = canonical_manifest(&json!({ "name": "a", "implementation_type": kind })).unwrap();
        assert_eq!(read.get("visible"), None, "{kind}");
        let body = json!({ "name": "a", "implementation_type": kind, "visible": true });
        assert_eq!(canonical_manifest(&body).unwrap()["visible"], true, "{kind}");
    }
    let read = canonical_patch(&json!({ "implementation_type": "http" })).unwrap();
    assert_eq!(read.get("visible"), None, "a change fills nothing in");
}

#[test]
fn seconds_of_a_timeout_have_the_limits_of_its_milliseconds() {
    for (given, read) in [(json!(1), json!(1)), (json!(86_400.0), json!(86_400)), (json!(null), json!(null))]
    {
        let body = json!({ "name": "a", "execution": { "timeoutS": given } });
        assert_eq!(canonical_manifest(&body).unwrap()["execution"], json!({ "timeout_s": read }));
    }
    for wrong in [json!(0), json!(-1), json!(1.5), json!(86_401), json!(1e15), json!("60")] {
        refused(
            json!({ "name": "a", "execution": { "timeout_s": wrong } }),
            expect!["/execution/timeout_s: must be a whole number from 1 to 86400"],
        );
    }
}

#[test]
fn parameters_are_a_schema_or_a_map() {
    let expected = json!({
        "slug": "my_tool", "name": "my_tool",
        "input_schema": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "The search query" },
                "maxResults": { "type": "number", "default": 10, "description": "Number of results to return" },
                "type": { "type": "string" },
            },
            "required": ["query"],
        },
    });
    read_as(
        json!({ "name": "my_tool", "parameters": {
            "query": { "type": "string", "description": "The search query" },
            "maxResults": { "type": "number", "default": 10, "description": "Number of results to return" },
            "type": { "type": "string", "optional": true },
        } }),
        expected.clone(),
    );
    read_as(json!({ "name": "my_tool", "parameters": expected["input_schema"] }), expected);
    read_as(
        json!({ "name": "a", "parameters": {} }),
        json!({ "slug": "a", "name": "a", "input_schema": { "type": "object", "properties": {} } }),
    );
}

#[test]
fn template_lists_what_is_required() {
    read_as(
        json!({
            "name": "data.searchRecords",
            "description": "Search and filter records by criteria",
            "permissionLevel": "read",
            "requiredParams": ["region"],
            "paramSchema": {
                "region": { "type": "string", "description": "Filter by region code" },
                "limit": { "type": "number", "description": "Max results (default: 100)" },
            },
        }),
        json!({
            "slug": "data.searchRecords",
            "name": "data.searchRecords",
            "category": "data",
            "description": "Search and filter records by criteria",
            "permission_level": "read",
            "input_schema": {
                "type": "object",
                "properties": {
                    "region": { "type": "string", "description": "Filter by region code" },
                    "limit": { "type": "number", "description": "Max results (default: 100)" },
                },
                "required": ["region"],
            },
        }),
    );
    let read = canonical_manifest(
        &json!({ "name": "a", "requiredParams": [], "paramSchema": { "x": { "type": "string" } } }),
    );
    assert_eq!(read.unwrap()["input_schema"].get("required"), None);
}

#[test]
fn row_of_a_registry_has_its_schema_and_configuration_in_two_parts() {
    read_as(
        json!({
            "name": "Add",
            "schema": { "input": { "type": "object" }, "output": { "type": "integer" } },
            "config_schema": {
                "implementation": { "type": "mcp", "server_url": "http://127.0.0.1/mcp", "tool_name": "add" },
                "execution": { "is_pure": true, "maxConcurrency": 2 },
            },
        }),
        json!({
            "slug": "Add", "name": "Add",
            "input_schema": { "type": "object" }, "output_schema": { "type": "integer" },
            "implementation_type": "mcp",
            "implementation": { "server_url": "http://127.0.0.1/mcp", "tool_name": "add" },
            "execution": { "is_pure": true, "max_concurrency": 2 },
        }),
    );
    // The column wins over the configuration.
    let read = canonical_manifest(
        &json!({ "name": "a", "implementation_type": "http", "implementation_config": { "type": "mcp", "url": "x" } }),
    );
    assert_eq!(
        read.unwrap(),
        json!({ "slug": "a", "name": "a", "implementation_type": "http", "implementation": { "url": "x" } })
    );
}

#[test]
fn canonical_words_come_back_unchanged() {
    let body = json!({
        "slug": "roi-calculator", "name": "ROI Calculator", "description": "…", "category": "analysis", "icon": "calculator",
        "tags": ["money"], "input_schema": { "type": "object" }, "output_schema": { "type": "object" },
        "permission_level": "read", "permission_policy": null, "required_permission": "tools.tenant.run",
        "tenant_slugs": ["ims"], "visible": false, "is_async": false, "timeout_ms": 1000, "output_sections": [],
        "form_spec": { "version": 2, "fields": [] }, "view_spec": { "version": 1, "blocks": [] },
        "execution": { "is_pure": true, "concurrency_group": "default", "max_concurrency": null, "timeout_s": 3 },
        "execution_spec": { "kind": "prompt" }, "publish": true, "something_new": 1,
    });
    read_as(body.clone(), body);
}

#[test]
fn fields_stay_beside_the_schema_that_is_made_of_them() {
    let read = canonical_manifest(
        &json!({ "name": "a", "fields": [{ "name": "x", "type": "enum", "options": ["p"], "required": true }] }),
    );
    let read = read.unwrap();
    let schema = json!({
        "type": "object", "properties": { "x": { "type": "string", "enum": ["p"] } }, "required": ["x"], "additionalProperties": false,
    });
    assert_eq!(read["input_schema"], schema);
    assert_eq!(
        read["fields"],
        json!([{ "name": "x", "type": "enum", "required": true, "options": [{ "value": "p" }] }])
    );
    // What was read can be sent back.
    assert_eq!(canonical_manifest(&read).unwrap(), read);
    refused(
        json!({ "name": "a", "fields": [{ "name": "x", "type": "text" }], "input_schema": { "type": "object" } }),
        expect!["/input_schema: `fields` and `input_schema` contradict each other; give one of them"],
    );
    refused(
        json!({ "name": "a", "fields": [{ "name": "x", "type": "colour" }, { "name": "y", "type": "enum" }] }),
        expect![[r#"
            /fields/0/type: must be one of "text", "number", "boolean", "date", "enum", "url", "email", "phone", "media", "relation", "object", "array"
            /fields/1/options: must have at least 1 item"#]],
    );
}

#[test]
fn two_spellings_may_agree_and_must_not_differ() {
    let read = canonical_manifest(
        &json!({ "name": "a", "timeout": 1000, "timeout_ms": 1000.0, "isAsync": true, "is_async": true }),
    );
    assert_eq!(read.unwrap(), json!({ "slug": "a", "name": "a", "timeout_ms": 1000, "is_async": true }));
    refused(
        json!({
            "name": "a", "input_schema": { "type": "object" }, "inputSchema": { "type": "object", "title": "x" },
            "parameters": { "x": {} }, "schema": { "input": {} }, "timeout": 1, "timeoutMs": 2,
            "executionType": "gateway", "implementation_type": "mcp",
            "implementation": { "url": "https://a.example" }, "execution": { "url": "https://b.example", "isPure": true, "is_pure": false },
        }),
        expect![[r#"
            /execution/is_pure: `isPure` and `is_pure` contradict each other; give one of them
            /execution/url: `implementation.url` and `execution.url` contradict each other; give one of them
            /executionType: says `gateway`, which is `implementation_type` `http`, but `implementation_type` says "mcp"
            /inputSchema: `input_schema` and `inputSchema` contradict each other; give one of them
            /parameters: `input_schema` and `parameters` contradict each other; give one of them
            /schema/input: `input_schema` and `schema.input` contradict each other; give one of them
            /timeoutMs: `timeout` and `timeoutMs` contradict each other; give one of them"#]],
    );
}

#[test]
fn what_cannot_be_read_is_told_all_at_once() {
    refused(
        json!({
            "name": "天気", "executionType": "lambda", "timeout": 0, "schema": { "input": {}, "both": {} }, "config_schema": 1,
            "paramSchema": { "x": { "type": "text" }, "y": "string" }, "requiredParams": ["x", "z"],
        }),
        expect![[r#"
            /config_schema: must be an object, not a number
            /executionType: must be one of "gateway", "external", "space", "internal"
            /paramSchema/x/type: must be one of "string", "number", "integer", "boolean", "object", "array", "null"
            /paramSchema/y: must be an object, not a string
            /requiredParams/1: must be one of the described fields; "z" is not
            /schema/both: is not a known member
            /slug: is required: the name has no letters or digits to make a slug from
            /timeout: must be a positive whole number"#]],
    );
    for timeout in [json!(-1), json!(1.5), json!("30000"), json!(true), json!([])] {
        assert!(canonical_manifest(&json!({ "name": "a", "timeout": timeout })).is_err(), "{timeout}");
    }
    refused(json!([]), expect![": must be an object, not an array"]);
    refused(
        json!({ "name": "a", "requiredParams": ["x"] }),
        expect!["/requiredParams: must be left out without `paramSchema`, `parameters`"],
    );
    refused(
        json!({ "name": "a", "parameters": { "type": "object", "properties": { "x": {} } }, "requiredParams": "x" }),
        expect!["/requiredParams: must be a list of names"],
    );
}

#[test]
fn category_is_the_prefix_of_a_dotted_slug_unless_it_is_said() {
    let category = |body: Value| canonical_manifest(&body).unwrap().get("category").cloned();
    assert_eq!(category(json!({ "slug": "github.issues.create" })), Some(json!("github.issues")));
    assert_eq!(category(json!({ "slug": "data.search", "category": "records" })), Some(json!("records")));
    assert_eq!(category(json!({ "slug": "search" })), None);
    assert_eq!(category(json!({ "slug": "Kept.AsIs", "name": "Another" })), Some(json!("Kept")));
}

#[test]
fn change_is_read_in_the_same_words_and_fills_nothing_in() {
    let read = canonical_patch(
        &json!({ "name": "Another Name", "executionType": "internal", "isAsync": false, "timeout": null }),
    );
    assert_eq!(
        read.unwrap(),
        json!({ "name": "Another Name", "execution_type": "internal", "implementation_type": "internal", "is_async": false, "timeout_ms": null })
    );
    assert!(canonical_patch(&json!({ "timeout": 0 })).is_err());
}

#[test]
fn fifty_thousand_parameters_are_read_in_one_go() {
    let names: Vec<String> = (0..50_000).map(|n| format!("p{n}")).collect();
    let map = |value: Value| names.iter().map(|name| (name.clone(), value.clone())).collect::<Value>();
    let read =
        canonical_manifest(&json!({ "name": "a", "parameters": map(json!({ "type": "string" })) })).unwrap();
    assert_eq!(read["input_schema"]["required"], json!(names));
    let listed =
        json!({ "name": "a", "paramSchema": map(json!({ "type": "string" })), "requiredParams": names });
    assert_eq!(canonical_manifest(&listed).unwrap()["input_schema"]["required"], json!(names));
    let faults = canonical_manifest(&json!({ "name": "a", "parameters": map(json!(1)) })).unwrap_err();
    assert_eq!(faults.len(), crate::FAULTS_MAX);
}
