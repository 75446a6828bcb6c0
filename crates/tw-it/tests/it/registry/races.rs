//! Two changes at the same moment: one after the other, in either order, and never half of each.

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both, trials};

use super::{at, echo, history, live, number, publish, read, with};
use crate::world::{Answer, Client, World, together};

fn creating(author: &Client, body: Value) -> impl Future<Output = Answer> + Send + 'static {
    let author = author.clone();
    async move { author.post("/api/tools", &body).await }
}

/// How many of the two were made; the other one was told that the name is taken.
#[track_caller]
fn made(answers: &(Answer, Answer)) -> usize {
    let verdicts = [answers.0.verdict(), answers.1.verdict()];
    assert!(
        verdicts.iter().all(|verdict| ["201 draft", "409 CONFLICT"].contains(&verdict.as_str())),
        "{verdicts:?}"
    );
    verdicts.iter().filter(|verdict| *verdict == "201 draft").count()
}

on_both! {
    async fn publish_against_update_makes_one_whole_state_live(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        let member = world.client(&server, "acme", Role::Member).await;
        live(&author, "contended").await;
        let mut before = "Echo".to_owned();
        for trial in 0..trials() {
            let name = format!("Name {trial}");
            let change = json!({ "name": name, "description": format!("Of {name}."), "category": name });
            let (one, two) = (author.clone(), author.clone());
            let (changed, published) =
                together(async move { one.patch(&at("contended"), &change).await }, async move {
                    publish(&two, "contended").await
                })
                .await;
            changed.is("200 published");
            published.is("200 published");

            let live = read(&member, "contended").await;
            let shown = live["name"].as_str().unwrap().to_owned();
            assert!(shown == name || shown == before, "{shown}");
            if shown == name {
                assert_eq!(
                    (&live["description"], &live["category"]),
                    (&json!(format!("Of {name}.")), &json!(name))
                );
            }
            let saved = read(&author, "contended").await;
            assert_eq!((&saved["name"], &saved["has_draft"]), (&json!(name), &json!(shown != name)));
            let all = history(&author, "contended").await;
            let last = all.iter().find(|entry| entry["kind"] == "publish").unwrap();
            let revision =
                author.get(&format!("/api/tools/contended/versions/{}", last["revision"])).await.json();
            assert_eq!(revision["content_hash"], last["content_hash"]);
            assert_eq!(revision["snapshot"]["name"], shown.as_str(), "the history says what runs");
            before = name;
            if trial == 0 {
                assert_eq!(all.len(), 4);
            }
        }
        let saves = author.get("/api/tools/contended/versions?kind=save&limit=200").await.json();
        let revisions: Vec<_> = saves["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["revision"].as_u64().unwrap())
            .collect();
        assert_eq!(
            revisions,
            (1..=u64::try_from(trials()).unwrap() + 1).rev().collect::<Vec<_>>(),
            "no gap, none twice"
        );
    }

    async fn name_is_given_once(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        for trial in 0..trials() {
            let (lower, upper) = (format!("wanted-{trial}"), format!("WANTED-{trial}"));
            let answers = together(creating(&author, echo(&lower)), creating(&author, echo(&upper))).await;
            assert_eq!(made(&answers), 1);
            assert_eq!(history(&author, &lower).await.len(), 1);
        }
        let total = author.get("/api/tools?kind=tenant_custom").await.json()["total"].as_u64().unwrap();
        assert_eq!(total, u64::try_from(trials()).unwrap());
        for trial in 0..trials() {
            let (one, other) = (format!("look-alike.n{trial}"), format!("look_alike-n{trial}"));
            let answers = together(creating(&author, echo(&one)), creating(&author, echo(&other))).await;
            assert_eq!(made(&answers), 1, "two that look alike are one name");
        }
        for trial in 0..trials() {
            let alias = |slug: &str| {
                with(&echo(&format!("{slug}-{trial}")), &json!({ "aliases": [format!("alias-{trial}")] }))
            };
            let answers = together(creating(&author, alias("one")), creating(&author, alias("two"))).await;
            assert_eq!(made(&answers), 1, "an alias belongs to one tool");
            let answers = together(
                creating(
                    &author,
                    with(&echo(&format!("third-{trial}")), &json!({ "aliases": [format!("slug-{trial}")] })),
                ),
                creating(&author, echo(&format!("slug-{trial}"))),
            )
            .await;
            assert_eq!(made(&answers), 1, "a name is a slug or an alias");
        }
    }

    async fn number_is_given_once_and_only_goes_up(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "counted").await;
        let numbering = |version: String| {
            let author = author.clone();
            async move { number(&author, "counted", &version).await }
        };
        let mut numbers = vec!["1.0.0".to_owned()];
        for trial in 2..2 + trials() {
            let same = format!("{trial}.0.0");
            let (one, two) = together(numbering(same.clone()), numbering(same.clone())).await;
            let mut verdicts = [one.verdict(), two.verdict()];
            verdicts.sort();
            assert_eq!(verdicts, ["200 published", "409 CONFLICT"]);
            numbers.push(same);
            let (low, high) = (format!("{trial}.1.0"), format!("{trial}.2.0"));
            let (one, two) = together(numbering(low.clone()), numbering(high.clone())).await;
            two.is("200 published");
            match one.verdict().as_str() {
                "200 published" => numbers.push(low),
                other => assert_eq!(other, "409 CONFLICT"),
            }
            numbers.push(high.clone());
            assert_eq!(read(&author, "counted").await["version"], high.as_str());
        }
        let all = author.get("/api/tools/counted/versions?kind=version&limit=200").await.json();
        let told: Vec<_> = all["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| entry["version"].as_str().unwrap().to_owned())
            .collect();
        numbers.remove(0);
        numbers.reverse();
        assert_eq!(told, numbers);
    }

    async fn update_against_remove_leaves_nothing_half_gone(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        for trial in 0..trials() {
            live(&author, "leaving").await;
            let (one, two) = (author.clone(), author.clone());
            let change = json!({ "name": "Anew", "publish": trial % 2 == 0 });
            let (changed, removed) =
                together(async move { one.patch(&at("leaving"), &change).await }, async move {
                    two.delete(&at("leaving")).await
                })
                .await;
            removed.is("204");
            assert!(
                ["200 published", "404 TOOL_NOT_FOUND"].contains(&changed.verdict().as_str()),
                "{}",
                changed.text
            );
            author.get(&at("leaving")).await.is("404 TOOL_NOT_FOUND");
            author.run("leaving", json!({ "a": 1 })).await.is("404 TOOL_NOT_FOUND");
            publish(&author, "leaving").await.is("404 TOOL_NOT_FOUND");
        }
    }

    async fn of_two_who_saw_the_same_one_is_told(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let author = world.client(&server, "acme", Role::Builder).await;
        live(&author, "seen").await;
        for tool in ["seen", "test.fail"] {
            for trial in 0..trials() {
                let etag = read(&author, tool).await["etag"].as_str().unwrap().to_owned();
                let changing = |icon: String| {
                    let request = author.request(reqwest::Method::PATCH, &at(tool)).header("if-match", &etag);
                    let (author, request) = (author.clone(), request.json(&json!({ "icon": icon })));
                    async move { author.send(request).await }
                };
                let (one, two) = together(changing(format!("a{trial}")), changing(format!("b{trial}"))).await;
                let mut verdicts = [one.verdict(), two.verdict()];
                verdicts.sort();
                assert_eq!(verdicts, ["200 published", "412 PRECONDITION_FAILED"], "{tool}");
            }
        }
    }
}
