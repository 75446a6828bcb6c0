//! A connection that breaks in the worst moment: PostgreSQL has committed, and nobody is told.
//!
//! A proxy stands between one server and its database. It knows the transaction it is to spoil by
//! words that the server sends within it.

use std::{
    collections::HashMap,
    io,
    str::FromStr,
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use sqlx::{ConnectOptions, postgres::PgConnectOptions};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream, tcp},
};
use tw_base::Error;
use tw_engine::{Approve, CallRequest};
use tw_identity::rights::RunTools;
use tw_model::{RunStatus, SessionId};
use tw_store::{Options, Store, Target};
use tw_test::{Kind, TestDb};

use crate::{
    projection,
    tools::{effects, gate},
    world::{Server, World, request, told, until},
};

/// What happens to the answer to a commit.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// The connection breaks.
    Cut,
    /// Nothing comes any more, for longer than anybody waits.
    Silence,
}

/// How PostgreSQL says that it waits for the next statement, outside of any transaction: what was sent before it is
/// committed, be it by `COMMIT` or as a statement of its own.
const IDLE: &[u8] = b"Z\0\0\0\x05I";

/// A transaction to spoil, by the words it is known by.
struct Victim {
    words: Vec<&'static str>,
    fault: Fault,
}

/// Transactions to spoil, each once.
#[derive(Clone, Default)]
struct Plot(Arc<Mutex<Vec<Victim>>>);

impl Plot {
    fn add(&self, words: &[&'static str], fault: Fault) {
        self.0.lock().unwrap().push(Victim { words: words.to_vec(), fault });
    }

    fn is_done(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }

    /// Takes the fault that this transaction was meant to have.
    fn strike(&self, sent: &[u8]) -> Option<Fault> {
        let contains = |word: &&str| sent.windows(word.len()).any(|part| part == word.as_bytes());
        let mut victims = self.0.lock().unwrap();
        let index = victims.iter().position(|victim| victim.words.iter().all(contains))?;
        Some(victims.remove(index).fault)
    }
}

async fn proxy(host: String, port: u16, plot: Plot) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let own = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (plot, server) = (plot.clone(), TcpStream::connect((host.as_str(), port)).await);
            if let Ok(server) = server {
                tokio::spawn(carry(client, server, plot));
            }
        }
    });
    own
}

async fn carry(client: TcpStream, server: TcpStream, plot: Plot) {
    let sent = Arc::new(Mutex::new(Vec::new()));
    let ((from_client, to_client), (from_server, to_server)) = (client.into_split(), server.into_split());
    let up = tokio::spawn(up(from_client, to_server, Arc::clone(&sent)));
    let _ = down(from_server, to_client, sent, plot).await;
    up.abort();
}

async fn up(
    mut client: tcp::OwnedReadHalf,
    mut server: tcp::OwnedWriteHalf,
    sent: Arc<Mutex<Vec<u8>>>,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = client.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        sent.lock().unwrap().extend_from_slice(&buffer[..length]);
        server.write_all(&buffer[..length]).await?;
    }
}

async fn down(
    mut server: tcp::OwnedReadHalf,
    mut client: tcp::OwnedWriteHalf,
    sent: Arc<Mutex<Vec<u8>>>,
    plot: Plot,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let length = server.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        if buffer[..length].windows(IDLE.len()).any(|part| part == IDLE) {
            let fault = plot.strike(&std::mem::take(&mut *sent.lock().unwrap()));
            match fault {
                Some(Fault::Cut) => return Ok(()),
                // Longer than a lane waits; then the operating system would have noticed too.
                Some(Fault::Silence) => {
                    tokio::time::sleep(Duration::from_secs(22)).await;
                    return Ok(());
                }
                None => {}
            }
        }
        client.write_all(&buffer[..length]).await?;
    }
}

/// A world whose last server reaches its database through the proxy.
async fn behind_a_proxy() -> (World, Server, Plot) {
    let mut world = World::new(TestDb::new(Kind::Postgres).await).await;
    let Target::Postgres { url } = world.db.target() else { unreachable!("asked for PostgreSQL") };
    let options = PgConnectOptions::from_str(&url).unwrap();
    let plot = Plot::default();
    let port = proxy(options.get_host().to_owned(), options.get_port(), plot.clone()).await;
    let url = options.host("127.0.0.1").port(port).to_url_lossy().to_string();
    let store =
        Store::open(&Options { connections: 8, ..Options::new(Target::Postgres { url }) }).await.unwrap();
    let server = world.start_on(store);
    (world, server, plot)
}

mod postgres {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn commit_whose_answer_was_lost_is_found_in_the_log() {
        let (world, server, plot) = behind_a_proxy().await;

