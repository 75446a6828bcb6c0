//! The corridor: every call, from whichever door, walks through here, and there is no second way.
//!
//! A door turns its request into a [`CallRequest`], asks [`Engine::call`] once, and turns the answer
//! into its own words. This room decides (resolve, authorize, validate, approve), runs and records; it
//! never speaks HTTP, and never trusts anything in a request about who is asking.
//!
//! Start with [`Engine`], then `corridor/mod.rs`. Who is asking is for `tw-identity`, which tools there are for
//! `tw-registry`, and their secrets for `tw-vault`.

mod answers;
mod approvals;
mod calls;
mod cases;
mod corridor;
mod detaching;
mod flights;
mod ledger;
mod life;
mod models;
mod once;
mod operator;
mod pulse;
mod pure;
mod replay;
mod resume;
mod run_log;
mod runs;
mod services;
mod sessions;
mod standing;
mod telemetry;
mod withdrawals;

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use tw_base::{Error, MasterKey, Result, Secrets};
use tw_egress::Egress;
use tw_exec::Kinds;
use tw_identity::{
    Identity,
    rights::{Permit, RunTools},
};
use tw_mcp_client::{Client, McpServers};
use tw_mcp_servers::McpServerAdmin;
use tw_model::{Caller, Code, SessionId, TenantId, Timestamp};
use tw_models::{Ledger, Models};
use tw_otel::Telemetry;
use tw_registry::{Catalogue, CatalogueError, Registry};
use tw_sandbox::Sandbox;
use tw_store::{NewAudit, Store};
use tw_vault::{CredentialAdmin, Vault};
use tw_webhooks::Webhooks;

pub use crate::{
    approvals::{Approve, ApprovedCall},
    calls::{Answered, WorkerCalls, answer_schema},
    corridor::record::Record,
    corridor::{Answer, CallRequest, IdempotencyKey, RateLimits},
    models::ListedModel,
    once::{Claimed, Once},
    operator::{FirstRun, Operator},
    replay::{REPLAY_DEFAULT, REPLAY_MAX, ReplayReport, ReplayedCall},
    run_log::WrapperSettings,
    sessions::{EventReader, StreamStart},
    standing::{STANDING_LIFE_MAX, StandingWish, list::JudgedStanding},
};
/// How far a run is, for doors that tell it.
pub use toolwright_sdk::ToolProgress;
/// For the configuration.
pub use tw_mcp_client::McpCommand;
pub use tw_mcp_servers::StdioServer;
/// The rows that doors show. What is done with them goes through the engine.
pub use tw_store::{
    ApiKey, Approval, ArtifactVersion, AuditFilter, AuditRecord, DriftStatus, Event, McpDrift, Note,
    PendingCall, Run, RunFilter, Session, StandingApproval, StandingFilter, StoredArtifact, StoredCredential,
    StoredMcpGrant, StoredMcpServer, Tenant, TenantChange, TestResult, ToolVersion, User, Webhook,
    WebhookDelivery,
};

/// Everything behind the doors. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Engine {
    pub(crate) inner: Arc<Inside>,
}

#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) store: Store,
    pub(crate) catalogue: Arc<Catalogue>,
    registry: Arc<Registry>,
    pub(crate) identity: Arc<Identity>,
    credentials: CredentialAdmin,
    pub(crate) mcp_servers: Arc<McpServerAdmin>,
    webhooks: Webhooks,
    telemetry: Option<Telemetry>,
    pub(crate) secrets: Secrets,
    pub(crate) vault: Vault,
    tool_services: Arc<services::ToolServices>,
    /// What tools may use of the server.
    pub(crate) services: toolwright_sdk::Services,
    pub(crate) models: Models,
    pub(crate) budgets: corridor::Budgets,
    pub(crate) pure: pure::Results,
    pub(crate) limits: corridor::Limits,
    pub(crate) slots: corridor::slot::Slots,
    pub(crate) flights: Arc<flights::Flights>,
    pub(crate) log: run_log::RunLog,
    pub(crate) session_owners: moka::future::Cache<(TenantId, SessionId), Arc<str>>,
    pub(crate) long_lists: runs::LongLists,
    pub(crate) pulse: pulse::Pulse,
    pub(crate) resuming: resume::Resuming,
    announced: tokio::sync::OnceCell<()>,
    closing: CancellationToken,
    end: CancellationToken,
}

