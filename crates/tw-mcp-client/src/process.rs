//! A server that the operator's configuration starts as a process: messages are lines on its pipes.
//!
//! It is started when it is asked for the first time and again when it is asked after it has ended, each time after a
//! longer rest. Nothing of this program's environment reaches it.

use std::{
    collections::HashMap,
    fmt,
    path::PathBuf,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{Mutex as Turn, mpsc},
    time::Instant,
};
use toolwright_sdk::{Redactor, Secret};
use zeroize::Zeroizing;

/// How long one message may be.
const LINE_MAX: usize = 10 << 20;
/// How much it may say between two answers that is none.
const UNASKED_MAX: usize = 32 << 20;
/// Messages that wait to be read by whoever asked.
const WAITING_MAX: usize = 64;
const STDERR_LINE_MAX: usize = 2_000;
/// How long it is left alone after it has ended for the first time in a row, and at the most.
const REST: Duration = Duration::from_millis(200);
const REST_MAX: Duration = Duration::from_secs(60);

/// What starts a server. Printed, it shows neither arguments nor environment.
#[derive(Clone)]
pub struct McpCommand {
    /// As the operator calls the server.
    pub name: String,
    /// An absolute path; no shell is asked.
    pub program: PathBuf,
    pub args: Vec<String>,
    /// All that the process has.
    pub env: Vec<(String, Zeroizing<String>)>,
    /// What of it is taken out of whatever the process says.
    pub secrets: Vec<Zeroizing<String>>,
}

impl fmt::Debug for McpCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpCommand").field("name", &self.name).finish_non_exhaustive()
    }
}

impl McpCommand {
    /// Names everything that decides what is started.
    #[must_use]
    pub fn digest(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut add = |part: &[u8]| {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        };
        add(self.program.as_os_str().as_encoded_bytes());
        self.args.iter().for_each(|arg| add(arg.as_bytes()));
        add(b"env");
        for (name, value) in &self.env {
            add(name.as_bytes());
            add(value.as_bytes());
        }
        hasher.finalize()
    }

    pub(crate) fn as_secrets(&self) -> Vec<Secret> {
        self.secrets.iter().map(|value| Secret::anywhere(value.as_str())).collect()
    }
}

/// A server of one tenant, whether its process runs or not.
#[derive(Debug)]
pub struct McpProcess {
    command: McpCommand,
    state: Turn<ProcessState>,
}

#[derive(Debug, Default)]
struct ProcessState {
    running: Option<Arc<RunningProcess>>,
    starts: u64,
    /// How often it has ended without an answer in between.
    ends: Arc<Mutex<u32>>,
    rests_until: Option<Instant>,
}

#[derive(Debug)]
struct RunningProcess {
    /// Tells this process from those before; it is the session.
    serial: String,
    /// Lines for its input. Written by a task of their own: whoever gives up in the middle of one would break the next.
    lines: mpsc::Sender<String>,
    pipes: Arc<ProcessPipes>,
}

/// Who waits for which answer; `None` once the process has ended.
#[derive(Debug)]
struct ProcessPipes {
    asked: Mutex<Option<HashMap<u64, mpsc::Sender<Vec<u8>>>>>,
    ends: Arc<Mutex<u32>>,
}

/// What is looked at to hand a message on.
#[derive(Deserialize)]
struct Envelope {
    id: Option<Value>,
    method: Option<String>,
    result: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

impl McpProcess {
    #[must_use]
    pub fn new(command: McpCommand) -> Self {
        Self { command, state: Turn::default() }
    }

    #[must_use]
    pub fn command(&self) -> &McpCommand {
        &self.command
    }

    /// Sends a request, and hears what comes for it. Of a process that was started after the session it stands for, `None`.
    pub(crate) async fn ask(
        &self,
        id: u64,
        body: &str,
        session: Option<&str>,
    ) -> Result<Option<Heard>, ProcessGone> {
        loop {
            let process = self.running().await?;
            if session.is_some_and(|session| session != process.serial) {
                return Ok(None);
            }
            if let Some(messages) = process.pipes.listen(id) {
                let heard = Heard { process, id, messages };
                heard.write(body).await?;
                return Ok(Some(heard));
            }
        }
    }

