//! One call, from the input to the outcome.

use std::{collections::BTreeMap, fmt, sync::Arc};

use futures::future::BoxFuture;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout_at};
use toolwright_sdk::{Redactor, Secret, failure_of};
use tw_egress::{Egress, Error, Response};
use tw_model::{Code, TenantId, ToolFailure, ToolResult};

use super::{answer, fill::Filled, retry, spec::HttpSpec};
use crate::{
    apart::{Apart, INLINE_BYTES_MAX, bytes_of},
    circuit::Circuit,
    template::Context,
};

/// Opens credentials of the tenant whose tool is called.
pub trait SecretOpener: Send + Sync {
    /// What is inserted for a reference: `label`, or `label.field` where no label has that name.
    fn open<'a>(&'a self, reference: &'a str) -> BoxFuture<'a, Result<Secret, ToolFailure>>;
}

/// Runs filters of jq.
pub trait Jq: Send + Sync {
    fn run<'a>(
        &'a self,
        filter: &'a str,
        input: &'a Value,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Value, ToolFailure>>;

    /// Says why a text is no filter.
    fn check(&self, filter: &str) -> Result<(), String>;
}

/// All that a call may touch.
#[derive(Clone, Copy)]
pub struct World<'a> {
    /// Whose tool is called.
    pub tenant: TenantId,
    /// The client of the tenant, see [`Egress::apart`].
    pub egress: &'a Egress,
    pub secrets: &'a dyn SecretOpener,
    pub jq: &'a dyn Jq,
    pub deadline: Instant,
    /// What a service may know repeated requests by: the same for every try of one call.
    pub idempotency_key: &'a str,
    pub circuit: &'a Circuit,
}

impl World<'_> {
    fn apart(&self) -> Apart {
        Apart { tenant: self.tenant, deadline: self.deadline }
    }
}

/// The data of an answer, without secrets. A large one is read apart from everybody else.
async fn read(world: &World<'_>, response: Response, redactor: &Arc<Redactor>) -> Result<Value, ToolFailure> {
    if response.body.len() <= INLINE_BYTES_MAX {
        return answer::data(&response, redactor);
    }
    let redactor = Arc::clone(redactor);
    world.apart().run(move || answer::data(&response, &redactor)).await
}

impl fmt::Debug for World<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("egress", &self.egress).finish_non_exhaustive()
    }
}

type Opened = BTreeMap<String, Secret>;

impl HttpSpec {
    /// Calls the service. What comes out, failures included, holds none of the credentials that went in.
    pub async fn call(self: &Arc<Self>, world: &World<'_>, input: &Value) -> Result<ToolResult, ToolFailure> {
        let opening = timeout_at(world.deadline, self.open(world.secrets));
        let opened = opening.await.map_err(|_| late("opening its credentials"))??;
        let redactor = Arc::new(self.redactor(opened.values().map(|secret| secret.value.as_str())));
        let outcome = self.call_with(world, input, opened, &redactor).await;
        match outcome {
            Ok(result) if INLINE_BYTES_MAX < bytes_of(&result.data) => {
                world.apart().run(move || redactor.outcome(Ok(result))).await
            }
            outcome => redactor.outcome(outcome),
        }
    }

    async fn open(&self, secrets: &dyn SecretOpener) -> Result<Opened, ToolFailure> {
        let mut opened = BTreeMap::new();
        for label in self.labels() {
            opened.insert(label.clone(), secrets.open(label).await?);
        }
        Ok(opened)
    }

    async fn call_with(
        self: &Arc<Self>,
        world: &World<'_>,
        input: &Value,
        opened: Opened,
        redactor: &Arc<Redactor>,
    ) -> Result<ToolResult, ToolFailure> {
        // Beside its credentials the host is the author's, so it is known before anything is filled in.
        opened.values().try_for_each(|secret| secret.check_host(self.url.base()))?;
        let filled = self.filled(world, input, opened).await?;
        let response = self.send(world, &filled).await?;
        let summary = answer::summary(self.host(), &response);
        let mut data = read(world, response, redactor).await?;
        if let Some(filter) = &self.response {
            let run = timeout_at(world.deadline, world.jq.run(filter, &data, world.deadline));
            data = run.await.map_err(|_| late("running its `response` filter"))??;
        }
        ToolResult::returned(data, || summary)
    }

    /// Fills it in, apart from everybody else unless that is certain to be cheap.
    async fn filled(
        self: &Arc<Self>,
        world: &World<'_>,
        input: &Value,
        opened: Opened,
    ) -> Result<Filled, ToolFailure> {
        let secrets = opened.into_iter().map(|(label, secret)| (label, secret.value)).collect();
        if self.cost.is_small(bytes_of(input)) {
            let context = Context::of_input(input).with_secrets(secrets);
            return self.fill(&context, input, world.idempotency_key);
        }
        let (spec, input, key) = (Arc::clone(self), input.clone(), world.idempotency_key.to_owned());
        let fill = move || spec.fill(&Context::of_input(&input).with_secrets(secrets), &input, &key);
        world.apart().run(fill).await
    }

    /// Sends it, and again where that is allowed and may help. The circuit hears of the last try alone.
    async fn send(&self, world: &World<'_>, filled: &Filled) -> Result<Response, ToolFailure> {
        let pass = world.circuit.enter(world.deadline)?;
        let sent = self.send_until_it_passes(world, filled).await;
        match answer::is_well(&sent) {
            Some(true) => pass.succeeded(),
            Some(false) => pass.failed(),
            None => drop(pass),
        }
        sent.map_err(|error| failure_of(&error))
    }

    async fn send_until_it_passes(&self, world: &World<'_>, filled: &Filled) -> Result<Response, Error> {
        let mut tries = 0;
        loop {
            let left = world.deadline.saturating_duration_since(Instant::now());
            let sent = world.egress.send(filled.request(left)).await;
            tries += 1;
            if self.tries_max() <= tries || !retry::may_pass(&sent) {
                return sent;
            }
            let wait = retry::wait(tries, &sent);
            // What cannot be waited for is not waited for: the caller hears now what the service said.
            if world.deadline <= Instant::now() + wait {
                return sent;
            }
            sleep(wait).await;
        }
    }

    /// A request with an effect is repeated only if the service can tell that it is the same one.
    fn tries_max(&self) -> u32 {
        let is_repeatable = self.method.is_safe() || self.idempotency_header.is_some();
        if is_repeatable { 1 + self.retries } else { 1 }
    }
}

fn late(doing: &str) -> ToolFailure {
    ToolFailure::with_code(Code::Timeout, format!("timed out while {doing}"))
}
