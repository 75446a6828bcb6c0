//! Tools that somebody else answers: `external`, a program that fetches its calls; `space`, a person in a form.

use std::time::Duration;

use serde_json::Value;
use tw_exec::{BoxFuture, Call, Ended, Executor, Wait};
use tw_model::{Implementation, WaitsFor};
use tw_schema::{Fault, Violation};

use crate::faults::{Faults, below};

/// For how long an answer is taken.
const TTL: Duration = Duration::from_secs(24 * 60 * 60);
const TTL_MS_MAX: u64 = 30 * 24 * 60 * 60 * 1000;

#[derive(Debug)]
pub(crate) struct Outside {
    by: WaitsFor,
    within: Duration,
}

impl Outside {
    pub(crate) fn read(kind: Implementation, implementation: &Value) -> Result<Self, Vec<Fault>> {
        let by = if kind == Implementation::Space { WaitsFor::Person } else { WaitsFor::Worker };
        let mut faults = Faults::default();
        let mut within = TTL;
        for (name, value) in implementation.as_object().into_iter().flatten() {
            let place = below("/implementation", name);
            match (name.as_str(), value.as_u64()) {
                ("pending_ttl_ms", Some(ms @ 1..=TTL_MS_MAX)) => within = Duration::from_millis(ms),
                ("pending_ttl_ms", _) => faults.say(place, Violation::range(1, TTL_MS_MAX)),
                _ => faults.say(place, Violation::unknown_member()),
            }
        }
        faults.told(Some(Self { by, within }))
    }
}

impl Executor for Outside {
    fn run<'a>(&'a self, _: Call<'a>) -> BoxFuture<'a, Ended> {
        let wait = Wait::Answer { by: self.by, within: self.within };
        Box::pin(std::future::ready(Ended::Waits(wait)))
    }

    fn reaches_out(&self) -> bool {
        self.by == WaitsFor::Worker
    }

    fn asks_outside(&self) -> bool {
        true
    }
}
