//! Lists: by the page, by what is asked for, all in one shape.

use std::{collections::BTreeSet, time::Duration};

use serde_json::{Value, json};
use tw_model::{Role, Timestamp};
use tw_test::{TestDb, on_both};

use crate::world::{Client, World};

/// A list, page by page, until there are no more.
async fn walk(client: &Client, path: &str, limit: usize) -> Vec<Value> {
    let mut items = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.get(&format!("{path}limit={limit}{cursor}")).await;
        assert_eq!(page.status, 200, "{}", page.text);
        let page = page.json();
        let found = page["items"].as_array().unwrap();
        items.extend(found.iter().cloned());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return items,
        }
        assert_eq!(found.len(), limit, "only the last page is short");
    }
}

on_both! {
    async fn runs_are_walked_without_gap_or_duplicate_while_new_ones_arrive(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let member = world.client(&server, "acme", Role::Member).await;
        let mut made = Vec::new();
        for number in 0..120 {
            made.push(
                member
                    .run("test.echo", json!({ "value": number }))
                    .await
                    .is("200 success")
                    .text_at("/run_id"),
            );
        }
        made.reverse();

        let writer = tokio::spawn({
            let member = member.clone();
            async move {
                for number in 0..40 {
                    member
                        .run("test.echo", json!({ "value": format!("late {number}") }))
                        .await
                        .is("200 success");
                }
            }
        });
        for limit in [7, 50, 119] {
            let walked = walk(&member, "/api/runs?", limit).await;
            let ids: Vec<String> =
                walked.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect();
            let late = ids.len() - made.len();
            assert_eq!(ids[late..], made, "the old ones are all there, in order, behind {late} late ones");
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len());
        }
        writer.await.unwrap();

        let all = walk(&member, "/api/runs?", 200).await;
        assert_eq!(all.len(), 160);
        let first = member.get("/api/runs").await.json();
        assert_eq!(first["items"].as_array().unwrap().len(), 50, "a page is 50 unless one asks for another");
        assert_eq!(first["total"], 160);
        for (by_offset, from) in [
            ("offset=0", 0),
            ("offset=155", 155),
            ("skip=155", 155),
            ("skip=160", 160),
            ("offset=10000", 160),
        ] {
            let page = member.get(&format!("/api/runs?limit=200&{by_offset}")).await.json();
            assert_eq!(page["items"].as_array().unwrap(), &all[from..], "{by_offset}");
            assert_eq!((&page["total"], &page["next_cursor"]), (&json!(160), &Value::Null));
        }
        // An offset and a cursor lead to the same place.
        let page = member.get("/api/runs?limit=10&skip=20").await.json();
        let next = member
            .get(&format!("/api/runs?limit=10&cursor={}", page["next_cursor"].as_str().unwrap()))
            .await
            .json();
        assert_eq!(next["items"].as_array().unwrap(), &all[30..40]);
    }

    async fn runs_are_found_by_what_they_are(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let approver = world.client(&server, "acme", Role::Approver).await;
        let agent = world.agent(&server, "acme").await;
        let session = approver.post("/api/sessions", &json!({})).await.text_at("/id");
        let inside = json!({ "input": { "value": 1 }, "session_id": session });
        let first = approver.post("/api/tools/test.echo/run", &inside).await.text_at("/run_id");
        let second = approver.run("test.fail", json!({ "message": "no" })).await.text_at("/run_id");
        // A moment that is clearly after the one and before the other: ids count milliseconds.
        tokio::time::sleep(Duration::from_millis(5)).await;
        let at = Timestamp::now();
        tokio::time::sleep(Duration::from_millis(5)).await;
        let third = agent.run("test.echo", json!({ "value": 2 })).await.text_at("/run_id");
        let write = json!({ "file": world.ledger("w"), "line": "x" });
        let fourth = agent.run("test.write", write).await.text_at("/run_id");
        let found = async |query: &str| -> Vec<String> {
            let page = approver.get(&format!("/api/runs?{query}")).await.json();
            let items = page["items"].as_array().unwrap();
            assert_eq!(page["total"], items.len(), "{query}");
            items.iter().map(|run| run["run_id"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(found("").await, [&*fourth, &third, &second, &first]);
        assert_eq!(found("tool=test.echo").await, [&*third, &first]);
        assert_eq!(found("status=error").await, [&*second]);
        assert_eq!(found("status=needs_approval").await, [&*fourth]);
        assert_eq!(found("source=agent").await, [&*fourth, &third]);
        assert_eq!(found("source=api&status=success").await, [&*first]);
        assert_eq!(found(&format!("session_id={session}")).await, [&*first]);
        assert_eq!(found(&format!("session_id={fourth}")).await, [&*fourth]);
        assert_eq!(found(&format!("since={at}")).await, [&*fourth, &third]);
        assert_eq!(found(&format!("until={at}")).await, [&*second, &first]);
        assert_eq!(found(&format!("since={at}&until={at}")).await, Vec::<String>::new());
        assert_eq!(found("tool=nothing").await, Vec::<String>::new());
    }

    async fn tools_are_found_by_what_they_are(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        assert_eq!(
            admin
                .patch("/api/tools/test.echo", &json!({ "status": "deprecated", "name": "Parrot" }))
                .await
                .status,
            200
        );
        let found = async |query: &str| -> Vec<String> {
            let page = admin.get(&format!("/api/tools?limit=200&{query}")).await.json();
            let items = page["items"].as_array().unwrap();
            assert_eq!(page["total"], items.len(), "{query}");
            assert!(items.iter().all(|item| item["input_schema"].is_null()), "a list has no schemas");
            items.iter().map(|item| item["slug"].as_str().unwrap().to_owned()).collect()
        };
        let all = found("").await;
        assert!(
            all.is_sorted()
                && all.contains(&"test.echo".to_owned())
                && !all.contains(&"test.optin2".to_owned())
        );
        assert_eq!(found("status=deprecated").await, ["test.echo"]);
        assert_eq!(found("kind=system_override").await, ["test.echo"]);
        assert_eq!(found("q=PARROT").await, ["test.echo"]);
        assert_eq!(found("q=writes%20nothing").await, Vec::<String>::new());
        assert_eq!(found("origin=mcp").await, Vec::<String>::new());
        assert_eq!(found("tool_type=artifact").await, Vec::<String>::new());
        assert_eq!(found("tool_type=built_in").await, all);
        assert_eq!(found("kind=code").await.len(), all.len() - 1);
        assert_eq!(found("available=false").await, ["test.echo", "test.optin"]);
        assert_eq!(found("available=true").await.len(), all.len() - 2);
        assert!(found("category=test").await.iter().all(|slug| slug.starts_with("test.")));
        for wrong in ["status=gone", "kind=other", "origin=moon", "available=perhaps"] {
            admin.get(&format!("/api/tools?{wrong}")).await.is("422 INVALID_PARAMS");
        }
    }

    async fn every_list_has_the_same_shape_and_can_be_walked(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let agent = world.agent(&server, "acme").await;
        for number in 0..5 {
            agent
                .run("test.write", json!({ "file": world.ledger("w"), "line": number.to_string() }))
                .await
                .is("202 needs_approval");
            world.key("acme", Role::Viewer, tw_model::ActsAs::User).await;
            let label = format!("c{number}");
            let body = json!({ "label": label, "type": "bearer", "payload": { "token": "x" } });
            admin.post("/api/credentials", &body).await.is("201");
        }
        for path in ["/api/runs", "/api/tools", "/api/approvals", "/api/users", "/api/api-keys", "/api/credentials", "/api/audit"]
        {
            let page = admin.get(&format!("{path}?limit=200")).await.json();
            let keys: BTreeSet<&str> = page.as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!(keys, BTreeSet::from(["items", "next_cursor", "total"]), "{path}");
            let all = page["items"].as_array().unwrap();
            assert!(4 < all.len(), "{path}");
            assert_eq!(walk(&admin, &format!("{path}?"), 2).await, *all, "{path}");
            for offset in ["offset", "skip"] {
                let rest = admin.get(&format!("{path}?limit=200&{offset}=3")).await.json();
                assert_eq!(rest["items"].as_array().unwrap(), &all[3..], "{path} by {offset}");
            }
            assert!(page["next_cursor"].is_null());
        }
        for path in ["/api/runs", "/api/tools", "/api/approvals"] {
            let page = admin.get(&format!("{path}?limit=2")).await.json();
            let all = admin.get(&format!("{path}?limit=200")).await.json();
            assert_eq!(page["total"], all["items"].as_array().unwrap().len(), "{path}");
        }
        for path in ["/api/roles", "/api/tenants"] {
            let page = admin.get(path).await.json();
            assert_eq!(page["total"], page["items"].as_array().unwrap().len(), "{path}");
        }
    }

    async fn short_lists_say_how_long_they_are(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        let tool = json!({
            "slug": "listed", "name": "Listed", "description": "Has a history.", "publish": true,
            "implementation_type": "internal", "implementation": {}, "input_schema": { "type": "object" },
        });
        assert_eq!(admin.post("/api/tools", &tool).await.status, 201);
        let credential = json!({ "label": "crm", "type": "bearer", "payload": { "token": "t" } });
        assert_eq!(admin.post("/api/credentials", &credential).await.status, 201);
        for path in [
            "/api/credentials", "/api/api-keys", "/api/users", "/api/tools/listed/versions", "/api/audit", "/api/approvals", "/api/standing-approvals",
            "/api/pending-calls", "/api/tools/builtins/templates", "/api/tools/builtins/functions", "/api/audit?action=tool.created_and_published",
            "/api/tools/listed/versions?kind=publish", "/api/tools/listed/versions?kind=save",
        ] {
            let mark = if path.contains('?') { '&' } else { '?' };
            let all = walk(&admin, &format!("{path}{mark}"), 1).await;
            let page = admin.get(&format!("{path}{mark}limit=1")).await.json();
            assert_eq!(page["total"], all.len(), "{path}");
            for wrong in ["limit=0", "limit=201", "cursor=x"] {
                admin.get(&format!("{path}{mark}{wrong}")).await.is("422 INVALID_PARAMS");
            }
        }
    }

    async fn filter_that_names_nothing_is_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        for filter in ["status", "kind", "origin"] {
            admin.get(&format!("/api/tools?{filter}=bogus")).await.is("422 INVALID_PARAMS");
        }
        let session = admin.post("/api/sessions", &json!({})).await;
        let id = session.text_at("/id");
        for path in ["events?after=x", "events/stream?after=x", "events/stream?after=7"] {
            admin.get(&format!("/api/sessions/{id}/{path}")).await.is("422 INVALID_PARAMS");
        }
        let run = json!({ "input": { "value": 1 }, "session_id": id });
        admin.post("/api/tools/test.echo/run", &run).await.is("200 success");
        let read = admin.get(&format!("/api/sessions/{id}")).await.json();
        let last = admin.get(&format!("/api/sessions/{id}/events?after=1")).await.json();
        assert_eq!(read["updated_at"], last["items"][0]["at"], "a session changes with its events");
    }
}
