//! Servers as processes of their own, and what the system says about them.

use std::{
    ffi::OsStr,
    fs,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use anyhow::{Context, Result, ensure};
use tw_bench::subject::Ready;

/// Ticks of the clock that the system counts processor time in; the same on every Linux.
const TICKS_PER_SECOND: f64 = 100.0;

/// A server that was started here, ended when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    pub(crate) key: Option<String>,
}

impl Server {
    /// Starts one of the programs beside this one and waits until it is ready.
    pub(crate) fn start<S: AsRef<OsStr>>(program: &str, args: &[S]) -> Result<Self> {
        let file = std::env::current_exe()?.with_file_name(program);
        ensure!(
            file.exists(),
            "there is no {}: build it with `cargo build --profile fast -p tw-bench --bins`",
            file.display()
        );
        let mut child = Command::new(file)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("start {program}"))?;
        let mut line = String::new();
        let output = child.stdout.take().context("its output")?;
        BufReader::new(output).read_line(&mut line).context("read what it says")?;
        let ready: Ready =
            serde_json::from_str(&line).with_context(|| format!("{program} did not start: {line}"))?;
        Ok(Self { child, port: ready.port, key: ready.key })
    }

    pub(crate) fn key(&self) -> Result<&str> {
        self.key.as_deref().context("the database was not empty")
    }

    /// Processor time so far, user and system, in seconds.
    pub(crate) fn cpu(&self) -> Result<f64> {
        cpu(self.child.id())
    }

    /// The same with that of the processes that it has started, also of those that have ended.
    pub(crate) fn cpu_of_tree(&self) -> Result<f64> {
        let own = Stat::of(self.child.id())?;
        let ended = own.ended / TICKS_PER_SECOND;
        Ok(own.ticks / TICKS_PER_SECOND + ended + cpu_of_children(self.child.id())?)
    }

    /// Memory that is in use now, in KiB.
    pub(crate) fn memory(&self) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
        Ok(line.trim().trim_end_matches(" kB").parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The end of its input is the sign to stop in order.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// Processor time of a process, in seconds.
pub(crate) fn cpu(pid: u32) -> Result<f64> {
    Ok(Stat::of(pid)?.ticks / TICKS_PER_SECOND)
}

/// Processor time of the processes that a process has started and that still run, in seconds.
pub(crate) fn cpu_of_children(parent: u32) -> Result<f64> {
    let mut ticks = 0.0;
    for entry in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // A process may end while we look.
        if let Ok(stat) = Stat::of(pid)
            && stat.parent == parent
        {
            ticks += stat.ticks;
        }
    }
    Ok(ticks / TICKS_PER_SECOND)
}

/// What the system says about a process.
struct Stat {
    parent: u32,
    /// In user and in system mode.
    ticks: f64,
    /// The same of children that have ended.
    ended: f64,
}

impl Stat {
    fn of(pid: u32) -> Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        // The name in brackets may hold anything, so the fields are counted from the last bracket.
        let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |index: usize| fields.get(index).copied().context("a field of /proc/PID/stat");
        let ticks = |index: usize| anyhow::Ok(field(index)?.parse::<f64>()?);
        Ok(Self {
            parent: field(1)?.parse()?,
            ticks: ticks(11)? + ticks(12)?,
            ended: ticks(13)? + ticks(14)?,
        })
    }
}
