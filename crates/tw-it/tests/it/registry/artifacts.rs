//! Scripts as records of their own: versions that never change, and tools that name one of them.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};
use uuid::Uuid;

use super::{at, count, faults, history, number, publish, put, read, with};
use crate::world::{Answer, Client, World};

const ONE: &str = "export default () => 1";
const TWO: &str = "export default () => 2";

/// A tool that is a script.
fn script(slug: &str, implementation: &Value) -> Value {
    json!({
        "slug": slug, "name": "Script", "description": "Runs a script.", "implementation_type": "artifact",
        "permission_level": "read", "input_schema": { "type": "object" }, "implementation": implementation,
    })
}

fn source(source: &str) -> Value {
    json!({ "language": "javascript", "source": source })
}

/// What was answered, with success.
#[track_caller]
fn done(answer: &Answer) -> Value {
    assert!(answer.status.is_success(), "{}", answer.text);
    let mut body = answer.json();
    body.as_object_mut().unwrap().remove("warnings");
    body
}

async fn made(who: &Client, body: &Value) -> Value {
    done(&who.post("/api/tools", body).await)
}

async fn changed(who: &Client, slug: &str, implementation: &Value) -> Value {
    done(&who.patch(&at(slug), &json!({ "implementation": implementation })).await)
}

/// Which artifact in which version a tool names, and what it says.
fn pin(tool: &Value) -> (String, i64, String) {
    let inside = &tool["implementation"];
    assert_eq!(tool["artifact_id"], inside["artifact_id"], "{tool}");
    assert_eq!(tool["artifact_version"], inside["artifact_version"], "{tool}");
    let text = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{tool}")).to_owned();
    (text(&inside["artifact_id"]), inside["artifact_version"].as_i64().unwrap(), text(&inside["source"]))
}

async fn runs(who: &Client, slug: &str) -> Value {
    who.run(slug, json!({})).await.is("200 success").json()["output"].take()
}

