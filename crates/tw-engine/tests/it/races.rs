//! Two who do opposite things at the same moment: one of them has done it, and the log knows which.
//!
//! Each race is run many times from a barrier, with one server on SQLite and two on PostgreSQL, and
//! afterwards the whole log is held against the runs.
#![expect(clippy::print_stdout, reason = "how often each side won belongs to the result")]

use std::{sync::Arc, time::Duration};

use futures::StreamExt;
use serde_json::json;
use tokio::sync::Barrier;
use tw_base::{Error, Result};
use tw_engine::{Answer, Approve};
use tw_identity::rights::{CancelRuns, DecideApprovals, Permit, WriteKeys};
use tw_model::{ApprovalId, Policy, RunId, RunStatus};
use tw_test::{Kind, TestDb, on_both};

use crate::{
    projection,
    resume::record_yes,
    tools::{effects, gate},
    world::{Server, World, keyed, raw_json, refused, request, told, until},
};

/// How many trials are under way at once: the rest of a server's life goes on during a race too.
const ABREAST: usize = 4;

async fn trials<F: Future<Output = &'static str>>(race: &str, trial: impl Fn(usize) -> F) {
    let outcomes: Vec<_> =
        futures::stream::iter((0..tw_test::trials()).map(trial)).buffer_unordered(ABREAST).collect().await;
    let mut names = outcomes.clone();
    names.sort_unstable();
    names.dedup();
    for name in names {
        println!("{race}: {name} {} times", outcomes.iter().filter(|outcome| **outcome == name).count());
    }
}

/// Lets both go from a barrier, the second a little later where asked, so that every order comes up.
async fn at_once<A: Send + 'static, B: Send + 'static>(
    later: usize,
    first: impl Future<Output = A> + Send + 'static,
    second: impl Future<Output = B> + Send + 'static,
) -> (A, B) {
    let barrier = Arc::new(Barrier::new(2));
    let other = Arc::clone(&barrier);
    let first = tokio::spawn(async move {
        barrier.wait().await;
        first.await
    });
    let second = tokio::spawn(async move {
        other.wait().await;
        tokio::time::sleep(Duration::from_micros(u64::try_from(later).unwrap() * 500)).await;
        second.await
    });
    (first.await.unwrap(), second.await.unwrap())
}

/// The two servers, in turns.
fn sides(world: &World, trial: usize) -> (Server, Server) {
    if trial.is_multiple_of(2) {
        (world.one().clone(), world.other().clone())
    } else {
        (world.other().clone(), world.one().clone())
    }
}

async fn approves(
    server: &Server,
    id: ApprovalId,
    yes: Approve,
) -> impl Future<Output = Result<Answer>> + use<> {
    let (engine, permit) = (server.engine.clone(), decider(server, "approver").await);
    async move { engine.approve(&permit, id, yes).await.map(|approved| approved.answer) }
}

async fn cancels(server: &Server, run: RunId) -> impl Future<Output = Result<Answer>> + use<> {
    let (engine, permit) = (server.engine.clone(), server.permit::<CancelRuns>("admin").await.unwrap());
    async move { engine.cancel(&permit, run, None).await }
}

async fn decider(server: &Server, who: &str) -> Permit<DecideApprovals> {
    server.permit(who).await.unwrap()
}

fn decided_by_the_other(error: &Error) -> bool {
    matches!(error, Error::AlreadyDecided { .. })
}

