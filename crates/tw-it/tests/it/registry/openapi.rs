//! Tools from an OpenAPI document.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, Upstream, on_both};

use crate::world::{Client, Server, World};

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
            "head": { "operationId": "headOrders", "responses": { "200": { "content": { "application/json": {
                "schema": { "type": "object", "properties": { "a": { "type": "colour" } } } } } } } },
            "patch": { "operationId": "patchOrders", "requestBody": { "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Loop" } } } } },
        } },
        "components": {
            "schemas": { "Loop": { "type": "array", "items": { "$ref": "#/components/schemas/Loop" } } },
            "securitySchemes": { "shop": { "type": "http", "scheme": "bearer" } },
        },
    })
}

/// Imports a document of the registry's tests by the command; what it says.
fn imported(world: &World, server: &Server, who: &Client, file: &str, more: &[&str]) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../tw-registry/src/openapi/testdata");
    let mut command = world.command();
    command.env("TOOLWRIGHT_URL", &server.url).env("TOOLWRIGHT_KEY", who.key.as_ref().unwrap());
    command.args(["tools", "import-openapi", &format!("{folder}/{file}")]).args(more);
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    assert!(output.status.success(), "{said}");
    said
}

on_both! {
    async fn command_imports_documents_whose_tools_send_what_their_services_expect(db: TestDb) {
        let (world, upstream) = (World::on(db).await, Upstream::start().await);
        let server = world.server_with(&[], &[("TOOLWRIGHT_EGRESS__ALLOW", &upstream.host_and_port())]);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let to = ["--server-url", &upstream.url("")];
        let said = imported(&world, &server, &admin, "payments.json", &to);
        for line in [
            "made     GetCharges (read, draft)",
            "made     DeleteCustomersCustomer (destructive, draft)",
            "skipped  POST /v1/files: its body is `multipart/form-data`, and tools send JSON or forms",
            "PostCharges: it does not send `metadata`: tools send only members that the document names",
            "the credential `basicAuth` of the type `basic`",
            "3 made, 2 skipped",
        ] {
            assert!(said.contains(line), "{line}: {said}");
        }
        let said = imported(&world, &server, &admin, "weather.yaml", &to);
        assert!(said.contains("skipped  GET /icons/{set}") && said.contains("3 made, 1 skipped"), "{said}");
        let said = imported(&world, &server, &admin, "code-host.json", &to);
        assert!(said.contains("made     issues-create (write, draft)") && said.contains("7 made, 1 skipped"), "{said}");
        let said = imported(&world, &server, &admin, "code-host.json", &["--json"]);
        let again: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((again["items"].as_array().unwrap().len(), again["skipped"].as_array().unwrap().len()), (0, 8));

        let login = json!({ "label": "basicAuth", "type": "basic", "payload": { "username": "k", "password": "p" } });
        assert_eq!(admin.post("/api/credentials", &login).await.status, 201);
        let agent = json!({ "label": "userAgent", "type": "api_key", "payload": { "api_key": "bench (me@example.com)" } });
        assert_eq!(admin.post("/api/credentials", &agent).await.status, 201);
        let asked = async |tool: &str, input: Value| {
            let one = r#"{"id":"i","data":[],"has_more":false,"object":"list"}"#;
            let answer = if tool == "issues-list-for-repo" { "[]" } else { one };
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
            upstream.script([format!("{head}: {}\r\n\r\n{answer}", answer.len())]);
            admin.post(&format!("/api/tools/{tool}/test"), &json!({ "input": input })).await.is("200 success");
            let asked = upstream.requests().pop().unwrap();
            let body = String::from_utf8(asked.body.clone()).unwrap();
            (format!("{} {}", asked.method, asked.path), body, asked)
        };
        let input = json!({ "created": { "gte": 5 }, "expand": ["data.customer", "b"], "limit": 3 });
        let (line, body, asked_for) = asked("GetCharges", input).await;
        assert_eq!(line, "GET /v1/charges?created%5Bgte%5D=5&expand%5B%5D=data.customer&expand%5B%5D=b&limit=3");
        assert_eq!((body.as_str(), asked_for.header("authorization")), ("", Some("Basic azpw")));
        let (line, ..) = asked("GetCharges", json!({ "created": 7 })).await;
        assert_eq!(line, "GET /v1/charges?created=7");
        let input = json!({ "amount": 5, "currency": "eur", "expand": ["x"], "shipping": { "name": "Ada", "address": { "city": "Köln" } } });
        let (line, body, asked_for) = asked("PostCharges", input).await;
        assert_eq!(line, "POST /v1/charges");
        assert_eq!(body, "amount=5&currency=eur&expand%5B%5D=x&shipping%5Bname%5D=Ada&shipping%5Baddress%5D%5Bcity%5D=K%C3%B6ln");
        assert_eq!(asked_for.header("content-type"), Some("application/x-www-form-urlencoded"));
        let unknown = json!({ "input": { "amount": 5, "currency": "eur", "shipping": { "name": "Ada", "phone": "1" } } });
        admin.post("/api/tools/PostCharges/test", &unknown).await.is("422 INVALID_PARAMS");

        let forecast = json!({ "latitude": 50.9, "longitude": 7, "hourly": ["temperature_2m", "cloud_cover"],
            "models": ["a", "b"], "cell": [1, 2], "box": { "north": 1 }, "options": { "a": 1 } });
        let (line, ..) = asked("get-v1-forecast", forecast).await;
        assert_eq!(line, "GET /v1/forecast?latitude=50.9&longitude=7&hourly=temperature_2m%2Ccloud_cover&models=a%7Cb\
            &timezone=auto&cell=1&cell=2&north=1&options=%7B%22a%22%3A1%7D");
        let (line, _, asked_for) = asked("zones_forecast", json!({ "zones": ["AKZ101", "AKZ102"], "Feature-Flags": ["a", "b"] })).await;
        assert_eq!(line, "GET /zones/AKZ101%2CAKZ102/forecast");
        assert_eq!(asked_for.header("feature-flags"), Some("a,b"));
        assert_eq!(asked_for.header("user-agent"), Some("bench (me@example.com)"));
        let (line, ..) = asked("point", json!({ "latitude": 1.5, "longitude": -2 })).await;
        assert_eq!(line, "GET /points/1.5,-2");
        let (line, ..) = asked("issues-list-for-repo", json!({ "owner": "o", "repo": "r", "labels": ["bug", "ui"] })).await;
        assert_eq!(line, "GET /repos/o/r/issues?state=open&labels=bug%2Cui&per_page=30");
    }

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
        assert_eq!(of("items", "slug"), ["listOrders", "headOrders", "placeOrder", "cancelOrders"]);
        assert_eq!(of("items", "permission_level"), ["read", "read", "write", "destructive"]);
        assert_eq!(of("items", "status"), ["draft"; 4]);
        // What the document says wrong about an answer keeps nobody from calling.
        assert_eq!(of("notes", "slug"), ["headOrders"]);
        assert!(of("notes", "message")[0].starts_with("it has no output schema: `/output_schema"), "{imported}");
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
        assert_eq!((again["items"].as_array().unwrap().len(), again["skipped"].as_array().unwrap().len()), (0, 6));
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