on_both! {
    async fn artifact_keeps_every_version_and_a_tool_runs_the_one_it_names(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let body = json!({ "name": "Numbers", "language": "javascript", "source": ONE });
        let made_one = author.post("/api/artifacts", &body).await;
        let artifact = done(&made_one);
        let id = artifact["id"].as_str().unwrap().to_owned();
        let one = format!("/api/artifacts/{id}");
        assert_eq!(made_one.headers["location"], one);
        assert_eq!((&artifact["version"], &artifact["source"]), (&json!(1), &json!(ONE)));
        let checksum = artifact["checksum"].as_str().unwrap();
        assert!(checksum.starts_with("blake3:") && checksum.len() == 71, "{checksum}");
        assert_eq!(author.get(&one).await.json(), artifact);

        // What was read comes back and changes nothing, not even the version.
        assert_eq!(done(&author.patch(&one, &artifact).await), artifact);
        let renamed = done(&author.patch(&one, &json!({ "name": "All numbers" })).await);
        assert_eq!((&renamed["name"], &renamed["version"]), (&json!("All numbers"), &json!(1)));
        let stale = author.send(author.request(reqwest::Method::PATCH, &one)
            .header("If-Match", artifact["etag"].as_str().unwrap()).json(&json!({ "source": TWO }))).await;
        stale.is("412 PRECONDITION_FAILED");

        let tool = made(&author, &with(&script("numbers", &json!({ "artifact_id": id })), &json!({ "publish": true }))).await;
        assert_eq!(pin(&tool), (id.clone(), 1, ONE.to_owned()));
        let second = done(&author.patch(&one, &json!({ "source": TWO })).await);
        assert_eq!((&second["version"], &second["source"]), (&json!(2), &json!(TWO)));
        // Nothing of the tool moved.
        assert_eq!(read(&author, "numbers").await, { let mut tool = tool.clone(); tool["etag"] = read(&author, "numbers").await["etag"].clone(); tool });
        assert_eq!(runs(&author, "numbers").await, 1);

        let versions = author.get(&format!("{one}/versions?limit=1")).await.json();
        assert_eq!((&versions["total"], &versions["items"][0]["version"]), (&json!(2), &json!(2)));
        assert!(versions["items"][0].get("source").is_none());
        let cursor = versions["next_cursor"].as_str().unwrap();
        let rest = author.get(&format!("{one}/versions?cursor={cursor}")).await.json();
        assert_eq!((&rest["items"][0]["version"], &rest["next_cursor"]), (&json!(1), &Value::Null));
        assert_eq!(author.get(&format!("{one}/versions/1")).await.json()["source"], ONE);
        for none in ["3", "0", "-1", "latest"] {
            author.get(&format!("{one}/versions/{none}")).await.is("404 NOT_FOUND");
        }

        // The tool takes the next version when it is told to, and its own versions stay what they were.
        let moved = changed(&author, "numbers", &json!({ "artifact_id": id })).await;
        assert_eq!(pin(&moved), (id.clone(), 2, TWO.to_owned()));
        assert_eq!(runs(&author, "numbers").await, 1, "a draft");
        done(&number(&author, "numbers", "1.1.0").await);
        publish(&author, "numbers").await.is("200 published");
        assert_eq!(runs(&author, "numbers").await, 2);
        let pinned = author.post(&format!("{}/run", at("numbers")), &json!({ "input": {}, "version": "1.0.0" })).await;
        assert_eq!(pinned.is("200 success").json()["output"], 1);

        let used = author.get(&format!("{one}/used-by")).await.json();
        assert_eq!(used, json!({ "items": [{ "kind": "tool", "slug": "numbers", "name": "Script" }] }));
        let refused = author.delete(&one).await;
        assert!(refused.is("409 CONFLICT").text.contains("numbers"), "{}", refused.text);
        // A draft that names another one still leaves what runs.
        changed(&author, "numbers", &source(ONE)).await;
        assert_eq!(author.delete(&at("numbers")).await.status, 204);
        assert_eq!(author.delete(&one).await.status, 204);
        author.get(&one).await.is("404 NOT_FOUND");
        author.delete(&one).await.is("404 NOT_FOUND");
        assert_eq!(count(&world.db, "SELECT count(*) FROM artifact_versions").await, 0);
        let admin = world.client(&server, "acme", Role::Admin).await;
        let log = admin.get(&format!("/api/audit?object=artifact:{id}")).await.json();
        let actions: Vec<_> = log["items"].as_array().unwrap().iter().map(|line| line["action"].as_str().unwrap()).collect();
        assert_eq!(actions.first(), Some(&"artifact.removed"), "{log}");
        assert_eq!(actions.last(), Some(&"artifact.created"), "{log}");
        assert!(!log.to_string().contains("export default"), "the log has no sources: {log}");
    }

    async fn source_of_a_tool_makes_one_artifact_and_a_version_for_every_change(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let tool = made(&author, &script("inline", &source(ONE))).await;
        let (id, version, _) = pin(&tool);
        assert_eq!(version, 1);
        assert_eq!(author.get("/api/artifacts").await.json()["items"][0]["name"], "inline");

        // What was read comes back, whole or in part, and makes no version.
        for body in [read(&author, "inline").await, json!({ "implementation": tool["implementation"] }),
            json!({ "implementation": source(ONE) }), json!({ "name": "Renamed" })] {
            assert_eq!(pin(&done(&put(&author, "inline", &body).await)), (id.clone(), 1, ONE.to_owned()), "{body}");
        }
        // Another source is the next version, whether the artifact is named beside it or not.
        assert_eq!(pin(&changed(&author, "inline", &source(TWO)).await), (id.clone(), 2, TWO.to_owned()));
        let mut sent = read(&author, "inline").await;
        sent["implementation"]["source"] = json!("export default () => 3");
        assert_eq!(pin(&done(&put(&author, "inline", &sent).await)).1, 3);
        // So is another language, and going back is a version too; what is the newest already is not.
        let typed = changed(&author, "inline", &json!({ "language": "typescript", "source": "export default () => 3" })).await;
        assert_eq!((pin(&typed).1, &typed["implementation"]["language"]), (4, &json!("typescript")));
        assert_eq!(pin(&changed(&author, "inline", &source(ONE)).await).1, 5);
        assert_eq!(pin(&changed(&author, "inline", &json!({ "artifact_id": id, "source": ONE, "language": "javascript" })).await).1, 5);
        // A number alone means the artifact that the tool has.
        let back = done(&author.patch(&at("inline"), &json!({ "artifact_version": 2 })).await);
        assert_eq!(pin(&back), (id.clone(), 2, TWO.to_owned()));
        // Changed beside a source that is as it was read, the number counts.
        let mut sent = back["implementation"].clone();
        sent["artifact_version"] = json!(1);
        assert_eq!(pin(&changed(&author, "inline", &sent).await), (id.clone(), 1, ONE.to_owned()));
        assert_eq!(author.get(&format!("/api/artifacts/{id}")).await.json()["version"], 5);
        assert_eq!(author.get("/api/artifacts").await.json()["total"], 1);

        // An unsaved source is tried and leaves nothing.
        let tried = json!({ "input": {}, "definition": { "implementation": source("export default () => 9") } });
        let told = author.post(&format!("{}/test", at("inline")), &tried).await;
        assert_eq!(told.is("200 success").json()["output"], 9);
        assert_eq!(author.get(&format!("/api/artifacts/{id}")).await.json()["version"], 5);
        let tried = json!({ "input": {}, "definition": { "implementation": { "artifact_id": id, "artifact_version": 2 } } });
        let told = author.post(&format!("{}/test", at("inline")), &tried).await;
        assert_eq!(told.is("200 success").json()["output"], 2);

        // The first revision comes back with its artifact, and with another once that is gone.
        let restored = |revision: i64| format!("{}/versions/{revision}/restore", at("inline"));
        assert_eq!(pin(&done(&author.post(&restored(1), &json!({})).await)), (id.clone(), 1, ONE.to_owned()));
        let other = author.post("/api/artifacts", &json!({ "name": "Other", "language": "javascript", "source": TWO })).await;
        let other = other.text_at("/id");
        assert_eq!(pin(&changed(&author, "inline", &json!({ "artifact_id": other })).await).0, other);
        assert_eq!(author.delete(&format!("/api/artifacts/{id}")).await.status, 204);
        let again = done(&author.post(&restored(1), &json!({})).await);
        assert_eq!(pin(&again), (other, 2, ONE.to_owned()), "the next version of the one that it has");
        assert!(history(&author, "inline").await.len() > 10);
    }

    async fn artifact_of_a_tool_is_refused_with_the_place_where_it_is_wrong(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let stranger = world.client(&server, "globex", Role::Admin).await;
        let body = json!({ "name": "Numbers", "language": "javascript", "source": ONE });
        let id = done(&author.post("/api/artifacts", &body).await)["id"].as_str().unwrap().to_owned();
        done(&author.patch(&format!("/api/artifacts/{id}"), &json!({ "source": TWO })).await);
        let none = Uuid::now_v7();
        for (implementation, path) in [
            (json!({ "artifact_id": none }), "/implementation/artifact_id"),
            (json!({ "artifact_id": "numbers" }), "/implementation/artifact_id"),
            (json!({ "artifact_id": 7 }), "/implementation/artifact_id"),
            (json!({ "artifact_version": 1 }), "/implementation/artifact_id"),
            (json!({ "artifact_id": id, "artifact_version": 3 }), "/implementation/artifact_version"),
            (json!({ "artifact_id": id, "artifact_version": 0 }), "/implementation/artifact_version"),
            (json!({ "artifact_id": id, "artifact_version": -1 }), "/implementation/artifact_version"),
            (json!({ "artifact_id": id, "artifact_version": "1" }), "/implementation/artifact_version"),
            (json!({ "artifact_id": id, "artifact_version": 1, "source": TWO }), "/implementation/source"),
        ] {
            let refused = author.post("/api/tools", &script("wrong", &implementation)).await;
            assert!(refused.status == 422 && faults(&refused).contains(&path.to_owned()), "{implementation}: {}", refused.text);
        }
        // The artifact of another tenant is as good as none, for reading, naming and removing.
        let named = stranger.post("/api/tools", &script("theirs", &json!({ "artifact_id": id }))).await;
        let missing = stranger.post("/api/tools", &script("theirs", &json!({ "artifact_id": none }))).await;
        assert_eq!(named.is("422 INVALID_PARAMS").json()["errors"], missing.json()["errors"]);
        for path in ["", "/versions", "/versions/1", "/used-by"] {
            let theirs = stranger.get(&format!("/api/artifacts/{id}{path}")).await;
            assert_eq!(theirs.is("404 NOT_FOUND").json()["detail"], stranger.get(&format!("/api/artifacts/{none}{path}")).await.json()["detail"]);
        }
        stranger.patch(&format!("/api/artifacts/{id}"), &json!({ "name": "Mine" })).await.is("404 NOT_FOUND");
        stranger.delete(&format!("/api/artifacts/{id}")).await.is("404 NOT_FOUND");
        assert_eq!(stranger.get("/api/artifacts").await.json()["total"], 0);

        // Beside `artifact_id` alone the kind need not be said.
        let mut body = script("derived", &json!({}));
        body.as_object_mut().unwrap().retain(|key, _| !key.starts_with("implementation"));
        body["artifact_id"] = json!(id);
        let derived = made(&author, &body).await;
        assert_eq!((pin(&derived).1, &derived["tool_type"]), (2, &json!("artifact")));

        // A source that cannot be read is told with line and column, and leaves nothing.
        let before = author.get("/api/artifacts").await.json();
        let wrong = json!({ "name": "", "language": "typescript", "source": "export default () => {\n  return 1 +;\n}" });
        let refused = author.post("/api/artifacts", &wrong).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/name", "/source"]);
        assert_eq!(refused.json()["errors"][1]["params"]["line"], 2);
        assert_eq!(refused.json()["errors"][1]["params"]["column"], 13);
        let refused = author.patch(&format!("/api/artifacts/{id}"), &json!({ "language": "perl" })).await;
        assert_eq!(faults(refused.is("422 INVALID_PARAMS")), ["/language"]);
        let large = json!({ "name": "Large", "language": "javascript", "source": "x".repeat(300 << 10) });
        assert_eq!(faults(author.post("/api/artifacts", &large).await.is("422 INVALID_PARAMS")), ["/source"]);
        author.post("/api/tools", &script("wrong", &source("export default 1 +"))).await.is("422 INVALID_PARAMS");
        assert_eq!(author.get("/api/artifacts").await.json(), before);
    }
}
