//! The database goes away, stops answering, fills up, or is copied: what callers see meanwhile, and that
//! nothing they were promised is lost.
#![expect(clippy::print_stdout, reason = "figures are part of what a test has to say")]

use std::{
    fs,
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};
use tw_model::Role;
use tw_store::Target;
use tw_test::{
    Kind, TestDb,
    postgres::{Cluster, StopMode},
};

use crate::{
    load::{Crowd, Fleet, Keys, Log, Notes, Rng, seed, serving, session_at, settled, soak},
    world::{Client, Server, World, lines_of},
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
            Outage::Gone => own.change(|cluster| cluster.stop(StopMode::Immediate).unwrap()).await,
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
    let mut refusals = notes.refusals.clone();
    refusals.sort_unstable();
    let slowest = refusals.last().copied().unwrap_or_default();
    println!(
        "told to come back after {:?} (median), {slowest:?} (slowest)",
        refusals.get(refusals.len() / 2)
    );
    assert!(!notes.refusals.is_empty() && slowest < ANSWERED_WITHIN, "a refusal took {slowest:?}");
    assert_eq!(notes.unanswered, 0, "the server was there all the time");
    check_all(notes, server, &keys, &own.target(), &ledger).await;
    fleet.look_at(0);
}

/// Everything that was promised, after everything has settled.
async fn check_all(mut notes: Notes, server: &Server, keys: &Keys, target: &Target, ledger: &Path) {
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

/// Stands between servers and PostgreSQL and cuts connections in the middle of a commit, before or after the
/// database has heard of it.
struct Saboteur {
    url: String,
    cuts: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Saboteur {
    /// Of so many commits one does not come through.
    async fn before(url: &str, one_in: u64, mut rng: Rng) -> Self {
        let (host, database) = url.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
        let (host, database) = (host.to_owned(), database.to_owned());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let cuts = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&cuts);
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&host).await else { continue };
                let (counter, rng) = (Arc::clone(&counter), Rng::new(rng.next()));
                tokio::spawn(async move {
                    // An error is an end like any other.
                    let _ = relay(client, server, one_in, rng, &counter).await;
                });
            }
        });
        Self { url: format!("postgres://postgres@{address}/{database}"), cuts, task }
    }
}

