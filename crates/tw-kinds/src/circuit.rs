//! Circuits: a tool whose service is down is not asked again at every call.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;
use tw_model::{Code, Mode, TenantId, ToolFailure, ToolId};

/// How many calls in a row have to fail.
pub(crate) const FAILURES_MAX: u32 = 20;
/// How long nothing is sent then.
pub(crate) const OPEN_FOR: Duration = Duration::from_secs(30);
/// How many failing tools are remembered. Past that the one that failed longest ago starts afresh.
const ENTRIES_MAX: usize = 10_000;

/// The circuits of all tools on this server. Only tools that fail have one, so it is small.
#[derive(Clone, Debug, Default)]
pub struct Circuits(Arc<Mutex<HashMap<CircuitKey, Row>>>);

/// A tool as it is defined: one that was mended is asked at once, and what its author tries shuts nobody out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CircuitKey {
    pub tenant: TenantId,
    pub tool: ToolId,
    /// A digest of what the author wrote.
    pub definition: u64,
    pub mode: Mode,
}

/// A row of failures without a success between them.
#[derive(Debug)]
struct Row {
    failures: u32,
    last: Instant,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    until: Instant,
    /// Whether a call is out to see if it works again.
    is_tried: bool,
}

/// The circuit of one tool of one tenant, as it is defined.
#[derive(Clone, Debug)]
pub struct Circuit {
    circuits: Circuits,
    key: CircuitKey,
}

impl Circuits {
    #[must_use]
    pub fn get(&self, key: CircuitKey) -> Circuit {
        Circuit { circuits: self.clone(), key }
    }

    fn rows(&self) -> MutexGuard<'_, HashMap<CircuitKey, Row>> {
        // Every change is one assignment, so what a panic left behind is whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Circuit {
    /// Lets a call through, or says when the next one will be.
    pub(crate) fn enter(&self, deadline: Instant) -> Result<Pass<'_>, ToolFailure> {
        let mut rows = self.circuits.rows();
        let mut is_trial = false;
        if let Some(open) = rows.get_mut(&self.key).and_then(|row| row.open.as_mut()) {
            let left = open.until.saturating_duration_since(Instant::now());
            if !left.is_zero() {
                let seconds = left.as_secs_f64().ceil();
                return Err(refused(&format!("it is tried again in {seconds} s")));
            }
            if open.is_tried {
                return Err(refused("a call that tries it again is under way"));
            }
            open.is_tried = true;
            is_trial = true;
        }
        Ok(Pass { circuit: self, deadline, is_trial, is_told: false })
    }

    fn failed(&self, is_trial: bool) {
        let now = Instant::now();
        let mut rows = self.circuits.rows();
        if ENTRIES_MAX <= rows.len() && !rows.contains_key(&self.key) {
            let oldest = rows.iter().min_by_key(|(_, row)| row.last).map(|(key, _)| *key);
            oldest.map(|key| rows.remove(&key));
        }
        let row = rows.entry(self.key).or_insert(Row { failures: 0, last: now, open: None });
        row.failures = row.failures.saturating_add(1);
        row.last = now;
        // A call that was under way before it opened says nothing new.
        if is_trial || (row.open.is_none() && FAILURES_MAX <= row.failures) {
            row.open = Some(Open { until: now + OPEN_FOR, is_tried: false });
        }
    }

    fn succeeded(&self) {
        self.circuits.rows().remove(&self.key);
    }

    /// A trial that ended without telling anything leaves it to the next call.
    fn leave(&self) {
        if let Some(open) = self.circuits.rows().get_mut(&self.key).and_then(|row| row.open.as_mut()) {
            open.is_tried = false;
        }
    }
}

fn refused(when: &str) -> ToolFailure {
    let message =
        format!("the service failed {FAILURES_MAX} times in a row, so calls to it are paused; {when}");
    ToolFailure::with_code(Code::CircuitOpen, message)
}

/// A call that was let through. Dropped at its deadline, it counts as failed: whoever waits for the call may
/// stop it at the very moment at which the client would.
#[derive(Debug)]
pub(crate) struct Pass<'a> {
    circuit: &'a Circuit,
    deadline: Instant,
    is_trial: bool,
    is_told: bool,
}

