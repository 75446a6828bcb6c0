mod shapes;

use serde_json::{Value, json};

use super::*;

/// A document with these paths, and schemas that they refer to.
fn document(version: &str, paths: Value) -> Value {
    json!({
        "openapi": version, "info": { "title": "Shop", "version": "1" },
        "servers": [{ "url": "https://{region}.shop.example/v1/", "variables": { "region": { "default": "eu" } } }],
        "paths": paths,
        "components": {
            "schemas": {
                "Order": { "type": "object", "required": ["id", "article"], "properties": {
                    "id": { "type": "string", "readOnly": true },
                    "article": { "$ref": "#/components/schemas/Article" },
                    "note": { "type": "string", "nullable": true, "example": "fragile" },
                    "pin": { "type": "string", "writeOnly": true },
                } },
                "Article": { "type": "string", "minLength": 1 },
                "Tree": { "type": "object", "properties": { "below": { "$ref": "#/components/schemas/Tree" } } },
            },
            "parameters": { "Page": { "name": "page", "in": "query", "schema": { "type": "integer", "minimum": 0, "exclusiveMinimum": true } } },
            "securitySchemes": {
                "api key": { "type": "apiKey", "in": "header", "name": "X-Api-Key" },
                "basic": { "type": "http", "scheme": "basic" },
                "login": { "type": "oauth2", "flows": {} },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "sid" },
            },
        },
    })
}

fn planned(document: &Value) -> Vec<(SkippedOperation, Option<Draft>)> {
    plan(document, None).unwrap().0
}

/// The only definition that a document makes.
fn only(document: &Value) -> Value {
    let mut planned = planned(document);
    assert_eq!(planned.len(), 1);
    let (operation, draft) = planned.remove(0);
    draft.unwrap_or_else(|| panic!("{}", operation.reason)).body
}

fn reasons(document: &Value) -> Vec<String> {
    planned(document).into_iter().map(|(operation, _)| operation.reason).collect()
}

#[test]
fn operation_becomes_a_tool_with_its_parameters_body_and_answer() {
    let body = only(&document(
        "3.0.3",
        json!({ "/customers/{customer}/orders": {
            "parameters": [{ "name": "customer", "in": "path", "required": true, "schema": { "type": "string" } }],
            "post": {
                "operationId": "placeOrder", "summary": "Place an order", "description": "Places an order.", "tags": ["orders"],
                "parameters": [
                    { "$ref": "#/components/parameters/Page" },
                    { "name": "X-Trace", "in": "header", "schema": { "type": "string" } },
                    { "name": "Accept", "in": "header", "schema": { "type": "string" } },
                ],
                "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Order" } } } },
                "responses": { "404": {}, "201": { "description": "made", "content": { "application/json; charset=utf-8": {
                    "schema": { "$ref": "#/components/schemas/Order" } } } } },
                "security": [{ "api key": [] }],
            },
        } }),
    ));
    let note = json!({ "type": ["string", "null"], "examples": ["fragile"] });
    let article = json!({ "type": "string", "minLength": 1 });
    assert_eq!(
        body,
        json!({
            "slug": "placeOrder", "name": "Place an order", "description": "Places an order.", "tags": ["orders"],
            "permission_level": "write", "implementation_type": "http",
            "implementation": {
                "url": "https://eu.shop.example/v1/customers/{{ input.customer }}/orders", "method": "POST",
                "query": { "page": "{{ input.page }}" },
                "headers": { "X-Trace": "{{ input[\"X-Trace\"] }}", "X-Api-Key": "secret:api-key" },
                "body": { "article": "{{ input.article }}", "note": "{{ input.note }}", "pin": "{{ input.pin }}" },
            },
            "input_schema": {
                "type": "object", "additionalProperties": false, "required": ["customer", "article"],
                "properties": {
                    "customer": { "type": "string" }, "page": { "type": "integer", "exclusiveMinimum": 0 },
                    "X-Trace": { "type": "string" }, "article": article, "note": note, "pin": { "type": "string" },
                },
            },
            "output_schema": { "type": "object", "required": ["id", "article"], "properties": {
                "id": { "type": "string" }, "article": article, "note": note } },
        })
    );
}