    /// Sends what has no answer, to the process as it runs.
    pub(crate) async fn tell(&self, body: &str) -> Result<(), ProcessGone> {
        let running = self.state.lock().await.running.clone();
        match running {
            Some(process) => process.write(body).await.ok_or_else(ProcessGone::ended),
            None => Ok(()),
        }
    }

    /// The process, started where it does not run.
    async fn running(&self) -> Result<Arc<RunningProcess>, ProcessGone> {
        let mut state = self.state.lock().await;
        if let Some(running) = state.running.as_ref().filter(|running| running.pipes.is_open()) {
            return Ok(Arc::clone(running));
        }
        let refused = |why: String| ProcessGone { why, effect_possible: false };
        let now = Instant::now();
        if let Some(until) = state.rests_until.filter(|until| now < *until) {
            let wait = until - now;
            return Err(refused(format!("it keeps ending, and is started again in {wait:.1?}")));
        }
        let ends = *state.ends.lock().unwrap_or_else(PoisonError::into_inner);
        // Counted before it is known to end: one that answers takes the count back.
        let rest = REST.saturating_mul(2_u32.saturating_pow(ends)).min(REST_MAX);
        state.rests_until = (0 < ends).then(|| now + rest);
        state.starts += 1;
        let started = self.start(state.starts, Arc::clone(&state.ends));
        let running = started.map_err(|error| {
            tracing::warn!(server = %self.command.name, %error, "an MCP server could not be started");
            refused(format!("it could not be started: {}", error.kind()))
        })?;
        state.running = Some(Arc::clone(&running));
        Ok(running)
    }

    fn start(&self, serial: u64, ends: Arc<Mutex<u32>>) -> std::io::Result<Arc<RunningProcess>> {
        let McpCommand { name, program, args, env, secrets } = &self.command;
        let mut command = Command::new(program);
        command.args(args).env_clear().kill_on_drop(true).current_dir("/");
        command.envs(env.iter().map(|(name, value)| (name, value.as_str())));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let spawned = command.spawn();
        *ends.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        let mut child = spawned?;
        let gone = || std::io::Error::other("it has no pipes");
        let stdin = child.stdin.take().ok_or_else(gone)?;
        let stdout = child.stdout.take().ok_or_else(gone)?;
        let stderr = child.stderr.take().ok_or_else(gone)?;
        let redactor = Redactor::new(secrets.iter().map(|value| value.as_str()));
        tokio::spawn(write_down(name.clone(), BufReader::new(stderr), redactor));
        let (lines, written) = mpsc::channel(WAITING_MAX);
        tokio::spawn(write_lines(stdin, written));
        let pipes = Arc::new(ProcessPipes { asked: Mutex::new(Some(HashMap::new())), ends });
        tokio::spawn(hand_on(name.clone(), child, stdout, Arc::clone(&pipes)));
        Ok(Arc::new(RunningProcess { serial: format!("process-{serial}"), lines, pipes }))
    }
}

impl RunningProcess {
    /// Sends a message; `None` to a process that reads no more.
    async fn write(&self, message: &str) -> Option<()> {
        self.lines.send(format!("{message}\n")).await.ok()
    }
}

impl ProcessPipes {
    fn is_open(&self) -> bool {
        self.locked(|asked| asked.is_some())
    }

