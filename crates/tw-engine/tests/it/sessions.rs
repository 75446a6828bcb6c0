//! Calls within a session: one order, no gap.

use std::collections::HashMap;

use serde_json::json;
use tw_base::Error;
use tw_engine::{CallRequest, StreamStart};
use tw_identity::rights::{ReadRuns, RunTools};
use tw_model::{EventKind, RunStatus, SessionId};
use tw_test::{TestDb, on_both};

use crate::world::{Server, World, request, told};

async fn new_session(server: &Server, who: &str) -> SessionId {
    let permit = server.permit::<RunTools>(who).await.unwrap();
    server.engine.create_session(&permit, Some("a talk")).await.unwrap().id
}

fn said_in(session: SessionId) -> CallRequest {
    CallRequest { session: Some(session), ..request("test.echo", &json!({ "text": "hi" })) }
}

on_both! {
    async fn fifty_calls_at_once_in_one_session_are_numbered_without_a_gap(db: TestDb) {
        let world = World::pair(db).await;
        let session = new_session(world.one(), "member").await;

        let calls: Vec<_> = (0..50)
            .map(|number| {
                let server = if number % 2 == 0 { world.one() } else { world.other() };
                server.ask_soon("member", said_in(session))
            })
            .collect();
        for call in calls {
            let run = call.await.unwrap().unwrap().run;
            assert_eq!((run.status, run.session), (RunStatus::Success, session));
        }

        let events = world.one().events(session).await;
        assert_eq!(events.iter().map(|event| event.seq).collect::<Vec<_>>(), (1..=100).collect::<Vec<_>>());
        let mut runs: HashMap<_, Vec<_>> = HashMap::new();
        for event in &events {
            runs.entry(event.run).or_default().push(event.kind);
        }
        assert_eq!(runs.len(), 50);
        assert!(runs.values().all(|kinds| *kinds == [EventKind::Started, EventKind::Completed]));
        assert_eq!(world.one().scope().session(session).await.unwrap().unwrap().last_seq, 100);
    }

    async fn reader_on_another_server_gets_every_event_in_order(db: TestDb) {
        let world = World::pair(db).await;
        let session = new_session(world.one(), "member").await;
        let permit = world.other().permit::<ReadRuns>("member").await.unwrap();
        let mut reader = world.other().engine.follow(&permit, session, StreamStart::After(0)).await.unwrap();

        let calls: Vec<_> = (0..20).map(|_| world.one().ask_soon("member", said_in(session))).collect();
        let mut seen = Vec::new();
        while seen.len() < 40 {
            let next = tokio::time::timeout(crate::world::PATIENCE, reader.next()).await;
            seen.extend(next.expect("events came to an end too early").unwrap().iter().map(|event| event.seq));
        }

        assert_eq!(seen, (1..=40).collect::<Vec<_>>());
        for call in calls {
            assert_eq!(call.await.unwrap().unwrap().run.status, RunStatus::Success);
        }
    }

    async fn session_that_is_missing_or_a_strangers_is_not_found_and_nothing_is_recorded(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let theirs = new_session(server, "member").await;

        for session in [SessionId::new(), theirs] {
            let answer = server.ask("stranger", said_in(session)).await;
            assert_eq!(told(&answer), "SESSION_NOT_FOUND: there is no such session");
        }

        assert_eq!(server.count_runs().await, 0);
        assert_eq!(server.events(theirs).await.len(), 0);
        let permit = server.permit::<ReadRuns>("stranger").await.unwrap();
        let read = server.engine.events(&permit, theirs, 0, 10).await;
        assert!(matches!(read, Err(Error::SessionNotFound)));
    }

    async fn call_outside_any_session_is_its_own(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();
        let run = server.call("member", "test.echo", json!({ "text": "hi" })).await.unwrap().run;

        let session = server.scope().session(run.session).await.unwrap().unwrap();

        assert_eq!((session.last_seq, session.status.as_str()), (2, "completed"));
        let answer = server.ask("member", said_in(run.session)).await;
        assert_eq!(told(&answer), "SESSION_NOT_FOUND: there is no such session", "nothing else joins it");
    }
}
