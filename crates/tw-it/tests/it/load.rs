//! A crowd of callers at servers that may die, a note of everything they were told, and what the log has to
//! say afterwards.
//!
//! Start with [`Fleet`], the servers; [`Crowd`] calls them until told to stop and leaves [`Notes`]; [`Log`] is
//! what the database holds, read past the server, and checks itself and the notes.
#![expect(clippy::print_stdout, reason = "seeds and figures are part of what a test has to say")]

mod crowd;
mod log;

use std::{
    process::Command,
    sync::{Arc, Mutex},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::json;
use tw_model::{ActsAs, Role};

pub(crate) use self::{
    crowd::{Crowd, Notes},
    log::Log,
};
use crate::world::{Client, Server, World};

/// How long everything may take to settle after the last start.
pub(crate) const SETTLED_WITHIN: Duration = Duration::from_secs(30);

/// Chance that can be repeated.
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn millis(&mut self, from: u64, to: u64) -> Duration {
        Duration::from_millis(from + self.below(to - from))
    }
}

/// A seed that is printed, or the one in `TW_SEED`.
pub(crate) fn seed() -> u64 {
    let given = std::env::var("TW_SEED").ok().and_then(|text| text.parse().ok());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = given.unwrap_or(now.as_secs() * 1000 + u64::from(now.subsec_millis()));
    println!("TW_SEED={seed}");
    seed
}

/// How many times longer a soak is than its least, by `TW_SOAK`.
pub(crate) fn soak() -> u32 {
    std::env::var("TW_SOAK").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// The addresses of the servers, also of those that are away.
pub(crate) type Doors = Arc<Mutex<Vec<String>>>;

/// Servers on one database, that die and come back.
pub(crate) struct Fleet<'a> {
    make: Box<dyn Fn() -> Command + 'a>,
    pub(crate) servers: Vec<Server>,
    pub(crate) doors: Doors,
    pub(crate) starts: Vec<Duration>,
}

impl<'a> Fleet<'a> {
    /// `make` is the command that starts a server.
    pub(crate) async fn start(count: usize, make: impl Fn() -> Command + 'a) -> Self {
        let mut fleet =
            Self { make: Box::new(make), servers: Vec::new(), doors: Doors::default(), starts: Vec::new() };
        for _ in 0..count {
            let server = fleet.one_more().await;
            fleet.doors.lock().unwrap().push(server.url.clone());
            fleet.servers.push(server);
        }
        fleet
    }

    pub(crate) async fn of(world: &'a World, count: usize) -> Self {
        Self::start(count, || serving(world.command())).await
    }

    async fn one_more(&mut self) -> Server {
        let command = (self.make)();
        let began = Instant::now();
        let server = tokio::task::spawn_blocking(move || Server::start(command)).await.unwrap();
        self.starts.push(began.elapsed());
        server
    }

    /// Ends a server without a word.
    pub(crate) fn kill(&mut self, index: usize) {
        self.servers[index].kill();
        self.look_at(index);
    }

    /// No server may have been in trouble of its own making.
    pub(crate) fn look_at(&self, index: usize) {
        let log = self.servers[index].log();
        assert!(!log.contains("panicked"), "{log}");
    }

    /// Starts a server in the place of one that has ended.
    pub(crate) async fn restart(&mut self, index: usize) {
        let server = self.one_more().await;
        self.doors.lock().unwrap()[index].clone_from(&server.url);
        self.servers[index] = server;
    }

    /// Starts one that does not live to see its first request.
    pub(crate) async fn stillborn(&mut self, life: Duration) {
        let null = std::process::Stdio::null;
        let mut child = (self.make)().stdin(null()).stdout(null()).stderr(null()).spawn().unwrap();
        tokio::time::sleep(life).await;
        let _ = child.kill();
        child.wait().unwrap();
    }

    pub(crate) fn starts_in_words(&self) -> String {
        let mut starts = self.starts.clone();
        starts.sort_unstable();
        let at = |percent: usize| starts[(starts.len() - 1) * percent / 100].as_millis();
        format!("{} starts, median {} ms, longest {} ms", starts.len(), at(50), at(100))
    }
}

/// The command as one that serves, on a port that the system chooses.
pub(crate) fn serving(mut command: Command) -> Command {
    command.args(["serve", "--listen", "127.0.0.1:0"]);
    command
}

/// The keys of those who call.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    pub(crate) admin: String,
    pub(crate) member: String,
    pub(crate) agent: String,
    pub(crate) approver: String,
}

impl Keys {
    pub(crate) async fn of(world: &World) -> Self {
        let tenant = "acme";
        Self {
            admin: world.key(tenant, Role::Admin, ActsAs::User).await,
            member: world.key(tenant, Role::Member, ActsAs::User).await,
            agent: world.key(tenant, Role::Agent, ActsAs::Agent).await,
            approver: world.key(tenant, Role::Approver, ActsAs::User).await,
        }
    }

    /// Keys of the tenant `demo`, made by the program itself.
    pub(crate) fn made_by(make: impl Fn() -> Command) -> Self {
        let key = |role: &str, more: &[&str]| {
            let output =
                make().args(["keys", "create", "--tenant", "demo", "--role", role]).args(more).output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        Self {
            admin: key("admin", &[]),
            member: key("member", &[]),
            agent: key("agent", &["--acts-as", "agent", "--agent", "bot"]),
            approver: key("approver", &[]),
        }
    }
}

/// Opens the session that part of the crowd shares.
pub(crate) async fn session_at(server: &Server, keys: &Keys) -> String {
    let member = Client::new(&server.url, Some(keys.member.clone()));
    member.post("/api/sessions", &json!({ "title": "shared" })).await.text_at("/id")
}

/// Waits until nothing runs or is about to. Returns how long that took.
pub(crate) async fn settled(server: &Server, keys: &Keys) -> Duration {
    let admin = Client::new(&server.url, Some(keys.admin.clone()));
    let began = Instant::now();
    loop {
        let mut open = Vec::new();
        for status in ["running", "pending"] {
            let answer = admin.get(&format!("/api/runs?status={status}&limit=3")).await;
            open.extend(
                answer.json()["items"].as_array().cloned().unwrap_or_else(|| panic!("{}", answer.text)),
            );
        }
        if open.is_empty() {
            return began.elapsed();
        }
        assert!(began.elapsed() < SETTLED_WITHIN, "still open after {SETTLED_WITHIN:?}: {open:#?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