impl Drop for Saboteur {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether this may commit: the end of a transaction, or a group of the log, which is written in one trip as a rule.
fn commits(asked: &[u8]) -> bool {
    let has = |word: &[u8]| asked.windows(word.len()).any(|window| window == word);
    has(b"COMMIT") || has(b"tool.started") || has(b"tool.completed")
}

async fn relay(
    mut client: TcpStream,
    mut server: TcpStream,
    one_in: u64,
    mut rng: Rng,
    cuts: &AtomicUsize,
) -> std::io::Result<()> {
    let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            count = client.read(&mut asked) => {
                let asked = &asked[..count?];
                let commits = commits(asked);
                if asked.is_empty() || commits && rng.below(one_in) == 0 {
                    if commits {
                        cuts.fetch_add(1, Ordering::Relaxed);
                        if rng.chance(60) {
                            server.write_all(asked).await?;
                            // Time to be carried out, or not quite.
                            tokio::time::sleep(rng.millis(0, 20)).await;
                        }
                    }
                    return Ok(());
                }
                server.write_all(asked).await?;
            }
            count = server.read(&mut answered) => {
                let count = count?;
                if count == 0 {
                    return Ok(());
                }
                client.write_all(&answered[..count]).await?;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_starts_before_its_database_waits_for_it() {
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let Target::Postgres { url } = world.db.target() else { unreachable!("it was asked for") };
    let (host, database) = url.strip_prefix("postgres://postgres@").unwrap().split_once('/').unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let host = host.to_owned();
    let database_that_is_late = tokio::spawn(async move {
        for turn in 0.. {
            let (mut client, _) = listener.accept().await.unwrap();
            if turn >= 3 {
                let mut server = TcpStream::connect(&host).await.unwrap();
                tokio::spawn(async move { tokio::io::copy_bidirectional(&mut client, &mut server).await });
            }
        }
    });
    let mut command = world.command();
    command.env("TOOLWRIGHT_DATABASE_URL", format!("postgres://postgres@{address}/{database}"));
    let server = tokio::task::spawn_blocking(|| Server::start(serving(command))).await.unwrap();
    let admin = world.client(&server, "acme", Role::Admin).await;
    admin.get("/api/me").await.is("200");
    assert!(server.log().contains("trying again"), "{}", server.log());
    database_that_is_late.abort();
}

async fn commits_cut_off(acknowledged: usize) {
    let mut rng = Rng::new(seed());
    let world = World::on(TestDb::new(Kind::Postgres).await).await;
    let target = world.db.target();
    let Target::Postgres { url } = &target else { unreachable!("it was asked for") };
    let saboteur = Saboteur::before(url, 20, Rng::new(rng.next())).await;
    let keys = Keys::of(&world).await;
    let ledger = world.ledger("effects");
    let serve = || {
        let mut command = serving(world.command());
        command.env("TOOLWRIGHT_DATABASE_URL", &saboteur.url);
        command
    };
    let session = session_at(&world.server(), &keys).await;
    let fleet = Fleet::start(2, serve).await;
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    crowd.goes_on(acknowledged, Duration::from_secs(600)).await;
    let notes = crowd.stop().await;
    println!("{} commits were cut off; {}", saboteur.cuts.load(Ordering::Relaxed), notes.in_words());
    assert_eq!(notes.unanswered, 0, "the servers were there all the time");
    // From here on in peace.
    let judge = world.server();
    check_all(notes, &judge, &keys, &target, &ledger).await;
    (0..2).for_each(|index| fleet.look_at(index));
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_commit_whose_answer_is_lost_is_neither_lost_nor_made_twice() {
    commits_cut_off(400).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "soak: many commits cut off"]
async fn heavy_many_commits_are_cut_off() {
    commits_cut_off(20_000 * soak() as usize).await;
}

/// A disk of a few MiB, gone when dropped.
struct SmallDisk {
    folder: TempDir,
}

impl SmallDisk {
    /// `None` where this machine does not let us mount.
    fn mount(size: &str) -> Option<Self> {
        let disk = Self { folder: tempfile::tempdir().unwrap() };
        let mut command = Command::new("mount");
        command.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(disk.folder.path());
        let mounted = command.output();
        mounted.is_ok_and(|output| output.status.success()).then_some(disk)
    }

    /// Takes all the space that is left.
    fn fill(&self) {
        let mut ballast = fs::File::create(self.folder.path().join("ballast")).unwrap();
        let block = vec![7; 4096];
        while std::io::Write::write_all(&mut ballast, &block).is_ok() {}
    }

    fn free(&self) {
        fs::remove_file(self.folder.path().join("ballast")).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(self.folder.path()).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_full_disk_refuses_writes_lets_read_and_recovers_by_itself() {
    let Some(disk) = SmallDisk::mount("32m") else {
        println!("SKIPPED: mounting a small disk needs to be allowed here");
        return;
    };
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut rng = Rng::new(seed());
    let (data, elsewhere) = (disk.folder.path().join("data"), tempfile::tempdir().unwrap());
    let command = || program_in(&data);
    let fleet = Fleet::start(1, || serving(command())).await;
    let server = &fleet.servers[0];
    let keys = Keys::made_by(command);
    let ledger = elsewhere.path().join("effects");
    let member = Client::new(&server.url, Some(keys.member.clone()));
    let session = session_at(server, &keys).await;
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    for _ in 0..3 {
        crowd.goes_on(50, Duration::from_secs(30)).await;
        let known = member.run("test.echo", json!({ "value": "before" })).await.text_at("/run_id");
        disk.fill();
        // The log has room for a while in what it took before.
        let until = Instant::now() + Duration::from_secs(60);
        let refused = loop {
            let answer = member.run("test.echo", json!({ "value": "x".repeat(60_000) })).await;
            if !answer.status.is_success() {
                break answer;
            }
            assert!(Instant::now() < until, "the disk does not fill up");
        };
        refused.is("503 UNAVAILABLE");
        assert!(refused.headers.contains_key("retry-after"));
        let read = member.get(&format!("/api/runs/{known}")).await;
        read.is("200 success");
        assert_eq!(verdict_of(server, "/healthz").await.0, "200");
        crowd.everybody_is_answered(ANSWERED_WITHIN).await;
        disk.free();
        is_back(server, &crowd).await;
    }
    let notes = crowd.stop().await;
    println!("{}", notes.in_words());
    assert!(0 < notes.later, "nobody noticed");
    assert_eq!(notes.unanswered, 0, "the server was there all the time");
    check_all(notes, server, &keys, &Target::sqlite_in(&data), &ledger).await;
    fleet.look_at(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn second_server_on_a_folder_is_refused_and_operators_are_not() {
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let server = world.server();
    let member = world.client(&server, "acme", Role::Member).await;

    let second = serving(world.command()).output().unwrap();

    let said = String::from_utf8(second.stderr).unwrap();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains("another server is running on the data folder"), "{said}");
    assert!(said.contains(&server.url), "{said}");
    for line in [
        "keys create --tenant acme --role member",
        "tenants create umbrella",
        "migrate",
        "users list --tenant acme",
    ] {
        let done = world.command().args(line.split(' ')).output().unwrap();
        assert!(done.status.success(), "{line}: {}", String::from_utf8_lossy(&done.stderr));
    }
    let made =
        world.command().args(["keys", "create", "--tenant", "acme", "--role", "viewer"]).output().unwrap();
    let key = String::from_utf8(made.stdout).unwrap().trim().to_owned();
    Client::new(&server.url, Some(key)).get("/api/me").await.is("200");
    member.run("test.echo", json!({ "value": 1 })).await.is("200 success");
}

#[tokio::test(flavor = "multi_thread")]
async fn heavy_backup_taken_while_writing_is_a_prefix_and_runs_elsewhere() {
    let mut rng = Rng::new(seed());
    let world = World::on(TestDb::new(Kind::Sqlite).await).await;
    let keys = Keys::of(&world).await;
    let ledger = world.ledger("effects");
    let fleet = Fleet::of(&world, 1).await;
    let server = &fleet.servers[0];
    let session = session_at(server, &keys).await;
    let member = Client::new(&server.url, Some(keys.member.clone()));
    let agent = Client::new(&server.url, Some(keys.agent.clone()));
    let input = json!({ "file": ledger, "line": "waits" });
    let parked = agent.run("test.write", input).await.text_at("/approval_id");
    let body = json!({ "input": { "file": ledger, "line": "cut", "before_ms": 60_000 }, "wait_ms": 1 });
    let under_way = member.post("/api/tools/test.write/run", &body).await.text_at("/run_id");
    let crowd = Crowd::start(&fleet.doors, &keys, &ledger, &session, &mut rng);
    crowd.goes_on(100, Duration::from_secs(30)).await;
    let acknowledged = member.run("test.echo", json!({ "value": "before" })).await.text_at("/run_id");

    let restored = tempfile::tempdir().unwrap();
    let copy = restored.path().join("toolwright.sqlite");
    let mut command = world.command();
    command.arg("backup").arg("--out").arg(&copy);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    crowd.goes_on(50, Duration::from_secs(30)).await;
    let _ = crowd.stop().await;

    let target = Target::sqlite_in(restored.path());
    let (copied, whole) = (Log::read(&target).await, Log::read(&world.db.target()).await);
    copied.is_sound();
    assert!(copied.entries.len() < whole.entries.len());
    let position = |log: &Log| -> std::collections::BTreeMap<_, _> {
        log.entries.iter().map(|entry| ((entry.session, entry.seq), entry.clone())).collect()
    };
    let all = position(&whole);
    for (place, entry) in position(&copied) {
        assert_eq!(all.get(&place), Some(&entry), "the copy has something else there");
    }
    assert!(copied.runs.contains_key(&acknowledged.parse().unwrap()), "acknowledged before the backup began");

    let mut wrong = serving(program_in(restored.path()));
    let wrong =
        wrong.env("TOOLWRIGHT_MASTER_KEY", "HxAfHh0cGxoZGBcWFRQTEhEQDw4NDAsKCQgHBgUEAwI=").output().unwrap();
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert_eq!(wrong.status.code(), Some(1), "{said}");
    assert!(said.contains("master key"), "{said}");

    let second = Server::start(serving(program_in(restored.path())));
    let admin = Client::new(&second.url, Some(keys.admin.clone()));
    settled(&second, &keys).await;
    let cut = admin.get(&format!("/api/runs/{under_way}")).await.json();
    assert_eq!((&cut["status"], &cut["error_code"]), (&json!("error"), &json!("INTERRUPTED")), "{cut}");
    assert_eq!(cut["effect"], "unknown");
    let approver = Client::new(&second.url, Some(keys.approver.clone()));
    let approved = approver.post(&format!("/api/approvals/{parked}/approve"), &json!({})).await;
    approved.is("200 success");
    assert!(lines_of(&ledger).contains(&"waits".to_owned()));
    let log = Log::read(&target).await;
    log.is_sound();
    for (run, before) in &copied.runs {
        let after = &log.runs[run];
        let open = matches!(before.status.as_str(), "running" | "pending" | "needs_approval");
        assert!(open || before.status == after.status, "{before:?} {after:?}");
    }
    println!("{} of {} events were copied", copied.entries.len(), whole.entries.len());
}
