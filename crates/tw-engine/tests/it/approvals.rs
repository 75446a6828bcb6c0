//! Calls that wait for a person: asking, deciding once, and running what was approved.

use std::time::Duration;

use expect_test::expect;
use serde_json::{Value, json};
use tw_base::Error;
use tw_engine::Approve;
use tw_identity::rights::{DecideApprovals, Permit, ReadApprovals, WriteMembers, WriteSettings};
use tw_model::{ApprovalId, RunStatus};
use tw_store::TenantChange;
use tw_test::{TestDb, on_both};

use crate::{
    tools::{effects, gate},
    world::{Server, World, raw_json, refused, request, told, until, waiting},
};

fn with_input(input: &Value) -> Approve {
    Approve { input: Some(raw_json(input)), note: Some("less of it".to_owned()), ..Approve::default() }
}

async fn state(server: &Server, id: ApprovalId) -> String {
    let approval = server.approval(id).await;
    format!("{} {}", approval.status.as_str(), approval.state.as_str())
}

/// Changes what the database says about an approval, behind everybody's back.
async fn tamper(world: &World, id: ApprovalId, change: &str) {
    let mut raw = world.raw().await;
    let sql = format!("UPDATE approvals SET {change} WHERE id = {}", raw.id(id.uuid()));
    raw.execute(sql).await;
}

/// Approves an approval that was tampered with, and sees that nothing runs.
async fn voided_by(world: &World, change: &str) -> String {
    let server = world.one();
    let (run, id) = server.park("test.write", json!({ "key": "void", "amount": 1 })).await;
    tamper(world, id, change).await;

    let approved = server.approve("approver", id).await;

    let ended = server.ended(run).await;
    assert_eq!(ended.status, RunStatus::Cancelled, "{change}");
    assert_eq!(effects("void"), 0, "{change}");
    if let Err(error) = approved {
        assert!(matches!(error, Error::Superseded), "{}", refused(&error));
    }
    server.trail(run).await.lines().last().unwrap().to_owned()
}

