//! Tenants, keys and rows to measure with.

use std::sync::Arc;

use anyhow::{Context, Result};
use tw_engine::Operator;
use tw_identity::{KeyRequest, UserRequest};
use tw_model::{
    ActsAs, EventId, EventKind, ReplicaId, Role, RunId, RunStatus, TenantId, TenantSlug, Timestamp, ToolId,
};
use tw_store::{
    Options, Store, Target,
    log::{Change, Entry, Expect, Finished, NewEvent, NewRun, Transition},
};
use tw_test::entries;

/// Who did it, as long as it is in a real log.
pub(crate) const ACTOR: &str = r#"{"kind":"user","id":"01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11","key":"01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a12"}"#;
/// The first event of a call of `add`.
pub(crate) const STARTED: &str = r#"{"tool":"add","tool_id":"8a1f3a52-60b0-5d0f-9c57-0a3a4f1d8c11","version":"1.0.0","source":"api","channel":"rest","mode":"production","effectful":false,"repeatable":true,"input":{"a":1.5,"b":2.25}}"#;
/// Its last.
pub(crate) const COMPLETED: &str = r#"{"output":{"sum":3.75},"summary":"the sum is 3.75","duration_ms":0}"#;
/// A piece of output in between, as long as the other two are on average.
pub(crate) const APPENDED: &str = r#"{"text":"a line of output as a tool prints it while it works, neither short nor long, with 12.5 % done so far and more to come"}"#;

/// A tenant with a member and a key.
#[derive(Debug)]
pub(crate) struct Tenant {
    pub(crate) id: TenantId,
    pub(crate) key: String,
}

/// Migrates a database and makes tenants in it.
pub(crate) async fn tenants(target: &Target, count: usize) -> Result<Vec<Tenant>> {
    tw_store::migrate(target).await.context("migrate")?;
    let store = Store::open(&Options::new(target.clone())).await.context("open the store")?;
    let operator = Operator::new(store.clone());
    let mut tenants = Vec::new();
    for number in 0..count {
        let slug: TenantSlug = format!("tenant-{number}").parse().context("a slug")?;
        let tenant = operator.create_tenant(&slug, &format!("Tenant {number}")).await?;
        let user = UserRequest {
            email: format!("admin@tenant-{number}.localhost"),
            display_name: "Admin".to_owned(),
            role: Role::Admin,
            password: None,
        };
        operator.add_user(&slug, user).await?;
        let key = KeyRequest {
            name: "bench".to_owned(),
            role: Role::Admin,
            acts_as: ActsAs::User,
            agent: None,
            expires: None,
        };
        tenants.push(Tenant { id: tenant.id, key: operator.create_key(&slug, key, None).await?.text });
    }
    store.close().await;
    Ok(tenants)
}

/// Entries about runs of one tenant.
#[derive(Clone, Debug)]
pub(crate) struct Entries {
    tenant: TenantId,
    epoch: i64,
    replica: ReplicaId,
    tool: Arc<str>,
    version: Arc<str>,
    actor: Arc<str>,
    principal: Arc<str>,
}

impl Entries {
    pub(crate) async fn of(store: &Store, tenant: TenantId) -> Result<Self> {
        Ok(Self {
            tenant,
            epoch: store.tenant(tenant).epoch().await?,
            replica: store.replica(),
            tool: "add".into(),
            version: "1.0.0".into(),
            actor: ACTOR.into(),
            principal: "user:01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11".into(),
        })
    }

    fn entry(&self, run: RunId, step: Transition, kind: EventKind, payload: &str) -> Entry {
        let id = if kind == EventKind::Started { run.into() } else { EventId::new() };
        Entry {
            tenant: self.tenant,
            run,
            session: run.into(),
            tool: Arc::clone(&self.tool),
            actor: Arc::clone(&self.actor),
            at: Timestamp::now(),
            transition: step,
            events: vec![NewEvent { id, kind, payload: payload.to_owned() }],
            audit: None,
        }
    }

    /// The start of a run.
    pub(crate) fn open(&self, run: RunId) -> Entry {
        let new = NewRun {
            tool_id: ToolId::of_code("add"),
            version: Arc::clone(&self.version),
            principal: Arc::clone(&self.principal),
            ..entries::new_run(run, self.replica, self.epoch)
        };
        self.entry(run, Transition::Open(Box::new(new)), EventKind::Started, STARTED)
    }

    /// One event of a run that goes on.
    pub(crate) fn append(&self, run: RunId) -> Entry {
        self.entry(run, change(None, None), EventKind::OutputAppended, APPENDED)
    }

    /// The end of a run.
    pub(crate) fn finish(&self, run: RunId) -> Entry {
        let finished = Finished {
            summary: Some("the sum is 3.75".to_owned()),
            duration_us: Some(12),
            ..Finished::default()
        };
        self.entry(run, change(Some(RunStatus::Success), Some(finished)), EventKind::Completed, COMPLETED)
    }
}

fn change(to: Option<RunStatus>, finished: Option<Finished>) -> Transition {
    Transition::Change(Box::new(Change { to, finished, ..Change::expecting(Expect::Lease(1)) }))
}
