//! Filters of all kinds in real workers.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod escapes;
mod limits;
mod results;
mod scripts;
mod secrets;
mod workers;

use std::{
    fs,
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use serde_json::Value;
use tw_sandbox::{Error, JqLimits, Sandbox, Worker};

/// A limit for what is expected to run into it.
const SOON: Duration = Duration::from_millis(400);
/// What no filter of a test needs, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A sandbox whose workers can be told from those of other tests.
struct World {
    sandbox: Sandbox,
    mark: String,
}

impl World {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mark = format!("mark-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let program = env!("CARGO_BIN_EXE_sandbox-worker").into();
        Self { sandbox: Sandbox::new(Worker { program, args: vec![mark.clone().into()] }), mark }
    }

    async fn jq(&self, filter: &str, input: Value) -> Result<Vec<Value>, Error> {
        self.sandbox.jq(filter, &input, patient()).await
    }

    /// The processes that are workers of this sandbox now.
    fn workers(&self) -> Vec<u32> {
        let processes = fs::read_dir("/proc").unwrap().filter_map(|entry| {
            let pid = entry.ok()?.file_name().to_str()?.parse::<u32>().ok()?;
            let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            String::from_utf8_lossy(&line).split('\0').any(|arg| arg == self.mark).then_some(pid)
        });
        processes.collect()
    }
}

fn patient() -> JqLimits {
    JqLimits { time: PATIENCE, ..JqLimits::default() }
}
