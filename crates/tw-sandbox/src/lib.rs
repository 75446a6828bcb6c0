//! Where code that tenants write runs.
//!
//! A jq filter or a script can loop for ever, ask for all the memory there is and recurse until the stack ends, and
//! the engine that runs it counts little of this. So it runs in a process of its own, the same
//! program started as a worker, which is killed when its time is over and dies alone of anything else.
//! Nothing of a tenant is evaluated in the process that serves; [`check_jq`] reads a filter there and
//! runs nothing. A script is not even read there.
//!
//! A worker is born with an empty environment (but for `TZ=UTC`), an empty directory to stand in and
//! three pipes. Before it reads a byte of a tenant it takes from itself the right to open and to write
//! files, to start processes and to dump core, and on Linux every system call that computing does not
//! need, so that there is no file, no socket and no signal for others even for code that broke out of
//! the engine. Each request then has its own limits of memory and of time. Where there is no seccomp
//! (another system, or a kernel without it) that last wall is missing, and a warning says so. The time
//! zone of a filter is UTC.
//!
//! A worker serves one request at a time, one tenant after the other, and keeps nothing of them but
//! compiled filters and sources without their types. A script has an engine for each run. It can ask the serving side
//! for one thing, to make calls ([`ScriptHost`]). Nothing in here may know of tools, tenants or the store.
//!
//! Start with [`Sandbox`], then [`JqLimits`] and [`Script`]. The serving side is `pool.rs`, `seats.rs`, `process.rs` and
//! `script/session.rs`; the worker is `worker.rs`, its walls are in `walls.rs`, jq is in `jq.rs` and `outputs.rs`, and
//! scripts are in `script/`.

mod error;
mod jq;
mod language;
mod limits;
mod outputs;
mod pool;
mod process;
mod recent;
mod script;
mod seats;
mod walls;
mod wire;
mod worker;

pub use error::{Error, ScriptError};
pub use jq::check as check_jq;
pub use language::ScriptLanguage;
pub use limits::{JqLimits, ScriptLimits};
pub use pool::Sandbox;
pub use process::Worker;
pub use script::{CallFailure, SCRIPT_BYTES_MAX, Script, ScriptCall, ScriptFault, ScriptHost};
pub use worker::serve as serve_worker;
