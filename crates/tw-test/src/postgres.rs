//! A PostgreSQL cluster of our own, in a folder of its own, on a port of its own.
//!
//! The whole test run shares one (`cargo xtask test` starts it and names it in `TW_TEST_PG`); a test
//! that wants to stop the database under load starts another. Clusters that were there before are
//! never looked at.
//!
//! No cluster outlives its owner: dropping one stops it and removes its folder, and when the owner
//! has no time for that (ctrl-c, a killed test), a watchdog process does it.
//!
//! `xtask` compiles this file too, so it leans on `anyhow`, `tempfile` and the standard library alone.
//! The calls block: an async test makes them before it starts its load, or on a blocking thread.

use std::{
    collections::hash_map::RandomState,
    env,
    fs::{self, File},
    hash::BuildHasher,
    net::TcpListener,
    os::unix::{fs::MetadataExt, process::CommandExt},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use tempfile::TempDir;

/// How long a start or a stop may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(30);
const POLL_EVERY: Duration = Duration::from_millis(20);

const SETTINGS: [&str; 4] =
    ["listen_addresses=127.0.0.1", "synchronous_commit=on", "shared_buffers=128MB", "max_connections=400"];

const SCRATCH: &str = "tmp";

/// Memory that is a file system. A test makes and drops a database of some hundred files, which costs a
/// quarter there of what it costs on a disk.
const MEMORY: &str = "/dev/shm";
/// How much of it has to be free before it is used; a test run needs about 1 GiB.
const MEMORY_KIB_MIN: u64 = 4 << 20;

/// The data of a cluster is thrown away, so nothing is forced to disk; `synchronous_commit` stays on
/// because it is part of what the tests are about.
const CARELESS: [&str; 3] = ["fsync=off", "full_page_writes=off", "max_wal_size=256MB"];
/// As a server is run whose data matters, for measuring what that costs.
const DURABLE: [&str; 3] = ["fsync=on", "full_page_writes=on", "max_wal_size=1GB"];

/// Waits until its standard input closes, which happens when the owner ends, however it ends. Then it
/// does what the owner's `drop` would have done.
const WATCHDOG: &str = r#"
read -r _
pid=$(head -n 1 "$1/data/postmaster.pid" 2>/dev/null) && kill -s QUIT "$pid" 2>/dev/null
turns=100
while [ -n "$pid" ] && [ "$turns" -gt 0 ] && kill -s 0 "$pid" 2>/dev/null; do
    turns=$((turns - 1))
    sleep 0.1
done
rm -rf "$1"
"#;

/// A running (or stopped) cluster. Any client on this machine may come in as `postgres`, without a
/// password.
#[derive(Debug)]
pub struct Cluster {
    folder: TempDir,
    bin: PathBuf,
    account: Option<Account>,
    port: u16,
    care: [&'static str; 3],
    server: Option<Child>,
    watchdog: Child,
}

/// How a cluster is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Clients are cut off and what was committed is written out: an orderly restart.
    Fast,
    /// The server drops everything and recovers from its log at the next start: a crash.
    Immediate,
}

/// The account that the server runs as. PostgreSQL refuses to be root, so root lends it another.
#[derive(Clone, Copy, Debug)]
struct Account {
    uid: u32,
    gid: u32,
}

impl Cluster {
    /// Makes a new, empty cluster and waits until it answers.
    pub fn start() -> Result<Self> {
        Self::start_with(CARELESS)
    }

    /// As [`Cluster::start`], with every commit forced to disk.
    pub fn start_durable() -> Result<Self> {
        Self::start_with(DURABLE)
    }

    fn start_with(care: [&'static str; 3]) -> Result<Self> {
        let bin = bin_folder().context(
            "no PostgreSQL server on this machine: `cargo xtask test` installs one on Debian, elsewhere \
             install the server package and see that `postgres` or `pg_config` is in PATH",
        )?;
        let place = if care == CARELESS { folder_in_memory() } else { None };
        let place = place.unwrap_or_else(env::temp_dir);
        let folder = tempfile::Builder::new().prefix("tw-pg-").tempdir_in(place).context("make a folder")?;
        let account = Account::for_server(folder.path())?;
        if let Some(Account { uid, gid }) = account {
            std::os::unix::fs::chown(folder.path(), Some(uid), Some(gid)).context("hand over the folder")?;
        }
        fs::create_dir(folder.path().join(SCRATCH)).context("make a folder for temporary files")?;
        let watchdog = watch(folder.path())?;
        let mut cluster = Self { folder, bin, account, port: 0, care, server: None, watchdog };
        cluster.init()?;
        // Between our look at a port and the server's start, someone else may take it.
        for _ in 0..3 {
            cluster.port = free_port()?;
            if cluster.launch()? == Launch::Ready {
                return Ok(cluster);
            }
        }
        bail!("PostgreSQL did not start\n{}", cluster.log())
    }

    /// The address of one database. The database `postgres` is always there.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// A folder for the temporary files of whoever uses the cluster. It goes when the cluster goes.
    #[must_use]
    pub fn scratch(&self) -> PathBuf {
        self.folder.path().join(SCRATCH)
    }

    /// The server's first process, the parent of all others; `None` while it is stopped.
    #[must_use]
    pub fn pid(&self) -> Option<u32> {
        self.server.as_ref().map(Child::id)
    }

    /// Stops the server and keeps its data. Does nothing when it is stopped already.
    pub fn stop(&mut self, how: StopMode) -> Result<()> {
        let Some(mut server) = self.server.take() else { return Ok(()) };
        let signal = match how {
            StopMode::Fast => "INT",
            StopMode::Immediate => "QUIT",
        };
        let pid = server.id().to_string();
        // The shell's own `kill`: not every machine has the program.
        let sent = Command::new("sh").args(["-c", r#"kill -s "$1" "$2""#, "sh", signal, &pid]).status();
        let ended = matches!(sent, Ok(status) if status.success()) && ends_in_time(&mut server)?;
        if !ended {
            server.kill().context("kill the server")?;
            server.wait().context("wait for the killed server")?;
            bail!("PostgreSQL did not stop by itself and was killed\n{}", self.log());
        }
        Ok(())
    }

    /// Starts the server again, on the same port and data; stops it first (fast) when it still runs.
    pub fn restart(&mut self) -> Result<()> {
        self.stop(StopMode::Fast)?;
        let launch = self.launch()?;
        ensure!(launch == Launch::Ready, "PostgreSQL did not start again\n{}", self.log());
        Ok(())
    }

    fn init(&self) -> Result<()> {
        let output = self
            .command("initdb")
            .arg("-D")
            .arg(self.data())
            .args(["-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8"])
            .output()
            .with_context(|| format!("run initdb in {}", self.folder.path().display()))?;
        ensure!(
            output.status.success(),
            "initdb failed\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        Ok(())
    }

    fn launch(&mut self) -> Result<Launch> {
        let log = File::options().create(true).append(true).open(self.log_file()).context("open the log")?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-p").arg(self.port.to_string());
        command.arg("-c").arg(format!("unix_socket_directories={}", self.folder.path().display()));
        for setting in SETTINGS.into_iter().chain(self.care) {
            command.args(["-c", setting]);
        }
        let server = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(log.try_clone().context("share the log")?)
            .stderr(log)
            .spawn()
            .context("start postgres")?;
        let pid = server.id();
        self.server = Some(server);
        self.wait_until_ready(pid)
    }

    fn wait_until_ready(&mut self, pid: u32) -> Result<Launch> {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let server = self.server.as_mut().context("the server was just started")?;
            if server.try_wait().context("look after the server")?.is_some() {
                self.server = None;
                return Ok(Launch::Ended);
            }
            if self.is_ready(pid) {
                return Ok(Launch::Ready);
            }
            thread::sleep(POLL_EVERY);
        }
        bail!("PostgreSQL was not ready after {} s\n{}", PATIENCE.as_secs(), self.log())
    }

    /// Whether *our* server takes connections. A stranger on the same port would answer too, so the
    /// lock file of our data folder has to name our process first.
    fn is_ready(&self, pid: u32) -> bool {
        let lock = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
        if lock.lines().next() != Some(pid.to_string().as_str()) {
            return false;
        }
        let asked = self
            .command("pg_isready")
            .args(["-q", "-h", "127.0.0.1", "-p", &self.port.to_string()])
            .stdin(Stdio::null())
            .status();
        matches!(asked, Ok(status) if status.success())
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.bin.join(program));
        command.current_dir(self.folder.path());
        if let Some(Account { uid, gid }) = self.account {
            command.uid(uid).gid(gid);
        }
        command
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn log_file(&self) -> PathBuf {
        self.folder.path().join("server.log")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_else(|error| format!("(its log: {error})"))
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Nothing can be done about a failure here: `stop` has killed what would not stop, and the
        // folder goes next, with its own field.
        let _ = self.stop(StopMode::Immediate);
        let _ = self.watchdog.kill();
        let _ = self.watchdog.wait();
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Launch {
    Ready,
    /// The server ended by itself before it was ready; most likely its port was taken.
    Ended,
}

impl Account {
    /// `None` when we are an ordinary user, who can run the server as it is. The new folder belongs to
    /// whoever we are, so its owner tells.
    fn for_server(folder: &Path) -> Result<Option<Self>> {
        if fs::metadata(folder).context("look at the folder")?.uid() != 0 {
            return Ok(None);
        }
        let found = ["postgres", "nobody"].into_iter().find_map(Self::named);
        found
            .map(Some)
            .context("PostgreSQL refuses to run as root, and there is no user `postgres` or `nobody`")
    }

    fn named(name: &str) -> Option<Self> {
        let id = |flag| {
            let output = Command::new("id").args([flag, name]).output().ok()?;
            String::from_utf8(output.stdout).ok()?.trim().parse().ok()
        };
        Some(Self { uid: id("-u")?, gid: id("-g")? })
    }
}

/// Where the server's programs are: Debian's folder with the newest version, else what `pg_config`
/// says, else where `postgres` in `PATH` leads to.
#[must_use]
pub fn bin_folder() -> Option<PathBuf> {
    let complete = |folder: &PathBuf| {
        ["postgres", "initdb", "pg_isready"].iter().all(|program| folder.join(program).is_file())
    };
    debian_folders().into_iter().chain(configured_folder()).chain(path_folders()).find(complete)
}

fn debian_folders() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/usr/lib/postgresql") else { return Vec::new() };
    let version = |folder: &PathBuf| folder.file_name()?.to_str()?.parse::<u32>().ok();
    let mut folders: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    folders.sort_by_key(|folder| std::cmp::Reverse(version(folder)));
    folders.into_iter().map(|folder| folder.join("bin")).collect()
}

fn configured_folder() -> Option<PathBuf> {
    let output = Command::new("pg_config").arg("--bindir").output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// Links are followed, because a link to `postgres` alone says where its companions are.
fn path_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .filter_map(|folder| fs::canonicalize(folder.join("postgres")).ok())
        .filter_map(|program| program.parent().map(Path::to_owned))
        .collect()
}

/// Starts the watchdog, in a process group of its own so that it survives ctrl-c and a runner that
/// kills a test with all its children.
fn watch(folder: &Path) -> Result<Child> {
    Command::new("sh")
        .args(["-c", WATCHDOG, "sh"])
        .arg(folder)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("start the watchdog")
}

/// [`MEMORY`], when there is one with enough room in it and enough memory behind it.
fn folder_in_memory() -> Option<PathBuf> {
    let room = Command::new("df").args(["-Pk", MEMORY]).stderr(Stdio::null()).output().ok()?;
    let room: u64 =
        String::from_utf8_lossy(&room.stdout).lines().nth(1)?.split_whitespace().nth(3)?.parse().ok()?;
    let memory = fs::read_to_string("/proc/meminfo").ok()?;
    let memory = memory.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let memory: u64 = memory.split_whitespace().next()?.parse().ok()?;
    (room.min(memory) >= MEMORY_KIB_MIN).then(|| PathBuf::from(MEMORY))
}

/// A port that nobody listens on, below the range that the system deals out by itself: while the
/// server is stopped, no outgoing connection may end up on its port.
fn free_port() -> Result<u16> {
    let seed = RandomState::new();
    let candidates =
        (0..200_u32).map(|turn| 15_000 + u16::try_from(seed.hash_one(turn) % 15_000).unwrap_or(0));
    let mut free = candidates.filter(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok());
    free.next().context("no free port between 15000 and 29999")
}

fn ends_in_time(server: &mut Child) -> Result<bool> {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        if server.try_wait().context("look after the server")?.is_some() {
            return Ok(true);
        }
        thread::sleep(POLL_EVERY);
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead, BufReader, Read},
        net::TcpStream,
    };

    use super::*;

    #[test]
    fn cluster_keeps_port_and_data_over_a_stop_of_either_kind() {
        let mut cluster = Cluster::start().unwrap();
        let port = cluster.port;
        sql(&cluster, "create table kept (n int); insert into kept values (7)");

        for how in [StopMode::Fast, StopMode::Immediate] {
            cluster.stop(how).unwrap();
            assert!(!answers(port), "{how:?}");
            cluster.stop(how).unwrap();
            cluster.restart().unwrap();
            assert_eq!(sql(&cluster, "select n from kept"), "7", "{how:?}");
        }

        cluster.restart().unwrap();
        assert_eq!(cluster.port, port);
        assert_eq!(sql(&cluster, "select n from kept"), "7");
    }

    #[test]
    fn restart_on_a_port_that_was_taken_fails_and_shows_the_log() {
        let mut cluster = Cluster::start().unwrap();
        cluster.stop(StopMode::Fast).unwrap();
        let taken = TcpListener::bind(("127.0.0.1", cluster.port)).unwrap();

        let refused = cluster.restart().unwrap_err().to_string();

        assert!(refused.starts_with("PostgreSQL did not start again\n"), "{refused}");
        assert!(refused.contains("Address already in use"), "{refused}");
        drop(taken);
        cluster.restart().unwrap();
    }

    #[test]
    fn only_a_durable_cluster_forces_commits_to_disk() {
        let shown = |cluster: &Cluster| sql(cluster, "show fsync");
        assert_eq!(shown(&Cluster::start().unwrap()), "off");
        let durable = Cluster::start_durable().unwrap();
        assert_eq!(shown(&durable), "on");
        assert_eq!(durable.pid(), durable.server.as_ref().map(Child::id));
    }

    #[test]
    fn dropped_cluster_leaves_neither_server_nor_folder() {
        let cluster = Cluster::start().unwrap();
        let (port, folder) = (cluster.port, cluster.folder.path().to_owned());
        assert!(answers(port) && folder.exists());

        drop(cluster);

        assert!(!answers(port) && !folder.exists());
    }

    /// Runs this very test a second time, as the owner that is killed.
    #[test]
    fn cluster_of_a_killed_owner_goes_with_it() {
        const OWNER: &str = "TW_TEST_CLUSTER_OWNER";
        if env::var_os(OWNER).is_some() {
            let cluster = Cluster::start().unwrap();
            println!("\nowns {} {}", cluster.port, cluster.folder.path().display());
            std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
            return;
        }
        let name = thread::current().name().unwrap().to_owned();
        let mut owner = Command::new(env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(OWNER, "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(owner.stdout.take().unwrap()).lines().map(Result::unwrap);
        let owns = said.find(|line| line.starts_with("owns ")).unwrap();
        let [_, port, folder] = owns.split(' ').collect::<Vec<_>>()[..] else { panic!("{owns}") };
        let (port, folder) = (port.parse().unwrap(), PathBuf::from(folder));
        assert!(answers(port) && folder.exists());

        owner.kill().unwrap();
        owner.wait().unwrap();

        let deadline = Instant::now() + PATIENCE;
        while (answers(port) || folder.exists()) && Instant::now() < deadline {
            thread::sleep(POLL_EVERY);
        }
        assert!(!answers(port) && !folder.exists());
    }

    fn answers(port: u16) -> bool {
        TcpStream::connect(("127.0.0.1", port)).is_ok()
    }

    #[track_caller]
    fn sql(cluster: &Cluster, text: &str) -> String {
        let output = cluster
            .command("psql")
            .args(["-qAtX", "-c", text])
            .arg(cluster.url("postgres"))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }
}
