//! What the tools find outside of themselves, small enough for a test.

use std::{collections::BTreeMap, io, net::IpAddr, sync::Arc, time::Duration};

use jaq_core::{
    Compiler, Ctx, Vars,
    data::JustLut,
    load::{Arena, File, Loader},
};
use jaq_json::Val;
use serde_json::Value;
use tokio::time::Instant;
use toolwright_sdk::{
    BoxFuture, Called, Code, ContextParts, Credential, Credentials, Filters, InnerCall, InnerCalls, Network,
    PermissionSet, RunId, Services, Source, TenantId, ToolContext, ToolFailure, UserId,
    egress::{Egress, Policy, Reach, RequestLimits, Resolve},
};
use tw_test::Upstream;

/// What no test waits for, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Credentials by label, or by provider and variant; one way out.
#[derive(Debug)]
pub(crate) struct Hut {
    egress: Egress,
    labels: BTreeMap<String, Credential>,
    providers: BTreeMap<(String, Option<String>), Credential>,
}

impl Hut {
    /// With a way to these upstreams and to nothing else of this machine.
    pub(crate) fn near(upstreams: &[&Upstream]) -> Self {
        let policy = Policy::new(Reach::Public, upstreams.iter().map(|upstream| upstream.host_and_port()));
        let limits = RequestLimits { total: PATIENCE, connect: PATIENCE, ..RequestLimits::default() };
        let egress = Egress::builder(policy.unwrap()).limits(limits).resolver(Nobody).build();
        Self { egress, labels: BTreeMap::new(), providers: BTreeMap::new() }
    }

    pub(crate) fn label(mut self, label: &str, fields: &[(&str, &str)]) -> Self {
        self.labels.insert(label.to_owned(), credential(fields));
        self
    }

    /// A credential that says whom it is for.
    pub(crate) fn label_for(mut self, label: &str, provider: &str, fields: &[(&str, &str)]) -> Self {
        let credential = Credential { providers: vec![provider.to_owned()], ..credential(fields) };
        self.labels.insert(label.to_owned(), credential);
        self
    }

    /// A credential of which one text stands for the whole.
    pub(crate) fn value(mut self, label: &str, value: &str) -> Self {
        let credential = Credential { value: Some(value.to_owned().into()), ..credential(&[]) };
        self.labels.insert(label.to_owned(), credential);
        self
    }

    /// A credential with a list of hosts.
    pub(crate) fn bound(mut self, label: &str, fields: &[(&str, &str)], hosts: &[&str]) -> Self {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        let bound = Credential { label: label.to_owned(), allowed_hosts: Some(hosts), ..credential(fields) };
        self.labels.insert(label.to_owned(), bound);
        self
    }

    pub(crate) fn provider(mut self, key: &str, variant: Option<&str>, fields: &[(&str, &str)]) -> Self {
        self.providers.insert((key.to_owned(), variant.map(str::to_owned)), credential(fields));
        self
    }

    pub(crate) fn context(self) -> ToolContext {
        Self::context_of(&Arc::new(self))
    }

    fn context_of(this: &Arc<Self>) -> ToolContext {
        let run = RunId::new();
        let services = Services::default().with::<dyn Network>(Arc::clone(this) as _);
        let services = services.with::<dyn Filters>(Arc::clone(this) as _);
        let services = services.with::<dyn Credentials>(Arc::clone(this) as _);
        let services = services.with(Arc::new(tw_mcp_client::Client::new(Arc::clone(this) as _)));
        ToolContext::new(ContextParts {
            tenant: TenantId::new(),
            tenant_slug: "test".parse().unwrap(),
            user: UserId::new(),
            agent: None,
            session: run.into(),
            run,
            source: Source::Api,
            permissions: PermissionSet::default(),
            deadline: Instant::now() + PATIENCE,
            cancel: tokio_util::sync::CancellationToken::new(),
            output: None,
            progress: None,
            log: toolwright_sdk::LogLines::default(),
            blocking_in_flight: Arc::default(),
            idempotency: None,
            trace: None,
            services,
            inner: Some(Arc::new(Unasked(Arc::clone(this)))),
            waits: None,
            usage: toolwright_sdk::UsageMeter::default(),
        })
    }
}

/// Calls other tools of the program without asking anybody.
#[derive(Debug)]
struct Unasked(Arc<Hut>);

impl InnerCalls for Unasked {
    fn call<'a>(&'a self, call: InnerCall<'a>) -> BoxFuture<'a, Result<Called, ToolFailure>> {
        let running = (crate::tool(call.tool).run)(Hut::context_of(&self.0), call.input.clone());
        Box::pin(async move { Ok(Called::Ended(running.await)) })
    }
}

/// Knows no name, so that no test leaves this machine.
#[derive(Debug)]
struct Nobody;

impl Resolve for Nobody {
    fn resolve<'a>(&'a self, _name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::ready(Err(io::ErrorKind::NotFound.into())))
    }
}

fn credential(fields: &[(&str, &str)]) -> Credential {
    let fields = fields.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned().into()));
    let (label, providers) = ("k".to_owned(), Vec::new());
    Credential { label, providers, allowed_hosts: None, value: None, fields: fields.collect() }
}

impl Network for Hut {
    fn egress(&self, _tenant: TenantId) -> Egress {
        self.egress.clone()
    }
}

impl Filters for Hut {
    fn jq<'a>(
        &'a self,
        _tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>> {
        Box::pin(std::future::ready(jq(filter, input)))
    }
}

impl Credentials for Hut {
    fn credential<'a>(
        &'a self,
        _tenant: TenantId,
        label: &'a str,
    ) -> BoxFuture<'a, Result<Credential, ToolFailure>> {
        let found = self.labels.get(label).cloned();
        let missing = || ToolFailure::with_code(Code::CredentialMissing, format!("no credential '{label}'"));
        Box::pin(std::future::ready(found.ok_or_else(missing)))
    }

    fn credential_for<'a>(
        &'a self,
        _tenant: TenantId,
        provider: &'a str,
        variant: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Credential>, ToolFailure>> {
        let found = self.providers.get(&(provider.to_owned(), variant.map(str::to_owned)));
        Box::pin(std::future::ready(Ok(found.cloned())))
    }
}

/// jq without the walls that the server puts around it.
fn jq(filter: &str, input: &Value) -> Result<Vec<Value>, ToolFailure> {
    type Data = JustLut<Val>;
    let unreadable = || ToolFailure::invalid("the filter cannot be read");
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = jaq_core::funs::<Data>().chain(jaq_std::funs()).chain(jaq_json::funs());
    let arena = Arena::default();
    let modules =
        Loader::new(defs).load(&arena, File { code: filter, path: () }).map_err(|_| unreadable())?;
    let filter = Compiler::default().with_funs(funs).compile(modules).map_err(|_| unreadable())?;
    let input = jaq_json::read::parse_single(input.to_string().as_bytes()).unwrap();
    let outputs = filter.id.run((Ctx::<Data>::new(&filter.lut, Vars::new([])), input));
    let read = |output: Val| serde_json::from_str(&output.to_string()).unwrap();
    outputs.map(|output| output.map(read).map_err(|_| ToolFailure::new("the filter failed"))).collect()
}
