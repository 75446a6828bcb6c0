//! What is said over the pipes: frames of four bytes of length (big endian) and that much JSON.
//!
//! A worker says one byte when it is ready ([`READY`] or [`READY_UNFILTERED`]). Then each request is
//! followed by its answer. While a script runs, the worker says [`ScriptMessage`]s, of which the last one ends the run;
//! after [`ScriptMessage::Calls`] it waits for a list with what each of them gave.

use std::{
    borrow::Cow,
    io::{self, Read, Write},
};

use serde::{Deserialize, Serialize};

use crate::{
    language::ScriptLanguage,
    limits::{JqLimits, ScriptLimits},
};

pub(crate) const READY: u8 = b'F';
/// Ready, with no filter on system calls.
pub(crate) const READY_UNFILTERED: u8 = b'U';
/// What an answer has beside its results, or instead of them.
pub(crate) const ANSWER_BESIDE_MAX: usize = 64 << 10;

/// `I` is the input: a value where it is sent, and its text where it is read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkerRequest<'a, I> {
    Jq {
        #[serde(borrow)]
        filter: Cow<'a, str>,
        input: I,
        limits: JqLimits,
    },
    Script {
        language: ScriptLanguage,
        #[serde(borrow)]
        source: Cow<'a, str>,
        input: I,
        now_ms: u64,
        seed: [u32; 4],
        limits: ScriptLimits,
    },
    /// Answered by the faults of the source.
    CheckScript {
        language: ScriptLanguage,
        #[serde(borrow)]
        source: Cow<'a, str>,
        limits: ScriptLimits,
    },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkerResponse {
    /// The worker writes this one by hand, see `outputs.rs`.
    Outputs(Vec<serde_json::Value>),
    Failure(WorkerFailure),
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum WorkerFailure {
    Filter { message: String },
    Failed { message: String },
    Memory,
    Outputs,
    OutputBytes,
}

/// `J` is JSON that a script made: its text on both sides.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScriptMessage<J> {
    Log(String),
    Calls(J),
    Done(J),
    Failed(ScriptFailure),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ScriptFailure {
    Exception { message: String, line: Option<u32>, code: Option<String> },
    Memory,
    Output { why: String },
}

/// A whole frame, to be sent in one go.
pub(crate) fn frame(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; size_of::<u32>()];
    serde_json::to_writer(&mut frame, message)?;
    let length = length(frame.len() - size_of::<u32>())?;
    frame[..size_of::<u32>()].copy_from_slice(&length);
    Ok(frame)
}

/// The next message, or `None` when the other side has hung up.
pub(crate) fn read(from: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; size_of::<u32>()];
    match from.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    let mut message = vec![0; u32::from_be_bytes(length) as usize];
    from.read_exact(&mut message)?;
    Ok(Some(message))
}

pub(crate) fn write(to: &mut impl Write, message: &[u8]) -> io::Result<()> {
    to.write_all(&length(message.len())?)?;
    to.write_all(message)?;
    to.flush()
}

fn length(bytes: usize) -> io::Result<[u8; size_of::<u32>()]> {
    u32::try_from(bytes).map(u32::to_be_bytes).map_err(|_| io::ErrorKind::FileTooLarge.into())
}