on_both! {
    async fn approve_and_deny_have_one_winner(db: TestDb) {
        let world = World::pair(db).await;
        trials("approve and deny", async |trial| {
            let (one, other) = sides(&world, trial);
            let key = format!("deny{trial}");
            let (run, id) = one.park("test.write", json!({ "key": key })).await;
            let (engine, permit) = (other.engine.clone(), decider(&other, "admin").await);
            let deny = async move { engine.deny(&permit, id, None).await };

            let (yes, no) = at_once(trial % 7, approves(&one, id, Approve::default()).await, deny).await;

            let ended = one.ended(run).await;
            match (&yes, &no) {
                (Ok(answer), Err(error)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!((answer.run.status, ended.status), (RunStatus::Success, RunStatus::Success));
                    assert_eq!(effects(&key), 1);
                    "approved"
                }
                (Err(error), Ok(_)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!((ended.status, ended.summary.as_deref()), (RunStatus::Cancelled, Some("denied")));
                    assert_eq!(effects(&key), 0);
                    "denied"
                }
                _ => panic!("{} and {no:?}", told(&yes)),
            }
        })
        .await;
        projection::check(&world).await;
    }

    async fn of_two_who_approve_one_has_approved(db: TestDb) {
        let world = World::pair(db).await;
        trials("approve twice", async |trial| {
            let (one, other) = sides(&world, trial);
            let key = format!("both{trial}");
            let (run, id) = one.park("test.write", json!({ "key": key })).await;

            let (first, second) = at_once(
                trial % 3,
                approves(&one, id, Approve::default()).await,
                approves(&other, id, Approve::default()).await,
            )
            .await;

            assert_eq!(one.ended(run).await.status, RunStatus::Success);
            assert_eq!(effects(&key), 1);
            match (&first, &second) {
                (Ok(answer), Err(error)) | (Err(error), Ok(answer)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!(answer.run.status, RunStatus::Success);
                }
                _ => panic!("{} and {}", told(&first), told(&second)),
            }
            if first.is_ok() { "first" } else { "second" }
        })
        .await;
        projection::check(&world).await;
    }

    async fn approve_and_edit_have_one_winner_and_only_its_input_runs(db: TestDb) {
        let world = World::pair(db).await;
        trials("approve and edit", async |trial| {
            let (one, other) = sides(&world, trial);
            let (asked, edited) = (format!("asked{trial}"), format!("edited{trial}"));
            let (run, id) = one.park("test.write", json!({ "key": asked })).await;
            let edit = Approve { input: Some(raw_json(&json!({ "key": edited }))), ..Approve::default() };

            let (plain, changed) = at_once(
                trial % 7,
                approves(&one, id, Approve::default()).await,
                approves(&other, id, edit).await,
            )
            .await;

            let ended = one.ended(run).await;
            assert_eq!(ended.status, RunStatus::Success);
            let ran = (effects(&asked), effects(&edited));
            let changes = one.approval(id).await.changes.is_some();
            match (&plain, &changed) {
                (Ok(_), Err(error)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!((ran, changes), ((1, 0), false));
                    "as asked"
                }
                (Err(error), Ok(_)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!((ran, changes), ((0, 1), true));
                    "edited"
                }
                _ => panic!("{} and {}", told(&plain), told(&changed)),
            }
        })
        .await;
        projection::check(&world).await;
    }

    async fn approve_and_cancel_end_the_run_once_and_tell_the_truth(db: TestDb) {
        let world = World::pair(db).await;
        trials("approve and cancel", async |trial| {
            let (one, other) = sides(&world, trial);
            let key = format!("cancel{trial}");
            let (run, id) = one.park("test.write", json!({ "key": key })).await;

            let (yes, cancelled) =
                at_once(trial % 30, approves(&one, id, Approve::default()).await, cancels(&other, run).await).await;

            let ended = one.ended(run).await;
            let ran = one.trail(run).await.contains("tool.started");
            match (&yes, &cancelled) {
                (Err(error), Ok(_)) => {
                    assert!(decided_by_the_other(error), "{}", refused(error));
                    assert_eq!(ended.status, RunStatus::Cancelled);
                    assert_eq!((effects(&key), ran, ended.effect.map(tw_model::Effect::as_str)), (0, false, Some("none")));
                    assert_eq!(one.approval(id).await.status.as_str(), "cancelled");
                    "cancelled before it was approved"
                }
                (Ok(_), Err(Error::Conflict { .. })) => {
                    assert_eq!((ended.status, effects(&key)), (RunStatus::Success, 1));
                    "approved and done"
                }
                (Ok(_), Ok(_)) => {
                    assert_eq!(ended.status, RunStatus::Cancelled);
                    assert_eq!(one.approval(id).await.status.as_str(), "approved");
                    assert!(effects(&key) <= 1);
                    // What had begun may have had its effect, and nobody may say that it had none.
                    assert_eq!(ended.effect.map(tw_model::Effect::as_str), Some(if ran { "unknown" } else { "none" }));
                    if ran { "cancelled while it ran" } else { "cancelled before it ran" }
                }
                _ => panic!("{} and {}", told(&yes), told(&cancelled)),
            }
        })
        .await;
        projection::check(&world).await;
    }

    async fn cancel_and_finish_have_one_winner(db: TestDb) {
        let world = World::pair(db).await;
        trials("cancel and finish", async |trial| {
            let (one, other) = sides(&world, trial);
            let key = format!("finish{trial}");
            let call = one.ask_soon("member", request("test.gate", &json!({ "key": key })));
            gate(&key).reached(1).await;
            let runs = one.scope().runs(&Default::default(), None, 0, 50).await.unwrap();
            let named = |run: &&tw_store::Run| run.input.as_ref().is_some_and(|input| input.get().contains(&format!("{key}\"")));
            let run = runs.iter().find(named).unwrap().id;
            let finish = {
                let key = key.clone();
                async move { gate(&key).open() }
            };

            let (cancelled, ()) = at_once(trial % 12, cancels(&other, run).await, finish).await;

            let answer = call.await.unwrap().unwrap();
            let ended = one.ended(run).await;
            assert_eq!(answer.run.status, ended.status, "the caller is told what the log says");
            match cancelled {
                Ok(_) => {
                    assert_eq!((ended.status, ended.effect.map(tw_model::Effect::as_str)), (RunStatus::Cancelled, Some("unknown")));
                    "cancelled"
                }
                Err(Error::Conflict { .. }) => {
                    assert_eq!((ended.status, effects(&key)), (RunStatus::Success, 1));
                    "finished"
                }
                Err(error) => panic!("{}", refused(&error)),
            }
        })
        .await;
        projection::check(&world).await;
    }

    async fn approve_and_a_change_of_the_tool_run_what_was_approved_or_nothing(db: TestDb) {
        let world = World::pair(db).await;
        // One after another: a change of a tool sends every other call back too.
        for trial in 0..tw_test::trials() {
            let (one, other) = sides(&world, trial);
            let key = format!("changed{trial}");
            let (run, id) = one.park("test.write", json!({ "key": key })).await;
            // Agents are asked either way, but it is another definition each time.
            let policy = trial.is_multiple_of(2).then_some(Policy::AlwaysAsk);
            let change = json!({ "permission_policy": policy });
            let edit = async move {
                other.change_tool("test.write", change).await;
                other.trail(run).await.contains("tool.started")
            };

            let (yes, begun) = at_once(trial % 12, approves(&one, id, Approve::default()).await, edit).await;

            let ended = one.ended(run).await;
            let ran = one.trail(run).await.contains("tool.started");
            assert_eq!(ran, begun, "what had not begun when the change was answered never begins");
            match (&yes, ended.status) {
                (Ok(_), RunStatus::Success) => assert_eq!((ran, effects(&key)), (true, 1)),
                (Ok(_) | Err(Error::Superseded), RunStatus::Cancelled) => {
                    assert_eq!((ran, effects(&key), ended.summary.as_deref()), (false, 0, Some("superseded")));
                }
                _ => panic!("{} and {:?}", told(&yes), ended.status),
            }
        }
        projection::check(&world).await;
    }

    async fn of_two_bodies_under_one_key_one_is_taken(db: TestDb) {
        let world = World::pair(db).await;
        trials("two bodies", async |trial| {
            let (one, other) = sides(&world, trial);
            let (a, b) = (format!("a{trial}"), format!("b{trial}"));
            let key = format!("k{trial}");
            let ask = |server: Server, name: &str| {
                let request = keyed("test.write", &json!({ "key": name }), &key);
                async move { server.ask("member", request).await }
            };

            let (first, second) = at_once(0, ask(one, &a), ask(other, &b)).await;

            match (&first, &second) {
                (Ok(answer), Err(Error::IdempotencyMismatch)) | (Err(Error::IdempotencyMismatch), Ok(answer)) => {
                    assert_eq!(answer.run.status, RunStatus::Success);
                }
                _ => panic!("{} and {}", told(&first), told(&second)),
            }
            let ran = (effects(&a), effects(&b));
            assert_eq!(ran, if first.is_ok() { (1, 0) } else { (0, 1) });
            if first.is_ok() { "first" } else { "second" }
        })
        .await;
        projection::check(&world).await;
    }

    async fn caller_who_hangs_up_at_any_moment_leaves_no_run_that_nobody_runs(db: TestDb) {
        let world = World::pair(db).await;
        for server in [world.one(), world.other()] {
            server.call("member", "test.echo", json!({ "text": "hi" })).await.unwrap();
        }
        trials("hang up", async |trial| {
            let (one, _) = sides(&world, trial);
            let tool = if trial.is_multiple_of(3) { "test.echo" } else { "test.write" };
            let input = match tool {
                "test.echo" => json!({ "text": "hi" }),
                _ => json!({ "key": format!("hung{trial}") }),
            };
            let call = one.ask_soon("member", request(tool, &input));
            tokio::time::sleep(Duration::from_micros((trial % 40) as u64 * 250)).await;
            call.abort();
            match call.await {
                Ok(answer) => {
                    assert_eq!(answer.unwrap().run.status, RunStatus::Success);
                    "answered"
                }
                Err(_) => "hung up",
            }
        })
        .await;
        let seen = until("everything has ended", async || {
            // Asked first: a start that is still on its way to the disk is no running run yet.
            let is_idle = world.one().engine.in_flight() + world.other().engine.in_flight() == 0;
            let seen = projection::check(&world).await;
            (is_idle && !seen.contains_key("running")).then_some(seen)
        })
        .await;
        let ran: u32 = (0..tw_test::trials()).map(|trial| effects(&format!("hung{trial}"))).sum();
        let mut raw = world.raw().await;
        let writes = raw.count("SELECT count(*) FROM runs WHERE tool = 'test.write'").await;
        assert_eq!(i64::from(ran), writes, "what was started has run, once");
        assert_eq!(seen.keys().collect::<Vec<_>>(), ["success"]);
        assert_eq!((world.one().engine.in_flight(), world.other().engine.in_flight()), (0, 0));
    }

    async fn approved_call_is_taken_up_once_by_whoever_hears_of_it(db: TestDb) {
        let world = World::pair(db).await;
        // On PostgreSQL the yes is recorded by somebody who runs nothing, so both servers hear of it alike.
        let clerk = match world.db.kind() {
            Kind::Sqlite => world.one().store.clone(),
            Kind::Postgres => world.db.store().await,
        };
        trials("take up", async |trial| {
            let (one, _) = sides(&world, trial);
            let key = format!("taken{trial}");
            let (run, id) = one.park("test.write", json!({ "key": key })).await;
            let parked = one.stored(run).await;

            record_yes(&clerk, &parked, id).await;

            let ended = one.ended(run).await;
            assert_eq!((ended.status, ended.lease_epoch, effects(&key)), (RunStatus::Success, 2, 1));
            assert_eq!(one.approval(id).await.state.as_str(), "resolved");
            "taken up"
        })
        .await;
        projection::check(&world).await;
    }

    async fn nothing_starts_with_a_key_after_its_revocation_was_answered(db: TestDb) {
        let world = World::pair(db).await;
        let mut raw = world.raw().await;
        let mut begun = 0;
        for trial in 0..tw_test::trials() {
            let (one, other) = sides(&world, trial);
            let key = format!("revoke{trial}");
            one.new_agent_key(&key).await;
            // Callers that never stop by themselves, on both servers.
            let callers: Vec<_> = [&one, &other]
                .into_iter()
                .map(|server| {
                    let (server, key) = (server.clone(), key.clone());
                    tokio::spawn(async move {
                        loop {
                            match server.call(&key, "test.auto", json!({ "key": key })).await {
                                Ok(answer) => assert_eq!(answer.run.status, RunStatus::Success),
                                Err(Error::Unauthenticated { .. }) => return,
                                Err(error) => panic!("{}", refused(&error)),
                            }
                        }
                    })
                })
                .collect();
            let permit = one.permit::<WriteKeys>("admin").await.unwrap();
            tokio::time::sleep(Duration::from_micros((trial % 16) as u64 * 500)).await;

            one.engine.identity().revoke_key(&permit, one.key_id(&key), None).await.unwrap();

            let started = format!(
                "SELECT count(*) FROM session_events WHERE type = 'tool.started' AND actor LIKE '%{}%'",
                one.key_id(&key)
            );
            let then = raw.count(started.clone()).await;
            let late = other.call(&key, "test.auto", json!({ "key": "late" })).await;
            assert!(matches!(late, Err(Error::Unauthenticated { .. })), "{}", told(&late));
            for caller in callers {
                caller.await.unwrap();
            }
            assert_eq!(raw.count(started).await, then, "a call started after the revocation was answered");
            assert_eq!(i64::from(effects(&key)), then, "what was started has run, and nothing else");
            begun += then;
        }
        println!("revoke: {begun} calls began before {} revocations", tw_test::trials());
        assert_eq!(effects("late"), 0);
        projection::check(&world).await;
    }
}
