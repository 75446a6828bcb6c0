//! A call that runs, and what it leaves behind.

use serde_json::json;
use tw_model::{EventId, RunStatus};
use tw_test::{TestDb, on_both};

use crate::world::{World, told};

on_both! {
    async fn answer_of_a_call_is_what_the_log_keeps(db: TestDb) {
        let world = World::new(db).await;
        let server = world.one();

        let answer = server.call("member", "test.echo", json!({ "text": "hi", "times": 2 })).await;
        assert_eq!(told(&answer), r#"success {"text":"hihi"}"#);
        let answer = answer.unwrap().run;
        let stored = server.stored(answer.id).await;

        assert_eq!(stored.status, RunStatus::Success);
        assert_eq!(stored.output.unwrap().get(), answer.output.unwrap().get());
        assert_eq!(stored.input.unwrap().get(), r#"{"text":"hi","times":2}"#);
        assert_eq!(server.events(answer.id).await[0].id, EventId::from(answer.id));
    }
}
