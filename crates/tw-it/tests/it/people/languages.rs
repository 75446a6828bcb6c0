//! The language that somebody chose.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both};

use super::{agent_key_of, browser_of, key_of, servers};
use crate::world::{Client, World};

on_both! {
    async fn language_is_kept_for_a_person_in_a_tenant(db: TestDb) {
        let world = World::on(db).await;
        let all = servers(&world);
        let (server, other) = (&all[0], all.last().unwrap());
        let admin = world.client(server, "acme", Role::Admin).await;
        super::add(&admin, "ada@example.com", Role::Member, None).await.is("201");
        super::add(&admin, "bob@example.com", Role::Member, None).await.is("201");
        let ada = Client::new(&server.url, Some(key_of(&world, "acme", "ada@example.com", Role::Member).await));
        let bob = Client::new(&server.url, Some(key_of(&world, "acme", "bob@example.com", Role::Member).await));
        assert_eq!(ada.get("/api/me").await.json()["language"], Value::Null);

        let chosen = ada.patch("/api/me", &json!({ "language": "de" })).await.json();
        assert_eq!(chosen["language"], "de");
        let browser = browser_of(&world, server, "ada@example.com").await.at(other);
        assert_eq!(browser.get("/api/me").await.json()["language"], "de");
        assert_eq!(bob.get("/api/me").await.json()["language"], Value::Null);
        // What was read can be sent back; nothing said changes nothing.
        assert_eq!(ada.patch("/api/me", &chosen).await.json(), chosen);
        assert_eq!(ada.patch("/api/me", &json!({})).await.json()["language"], "de");
        assert_eq!(ada.patch("/api/me", &json!({ "language": null })).await.json()["language"], Value::Null);
        assert_eq!(browser.get("/api/me").await.json()["language"], Value::Null);
    }

    async fn other_languages_members_and_agents_are_refused(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let admin = world.client(&server, "acme", Role::Admin).await;
        super::add(&admin, "ada@example.com", Role::Member, None).await.is("201");
        let ada = Client::new(&server.url, Some(key_of(&world, "acme", "ada@example.com", Role::Member).await));
        for (body, path) in [
            (json!({ "language": "fr" }), "/language"),
            (json!({ "language": "DE" }), "/language"),
            (json!({ "language": 7 }), "/language"),
            (json!({ "colour": "red" }), "/colour"),
        ] {
            let answer = ada.patch("/api/me", &body).await;
            answer.is("422 INVALID_PARAMS");
            assert_eq!(answer.json()["errors"][0]["path"], path, "{}", answer.text);
        }
        ada.patch("/api/me", &json!({ "language": "de" })).await.is("200");
        let agent = Client::new(&server.url, Some(agent_key_of(&world, "acme", "ada@example.com").await));
        agent.patch("/api/me", &json!({ "language": "en" })).await.is("403 NOT_PERMITTED");
        assert_eq!(agent.get("/api/me").await.json()["language"], Value::Null, "agents read the original");
        assert_eq!(ada.get("/api/me").await.json()["language"], "de");
    }
}
