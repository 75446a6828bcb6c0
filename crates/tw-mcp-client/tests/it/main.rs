//! Lists and calls over real sockets of this machine, with servers that behave and with ones that do not.

#![expect(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod calls;
mod generations;
mod limits;
mod process;
mod secrets;

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::time::Instant;
use toolwright_sdk::Network;
use tw_egress::{Egress, Policy, Reach, RequestLimits};
use tw_mcp_client::{CallOptions, CallResult, Client, Error, ListLimits, Listing, Target};
use tw_model::TenantId;
use tw_test::McpServer;

/// What no test waits for, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A client with a way to one server and to nothing else of this machine.
struct House {
    client: Client,
    target: Target,
}

#[derive(Debug)]
struct Way(Egress);

impl Network for Way {
    fn egress(&self, _: TenantId) -> Egress {
        self.0.clone()
    }
}

impl House {
    fn of(server: &McpServer) -> Self {
        let policy = Policy::new(Reach::Public, [server.upstream.host_and_port()]).unwrap();
        let limits = RequestLimits { connect: PATIENCE, ..RequestLimits::default() };
        let egress = Egress::builder(policy).limits(limits).build();
        Self {
            client: Client::new(Arc::new(Way(egress))),
            target: Target::new(TenantId::new(), server.url()),
        }
    }

    async fn list(&self) -> Result<Listing, Error> {
        self.client.list_tools(&self.target, ListLimits::until(far())).await
    }

    async fn call(&self, name: &str, arguments: Value) -> Result<CallResult, Error> {
        self.call_with(name, arguments, CallOptions::until(far())).await
    }

    async fn call_with(
        &self,
        name: &str,
        arguments: Value,
        options: CallOptions,
    ) -> Result<CallResult, Error> {
        self.client.call_tool(&self.target, name, &members(arguments), options).await
    }
}

fn members(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

fn far() -> Instant {
    Instant::now() + PATIENCE
}

fn soon() -> Instant {
    Instant::now() + Duration::from_millis(400)
}
