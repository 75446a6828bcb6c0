//! How a tool came to be what it is.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{at, echo, history, kinds, live, make, needing, number, publish, read};
use crate::world::World;

on_both! {
    async fn every_save_publication_and_number_is_in_the_history_newest_first(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let me = author.get("/api/me").await.json();
        make(&author, &echo("told")).await;
        author.patch(&at("told"), &json!({ "name": "Other" })).await.is("200 draft");
        author.patch(&at("told"), &json!({ "name": "Echo" })).await.is("200 draft");
        publish(&author, "told").await.is("200 published");
        number(&author, "told", "1.1.0").await.is("200 published");
        author.patch(&at("told"), &json!({ "name": "Last", "publish": true })).await.is("200 published");

        let all = history(&author, "told").await;
        let told: Vec<_> = all
            .iter()
            .map(|entry| {
                let text = |key: &str| entry[key].as_str().unwrap().to_owned();
                (text("kind"), text("version"), entry["revision"].as_i64().unwrap())
            })
            .collect();
        let expected = [
            ("publish", "1.1.0", 4),
            ("save", "1.1.0", 4),
            ("version", "1.1.0", 3),
            ("publish", "1.0.0", 3),
            ("save", "1.0.0", 3),
            ("save", "1.0.0", 2),
            ("save", "1.0.0", 1),
        ];
        assert_eq!(
            told,
            expected.map(|(kind, version, revision)| (kind.to_owned(), version.to_owned(), revision))
        );
        let hash = |index: usize| all[index]["content_hash"].as_str().unwrap();
        assert_eq!(hash(6), hash(4), "equal content, equal name");
        assert_eq!((hash(2), hash(3)), (hash(4), hash(4)));
        assert!(hash(5) != hash(4) && hash(0) != hash(4) && hash(0) == hash(1));
        let moments: Vec<_> = all.iter().map(|entry| entry["created_at"].as_str().unwrap()).collect();
        assert!(moments.is_sorted_by(|a, b| a >= b), "{moments:?}");
        for entry in &all {
            assert_eq!(entry["author"]["id"], me["principal"]["user_id"], "{entry}");
            let keys: Vec<_> = entry.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, ["kind", "version", "revision", "content_hash", "author", "created_at", "withdrawn_at"]);
        }
        // Content that another tool has as well has the same name there.
        make(&author, &echo("told-again")).await;
        assert_eq!(history(&author, "told-again").await[0]["content_hash"], hash(4));

        for kind in ["save", "publish", "version"] {
            let found = author.get(&format!("/api/tools/told/versions?kind={kind}")).await.json();
            let wanted: Vec<_> = all.iter().filter(|entry| entry["kind"] == kind).cloned().collect();
            assert_eq!(found["items"], json!(wanted));
        }
        author.get("/api/tools/told/versions?kind=other").await.is("422 INVALID_PARAMS");
        let (mut pages, mut path) = (Vec::new(), "/api/tools/told/versions?limit=2".to_owned());
        loop {
            let page = author.get(&path).await.json();
            pages.extend(page["items"].as_array().unwrap().clone());
            let Some(cursor) = page["next_cursor"].as_str() else { break };
            author
                .get(&format!("/api/tools/told-again/versions?cursor={cursor}"))
                .await
                .is("422 INVALID_PARAMS");
            path = format!("/api/tools/told/versions?limit=2&cursor={cursor}");
        }
        assert_eq!(pages, all);
        let skipped = author.get("/api/tools/told/versions?offset=3&limit=2").await.json();
        assert_eq!(skipped["items"], json!(all[3..5]));
    }

    async fn revision_shows_what_the_tool_said_and_can_be_restored(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "kept").await;
        let change =
            json!({ "name": "Second", "input_schema": needing("b"), "tags": ["t"], "publish": true, "accept_breaking": true });
        author.patch(&at("kept"), &change).await.is("200 published");

        let first = author.get("/api/tools/kept/versions/1").await.json();
        assert_eq!((&first["revision"], &first["version"]), (&json!(1), &json!("1.0.0")));
        let snapshot = &first["snapshot"];
        assert_eq!((&snapshot["name"], &snapshot["input_schema"]), (&json!("Echo"), &needing("a")));
        assert_eq!(
            (&snapshot["implementation_type"], &snapshot["implementation"]),
            (&json!("internal"), &json!({}))
        );
        assert!(snapshot["execution"].is_object() && first["author"].is_object());
        for missing in ["3", "0", "-1", "x", "1.0", "99999999999999999999"] {
            author.get(&format!("/api/tools/kept/versions/{missing}")).await.is("404 NOT_FOUND");
            let restore = format!("/api/tools/kept/versions/{missing}/restore");
            author.post(&restore, &json!({})).await.is("404 NOT_FOUND");
        }

        let restored = author.post("/api/tools/kept/versions/1/restore", &json!({})).await;
        let told = restored.is("200 published").json();
        assert_eq!(
            (&told["name"], &told["has_draft"], &told["revision"]),
            (&json!("Echo"), &json!(true), &json!(3))
        );
        assert_eq!(told["tags"], json!(["t"]), "switches are as they are");
        let all = history(&author, "kept").await;
        assert_eq!((&all[0]["kind"], &all[0]["content_hash"]), (&json!("save"), &first["content_hash"]));
        member.run("kept", json!({ "b": 1 })).await.is("200 success");
        publish(&author, "kept").await.is("200 published");
        member.run("kept", json!({ "a": 1 })).await.is("200 success");
        assert_eq!(kinds(&author, "kept").await, ["publish", "save", "publish", "save", "publish", "save"]);
    }

    async fn comparison_says_what_breaks_whom(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "moved").await;
        let compare =
            async |query: &str| author.get(&format!("/api/tools/moved/versions/compare{query}")).await;
        let same = compare("").await.json();
        assert_eq!((&same["breaking"], &same["required_bump"]), (&json!(false), &json!("none")));
        assert_eq!(same["changes"], json!([]));

        author.patch(&at("moved"), &json!({ "description": "Said better." })).await.is("200 published");
        let better = compare("?to=draft").await.json();
        assert_eq!((&better["breaking"], &better["required_bump"]), (&json!(false), &json!("patch")));

        author.patch(&at("moved"), &json!({ "input_schema": needing("b") })).await.is("200 published");
        let broken = compare("?from=1.0.0&to=draft").await.json();
        assert_eq!((&broken["breaking"], &broken["required_bump"]), (&json!(true), &json!("major")));
        let change = &broken["changes"][0];
        for key in ["part", "path", "kind", "breaking", "message"] {
            assert!(!change[key].is_null(), "{key}: {change}");
        }
        compare("?from=7.0.0").await.is("404 NOT_FOUND");
        number(&author, "moved", "2.0.0").await.is("200 published");
        assert_eq!(compare("?from=1.0.0&to=2.0.0").await.json()["breaking"], true);

        // Saves have no number of their own: they are named by their revisions.
        let saves = compare("?from=1&to=2").await.json();
        assert_eq!((&saves["from"], &saves["required_bump"]), (&json!("1.0.0"), &json!("patch")));
        assert_eq!(compare("?from=2&to=3").await.json()["breaking"], true);
        assert_eq!(compare("?from=3&to=draft").await.json()["changes"], json!([]));
        for missing in ["?from=0", "?to=99", "?from=-1", "?to=99999999999999999999"] {
            compare(missing).await.is("404 NOT_FOUND");
        }

        make(&author, &echo("never-out")).await;
        author.get("/api/tools/never-out/versions/compare").await.is("422 INVALID_PARAMS");
        author.get("/api/tools/test.echo/versions/compare").await.is("409 CONFLICT");
        let users = author.get("/api/tools/moved/used-by").await.json();
        assert_eq!(users, json!({ "items": [] }));
        let none: Vec<Value> = history(&author, "test.echo").await;
        assert!(none.is_empty());
        assert_eq!(read(&author, "moved").await["version"], "2.0.0");
    }
}
