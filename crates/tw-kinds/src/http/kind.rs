//! The kind itself: what an author wrote, called for a run.

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::{sync::OnceCell, time::Instant};
use toolwright_sdk::ToolContext;
use tw_engine::{Call, Ended, Executor};
use tw_model::{Code, ToolFailure, ToolResult};
use tw_schema::Fault;
use zeroize::Zeroizing;

use super::{Circuits, HttpSpec, Jq, Secrets, World};
use crate::opened;

#[derive(Debug)]
pub(crate) struct Http {
    circuits: Circuits,
    /// Read again with the secrets that lie sealed in what was written.
    spec: OnceCell<HttpSpec>,
}

impl Http {
    pub(crate) fn read(
        implementation: &Value,
        circuits: &Circuits,
        is_new: bool,
    ) -> Result<Self, Vec<Fault>> {
        HttpSpec::read(implementation, &ReadOnly { checks: is_new })?;
        Ok(Self { circuits: circuits.clone(), spec: OnceCell::new() })
    }

    async fn call(&self, call: &Call<'_>) -> Result<ToolResult, ToolFailure> {
        let spec = self.spec.get_or_try_init(|| async {
            HttpSpec::read(&opened(call).await?, &ReadOnly { checks: false })
                .map_err(|_| ToolFailure::with_code(Code::Internal, "the tool's definition cannot be read"))
        });
        let spec = spec.await?;
        let outside = Outside(&call.cx);
        let world = World {
            egress: &call.cx.http()?,
            secrets: &outside,
            jq: &outside,
            deadline: call.cx.deadline(),
            idempotency_key: &call.cx.idempotency_key(),
            circuit: &self.circuits.get(call.cx.tenant(), call.def.id),
        };
        spec.call(&world, &call.input).await
    }
}

impl Executor for Http {
    fn run<'a>(&'a self, call: Call<'a>) -> toolwright_sdk::BoxFuture<'a, Ended> {
        Box::pin(async move { self.call(&call).await.into() })
    }
}

/// What a call gets from its context.
struct Outside<'a>(&'a ToolContext);

impl Secrets for Outside<'_> {
    fn open<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, Result<Zeroizing<String>, ToolFailure>> {
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