#[test]
fn method_says_what_a_call_may_do() {
    let described = json!({ "responses": {} });
    let item = json!({ "get": described, "put": described, "post": described, "patch": described, "delete": described });
    let levels: Vec<_> = planned(&document("3.1.0", json!({ "/x": item })))
        .into_iter()
        .map(|(_, draft)| {
            let body = draft.unwrap().body;
            format!("{} {}", body["slug"].as_str().unwrap(), body["permission_level"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        levels,
        ["get-x read", "post-x write", "put-x write", "patch-x write", "delete-x destructive"]
    );
}

#[test]
fn body_that_is_no_plain_object_is_one_input() {
    let send = |schema: Value| {
        let content = json!({ "application/json": { "schema": schema } });
        let parameters =
            json!([{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }]);
        let put = json!({ "parameters": parameters, "requestBody": { "content": content } });
        only(&document("3.1.0", json!({ "/x/{id}": { "put": put } })))
    };
    for schema in [
        json!({ "type": "array", "items": { "type": "string" } }),
        json!({ "type": "object", "properties": { "id": {} } }),
        json!({ "type": "object", "properties": { "a": {} }, "additionalProperties": { "type": "string" } }),
        json!({ "oneOf": [{ "type": "string" }, { "type": "integer" }] }),
    ] {
        let body = send(schema.clone());
        assert_eq!(body["implementation"]["body"], "{{ input.body }}");
        assert_eq!(body["input_schema"]["properties"]["body"], schema);
        assert_eq!(body["input_schema"]["required"], json!(["id"]));
    }
}

#[test]
fn form_is_sent_as_one_and_other_bodies_are_refused() {
    let post = |kind: &str| {
        json!({ "requestBody": { "required": true, "content": { kind: { "schema": {
        "type": "object", "properties": { "a": { "type": "string" } } } } } } })
    };
    let form =
        only(&document("3.1.0", json!({ "/x": { "post": post("application/x-www-form-urlencoded") } })));
    assert_eq!(
        form["implementation"]["headers"],
        json!({ "Content-Type": "application/x-www-form-urlencoded" })
    );
    let refused = reasons(&document("3.1.0", json!({ "/x": { "post": post("image/png") } })));
    assert_eq!(refused, ["its body is `image/png`, and tools send JSON or forms"]);
}

#[test]
fn ways_in_become_references_to_credentials() {
    let secured = |name: &str| {
        let document = document("3.1.0", json!({ "/x": { "get": { "security": [{ name: [] }] } } }));
        let mut planned = planned(&document);
        let (operation, draft) = planned.remove(0);
        draft
            .map(|draft| (draft.body["implementation"]["headers"].clone(), draft.credentials))
            .ok_or(operation.reason)
    };
    let expected = |header: &str, value: &str, label: &str, kind| {
        Ok((json!({ header: value }), vec![(label.to_owned(), kind)]))
    };
    assert_eq!(secured("api key"), expected("X-Api-Key", "secret:api-key", "api-key", "api_key"));
    assert_eq!(secured("basic"), expected("Authorization", "Basic secret:basic", "basic", "basic"));
    assert_eq!(secured("login"), expected("Authorization", "Bearer secret:login", "login", "bearer"));
    assert_eq!(secured("cookie"), Err("tools cannot use the security scheme `cookie`".to_owned()));
    assert_eq!(secured("gone"), Err("the security scheme `gone` is not described".to_owned()));
}

#[test]
fn parameters_of_one_name_in_two_places_are_two_inputs() {
    let parameters = json!([
        { "name": "type", "in": "path", "required": true, "schema": { "type": "string" } },
        { "name": "type", "in": "query", "explode": false, "schema": { "type": "array", "items": { "type": "string" } } },
    ]);
    let get = json!({ "/zones/{type}": { "get": { "operationId": "zones", "parameters": parameters } } });
    let body = only(&document("3.1.0", get));
    let url = "https://eu.shop.example/v1/zones/{{ input.type }}";
    assert_eq!(body["implementation"]["url"], url);
    let list = "{{ input.type_query | join(\",\") if input.type_query is sequence }}";
    assert_eq!(body["implementation"]["query"], json!({ "type": list }));
    assert_eq!(body["input_schema"]["required"], json!(["type"]));
}

#[test]
fn first_way_in_that_tools_can_use_is_taken() {
    let secured = |ways: Value| {
        let mut planned = planned(&document("3.1.0", json!({ "/x": { "get": { "security": ways } } })));
        let (operation, draft) = planned.remove(0);
        let told =
            |draft: Draft| (draft.body["implementation"].clone(), draft.credentials.len(), draft.notes);
        draft.map(told).ok_or(operation.reason)
    };
    let (implementation, credentials, notes) = secured(json!([{ "cookie": [] }, { "basic": [] }])).unwrap();
    assert_eq!(implementation["headers"], json!({ "Authorization": "Basic secret:basic" }));
    assert_eq!(credentials, 1);
    assert_eq!(notes, ["it uses another security scheme: tools cannot use the security scheme `cookie`"]);
    // Of a way in that tools cannot use nothing is left over.
    let (implementation, credentials, _) = secured(json!([{ "api key": [], "cookie": [] }, {}])).unwrap();
    assert_eq!((implementation.get("headers"), credentials), (None, 0));
    let (implementation, credentials, notes) = secured(json!([{ "api key": [], "login": [] }])).unwrap();
    let both = json!({ "X-Api-Key": "secret:api-key", "Authorization": "Bearer secret:login" });
    assert_eq!((&implementation["headers"], credentials, notes.len()), (&both, 2, 0));
    let refused = secured(json!([{ "cookie": [] }, { "gone": [] }])).unwrap_err();
    assert_eq!(refused, "tools cannot use the security scheme `cookie`");
}

#[test]
fn what_cannot_be_a_tool_says_why() {
    let tree = json!({ "schema": { "$ref": "#/components/schemas/Tree" } });
    let body = |media: Value| json!({ "requestBody": { "content": { "application/json": media } } });
    let of = |schema: Value| body(json!({ "schema": schema }));
    for (operation, reason) in [
        (body(tree), "`#/components/schemas/Tree` refers to itself"),
        (
            of(json!({ "$ref": "#/components/schemas/None" })),
            "`#/components/schemas/None` refers to a part that does not exist",
        ),
        (
            of(json!({ "$ref": "other.json#/X" })),
            "`other.json#/X` must not refer to another document: references are not fetched",
        ),
        (
            json!({ "parameters": [{ "name": "sid", "in": "cookie", "required": true }] }),
            "it needs the cookie `sid`, and tools send none",
        ),
        (json!({ "servers": [{ "url": "/v2" }] }), "the server `/v2` is no full address: send `server_url`"),
    ] {
        assert_eq!(reasons(&document("3.1.0", json!({ "/x": { "post": operation } }))), [reason]);
    }
    let twice =
        json!({ "/x": { "get": { "operationId": "find" } }, "/y": { "get": { "operationId": "Find" } } });
    assert_eq!(reasons(&document("3.1.0", twice)), ["", "`Find` is the name of GET /x already"]);
}

#[test]
fn answer_that_refers_to_itself_is_left_out_and_noted() {
    let responses = json!({ "200": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Tree" } } } } });
    let mut planned = planned(&document("3.1.0", json!({ "/x": { "get": { "responses": responses } } })));
    let draft = planned.remove(0).1.unwrap();
    assert!(draft.body.get("output_schema").is_none());
    assert_eq!(draft.notes, ["it has no output schema: `#/components/schemas/Tree` refers to itself"]);
}

#[test]
fn schema_that_grows_without_end_is_refused() {
    let mut bomb = document(
        "3.1.0",
        json!({ "/x": { "post": { "requestBody": { "content": { "application/json": {
        "schema": { "$ref": "#/components/schemas/L0" } } } } } } }),
    );
    for level in 0..40 {
        let next = json!({ "$ref": format!("#/components/schemas/L{}", level + 1) });
        bomb["components"]["schemas"][format!("L{level}")] = json!({ "allOf": [next, next] });
    }
    bomb["components"]["schemas"]["L40"] = json!({ "type": "object" });
    assert_eq!(reasons(&bomb), ["a schema is too large once its references are resolved"]);
}

#[test]
fn document_of_another_kind_is_refused_at_its_place() {
    let refused = |document: Value| {
        let faults = plan(&document, None).unwrap_err();
        faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect::<Vec<_>>()
    };
    let old = ["/document/openapi must be 3.0 or 3.1: convert an older document first"];
    assert_eq!(refused(json!({ "swagger": "2.0", "paths": {} })), old);
    let both = [old[0], "/document/paths must be an object, not null"];
    assert_eq!(refused(json!({ "openapi": "4.0.0" })), both, "all of its faults at once");
    assert_eq!(refused(json!({ "openapi": "3.1.0" })), ["/document/paths must be an object, not null"]);
    assert_eq!(refused(json!("text")), ["/document must be an object, not a string"]);
}
