//! One worker, seen from the process that serves.

use std::{ffi::OsString, io, path::PathBuf, process::Stdio, time::Duration};

use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::{error::NoWorker, wire};

/// How long a worker may take to be ready, on however busy a machine.
const START_MAX: Duration = Duration::from_secs(10);
/// How long one that has hung up may take to be gone.
const GONE_MAX: Duration = Duration::from_secs(1);
/// How far a worker yields that may: as far as `nice` goes without a number.
const NICENESS: i32 = 10;
/// How much of its last words is heard.
const LAST_WORDS_MAX: u64 = 4 << 10;

/// How a worker is started.
#[derive(Clone, Debug)]
pub struct Worker {
    pub program: PathBuf,
    pub args: Vec<OsString>,
}

impl Worker {
    /// This program, with the hidden command `sandbox-worker`.
    #[must_use]
    pub fn this_program() -> Self {
        // Not by its name: behind that, an upgrade may have put a program that speaks otherwise.
        let program = if cfg!(target_os = "linux") {
            PathBuf::from("/proc/self/exe")
        } else {
            std::env::current_exe().unwrap_or_else(|_| PathBuf::from("toolwright"))
        };
        Self { program, args: vec![OsString::from("sandbox-worker")] }
    }
}

/// Of what a worker died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Death {
    Memory,
    Stack,
    Unknown,
}

/// A worker that runs. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    served: usize,
    /// An empty directory for it to stand in, gone with it.
    _home: TempDir,
}

impl Process {
    pub(crate) async fn start(worker: &Worker) -> Result<Self, NoWorker> {
        let cannot = |source| NoWorker { why: "a worker cannot be started", source: Some(source) };
        let mut process = Self::spawn(worker).map_err(cannot)?;
        let greeting = timeout(START_MAX, process.answers.read_u8()).await;
        match greeting.map_err(io::Error::from).flatten().map_err(cannot)? {
            wire::READY => {}
            wire::READY_UNFILTERED => tracing::warn!("a sandbox worker has no filter on its system calls"),
            _ => return Err(cannot(io::ErrorKind::InvalidData.into())),
        }
        Ok(process)
    }

    fn spawn(worker: &Worker) -> io::Result<Self> {
        let home = tempfile::Builder::new().prefix("toolwright-sandbox-").tempdir()?;
        let mut child = Command::new(&worker.program)
            .args(&worker.args)
            .env_clear()
            .env("TZ", "UTC")
            // What mimalloc reserves must not count as memory in use, or the limit of a request is above all of it.
            .env("MIMALLOC_ARENA_EAGER_COMMIT", "0")
            .current_dir(home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // Ctrl-C in a terminal is for the gateway, which ends its workers when it needs them no more.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (requests, answers) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, requests, answers: BufReader::new(answers), served: 0, _home: home })
    }

    /// Lets the threads of a worker that is ready yield to those that serve everybody. It has a process group of its own.
    pub(crate) fn yield_to_others(&self) {
        let id = self.child.id().and_then(|id| i32::try_from(id).ok());
        let Some(group) = id.and_then(rustix::process::Pid::from_raw) else { return };
        if let Err(error) = rustix::process::setpriority_pgrp(Some(group), NICENESS) {
            tracing::debug!(%error, "a sandbox worker has the priority of all others");
        }
    }

    /// How many messages it has sent.
    pub(crate) fn served(&self) -> usize {
        self.served
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// One request, which is a whole frame, and its answer.
    pub(crate) async fn ask(&mut self, request: &[u8], answer_max: usize) -> io::Result<Vec<u8>> {
        self.send(request).await?;
        self.receive(answer_max).await
    }

    /// Begins a request, or answers what the worker has asked. After an error here or in [`Self::receive`], or when
    /// the future was dropped before its end, nobody knows what comes out of the pipe next: the worker is of no more
    /// use.
    pub(crate) async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.requests.write_all(frame).await
    }

    pub(crate) async fn receive(&mut self, length_max: usize) -> io::Result<Vec<u8>> {
        let length = self.answers.read_u32().await? as usize;
        if length_max < length {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let mut message = vec![0; length];
        self.answers.read_exact(&mut message).await?;
        self.served += 1;
        Ok(message)
    }

    /// Why a worker that broke off in the middle of a request did so.
    pub(crate) async fn autopsy(&mut self) -> Death {
        let _ = timeout(GONE_MAX, self.child.wait()).await;
        let mut words = Vec::new();
        if let Some(stderr) = self.child.stderr.take() {
            let _ = timeout(GONE_MAX, stderr.take(LAST_WORDS_MAX).read_to_end(&mut words)).await;
        }
        let words = String::from_utf8_lossy(&words);
        // Both are what the standard library of the worker says before it aborts.
        if words.contains("memory allocation of") {
            return Death::Memory;
        }
        if words.contains("has overflowed its stack") {
            return Death::Stack;
        }
        tracing::warn!(words = &*words, "a sandbox worker broke off");
        Death::Unknown
    }

    /// Kills it and waits until it is gone.
    pub(crate) async fn end(mut self) {
        if let Err(error) = self.child.kill().await {
            tracing::warn!(error = &error as &dyn std::error::Error, "a sandbox worker cannot be ended");
        }
    }
}
