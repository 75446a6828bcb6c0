//! Runs that wait for others, and answers that take long to read.

use std::{sync::mpsc, time::Duration};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolwright_sdk::HeavyPool;
use tw_engine::{Answer, Answered, CallRequest};
use tw_identity::rights::{AnswerCalls, CreateTools, ReadRuns};
use tw_model::{RunId, RunStatus, Timestamp};
use tw_registry::EditContext;
use tw_store::log::{Change, Entry, Expect, NewWait, Transition, WaitChange};
use tw_test::{TestDb, on_both};

use crate::world::{Server, World, request, until, waiting};

async fn make(server: &Server, slug: &str, rest: Value) {
    let mut body = json!({
        "slug": slug, "name": slug, "description": "Made by a test.", "permission_level": "read",
        "input_schema": { "type": "object" }, "publish": true,
    });
    body.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    let permit = server.permit::<CreateTools>("admin").await.unwrap();
    server.engine.registry().create_tool(&permit, &body, EditContext::default()).await.unwrap();
}

async fn answer_of(server: &Server, run: RunId) -> Answer {
    server.engine.run(&server.permit::<ReadRuns>("admin").await.unwrap(), run).await.unwrap()
}

/// Has a run that waits for one run wait for more.
async fn wait_for_more(server: &Server, run: RunId, more: &[RunId]) {
    let call = server.scope().pending_call_of(run).await.unwrap().unwrap();
    let wait = NewWait {
        id: call.id,
        waits_for: call.waits_for,
        state: call.state,
        context: call.context,
        children: [&*call.children, more].concat(),
        deadline: None,
        expires: call.expires,
    };
    let status = RunStatus::NeedsApproval;
    let park = Some(WaitChange::Park(wait));
    let change = Change { to: Some(status), wait: park, ..Change::expecting(Expect::Status(status)) };
    let run = server.stored(run).await;
    let entry = Entry {
        tenant: run.tenant,
        run: run.id,
        session: run.session,
        tool: run.tool.as_str().into(),
        actor: r#"{"kind":"system"}"#.into(),
        at: Timestamp::now(),
        transition: Transition::Change(Box::new(change)),
        events: Vec::new(),
        audit: None,
    };
    server.store.log().append(entry).wait().await.unwrap();
}

on_both! {
    async fn run_that_waits_for_several_tells_of_the_one_that_blocks_it(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        make(server, "job", json!({ "implementation_type": "external", "is_async": true })).await;
        let step = json!({ "id": "s", "tool": "test.write", "input": { "key": "several" } });
        make(server, "chain", json!({ "execution_spec": { "kind": "composition", "steps": [step] } })).await;
        let (run, first) = server.park("chain", json!({})).await;
        let job = server.call("agent", "job", json!({})).await.unwrap();
        let (other, second) = server.park("test.write", json!({ "key": "several" })).await;
        wait_for_more(server, run, &[job.run.id, other]).await;

        let told = answer_of(server, run).await;
        assert_eq!((told.run.status, told.approval), (RunStatus::NeedsApproval, Some(first)));
        server.deny("approver", first).await.unwrap();
        assert_eq!(answer_of(server, run).await.approval, Some(second));
        server.deny("approver", second).await.unwrap();
        let told = answer_of(server, run).await;
        let asked = told.pending.unwrap();
        assert_eq!((told.approval, asked.run), (None, job.run.id));

        let worker = server.permit::<AnswerCalls>("admin").await.unwrap();
        server.engine.answer_call(&worker, asked.run, asked.id, Answered::Result(json!(1))).await.unwrap();
        assert_eq!(server.ended(run).await.status, RunStatus::Error, "its own step was denied");
    }

    async fn large_answer_is_read_in_the_lane_of_its_tenant(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        make(server, "job", json!({ "implementation_type": "external", "is_async": true, "output_schema": schema })).await;
        let (large, small) =
            (server.call("agent", "job", json!({})).await.unwrap(), server.call("agent", "job", json!({})).await.unwrap());
        // The lane is full of other work, on however many threads there are.
        let mut held = Vec::new();
        for _ in 0..8 {
            let (release, wait) = mpsc::channel::<()>();
            let (tenant, long) = (world.tenant(), Duration::from_secs(60));
            tokio::spawn(async move { HeavyPool::shared().run(tenant, long, move || wait.recv()).await });
            held.push(release);
        }
        let answer = |to: &Answer, text: String| {
            let (server, run, call) = (server.clone(), to.run.id, to.pending.as_ref().unwrap().id);
            tokio::spawn(async move {
                let worker = server.permit::<AnswerCalls>("admin").await.unwrap();
                server.engine.answer_call(&worker, run, call, Answered::Result(json!({ "text": text }))).await
            })
        };
        let waits = answer(&large, "x".repeat(1 << 20));
        assert_eq!(answer(&small, "y".to_owned()).await.unwrap().unwrap().run.status, RunStatus::Success);

        assert!(!waits.is_finished(), "it was read on a thread that serves everybody");
        drop(held);
        assert_eq!(waits.await.unwrap().unwrap().run.status, RunStatus::Success);
    }

    async fn caller_who_hangs_up_and_may_come_back_leaves_nobody_waiting(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        make(server, "job", json!({ "implementation_type": "external", "is_async": true })).await;
        let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
        let before = tasks();
        let mut calls = Vec::new();
        for _ in 0..20 {
            let call = waiting(Duration::from_secs(60), request("job", &json!({})));
            let unwanted = Some(CancellationToken::new());
            calls.push(server.ask_soon("member", CallRequest { unwanted, ..call }));
        }
        until("all wait for a worker", async || {
            let filter = tw_store::RunFilter { status: Some(RunStatus::Pending), ..Default::default() };
            let runs = server.scope().runs(&filter, None, 0, 50).await.unwrap();
            (runs.len() == calls.len()).then_some(())
        })
        .await;
        calls.iter().for_each(tokio::task::JoinHandle::abort);

        // Each of them would be there for good; whatever else comes and goes is less.
        until("their tasks are gone", async || (tasks() < before + calls.len()).then_some(())).await;
    }
}
