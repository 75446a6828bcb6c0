//! Tools from an OpenAPI document.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use crate::world::World;

const ANSWER: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"ok\":true}";

fn shop(server: &str) -> Value {
    let customer =
        json!({ "name": "customer", "in": "path", "required": true, "schema": { "type": "string" } });
    let body = json!({ "type": "object", "required": ["article"], "properties": { "article": { "type": "string" }, "pieces": { "type": "integer" } } });
    json!({
        "openapi": "3.1.0", "info": { "title": "Shop", "version": "1" }, "servers": [{ "url": server }],
        "paths": { "/customers/{customer}/orders": {
            "parameters": [customer],
            "get": { "operationId": "listOrders", "parameters": [{ "name": "page", "in": "query", "schema": { "type": "integer" } }] },
            "post": { "operationId": "placeOrder", "security": [{ "shop": [] }],
                "requestBody": { "required": true, "content": { "application/json": { "schema": body } } } },
            "delete": { "operationId": "cancelOrders" },
            "put": { "operationId": "roi-calculator" },
            "patch": { "operationId": "patchOrders", "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Loop" } } } } },
        } },
        "components": {
            "schemas": { "Loop": { "type": "array", "items": { "$ref": "#/components/schemas/Loop" } } },
            "securitySchemes": { "shop": { "type": "http", "scheme": "bearer" } },
        },
    })
}

on_both! {
    async fn operations_of_a_document_become_drafts_that_run(db: TestDb) {
        let (world, upstream) = (World::on(db).await, Upstream::start().await);
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &upstream.host_and_port())]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let import = json!({ "document": shop(&upstream.url("/v1")) });
        let imported = admin.post("/api/tools/import/openapi", &import).await;
        assert_eq!(imported.status, 200, "{}", imported.text);
        let imported = imported.json();
        let of = |list: &str, name: &str| {
            imported[list].as_array().unwrap().iter().map(|item| item[name].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("items", "slug"), ["listOrders", "placeOrder", "cancelOrders"]);
        assert_eq!(of("items", "permission_level"), ["read", "write", "destructive"]);
        assert_eq!(of("items", "status"), ["draft"; 3]);
        assert_eq!(of("skipped", "operation_id"), ["roi-calculator", "patchOrders"]);
        assert!(of("skipped", "reason")[0].contains("roi-calculator"), "{imported}");
        assert_eq!(of("skipped", "reason")[1], "`#/components/schemas/Loop` refers to itself");
        assert_eq!(imported["credentials"], json!([{ "label": "shop", "type": "bearer" }]));

        let credential = json!({ "label": "shop", "type": "bearer", "payload": { "token": "canary-token" } });
        assert_eq!(admin.post("/api/credentials", &credential).await.status, 201);
        for slug in ["listOrders", "placeOrder"] {
            admin.post(&format!("/api/tools/{slug}/publish"), &json!({})).await.is("200 published");
        }
        upstream.script([ANSWER, ANSWER]);
        let run = |slug: &str, input: Value| {
            let (path, body) = (format!("/api/tools/{slug}/run"), json!({ "input": input }));
            let admin = &admin;
            async move { admin.post(&path, &body).await }
        };
        run("listOrders", json!({ "customer": "a b" })).await.is("200 success");
        run("placeOrder", json!({ "customer": "c", "article": "A-7" })).await.is("200 success");
        run("placeOrder", json!({ "customer": "c" })).await.is("422 MISSING_PARAM");
        let asked = upstream.requests();
        let lines: Vec<_> = asked.iter().map(|request| format!("{} {}", request.method, request.path)).collect();
        assert_eq!(lines, ["GET /v1/customers/a%20b/orders", "POST /v1/customers/c/orders"]);
        assert_eq!(asked[1].header("authorization"), Some("Bearer canary-token"));
        assert_eq!(serde_json::from_slice::<Value>(&asked[1].body).unwrap(), json!({ "article": "A-7" }));

        // A second import makes nothing twice.
        let again = admin.post("/api/tools/import/openapi", &import).await.json();
        assert_eq!((again["items"].as_array().unwrap().len(), again["skipped"].as_array().unwrap().len()), (0, 5));
        // The same from a text: YAML, with its faults at their places.
        let yaml = "openapi: 3.0.3\ninfo: { title: Ping, version: 1.0.0 }\nservers: [{ url: https://ping.example }]\n\
            paths:\n  /ping:\n    get:\n      operationId: ping\n      responses:\n        200: { description: pong }\n";
        let made = admin.post("/api/tools/import/openapi", &json!({ "document": yaml })).await.json();
        assert_eq!((&made["items"][0]["slug"], &made["skipped"]), (&json!("ping"), &json!([])), "{made}");
        let refused = admin.post("/api/tools/import/openapi", &json!({ "document": "openapi: 3.0.3\na: [\n" })).await;
        let fault = refused.is("422 INVALID_PARAMS").json()["errors"][0].clone();
        assert_eq!((&fault["path"], &fault["code"]), (&json!("/document"), &json!("yaml")), "{fault}");
        let old = json!({ "document": { "swagger": "2.0", "paths": {} } });
        admin.post("/api/tools/import/openapi", &old).await.is("422 INVALID_PARAMS");
        let member = world.client(&server, "acme", Role::Member).await;
        member.post("/api/tools/import/openapi", &import).await.is("403 NOT_PERMITTED");
    }
}