        for words in [["tool.started", "lost start"], ["tool.completed", "lost end"]] {
            plot.add(&words[..1], Fault::Cut);
            let answer = server.call("member", "test.write", json!({ "key": words[1] })).await;
            assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#, "{words:?}");
            assert!(plot.is_done(), "{words:?}");
        }

        plot.add(&["tool.needs_approval", "lost question"], Fault::Cut);
        let (run, id) = server.park("test.write", json!({ "key": "lost question" })).await;
        assert!(plot.is_done());
        plot.add(&["tool.approved"], Fault::Cut);
        plot.add(&["tool.started", "lost question"], Fault::Cut);
        let answer = server.approve("approver", id).await;
        // The other server may have been quicker to take it up.
        assert_eq!(told(&answer), r#"success {"count":1,"amount":0}"#);
        assert_eq!(server.trail(run).await.lines().count(), 4);
        plot.0.lock().unwrap().clear();

        let call = server.ask_soon("member", request("test.gate", &json!({ "key": "lost cancel" })));
        gate("lost cancel").reached(1).await;
        let run = server.scope().runs(&Default::default(), None, 0, 1).await.unwrap()[0].id;
        plot.add(&["tool.cancelled"], Fault::Cut);
        server.cancel("member", run).await.unwrap();
        assert!(plot.is_done());
        assert_eq!(call.await.unwrap().unwrap().run.status, RunStatus::Cancelled);

        projection::check(&world).await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn database_that_falls_silent_in_a_commit_leaves_no_run_open() {
        let (world, server, plot) = behind_a_proxy().await;
        // Only the server behind the proxy may take the approved call up.
        world.one().engine.drain(Duration::from_secs(1)).await;
        let within = |session, key: &str| CallRequest {
            session: Some(session),
            ..request("test.write", &json!({ "key": key }))
        };
        let [first, second, third] = in_three_lanes(&server).await;
        let parked = server.ask("agent", within(first, "silent claim")).await.unwrap();
        let (run, id) = (parked.run.id, parked.approval.unwrap());
        plot.add(&["tool.started", "silent start"], Fault::Silence);
        plot.add(&["tool.needs_approval", "silent question"], Fault::Silence);
        plot.add(&["tool.started", "silent claim"], Fault::Silence);

        let start = server.ask_soon(
            "agent",
            CallRequest { tool: "test.auto".to_owned(), ..within(second, "silent start") },
        );
        let question = server.ask_soon("agent", within(third, "silent question"));
        let yes = Approve { wait: Some(Duration::from_millis(1)), ..Approve::default() };
        server.approve_as("approver", id, yes).await.unwrap();
        until("all three were spoilt", async || plot.is_done().then_some(())).await;

        for call in [start, question] {
            let answer =
                tokio::time::timeout(Duration::from_secs(40), call).await.expect("nobody is kept waiting");
            let answer = answer.unwrap();
            assert!(matches!(answer, Err(Error::Record { .. })), "{}", told(&answer));
            assert_eq!(answer.unwrap_err().code(), tw_model::Code::Unavailable);
        }
        // The caller was told that it failed, so the log says so too, and the tool never ran.
        let runs = until("both have ended", async || {
            let runs = server.scope().runs(&Default::default(), None, 0, 10).await.unwrap();
            let ended =
                |run: &&tw_store::Run| run.error_code.map(tw_model::Code::as_str) == Some("INTERRUPTED");
            (runs.iter().filter(ended).count() == 2).then_some(runs)
        })
        .await;
        assert!(
            runs.iter()
                .filter(|other| other.id != run)
                .all(|run| run.effect.map(tw_model::Effect::as_str) == Some("none"))
        );
        assert_eq!((effects("silent start"), effects("silent question")), (0, 0));
        assert_eq!(
            world.raw().await.count("SELECT count(*) FROM approvals WHERE status = 'pending'").await,
            0
        );
        // What was approved is not forgotten.
        assert_eq!(server.ended(run).await.status, RunStatus::Success);
        assert_eq!(effects("silent claim"), 1);
        assert_eq!(server.events(first).await.len(), 4);
        projection::check(&world).await;
    }
}

/// Sessions of the agent whose events are written by different lanes, so that one that is held up does
/// not hold up the others.
async fn in_three_lanes(server: &Server) -> [SessionId; 3] {
    let permit = server.permit::<RunTools>("agent").await.unwrap();
    let mut lanes = HashMap::new();
    while lanes.len() < 3 {
        let session = server.engine.create_session(&permit, None).await.unwrap().id;
        lanes.entry(session.uuid().as_u128() % 4).or_insert(session);
    }
    let sessions: Vec<_> = lanes.into_values().collect();
    sessions.try_into().unwrap()
}
