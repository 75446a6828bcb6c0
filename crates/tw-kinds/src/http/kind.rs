//! The kind itself: what an author wrote, called for a run.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    sync::Arc,
};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::{sync::OnceCell, time::Instant};
use toolwright_sdk::{Secret, ToolContext};
use tw_exec::{Call, Ended, Executor, Expressions, Written};
use tw_model::{Code, ToolFailure, ToolResult};
use tw_schema::Fault;

use super::{CircuitKey, Circuits, HttpSpec, Jq, SecretOpener, World, save};

#[derive(Debug)]
pub(crate) struct Http {
    circuits: Circuits,
    /// A digest of what the author wrote.
    definition: u64,
    sends_idempotency_key: bool,
    /// Read again with the secrets that lie sealed in what was written.
    spec: OnceCell<Arc<HttpSpec>>,
}

impl Http {
    pub(crate) fn read(
        implementation: &Value,
        circuits: &Circuits,
        is_new: bool,
    ) -> Result<Self, Vec<Fault>> {
        let spec = HttpSpec::read(implementation, &ReadOnly { checks: is_new })?;
        let faults = if is_new { save::faults(&spec, implementation) } else { Vec::new() };
        if !faults.is_empty() {
            return Err(faults);
        }
        let mut hasher = DefaultHasher::new();
        implementation.to_string().hash(&mut hasher);
        Ok(Self {
            circuits: circuits.clone(),
            definition: hasher.finish(),
            sends_idempotency_key: spec.idempotency_header.is_some(),
            spec: OnceCell::new(),
        })
    }

    /// What the expressions of an implementation look up.
    pub(crate) fn expressions(written: Written<'_>) -> Expressions {
        let spec = HttpSpec::read(written.implementation, &ReadOnly { checks: false });
        let lookups = spec.map(|spec| spec.lookups()).unwrap_or_default();
        Expressions { lookups, ..Expressions::default() }
    }

    async fn call(&self, call: &Call<'_>) -> Result<ToolResult, ToolFailure> {
        let spec = self.spec.get_or_try_init(|| async {
            HttpSpec::read(&call.secrets.implementation().await?, &ReadOnly { checks: false })
                .map(Arc::new)
                .map_err(|_| ToolFailure::with_code(Code::Internal, "the tool's definition cannot be read"))
        });
        let spec = spec.await?;
        let (tenant, tool, mode) = (call.cx.tenant(), call.def.id, call.mode);
        let key = CircuitKey { tenant, tool, definition: self.definition, mode };
        let outside = Outside(&call.cx);
        let world = World {
            tenant,
            egress: &call.cx.http()?,
            secrets: &outside,
            jq: &outside,
            deadline: call.cx.deadline(),
            idempotency_key: &call.cx.idempotency_key(),
            circuit: &self.circuits.get(key),
        };
        spec.call(&world, &call.input).await
    }
}

impl Executor for Http {
    fn run<'a>(&'a self, call: Call<'a>) -> toolwright_sdk::BoxFuture<'a, Ended> {
        Box::pin(async move { self.call(&call).await.into() })
    }

    fn sends_idempotency_key(&self) -> bool {
        self.sends_idempotency_key
    }

    fn credentials(&self, implementation: &Value) -> BTreeSet<String> {
        // What cannot be read is not sent either.
        let spec = HttpSpec::read(implementation, &ReadOnly { checks: false });
        spec.map(|spec| spec.labels().clone()).unwrap_or_default()
    }
}

/// What a call gets from its context.
struct Outside<'a>(&'a ToolContext);

impl SecretOpener for Outside<'_> {
    fn open<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, Result<Secret, ToolFailure>> {
        Box::pin(self.0.secret(reference))
    }
}

impl Jq for Outside<'_> {
    fn run<'a>(
        &'a self,
        filter: &'a str,
        input: &'a Value,
        _: Instant,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        Box::pin(async move {
            let mut given = self.0.jq(filter, input).await?;
            // Of several, as of `.[]`, all.
            Ok(match given.len() {
                0 => Value::Null,
                1 => given.remove(0),
                _ => Value::Array(given),
            })
        })
    }

    fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }
}

/// Reads filters, where nobody has read them before, and runs none.
struct ReadOnly {
    checks: bool,
}

impl Jq for ReadOnly {
    fn run<'a>(&'a self, _: &'a str, _: &'a Value, _: Instant) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        let failure = ToolFailure::with_code(Code::Internal, "a filter is not run where it is only read");
        Box::pin(std::future::ready(Err(failure)))
    }

    fn check(&self, filter: &str) -> Result<(), String> {
        if self.checks { tw_sandbox::check_jq(filter) } else { Ok(()) }
    }
}