impl Pass<'_> {
    pub(crate) fn succeeded(mut self) {
        self.is_told = true;
        self.circuit.succeeded();
    }

    pub(crate) fn failed(mut self) {
        self.is_told = true;
        self.circuit.failed(self.is_trial);
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        if self.is_told {
            return;
        }
        if self.deadline <= Instant::now() {
            self.circuit.failed(self.is_trial);
        } else if self.is_trial {
            self.circuit.leave();
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    fn key() -> CircuitKey {
        CircuitKey { tenant: TenantId::new(), tool: ToolId::new(), definition: 1, mode: Mode::Production }
    }

    fn circuit() -> Circuit {
        Circuits::default().get(key())
    }

    fn far() -> Instant {
        Instant::now() + Duration::from_secs(3600)
    }

    fn fail(circuit: &Circuit, times: u32) {
        for _ in 0..times {
            circuit.enter(far()).unwrap().failed();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn circuit_opens_after_twenty_failures_in_a_row_and_not_before() {
        let circuit = circuit();
        fail(&circuit, FAILURES_MAX - 1);
        circuit.enter(far()).unwrap().succeeded();
        fail(&circuit, FAILURES_MAX);
        let failure = circuit.enter(far()).unwrap_err();
        assert_eq!(failure.code, Code::CircuitOpen);
        assert_eq!(
            failure.message,
            "the service failed 20 times in a row, so calls to it are paused; it is tried again in 30 s"
        );
        advance(OPEN_FOR - Duration::from_millis(1)).await;
        assert!(circuit.enter(far()).unwrap_err().message.ends_with("in 1 s"));
    }

    #[tokio::test(start_paused = true)]
    async fn one_call_tries_again_and_its_outcome_decides() {
        let circuit = circuit();
        fail(&circuit, FAILURES_MAX);
        advance(OPEN_FOR).await;
        let trial = circuit.enter(far()).unwrap();
        assert!(circuit.enter(far()).unwrap_err().message.ends_with("is under way"));
        trial.failed();
        assert!(circuit.enter(far()).unwrap_err().message.ends_with("in 30 s"));
        advance(OPEN_FOR).await;
        circuit.enter(far()).unwrap().succeeded();
        fail(&circuit, FAILURES_MAX - 1);
        circuit.enter(far()).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn trial_that_was_cancelled_leaves_it_to_the_next_call() {
        let circuit = circuit();
        fail(&circuit, FAILURES_MAX);
        advance(OPEN_FOR).await;
        drop(circuit.enter(far()).unwrap());
        circuit.enter(far()).unwrap().succeeded();
    }

    #[tokio::test(start_paused = true)]
    async fn call_that_is_dropped_at_its_deadline_has_failed() {
        let circuit = circuit();
        for _ in 0..FAILURES_MAX {
            let pass = circuit.enter(Instant::now() + Duration::from_secs(1)).unwrap();
            advance(Duration::from_secs(1)).await;
            drop(pass);
        }
        assert!(circuit.enter(far()).is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn late_failure_does_not_keep_the_circuit_open_longer() {
        let circuit = circuit();
        let late = circuit.enter(far()).unwrap();
        fail(&circuit, FAILURES_MAX);
        advance(OPEN_FOR / 2).await;
        late.failed();
        advance(OPEN_FOR / 2).await;
        circuit.enter(far()).unwrap().succeeded();
    }

    #[tokio::test(start_paused = true)]
    async fn tenants_tools_definitions_and_tests_have_circuits_of_their_own() {
        let (circuits, key) = (Circuits::default(), key());
        fail(&circuits.get(key), FAILURES_MAX);
        assert!(circuits.get(key).enter(far()).is_err());
        for other in [
            CircuitKey { tool: ToolId::new(), ..key },
            CircuitKey { tenant: TenantId::new(), ..key },
            CircuitKey { definition: 2, ..key },
            CircuitKey { mode: Mode::Debug, ..key },
        ] {
            circuits.get(other).enter(far()).unwrap().succeeded();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn memory_is_bounded() {
        let circuits = Circuits::default();
        for _ in 0..ENTRIES_MAX + 10 {
            circuits.get(key()).enter(far()).unwrap().failed();
        }
        assert_eq!(circuits.rows().len(), ENTRIES_MAX);
    }
}