on_both! {
    async fn write_of_an_agent_waits_for_a_person(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let answer = server.call("agent", "test.write", json!({ "key": "asked", "amount": 3 })).await;

        assert_eq!(told(&answer), "needs_approval");
        let answer = answer.unwrap();
        let stored = server.stored(answer.run.id).await;
        assert_eq!((stored.status, stored.replica), (RunStatus::NeedsApproval, None));
        expect![[r"
            tool.needs_approval test.write level_write
        "]]
        .assert_eq(&server.trail(answer.run.id).await);
        let approval = server.approval(answer.approval.unwrap()).await;
        assert_eq!((approval.status.as_str(), approval.state.as_str()), ("pending", "waiting"));
        assert_eq!(approval.input.get(), r#"{"key":"asked","amount":3}"#);
        assert_eq!((approval.run, approval.owner), (answer.run.id, world.user("owner")));
        assert_eq!((approval.tool.as_str(), approval.version.as_str()), ("test.write", "1.2.0"));
        assert_eq!((approval.requested_by.as_str(), approval.reason.as_str()), ("agent:helper", "the tool writes"));
        let life = approval.expires.since(approval.requested).as_secs();
        assert!((24 * 60 * 60 - 10..=24 * 60 * 60).contains(&life), "{life}");
        assert_eq!(effects("asked"), 0);
    }

    async fn write_of_a_person_is_its_own_approval(db: TestDb) {
        let world = World::new(db).await;
        for tool in ["test.write", "test.destroy"] {
            let answer = world.one().call("member", tool, json!({ "key": tool })).await;
            assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#);
        }
    }

    async fn what_an_agent_destroys_is_always_asked_for(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let answer = server.call("agent", "test.auto", json!({ "key": "auto" })).await;
        assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#);
        let (run, _) = server.park("test.destroy", json!({ "key": "gone" })).await;
        assert_eq!(server.trail(run).await, "tool.needs_approval test.destroy destructive\n");

        // The tenant may be stricter.
        let permit = server.permit::<WriteSettings>("admin").await.unwrap();
        let change = TenantChange { settings: Some(json!({ "approve_all_writes": true })), ..Default::default() };
        server.engine.identity().change_tenant(&permit, change, None, None).await.unwrap();
        let (run, _) = server.park("test.auto", json!({ "key": "auto" })).await;
        assert_eq!(server.trail(run).await, "tool.needs_approval test.auto approve_all_writes\n");
        assert_eq!((effects("auto"), effects("gone")), (1, 0));
    }

    async fn approved_call_runs_once_and_its_waiting_caller_gets_the_result(db: TestDb) {
        let world = World::pair(db).await;
        let call = request("test.write", &json!({ "key": "waited", "amount": 5 }));
        let caller = world.one().ask_soon("agent", waiting(Duration::from_secs(20), call));
        let id = until("the call is in the inbox", async || {
            let permit = world.other().permit::<ReadApprovals>("approver").await.unwrap();
            let page = tw_base::PageRequest::new(None, None, None).unwrap();
            let inbox = world.other().engine.approvals(&permit, Some(tw_model::ApprovalStatus::Pending), &page).await.unwrap();
            inbox.items.first().map(|approval| approval.id)
        })
        .await;

        let approved = world.other().approve("approver", id).await;

        assert_eq!(told(&approved), r#"success {"count":1,"amount":5}"#);
        let answer = caller.await.unwrap();
        assert_eq!(told(&answer), r#"success {"count":1,"amount":5}"#);
        let answer = answer.unwrap();
        assert_eq!((answer.run.id, answer.approval), (approved.unwrap().run.id, None));
        assert_eq!(effects("waited"), 1);
        assert_eq!(state(world.one(), id).await, "approved resolved");
        expect![[r"
            tool.needs_approval test.write level_write
            tool.approved test.write
            tool.started test.write
            tool.completed test.write
        "]]
        .assert_eq(&world.one().trail(answer.run.id).await);
        let approval = world.one().approval(id).await;
        assert_eq!(approval.decided_by, Some(format!("user:{}", world.user("approver"))));
        let stored = world.one().stored(answer.run.id).await;
        assert_eq!((stored.lease_epoch, stored.replica), (2, None));
        assert_eq!(stored.principal, "agent:helper", "the run is the agent's, whoever approved it");
    }

    async fn approver_may_change_the_input_and_the_change_is_on_record(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (run, id) = server.park("test.write", json!({ "key": "edited", "amount": 500 })).await;

        let answer = server.approve_as("approver", id, with_input(&json!({ "key": "edited", "amount": 5 }))).await;

        assert_eq!(told(&answer), r#"success {"count":1,"amount":5}"#);
        let approval = server.approval(id).await;
        let changes: Value = serde_json::from_str(approval.changes.as_ref().unwrap().get()).unwrap();
        assert_eq!(changes, json!([{ "path": "/amount", "before": 500, "after": 5 }]));
        assert_eq!(approval.input.get(), r#"{"key":"edited","amount":5}"#);
        assert_eq!(approval.note.as_deref(), Some("less of it"));
        assert_eq!(server.stored(run).await.input.unwrap().get(), r#"{"key":"edited","amount":5}"#);
        expect![[r"
            tool.needs_approval test.write level_write
            tool.approved test.write changed
            tool.started test.write
            tool.completed test.write
        "]]
        .assert_eq(&server.trail(run).await);
    }

    async fn change_that_does_not_fit_is_refused_and_the_call_still_waits(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (run, id) = server.park("test.write", json!({ "key": "bad edit" })).await;

        let answer = server.approve_as("approver", id, with_input(&json!({ "key": "x", "amount": 1001 }))).await;
        assert_eq!(
            told(&answer),
            "INVALID_PARAMS: the input does not fit: `amount` must be at most 1000\n  /amount must be at most 1000"
        );
        let answer = server.approve_as("approver", id, with_input(&json!({ "amount": 1 }))).await;
        assert_eq!(told(&answer), "MISSING_PARAM: Missing required param: key");

        assert_eq!(state(server, id).await, "pending waiting");
        assert_eq!(server.trail(run).await, "tool.needs_approval test.write level_write\n");
        let answer = server.approve("approver", id).await;
        assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#);
    }

    async fn change_that_changes_nothing_is_a_plain_yes(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (run, id) = server.park("test.write", json!({ "key": "same", "amount": 5 })).await;

        let answer = server.approve_as("approver", id, with_input(&json!({ "amount": 5.0, "key": "same" }))).await;

        assert_eq!(told(&answer), r#"success {"count":1,"amount":5}"#);
        assert!(!server.trail(run).await.contains("changed"));
    }

    async fn denied_call_never_runs(db: TestDb) {
        let world = World::pair(db).await;
        let call = request("test.write", &json!({ "key": "denied" }));
        let (run, id) = world.one().park("test.write", json!({ "key": "denied" })).await;
        let waiter = world.one().ask_soon("agent", waiting(Duration::from_secs(20), call));
        let other = until("both wait", async || {
            let all = world.one().scope().approvals(Some(tw_model::ApprovalStatus::Pending), None, 0, 10).await.unwrap().0;
            all.into_iter().find(|approval| approval.run != run)
        })
        .await;

        let denied = world.other().deny("approver", id).await.unwrap();
        world.other().deny("approver", other.id).await.unwrap();

        assert_eq!((denied.status.as_str(), denied.note.as_deref()), ("denied", Some("no thanks")));
        assert_eq!(told(&waiter.await.unwrap()), "cancelled DENIED no thanks");
        assert_eq!(state(world.one(), id).await, "denied cancelled");
        let stored = world.one().stored(run).await;
        assert_eq!((stored.status, stored.summary.as_deref()), (RunStatus::Cancelled, Some("denied")));
        expect![[r"
            tool.needs_approval test.write level_write
            tool.cancelled test.write denied
        "]]
        .assert_eq(&world.one().trail(run).await);
        assert_eq!(effects("denied"), 0);
    }

    async fn approval_is_decided_once(db: TestDb) {
        let world = World::pair(db).await;
        let (_, yes) = world.one().park("test.write", json!({ "key": "twice" })).await;
        let (_, no) = world.one().park("test.write", json!({ "key": "never" })).await;
        world.one().approve("approver", yes).await.unwrap();
        world.one().deny("approver", no).await.unwrap();

        for (id, status) in [(yes, "approved"), (no, "denied")] {
            let again = world.other().approve("admin", id).await;
            assert_eq!(told(&again), format!("ALREADY_DECIDED: the approval is {status} already"));
            let again = world.other().deny("admin", id).await.unwrap_err();
            assert_eq!(refused(&again), format!("ALREADY_DECIDED: the approval is {status} already"));
        }

        assert_eq!((effects("twice"), effects("never")), (1, 0));
    }

    async fn agents_and_members_cannot_decide(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (_, id) = server.park("test.write", json!({ "key": "own" })).await;

        for who in ["agent", "owner", "member", "viewer"] {
            let answer = server.approve(who, id).await;
            assert!(matches!(answer, Err(Error::NotPermitted { .. })), "{who}: {}", told(&answer));
        }

        // Whatever role its key has.
        let mut parts = server.caller("admin").await.unwrap().into_parts();
        parts.principal = server.caller("agent").await.unwrap().principal.clone();
        let caller = tw_model::Caller::new(parts);
        assert!(Permit::<DecideApprovals>::check(caller).is_err());
        assert_eq!(state(server, id).await, "pending waiting");
    }

    async fn owner_of_an_agent_does_not_decide_on_what_it_destroys(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        server.new_agent_key("bold").await;
        let destroy = request("test.destroy", &json!({ "key": "mine" }));
        let id = server.ask("bold", destroy).await.unwrap().approval.unwrap();

        // The key was made by the admin, so the agent is the admin's.
        let answer = server.approve("admin", id).await;
        assert!(matches!(answer, Err(Error::SelfApproval)), "{}", told(&answer));
        let answer = server.approve("approver", id).await;
        assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#);
    }

    async fn approval_that_nobody_decided_in_time_ends_the_call(db: TestDb) {
        let world = World::pair(db).await;
        let server = world.one();
        let (run, id) = server.park("test.write", json!({ "key": "too late" })).await;
        let (other, _) = server.park("test.write", json!({ "key": "in time" })).await;
        let mut raw = world.raw().await;
        for table in ["approvals", "pending_calls"] {
            let sql = format!("UPDATE {table} SET expires_us = 1 WHERE id = {}", raw.id(id.uuid()));
            raw.execute(sql).await;
        }

        let ended = server.ended(run).await;

        assert_eq!(ended.status, RunStatus::Cancelled);
        assert_eq!(ended.error.as_deref(), Some("nobody decided in time"));
        assert_eq!(state(server, id).await, "expired expired");
        expect![[r"
            tool.needs_approval test.write level_write
            tool.cancelled test.write expired
        "]]
        .assert_eq(&server.trail(run).await);
        assert_eq!(server.stored(other).await.status, RunStatus::NeedsApproval);
        let late = server.approve("approver", id).await;
        assert_eq!(told(&late), "ALREADY_DECIDED: the approval is expired already");
        assert_eq!(effects("too late"), 0);
    }

    async fn approval_past_its_time_is_not_taken_even_before_it_is_swept(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (_, id) = server.park("test.write", json!({ "key": "just late" })).await;
        // Only what the approver looks at: the sweep goes by the other table.
        tamper(&world, id, "expires_us = 1").await;

        let late = server.approve("approver", id).await;

        assert_eq!(told(&late), "EXPIRED: the approval has expired");
        assert_eq!(refused(&server.deny("approver", id).await.unwrap_err()), "EXPIRED: the approval has expired");
        assert_eq!(effects("just late"), 0);
    }

    async fn approval_that_was_tampered_with_never_runs(db: TestDb) {
        let world = World::new(db).await;
        let superseded = "tool.cancelled test.write superseded";
        for change in [
            r#"input = '{"key":"void","amount":999}'"#,
            r#"input = '{"key":"void","amount":99999}'"#,
            "expires_us = expires_us + 1000000",
            "requested_by = 'agent:other'",
            "definition_hash = 'another'",
            "input_digest = 'another'",
        ] {
            assert_eq!(voided_by(&world, change).await, superseded, "{change}");
        }
        let seal = match world.db.kind() {
            tw_test::Kind::Sqlite => "seal = zeroblob(32)",
            tw_test::Kind::Postgres => "seal = decode(repeat('00', 32), 'hex')",
        };
        assert_eq!(voided_by(&world, seal).await, superseded);
    }

    async fn caller_of_a_parked_call_cannot_be_exchanged(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let owner = world.user("owner").to_string();
        let exchanges = [
            (r#""role":"agent""#.to_owned(), r#""role":"admin""#.to_owned()),
            (owner, world.user("admin").to_string()),
            (r#""slug":"helper""#.to_owned(), r#""slug":"other""#.to_owned()),
            (r#""source":"agent""#.to_owned(), r#""source":"web""#.to_owned()),
        ];
        for (from, to) in exchanges {
            let (run, id) = server.park("test.write", json!({ "key": "exchanged" })).await;
            let mut raw = world.raw().await;
            let sql = format!(
                "UPDATE pending_calls SET context = replace(context, '{from}', '{to}')
                 WHERE id = {} AND context LIKE '%{from}%'",
                raw.id(id.uuid())
            );
            raw.execute(sql).await;

            let _ = server.approve("approver", id).await;

            assert_eq!(server.ended(run).await.status, RunStatus::Cancelled, "{from}");
            assert!(server.trail(run).await.ends_with("tool.cancelled test.write superseded\n"), "{from}");
            assert_eq!(effects("exchanged"), 0, "{from}");
        }
    }

    async fn tool_that_changed_meanwhile_voids_the_approval_at_once(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        for yes in [Approve::default(), with_input(&json!({ "key": "changed", "amount": 2 }))] {
            let (run, id) = server.park("test.write", json!({ "key": "changed" })).await;
            tamper(&world, id, "definition_hash = 'of an older version'").await;

            let answer = server.approve_as("approver", id, yes).await;

            assert!(matches!(answer, Err(Error::Superseded)), "{}", told(&answer));
            assert_eq!(server.stored(run).await.status, RunStatus::Cancelled);
            assert_eq!(state(server, id).await, "cancelled cancelled");
        }
        assert_eq!(effects("changed"), 0);
    }

    async fn tool_made_stricter_meanwhile_voids_what_waits_for_it(db: TestDb) {
        let world = World::pair(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "stricter" })).await;
        let (renamed, kept) = world.one().park("test.gate", json!({ "key": "renamed" })).await;
        let level = tw_model::Level::Destructive;
        world.one().change_tool("test.write", json!({ "permission_level": level })).await;
        world.one().change_tool("test.gate", json!({ "name": "Another name" })).await;
        gate("renamed").open();

        let answer = world.other().approve("approver", id).await;

        assert!(matches!(answer, Err(Error::Superseded)), "{}", told(&answer));
        expect![[r"
            tool.needs_approval test.write level_write
            tool.cancelled test.write superseded
        "]]
        .assert_eq(&world.other().trail(run).await);
        assert_eq!(effects("stricter"), 0);
        // What it is called makes no difference to what it does.
        let answer = world.other().approve("approver", kept).await.unwrap();
        assert_eq!((answer.run.id, answer.run.status), (renamed, RunStatus::Success));
    }

    async fn call_of_an_agent_whose_owner_is_gone_does_not_run(db: TestDb) {
        let world = World::pair(db).await;
        let (run, id) = world.one().park("test.write", json!({ "key": "orphan" })).await;
        let (_, edited) = world.one().park("test.write", json!({ "key": "orphan" })).await;
        let permit = world.one().permit::<WriteMembers>("admin").await.unwrap();
        world.one().engine.identity().remove_user(&permit, world.user("owner"), None).await.unwrap();

        let answer = world.other().approve("approver", id).await;

        assert_eq!(
            told(&answer),
            "cancelled CANCELLED the owner of this key is no member of the tenant any more"
        );
        expect![[r"
            tool.needs_approval test.write level_write
            tool.approved test.write
            tool.cancelled test.write not_permitted
        "]]
        .assert_eq(&world.one().trail(run).await);
        // The approver is told about the agent, and not that their own sign-in has ended.
        let answer = world.other().approve_as("approver", edited, with_input(&json!({ "key": "orphan" }))).await;
        assert!(matches!(answer, Err(Error::NotPermitted { .. })), "{}", told(&answer));
        assert_eq!(effects("orphan"), 0);
    }

    async fn right_that_was_lost_meanwhile_ends_the_call(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let (run, id) = server.park("test.write", json!({ "key": "demoted" })).await;
        let permit = server.permit::<WriteMembers>("admin").await.unwrap();
        server.engine.identity().set_role(&permit, world.user("owner"), tw_model::Role::Viewer, None).await.unwrap();

        let answer = server.approve("approver", id).await.unwrap();

        assert_eq!((answer.run.id, answer.run.status), (run, RunStatus::Cancelled));
        assert!(server.trail(run).await.ends_with("tool.cancelled test.write not_permitted\n"));
        assert_eq!(effects("demoted"), 0);
    }

    async fn approved_call_is_known_to_the_server_that_runs_it(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        for number in 0..20 {
            let key = format!("known{number}");
            let (run, id) = server.park("test.gate", json!({ "key": key })).await;
            let yes = Approve { wait: Some(Duration::from_millis(1)), ..Approve::default() };
            server.approve_as("approver", id, yes).await.unwrap();
            gate(&key).reached(1).await;

            // Whoever else looked at the call has found it taken by now.
            until("the other looks are over", async || (server.engine.in_flight() < 2).then_some(())).await;
            assert_eq!(server.engine.in_flight(), 1, "a run that its server forgot cannot be stopped");
            server.cancel("admin", run).await.unwrap();
            let stopped = tokio::time::timeout(Duration::from_secs(5), gate(&key).emptied(1)).await;
            assert!(stopped.is_ok(), "the tool goes on");
        }
    }
}
