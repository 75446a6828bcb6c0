//! The database goes away, stops answering, fills up, or is copied: what callers see meanwhile, and that
//! nothing they were promised is lost.

use std::{
    fs,
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use tw_model::Role;
use tw_store::Target;
use tw_test::{
    Kind, TestDb,
    postgres::{Cluster, Stop},
};

use crate::{
    load::{Crowd, Fleet, Keys, Log, Rng, seed, serving, session_at, settled, soak},
    world::{Client, Server, World, eventually, lines_of},
};

const MASTER_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
/// The longest that anybody waits for an answer while the database is away.
const ANSWERED_WITHIN: Duration = Duration::from_secs(20);
/// How soon calls are made again once it is back.
const BACK_WITHIN: Duration = Duration::from_secs(5);

/// The program, with a master key and nothing else of our environment.
fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolwright-under-test"));
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("TOOLWRIGHT_MASTER_KEY", MASTER_KEY);
    command
}

fn program_in(folder: &Path) -> Command {
    let mut command = program();
    command.env("TOOLWRIGHT_DATA_DIR", folder);
    command
}

/// A PostgreSQL of our own, that can be taken away.
struct Own {
    cluster: Option<Cluster>,
    url: String,
    folder: TempDir,
}

impl Own {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let cluster = tokio::task::spawn_blocking(|| Cluster::start().unwrap()).await.unwrap();
        Self { url: cluster.url("postgres"), cluster: Some(cluster), folder: tempfile::tempdir().unwrap() }
    }

    fn command(&self) -> Command {
        let mut command = program_in(self.folder.path());
        command.env("TOOLWRIGHT_DATABASE_URL", &self.url);
        command
    }

    fn target(&self) -> Target {
        Target::Postgres { url: self.url.clone() }
    }

    async fn change(&mut self, change: impl FnOnce(&mut Cluster) + Send + 'static) {
        let mut cluster = self.cluster.take().unwrap();
        let changed = tokio::task::spawn_blocking(move || {
            change(&mut cluster);
            cluster
        });
        self.cluster = Some(changed.await.unwrap());
    }

    /// Sends a signal to every process of the database.
    fn signal(&self, name: &str) {
        let postmaster = self.cluster.as_ref().unwrap().pid().unwrap();
        // The first one first: while it is stopped there are no new ones.
        send_signal(name, &[postmaster]);
        send_signal(name, &children_of(postmaster));
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Some(pid) = self.cluster.as_ref().and_then(Cluster::pid) {
            // What is stopped cannot be ended in order.
            send_signal("CONT", &[pid]);
            send_signal("CONT", &children_of(pid));
        }
    }
}

fn send_signal(name: &str, pids: &[u32]) {
    let mut command = Command::new("kill");
    command.arg(format!("-{name}")).args(pids.iter().map(u32::to_string));
    // One of them may have ended meanwhile.
    let _ = command.stderr(std::process::Stdio::null()).status().unwrap();
}

fn children_of(parent: u32) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let is_child = |pid: &u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in brackets may hold anything; after it come the state and the parent.
        let parent_field = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1));
        parent_field == Some(parent.to_string().as_str())
    };
    pids.filter(is_child).collect()
}

async fn verdict_of(server: &Server, path: &str) -> (String, Duration) {
    let began = Instant::now();
    (Client::new(&server.url, None).get(path).await.verdict(), began.elapsed())
}

/// Waits until the server says that it cannot work; it says so within a bounded time, and that it lives.
async fn says_not_ready(server: &Server) {
    let until = Instant::now() + ANSWERED_WITHIN;
    loop {
        let (verdict, took) = verdict_of(server, "/readyz").await;
        assert!(took < Duration::from_secs(5), "/readyz took {took:?}");
        if verdict.starts_with("503") {
            break;
        }
        assert!(Instant::now() < until, "/readyz still says {verdict}");
    }
    let (verdict, took) = verdict_of(server, "/healthz").await;
    assert_eq!(verdict, "200");
    assert!(took < Duration::from_secs(1), "/healthz took {took:?}");
}

/// Waits until the crowd is served again, and the server says that it can work.
async fn is_back(server: &Server, crowd: &Crowd) {
    let began = Instant::now();
    crowd.goes_on(10, BACK_WITHIN).await;
    println!("back after {:?}", began.elapsed());
    assert_eq!(verdict_of(server, "/readyz").await.0, "200");
}

enum Outage {
    /// The database crashes.
    Gone,
    /// It takes connections and never answers.
    Silent,
}

async fn outages_under_load(outages: &[Outage]) {
    let mut rng = Rng::new(seed());
    let mut own = Own::start().await;
    let (url, folder) = (own.url.clone(), own.folder.path().to_owned());
    let command = move || {
        let mut command = program_in(&folder);
        command.env("TOOLWRIGHT_DATABASE_URL", &url);
        command
    };
    let fleet = Fleet::start(1, || serving(command())).await;
    let keys = Keys::made_by(&command);
    let ledger = own.folder.path().join("effects");
    let server = &fleet.servers[0];
    let session = session_at(server, &keys).await;
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    for outage in outages {
        crowd.goes_on(100, Duration::from_secs(30)).await;
        match outage {
            Outage::Gone => own.change(|cluster| cluster.stop(Stop::Immediate).unwrap()).await,
            Outage::Silent => own.signal("STOP"),
        }
        let answering = crowd.everybody_is_answered(ANSWERED_WITHIN);
        let (longest, ()) = tokio::join!(answering, says_not_ready(server));
        println!("everybody was answered within {longest:?}");
        // Once more, now that it is known to be away.
        let longest = crowd.everybody_is_answered(ANSWERED_WITHIN).await;
        println!("and then within {longest:?}");
        match outage {
            Outage::Gone => own.change(|cluster| cluster.restart().unwrap()).await,
            Outage::Silent => own.signal("CONT"),
        }
        is_back(server, &crowd).await;
    }
    let notes = crowd.stop().await;
    println!("{}", notes.in_words());
    let slowest = notes.refusals.iter().max().copied().unwrap_or_default();
    println!("{} were told to come back, the slowest after {slowest:?}", notes.refusals.len());
    assert!(!notes.refusals.is_empty() && slowest < ANSWERED_WITHIN, "a refusal took {slowest:?}");
    assert_eq!(notes.unanswered, 0, "the server was there all the time");
    check_all(notes, server, &keys, &own.target(), &ledger).await;
    fleet.look_at(0);
}

/// Everything that was promised, after everything has settled.
async fn check_all(mut notes: crate::load::Notes, server: &Server, keys: &Keys, target: &Target, ledger: &Path) {
    println!("settled after {:?}", settled(server, keys).await);
    notes.ask_again(server).await;
    notes.decide_left(server, keys).await;
    settled(server, keys).await;
    let log = Log::read(target).await;
    println!("{}", log.in_words());
    log.is_sound();
    log.tells_the_truth_about(ledger);
    log.keeps(&notes);
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_database_that_crashes_under_load_loses_nothing() {
    outages_under_load(&[Outage::Gone]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_database_that_does_not_answer_keeps_nobody_waiting() {
    outages_under_load(&[Outage::Silent]).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: many outages in a row"]
async fn heavy_database_goes_away_again_and_again() {
    for _ in 0..soak() {
        outages_under_load(&[Outage::Gone, Outage::Silent, Outage::Gone, Outage::Silent, Outage::Gone]).await;
    }
}