/// What an engine is made with.
#[derive(Debug)]
pub struct Setup {
    pub store: Store,
    pub master_key: MasterKey,
    pub limits: RateLimits,
    /// The way out.
    pub egress: Egress,
    /// Where what tenants write runs.
    pub sandbox: Sandbox,
    pub kinds: Arc<dyn Kinds>,
    /// The language models that tools may ask.
    pub models: Models,
    /// Where people find this server, for links in what others are told.
    pub base_url: Option<String>,
    /// The MCP servers that the configuration starts for tenants.
    pub mcp_servers: Vec<StdioServer>,
    /// Where traces are collected, if they are.
    pub telemetry: Option<Telemetry>,
}

impl Engine {
    /// Prepares every registered tool and starts the background work.
    ///
    /// # Errors
    ///
    /// When two tools share a slug, or a schema cannot be used.
    pub fn start(setup: Setup) -> Result<Self, CatalogueError> {
        let Setup {
            store,
            master_key,
            limits,
            egress,
            sandbox,
            kinds,
            models,
            base_url,
            mcp_servers: stdio,
            telemetry,
        } = setup;
        let secrets = Secrets::new(&master_key);
        let vault = Vault::new(store.clone(), &master_key);
        let identity = Arc::new(Identity::new(store.clone(), secrets.clone()));
        let registry =
            Registry::new(store.clone(), vault.clone(), Arc::clone(&identity), secrets.clone(), kinds)?;
        let tool_services = services::ToolServices::new(egress, sandbox, vault.clone());
        let credentials = CredentialAdmin::new(
            store.clone(),
            vault.clone(),
            Arc::clone(identity.epochs()),
            secrets.clone(),
            Arc::clone(&registry) as _,
            Arc::clone(&tool_services) as _,
        );
        // What it learns about a server is of use to calls and to those who manage servers.
        let mcp_client = Client::new(Arc::clone(&tool_services) as _);
        let mcp_servers = Arc::new(McpServerAdmin::new(tw_mcp_servers::Parts {
            store: store.clone(),
            vault: vault.clone(),
            epochs: Arc::clone(identity.epochs()),
            secrets: secrets.clone(),
            registry: Arc::clone(&registry),
            credentials: Arc::clone(&tool_services) as _,
            network: Arc::clone(&tool_services) as _,
            client: mcp_client.clone(),
            stdio,
        }));
        let webhooks = Webhooks::new(
            store.clone(),
            vault.clone(),
            Arc::clone(identity.epochs()),
            secrets.clone(),
            Arc::clone(&tool_services) as _,
            base_url,
        );
        let (flights, pulse): (Arc<flights::Flights>, _) = (Arc::default(), pulse::Pulse::default());
        let engine = Self {
            inner: Arc::new(Inside {
                catalogue: Arc::clone(registry.catalogue()),
                registry,
                identity,
                credentials,
                mcp_servers: Arc::clone(&mcp_servers),
                webhooks,
                telemetry,
                secrets,
                services: tool_services
                    .services()
                    .with(Arc::new(models.clone()))
                    .with(Arc::new(mcp_client))
                    .with::<dyn McpServers>(mcp_servers)
                    .with::<dyn Ledger>(Arc::new(ledger::TenantLedger::new(store.clone()))),
                models,
                tool_services,
                budgets: corridor::Budgets::default(),
                pure: pure::Results::default(),
                vault,
                limits: corridor::Limits::new(limits),
                slots: corridor::slot::Slots::new(store.clone()),
                log: run_log::RunLog::new(store.clone(), Arc::clone(&flights), &pulse),
                flights,
                session_owners: moka::future::Cache::new(100_000),
                long_lists: runs::LongLists::default(),
                pulse,
                resuming: resume::Resuming::default(),
                announced: tokio::sync::OnceCell::new(),
                closing: CancellationToken::new(),
                end: CancellationToken::new(),
                store,
            }),
        };
        engine.inner.registry.serve_cases(Arc::new(cases::CaseCalls::of(&engine.inner)));
        engine.live(&engine.inner.end);
        Ok(engine)
    }

    /// Who somebody is and what they may do.
    #[must_use]
    pub fn identity(&self) -> &Arc<Identity> {
        &self.inner.identity
    }