    fn locked<T>(&self, with: impl FnOnce(&mut Option<HashMap<u64, mpsc::Sender<Vec<u8>>>>) -> T) -> T {
        with(&mut self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What comes for a request from now on; `None` of a process that has ended.
    fn listen(&self, id: u64) -> Option<mpsc::Receiver<Vec<u8>>> {
        let (sender, heard) = mpsc::channel(WAITING_MAX);
        self.locked(|asked| asked.as_mut().map(|asked| asked.insert(id, sender)))?;
        Some(heard)
    }

    /// Hands a message to whoever it is for: an answer and a report to whoever asked, the rest to anybody who waits.
    /// Whether it was an answer that somebody waited for.
    fn hand(&self, message: Vec<u8>) -> bool {
        let Ok(envelope) = serde_json::from_slice::<Envelope>(&message) else { return false };
        let is_answer = envelope.method.is_none() && (envelope.result.is_some() || envelope.error.is_some());
        let id = match envelope.method.as_deref() {
            None => envelope.id.as_ref().and_then(Value::as_u64),
            Some("notifications/progress") => serde_json::from_slice::<Value>(&message)
                .ok()
                .and_then(|message| message["params"]["progressToken"].as_u64()),
            Some(_) => None,
        };
        self.locked(|asked| {
            let Some(asked) = asked else { return false };
            let listener = match id {
                Some(id) => asked.get(&id),
                None if is_answer => None,
                None => asked.values().next(),
            };
            // The last place is for the answer.
            let has_room = |listener: &&mpsc::Sender<Vec<u8>>| is_answer || 1 < listener.capacity();
            let is_handed =
                listener.filter(has_room).is_some_and(|listener| listener.try_send(message).is_ok());
            is_answer && is_handed
        })
    }
}

/// Why a process does not answer.
#[derive(Debug)]
pub(crate) struct ProcessGone {
    pub(crate) why: String,
    /// Whether it may have acted on the request before.
    pub(crate) effect_possible: bool,
}

impl ProcessGone {
    fn ended() -> Self {
        Self { why: "it ended before its answer".to_owned(), effect_possible: true }
    }
}

/// A request under way, and what comes for it. Dropped, nobody listens any more.
pub(crate) struct Heard {
    process: Arc<RunningProcess>,
    id: u64,
    messages: mpsc::Receiver<Vec<u8>>,
}

impl Heard {
    /// The next message that is for this request, or for nobody.
    pub(crate) async fn next(&mut self) -> Result<Vec<u8>, ProcessGone> {
        self.messages.recv().await.ok_or_else(ProcessGone::ended)
    }

    pub(crate) async fn write(&self, message: &str) -> Result<(), ProcessGone> {
        self.process.write(message).await.ok_or_else(ProcessGone::ended)
    }

    /// Says that the answer is there: a server that answers is well. Returns its session.
    pub(crate) fn answered(&self) -> String {
        *self.process.pipes.ends.lock().unwrap_or_else(PoisonError::into_inner) = 0;
        self.process.serial.clone()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.process.pipes.locked(|asked| asked.as_mut().map(|asked| asked.remove(&self.id)));
    }
}

async fn write_lines(mut stdin: ChildStdin, mut lines: mpsc::Receiver<String>) {
    while let Some(line) = lines.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            break;
        }
    }
}

/// Hands on what a process says, until it ends or says too much.
async fn hand_on(name: String, mut child: Child, stdout: ChildStdout, pipes: Arc<ProcessPipes>) {
    let mut reader = BufReader::new(stdout);
    let mut unasked = 0;
    let why = loop {
        match line_of(&mut reader, LINE_MAX).await {
            Ok(Some(message)) if message.trim_ascii().is_empty() => {}
            Ok(Some(message)) => {
                let length = message.len();
                unasked = if pipes.hand(message) { 0 } else { unasked + length };
                if UNASKED_MAX < unasked {
                    break "it says too much that nobody asked for";
                }
            }
            Ok(None) => break "it has ended",
            Err(_) => break "one of its messages is too long",
        }
    };
    pipes.locked(Option::take);
    tracing::warn!(server = %name, "the process of an MCP server is over: {why}");
    let _ = child.kill().await;
}

/// The next line; an error where it is longer than it may be.
async fn line_of(reader: &mut (impl AsyncBufRead + Unpin), max: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX).saturating_add(1);
    let read = (&mut *reader).take(limit).read_until(b'\n', &mut line).await?;
    match read {
        0 => Ok(None),
        _ if line.last() != Some(&b'\n') && max < line.len() => Err(std::io::Error::other("too long")),
        _ => Ok(Some(line)),
    }
}

/// Writes what a process says aside into the log, without secrets.
async fn write_down(name: String, mut reader: impl AsyncBufRead + Unpin, redactor: Redactor) {
    while let Ok(Some(line)) = line_of(&mut reader, LINE_MAX).await {
        let text = redactor.text(String::from_utf8_lossy(&line).into_owned());
        let text: String = text.chars().filter(|c| !c.is_control()).take(STDERR_LINE_MAX).collect();
        tracing::info!(server = %name, "an MCP server says: {text}");
    }
}
