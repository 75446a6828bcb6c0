//! Two things that happen to a waiting call at the same moment: one of them counts, and the log says which.

use std::time::Duration;

use serde_json::{Value, json};
use tw_model::Role;
use tw_test::{TestDb, on_both, trials};

use super::{Worker, answer, calling, cancel, external, ids, make, run_of};
use crate::world::{Answer, Client, World, together};

fn answering(
    client: &Client,
    (run, call): &(String, String),
    result: Value,
) -> impl Future<Output = Answer> + Send + 'static {
    let (client, run, call) = (client.clone(), run.clone(), call.clone());
    async move { answer(&client, &run, &call, &result).await }
}

fn cancelling(client: &Client, run: &str) -> impl Future<Output = Answer> + Send + 'static {
    let (client, run) = (client.clone(), run.to_owned());
    async move { cancel(&client, &run).await }
}

on_both! {
    async fn of_two_results_the_first_counts(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let one = world.client(&server, "acme", Role::Builder).await;
        let two = world.client(&server, "acme", Role::Admin).await;
        make(&one, &external("job", &json!({ "is_async": true }))).await;
        for trial in 0..trials() {
            let call = ids(one.run("job", json!({})).await.is("202 pending"));
            let same = trial % 5 == 4;
            let (first, second) = (json!({ "by": 1 }), if same { json!({ "by": 1 }) } else { json!({ "by": 2 }) });
            let answers = together(answering(&one, &call, first), answering(&two, &call, second)).await;
            let verdicts = (answers.0.verdict(), answers.1.verdict());
            let winner = match (verdicts.0.as_str(), verdicts.1.as_str()) {
                ("200 success", "200 success") if same => 1,
                ("200 success", "409 CONFLICT") if !same => 1,
                ("409 CONFLICT", "200 success") if !same => 2,
                other => panic!("trial {trial}: {other:?}"),
            };
            let run = run_of(&one, &call.0).await;
            assert_eq!((&run["status"], &run["output"]), (&json!("success"), &json!({ "by": winner })));
            assert_eq!(one.trail(&call.0).await, ["tool.started", "tool.completed"]);
        }
    }

    async fn result_that_comes_as_the_time_runs_out_is_the_end_or_late(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({ "timeout_ms": 120 }))).await;
        let mut worker = Worker::listens(&builder, "job", None).await;
        for trial in 0..trials() {
            let mut waiting = calling(&builder, "job", json!({ "input": { "trial": trial } }));
            let began = tokio::time::Instant::now();
            let told = loop {
                tokio::select! {
                    told = worker.told() => if told.data["input"]["trial"] == trial { break Some(told) },
                    // A busy machine may be too late to tell anybody.
                    heard = &mut waiting => {
                        let (run, call) = ids(heard.unwrap().is("200 timed_out"));
                        answer(&builder, &run, &call, &json!(trial)).await.is("200 timed_out");
                        break None;
                    }
                }
            };
            let Some(told) = told else { continue };
            // Around the moment itself, a little earlier or later each time.
            tokio::time::sleep_until(began + Duration::from_millis(112 + trial as u64 % 16)).await;
            let said = answer(&builder, &told.run, &told.call, &json!(trial)).await;
            let heard = waiting.await.unwrap();
            let run = run_of(&builder, &told.run).await;
            assert_eq!(said.status, 200, "{}", said.text);
            match run["status"].as_str().unwrap() {
                "success" => {
                    assert_eq!((said.verdict(), heard.verdict()), ("200 success".into(), "200 success".into()));
                    assert_eq!((&run["output"], run.get("late_result")), (&json!(trial), None));
                    assert_eq!(builder.trail(&told.run).await, ["tool.started", "tool.completed"]);
                }
                "timed_out" => {
                    assert_eq!((said.verdict(), heard.verdict()), ("200 timed_out".into(), "200 timed_out".into()));
                    assert_eq!((&run["output"], &run["late_result"]), (&Value::Null, &json!(trial)));
                    let late = ["tool.started", "tool.failed", "tool.late_result"];
                    assert_eq!(builder.trail(&told.run).await, late);
                }
                other => panic!("trial {trial}: {other}"),
            }
        }
    }

    async fn of_two_late_results_the_first_is_kept(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let one = world.client(&server, "acme", Role::Builder).await;
        let two = world.client(&server, "acme", Role::Admin).await;
        make(&one, &external("late", &json!({ "timeout_ms": 20 }))).await;
        for trial in 0..trials() {
            let call = ids(one.run("late", json!({})).await.is("200 timed_out"));
            let answers = together(answering(&one, &call, json!(1)), answering(&two, &call, json!(2))).await;
            let kept = match (answers.0.verdict().as_str(), answers.1.verdict().as_str()) {
                ("200 timed_out", "409 CONFLICT") => 1,
                ("409 CONFLICT", "200 timed_out") => 2,
                other => panic!("trial {trial}: {other:?}"),
            };
            let run = run_of(&one, &call.0).await;
            assert_eq!((&run["status"], &run["late_result"]), (&json!("timed_out"), &json!(kept)));
            assert_eq!(one.trail(&call.0).await, ["tool.started", "tool.failed", "tool.late_result"]);
        }
    }

    async fn of_a_result_and_a_cancellation_one_counts(db: TestDb) {
        let world = World::on(db).await;
        let server = world.server();
        let builder = world.client(&server, "acme", Role::Builder).await;
        make(&builder, &external("job", &json!({}))).await;
        let mut worker = Worker::listens(&builder, "job", None).await;
        for trial in 0..trials() {
            let waiting = calling(&builder, "job", json!({ "input": {} }));
            let told = worker.told().await;
            let call = (told.run.clone(), told.call.clone());
            let answers = together(answering(&builder, &call, json!(trial)), cancelling(&builder, &told.run)).await;
            let heard = waiting.await.unwrap();
            let trail = builder.trail(&told.run).await;
            match (answers.0.verdict().as_str(), answers.1.verdict().as_str()) {
                ("200 success", "409 CONFLICT") => {
                    heard.is("200 success");
                    assert_eq!(trail, ["tool.started", "tool.completed"]);
                }
                ("409 CONFLICT", "200 cancelled") => {
                    heard.is("200 cancelled");
                    assert_eq!(trail, ["tool.started", "tool.cancelled"]);
                }
                other => panic!("trial {trial}: {other:?}"),
            }
        }
    }
}
