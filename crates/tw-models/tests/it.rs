//! Asking a model that behaves badly: what is told, and what the ledger hears.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};
use toolwright_sdk::{BoxFuture, Credential, Credentials, UsageMeter};
use tw_egress::{Egress, Policy, Reach};
use tw_model::{Code, RunId, TenantId, ToolFailure, Usage, UsageId};
use tw_models::{
    Ledger, ModelAsker, ModelKey, ModelRequest, ModelSpec, ModelTurn, Models, Provider, Reservation,
    TextSink, TurnRole,
};
use tw_test::{ModelFormat, ModelServer};

const FORMAT: ModelFormat = ModelFormat::OpenAi;

/// Notes what requests became.
#[derive(Debug, Default)]
struct Book {
    is_full: bool,
    settled: Mutex<Vec<Usage>>,
    changed: Notify,
}

impl Ledger for Book {
    fn reserve<'a>(
        &'a self,
        _: TenantId,
        worst: &'a Reservation,
    ) -> BoxFuture<'a, Result<UsageId, ToolFailure>> {
        assert_eq!(worst.usage.output_tokens, 50, "the smaller of both limits");
        assert!(worst.usage.estimated && 20 < worst.usage.input_tokens);
        let full = ToolFailure::with_code(Code::BudgetExceeded, "full");
        Box::pin(std::future::ready(if self.is_full { Err(full) } else { Ok(UsageId::new()) }))
    }

    fn settle(&self, _: TenantId, _: UsageId, _: Usage, real: Usage) -> BoxFuture<'static, ()> {
        self.settled.lock().unwrap().push(real);
        self.changed.notify_one();
        Box::pin(std::future::ready(()))
    }
}

#[derive(Debug)]
struct NoCredentials;

impl Credentials for NoCredentials {
    fn credential<'a>(&'a self, _: TenantId, _: &'a str) -> BoxFuture<'a, Result<Credential, ToolFailure>> {
        unreachable!("models are found by their provider")
    }

    fn credential_for<'a>(
        &'a self,
        _: TenantId,
        _: &'a str,
        _: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Credential>, ToolFailure>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

#[derive(Debug, Default)]
struct Heard(String);

impl TextSink for Heard {
    fn text(&mut self, piece: &str) {
        self.0.push_str(piece);
    }
}

fn models(server: &ModelServer, waits: &[u64]) -> Models {
    let spec = ModelSpec {
        provider: Provider::OpenAi,
        model: "m".to_owned(),
        base_url: server.base_url(),
        key: ModelKey::Text("sk-1234".to_owned().into()),
        context_tokens: 1000,
        max_output_tokens: 100,
        timeout: Duration::from_secs(20),
        shared: true,
        price: None,
        fallback: None,
    };
    let waits = waits.iter().copied().map(Duration::from_millis).collect();
    Models::new(BTreeMap::from([("default".to_owned(), spec)]), waits).unwrap()
}

fn asker(book: &Arc<Book>) -> ModelAsker {
    ModelAsker {
        tenant: TenantId::new(),
        run: RunId::new(),
        egress: Egress::new(Policy::new(Reach::Any, [""; 0]).unwrap()),
        credentials: Arc::new(NoCredentials),
        ledger: Arc::clone(book) as _,
        deadline: Instant::now() + Duration::from_secs(20),
        usage: UsageMeter::default(),
    }
}

fn request() -> ModelRequest {
    let turns = vec![ModelTurn { role: TurnRole::User, text: "twelve bytes".to_owned() }];
    ModelRequest { system: None, turns, json: false, temperature: None, max_output_tokens: Some(50), pass: 1 }
}

fn tokens(usage: &Usage) -> (u64, u64, bool) {
    (usage.input_tokens, usage.output_tokens, usage.estimated)
}

fn settled(book: &Book) -> Vec<(u64, u64, bool)> {
    book.settled.lock().unwrap().iter().map(tokens).collect()
}

#[tokio::test]
async fn silence_ends_a_request_and_is_tried_again_before_text() {
    let server = ModelServer::start().await;
    let models = models(&server, &[0]).with_silence(Duration::from_millis(50));
    let (book, mut heard) = (Arc::new(Book::default()), Heard::default());
    let asker = asker(&book);
    server.falls_silent_after(FORMAT, &[]);
    server.falls_silent_after(FORMAT, &["12345678"]);
    let failure = models.ask(&asker, "default", &request(), &mut heard).await.unwrap_err();
    assert_eq!(failure.code, Code::UpstreamError);
    assert_eq!(failure.message, "the model `models.default` was silent for 0 s");
    assert_eq!(heard.0, "12345678");
    server.upstream.hung_up(2).await;
    assert_eq!(settled(&book), [(3, 0, true), (3, 2, true)]);
    assert_eq!(tokens(&asker.usage.total().unwrap()), (6, 2, true));
}

#[tokio::test]
async fn refused_request_takes_nothing_and_the_next_one_what_it_says() {
    let server = ModelServer::start().await;
    let (book, mut heard) = (Arc::new(Book::default()), Heard::default());
    let asker = asker(&book);
    server.is_busy("0");
    server.says(FORMAT, "yes");
    let answer = models(&server, &[0]).ask(&asker, "default", &request(), &mut heard).await.unwrap();
    assert_eq!((answer.text.as_str(), heard.0.as_str()), ("yes", "yes"));
    assert_eq!(settled(&book), [(0, 0, false), (12, 7, false)]);
    assert_eq!(tokens(&asker.usage.total().unwrap()), (12, 7, false));
}

#[tokio::test]
async fn nothing_is_sent_without_a_reservation() {
    let server = ModelServer::start().await;
    let book = Arc::new(Book { is_full: true, ..Book::default() });
    let models = models(&server, &[0]);
    let asked = models.ask(&asker(&book), "default", &request(), &mut Heard::default()).await;
    assert_eq!(asked.unwrap_err().code, Code::BudgetExceeded);
    assert_eq!(server.upstream.connections(), 0);
}

#[tokio::test]
async fn whoever_stops_waiting_hangs_up_and_what_was_taken_is_settled() {
    let server = ModelServer::start().await;
    let book = Arc::new(Book::default());
    let asker = asker(&book);
    server.falls_silent_after(FORMAT, &["1234"]);
    let (models, request, mut heard) = (models(&server, &[]), request(), Heard::default());
    tokio::select! {
        asked = models.ask(&asker, "default", &request, &mut heard) => panic!("{asked:?}"),
        () = server.upstream.connected(1) => {}
    }
    server.upstream.hung_up(1).await;
    book.changed.notified().await;
    assert!(book.settled.lock().unwrap()[0].estimated);
}
