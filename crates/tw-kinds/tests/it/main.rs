//! Calls over real sockets of this machine, to services that behave and to ones that do not.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod answers;
mod apart;
mod arguments;
mod guard;
mod hostile;
mod retries;
mod save;
mod secrets;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::time::Instant;
use toolwright_sdk::Secret;
use tw_egress::{Egress, Policy, Reach, RequestLimits};
use tw_kinds::http::{Circuit, CircuitKey, Circuits, HttpSpec, Jq, SecretOpener, World};
use tw_model::{Code, Mode, TenantId, ToolFailure, ToolId, ToolResult};
use tw_test::Upstream;

/// A deadline for what is expected to run into it.
const SOON: Duration = Duration::from_millis(400);
/// What no test waits for, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// An upstream, and a caller that may call it.
struct House {
    upstream: Upstream,
    egress: Egress,
    secrets: Vault,
    circuit: Circuit,
    within: Duration,
    tenant: TenantId,
}

impl House {
    async fn new() -> Self {
        let upstream = Upstream::start().await;
        let policy = Policy::new(Reach::Public, [upstream.host_and_port()]).unwrap();
        let limits = RequestLimits { connect: PATIENCE, ..RequestLimits::default() };
        let egress = Egress::builder(policy).limits(limits).build();
        let circuit = Circuits::default().get(some_tool());
        Self {
            upstream,
            egress,
            secrets: Vault::default(),
            circuit,
            within: PATIENCE,
            tenant: TenantId::new(),
        }
    }

    fn within(mut self, time: Duration) -> Self {
        self.within = time;
        self
    }

    fn secret(mut self, label: &str, value: &str) -> Self {
        self.secrets.0.insert(label.to_owned(), Secret::anywhere(value));
        self
    }

    /// A secret with a list of the hosts that it may be sent to.
    fn bound(mut self, label: &str, value: &str, hosts: &[&str]) -> Self {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let label = label.to_owned();
        let secret = Secret { label: label.clone(), allowed_hosts: Some(hosts), ..Secret::anywhere(value) };
        self.secrets.0.insert(label, secret);
        self
    }

    /// Calls a tool whose implementation has this path for its URL.
    async fn call(&self, path: &str, more: Value, input: Value) -> Result<ToolResult, ToolFailure> {
        let mut implementation = json!({ "url": self.upstream.url(path) });
        implementation.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let spec = shared(Arc::new(HttpSpec::read(&implementation, &Members).unwrap()));
        let world = World {
            tenant: self.tenant,
            egress: &self.egress,
            secrets: &self.secrets,
            jq: &Members,
            deadline: Instant::now() + self.within,
            idempotency_key: "run-1",
            circuit: &self.circuit,
        };
        sent(spec.call(&world, &input)).await
    }

    async fn get(&self, path: &str) -> Result<ToolResult, ToolFailure> {
        self.call(path, json!({}), json!({})).await
    }

    async fn failure(&self, path: &str) -> String {
        shown(&self.get(path).await.unwrap_err())
    }

    /// The only request that came.
    fn asked(&self) -> tw_test::hostile::Received {
        let mut requests = self.upstream.requests();
        assert_eq!(requests.len(), 1, "{requests:?}");
        requests.remove(0)
    }
}

fn some_tool() -> CircuitKey {
    CircuitKey { tenant: TenantId::new(), tool: ToolId::new(), definition: 0, mode: Mode::Production }
}

/// A tool that was read serves many calls at once, each in a task of its own.
fn shared<T: Send + Sync + 'static>(spec: T) -> T {
    spec
}

fn sent<T: Send>(call: T) -> T {
    call
}

fn shown(failure: &ToolFailure) -> String {
    format!("{}: {}", failure.code, failure.message)
}

#[derive(Default)]
struct Vault(BTreeMap<String, Secret>);

impl SecretOpener for Vault {
    fn open<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, Result<Secret, ToolFailure>> {
        let missing = || {
            ToolFailure::with_code(Code::CredentialMissing, format!("there is no credential `{reference}`"))
        };
        let found = self.0.get(reference).cloned().ok_or_else(missing);
        Box::pin(std::future::ready(found))
    }
}

/// Of jq, a stand-in that knows `.member` alone.
struct Members;

impl Jq for Members {
    fn run<'a>(
        &'a self,
        filter: &'a str,
        input: &'a Value,
        _: Instant,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>> {
        let member = input.get(filter.trim_start_matches('.')).cloned();
        Box::pin(std::future::ready(member.ok_or_else(|| ToolFailure::new(format!("no member in {input}")))))
    }

    fn check(&self, filter: &str) -> Result<(), String> {
        if filter.starts_with('.') { Ok(()) } else { Err(format!("`{filter}` is no filter")) }
    }
}