    /// The tools, and how they are made and changed.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.inner.registry
    }

    #[must_use]
    pub fn credentials(&self) -> &CredentialAdmin {
        &self.inner.credentials
    }

    /// The MCP servers of others, and what is imported from them.
    #[must_use]
    pub fn mcp_servers(&self) -> &McpServerAdmin {
        &self.inner.mcp_servers
    }

    /// Who is told when something happens.
    #[must_use]
    pub fn webhooks(&self) -> &Webhooks {
        &self.inner.webhooks
    }

    /// The permit to run tools, for a caller who is about to ask for this one. An agent that is refused it
    /// leaves a trace.
    pub async fn may_run(&self, caller: Caller, tool: &str) -> Result<Permit<RunTools>> {
        match Permit::check(caller.clone()) {
            Ok(permit) => Ok(permit),
            Err(error) => Err(self.refuse(&caller, tool, error).await),
        }
    }

    /// Refuses a call for a door that knows by itself that it cannot be made. Such a call counts, and leaves the same
    /// trace as one that the corridor refuses. Returns the refusal, or the limit that the call is over.
    pub async fn refuse(&self, caller: &Caller, tool: &str, error: Error) -> Error {
        if let Err(over) = self.count_refused(caller, tool).await {
            return over;
        }
        self.note_refused(caller, tool, &error).await;
        error
    }

    /// Counts a call whose request a door could not read. The error is the limit that the call is over.
    pub async fn count_refused(&self, caller: &Caller, tool: &str) -> Result<()> {
        let view = self.inner.catalogue.view(caller.tenant, caller.epoch).await.ok();
        let tool_id = view.and_then(|view| view.tools.get(tool).map(|entry| entry.id()));
        self.inner.limits.count(caller, tool_id)
    }

    /// Whether this server can do its work now.
    pub async fn ready(&self) -> Result<()> {
        if self.inner.flights.is_closed() {
            return Err(Error::ShuttingDown);
        }
        if let Some(name) = self.inner.pulse.unwell(tokio::time::Instant::now()) {
            return Err(Error::Unwell { name });
        }
        let ping = tokio::time::timeout(Duration::from_secs(2), self.inner.store.ping()).await;
        ping.unwrap_or_else(|_| Err(tw_store::timed_out()))
            .map_err(Error::store("asking whether the database is there"))
    }

    /// Closes, truthfully, the runs that servers of an earlier time left open. For a database that no
    /// other server uses.
    pub async fn close_left_over_runs(&self) -> Result<()> {
        let beat =
            self.inner.store.heartbeat().await.map_err(Error::store("saying that this server is alive"))?;
        // Everybody else was heard of before this, also a server that died a moment ago.
        let earlier = Timestamp::from_micros(beat.micros() - 1);
        self.inner.store.forget_dead(earlier).await.map_err(Error::store("forgetting dead servers"))?;
        self.inner.store.release_deliveries(beat).await.map_err(Error::store("taking over deliveries"))?;
        self.close_orphans(earlier).await
    }

    /// Says once that this server is alive, before it runs anything: another server would take a run of
    /// somebody it has never heard of for one that was left over.
    pub(crate) async fn announce(&self) -> Result<()> {
        let beat = async || self.inner.store.heartbeat().await.map(drop);
        let doing = "saying that this server is alive";
        self.inner.announced.get_or_try_init(beat).await.map_err(Error::store(doing))?;
        Ok(())
    }

    /// How many runs are under way here, for the metrics.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.inner.flights.count()
    }

    /// Resolves once this server is about to stop, for whoever would hold it up by waiting.
    pub async fn closing(&self) {
        self.inner.closing.cancelled().await;
    }

    /// Stops taking calls, and waits for those under way.
    pub async fn drain(&self, patience: Duration) {
        self.inner.closing.cancel();
        self.inner.flights.drain(patience).await;
    }

    /// Ends the background work and closes the store. After [`Engine::drain`].
    pub async fn close(&self) {
        self.inner.end.cancel();
        self.inner.tool_services.close().await;
        if let Err(error) = self.inner.store.sign_off().await {
            tracing::debug!(%error, "this server could not sign off");
        }
        self.inner.store.close().await;
    }

    /// An agent that is refused leaves no run, but a trace: somebody has to be able to see what it tried.
    async fn note_refused(&self, caller: &Caller, tool: &str, error: &Error) {
        let refused = matches!(
            error.code(),
            Code::NotPermitted
                | Code::ToolNotFound
                | Code::ToolDisabled
                | Code::ToolHeld
                | Code::ToolNotPublished
                | Code::VersionWithdrawn
                | Code::CredentialMissing
        );
        if !refused || !caller.principal.is_agent() {
            return;
        }
        let entry = NewAudit {
            action: "call.refused".to_owned(),
            object: run_log::storable(&format!("tool:{tool:.128}")),
            before: None,
            after: Some(serde_json::json!({ "code": error.code() })),
            note: Some(run_log::storable(&error.to_string())),
        };
        let (log, tenant, by) = (self.inner.store.log().clone(), caller.tenant, tw_base::by(caller, None));
        // Whoever hangs up at once has tried all the same.
        let written = tokio::spawn(async move { log.audit(tenant, by, entry).await.map(drop) });
        if let Ok(Err(error)) = written.await {
            tracing::warn!(%error, "a refusal could not be written to the audit log");
        }
    }
}
