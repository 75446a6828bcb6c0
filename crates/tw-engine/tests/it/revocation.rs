//! A right that is taken away is gone everywhere, at once.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tw_base::Error;
use tw_engine::Approve;
use tw_identity::rights::{DecideApprovals, WriteMembers, WriteSettings};
use tw_model::{Role, RunStatus};
use tw_store::TenantChange;
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{World, request, told},
};

on_both! {
    async fn revoked_key_is_refused_on_every_server_and_nothing_runs(db: TestDb) {
        let world = World::pair(db).await;
        for trial in 0..20 {
            let name = format!("revoked{trial}");
            world.one().new_agent_key(&name).await;
            let input = json!({ "key": name });
            // Both servers know the key well.
            for server in [world.one(), world.other()] {
                assert_eq!(server.call(&name, "test.auto", input.clone()).await.unwrap().run.status, RunStatus::Success);
            }
            let (effects_before, runs_before) = (effects(&name), world.one().count_runs().await);

            world.one().revoke(&name).await;

            for server in [world.other(), world.one()] {
                let answer = server.call(&name, "test.auto", input.clone()).await;
                assert_eq!(told(&answer), "UNAUTHENTICATED: the API key is not valid");
                let read = server.call(&name, "test.echo", json!({ "text": "hi" })).await;
                assert_eq!(told(&read), "UNAUTHENTICATED: the API key is not valid");
            }
            assert_eq!(effects(&name), effects_before, "the tool ran after the key was revoked");
            assert_eq!(world.one().count_runs().await, runs_before);
        }
    }

    /// Who sends a key that has to be looked for in the database waits with the others of its address.
    async fn key_is_in_memory_from_its_first_use_until_it_is_revoked(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        server.new_agent_key("new").await;
        assert!(!server.knows_key("new"));
        server.call("new", "test.echo", json!({ "text": "hi" })).await.unwrap();
        assert!(server.knows_key("new"));
        let other_secret = format!("tw_{}_{}", "0".repeat(12), "x".repeat(43));
        assert!(!server.engine.identity().knows_key(&other_secret));
        server.revoke("new").await;
        assert!(server.call("new", "test.echo", json!({ "text": "hi" })).await.is_err());
        assert!(!server.knows_key("new"), "it is a stranger's by now");
    }

    async fn caller_known_from_before_is_looked_at_again(db: TestDb) {
        let world = World::pair(db).await;
        world.one().new_agent_key("stale").await;
        // A door that found the caller before the key was revoked and calls after it.
        let caller = world.other().caller("stale").await.unwrap();
        let permit = tw_identity::rights::Permit::check(caller).unwrap();
        world.one().revoke("stale").await;

        for tool in ["test.auto", "test.write"] {
            let answer = world.other().engine.call(&permit, request(tool, &json!({ "key": "stale" }))).await;
            assert!(matches!(answer, Err(Error::Unauthenticated { .. })), "{}", told(&answer));
        }
        let echo = request("test.echo", &json!({ "text": "hi" }));
        let answer = world.other().engine.call(&permit, echo).await;
        assert!(matches!(answer, Err(Error::Unauthenticated { .. })), "{}", told(&answer));

        assert_eq!(effects("stale"), 0);
        assert_eq!(world.one().count_runs().await, 0);
    }

    async fn role_that_was_lowered_counts_everywhere_at_once(db: TestDb) {
        let world = World::pair(db).await;
        let input = json!({ "key": "lowered" });
        world.other().call("member", "test.write", input.clone()).await.unwrap();
        let permit = world.one().permit::<WriteMembers>("admin").await.unwrap();
        world.one().engine.identity().set_role(&permit, world.user("member"), Role::Viewer, None).await.unwrap();

        let answer = world.other().call("member", "test.write", input).await;

        assert!(matches!(answer, Err(Error::NotPermitted { .. })), "{}", told(&answer));
        assert_eq!(effects("lowered"), 1);
    }

    async fn approver_who_lost_the_right_meanwhile_decides_nothing(db: TestDb) {
        let world = World::pair(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "undecided" })).await;
        // A door that found the approver's rights before they were taken away.
        let before = world.other().permit::<DecideApprovals>("approver").await.unwrap();
        let permit = world.one().permit::<WriteMembers>("admin").await.unwrap();
        world.one().engine.identity().set_role(&permit, world.user("approver"), Role::Member, None).await.unwrap();

        let yes = world.other().engine.approve(&before, id, Approve::default()).await;
        let no = world.other().engine.deny(&before, id, None).await;

        assert!(matches!(yes, Err(Error::NotPermitted { .. })), "{yes:?}");
        assert!(matches!(no, Err(Error::NotPermitted { .. })));
        assert_eq!(world.one().stored(run).await.status, RunStatus::NeedsApproval);
        assert_eq!(effects("undecided"), 0);
    }

    async fn setting_that_was_tightened_counts_everywhere_at_once(db: TestDb) {
        let world = World::pair(db).await;
        let input = json!({ "key": "tightened" });
        world.other().call("agent", "test.auto", input.clone()).await.unwrap();
        let permit = world.one().permit::<WriteSettings>("admin").await.unwrap();
        let change = TenantChange { settings: Some(json!({ "approve_all_writes": true })), ..Default::default() };
        world.one().engine.identity().change_tenant(&permit, change, None, None).await.unwrap();

        let answer = world.other().call("agent", "test.auto", input).await;

        assert_eq!(told(&answer), "needs_approval");
        assert_eq!(effects("tightened"), 1);
    }

    async fn revocation_does_not_wait_for_a_pause_in_the_calls(db: TestDb) {
        let world = World::pair(db).await;
        let stop = Arc::new(AtomicBool::new(false));
        let callers: Vec<_> = (0..16)
            .map(|number| {
                let server = if number % 2 == 0 { world.one().clone() } else { world.other().clone() };
                let stop = Arc::clone(&stop);
                tokio::spawn(async move {
                    let mut calls = 0;
                    while !stop.load(Ordering::Relaxed) {
                        let answer = server.call("member", "test.echo", json!({ "text": "hi" })).await;
                        assert_eq!(told(&answer), r#"success {"text":"hi"}"#);
                        calls += 1;
                    }
                    calls
                })
            })
            .collect();

        let mut longest = Duration::ZERO;
        for number in 0..5 {
            let name = format!("busy{number}");
            world.one().new_agent_key(&name).await;
            let began = Instant::now();
            world.one().revoke(&name).await;
            longest = longest.max(began.elapsed());
        }

        stop.store(true, Ordering::Relaxed);
        let mut calls = 0;
        for caller in callers {
            calls += caller.await.unwrap();
        }
        assert!(longest < Duration::from_secs(8), "{longest:?} among {calls} calls");
    }

    async fn run_that_has_begun_is_not_stopped_by_a_revocation(db: TestDb) {
        let world = World::pair(db).await;
        let call = world.one().ask_soon("member", request("test.gate", &json!({ "key": "begun" })));
        gate("begun").reached(1).await;

        world.other().revoke("member").await;
        gate("begun").open();

        assert_eq!(told(&call.await.unwrap()), r#"success {"count":1,"amount":0}"#);
    }

    async fn change_of_something_else_is_not_noticed_by_the_caller(db: TestDb) {
        let world = World::pair(db).await;
        for number in 0..20 {
            world.one().new_agent_key(&format!("unrelated{number}")).await;
            let answer = world.other().call("member", "test.write", json!({ "key": "undisturbed" })).await;
            assert_eq!(answer.unwrap().run.status, RunStatus::Success);
        }
        assert_eq!(effects("undisturbed"), 20, "a call that is sent back has not run yet");
    }
}
