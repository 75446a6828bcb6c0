//! Versions that are taken out of use, with the approvals that wait on them.

use futures::{StreamExt, TryStreamExt, stream};
use tw_base::{Error, Result};
use tw_exec::BoxFuture;
use tw_identity::rights::{Permit, PublishTools};
use tw_model::{ApprovalId, ApprovalStatus, RunStatus, TenantId};
use tw_registry::{EditContext, View};
use tw_store::ToolVersion;

use crate::{
    Engine,
    corridor::resolve::Parked,
    run_log::{End, Reason, Resumption},
};

/// How many open approvals are read at a time.
const PAGE: usize = 500;
/// How many of them are ended at once: the log writes those that come together in one transaction.
const AT_ONCE: usize = 32;

impl Engine {
    /// Withdraws a version, and supersedes the approvals that wait on it. Doing so once more supersedes what a server
    /// that died left behind; until then the seal of such an approval does not hold when somebody decides on it.
    pub async fn withdraw_version(
        &self,
        permit: &Permit<PublishTools>,
        name: &str,
        number: &str,
        asked: EditContext<'_>,
    ) -> Result<ToolVersion> {
        let withdrawn = self.inner.registry.withdraw_version(permit, name, number, asked).await?;
        let (engine, tenant) = (self.clone(), permit.caller().tenant);
        let (name, number) = (name.to_owned(), number.to_owned());
        // To the end, also if the caller hangs up.
        let superseded = tokio::spawn(async move { engine.supersede_version(tenant, &name, &number).await });
        superseded.await.map_err(|error| Error::internal("superseding approvals", error))??;
        Ok(withdrawn)
    }

    async fn supersede_version(&self, tenant: TenantId, name: &str, number: &str) -> Result<()> {
        let epoch = self.inner.identity.epochs().ask(tenant).await?;
        let view = self.inner.catalogue.view(tenant, epoch).await?;
        let Some(tool) = view.tools.get(name).map(|entry| entry.id()) else { return Ok(()) };
        let scope = self.inner.store.tenant(tenant);
        let mut after = None;
        loop {
            let open = scope.open_approvals(after, PAGE).await;
            let open = open.map_err(Error::store("reading approvals"))?;
            let is_last = open.len() < PAGE;
            after = open.last().map(|approval| approval.id);
            let waiting = open.into_iter().filter(|open| open.tool_id == tool && open.version == number);
            let ended: Vec<BoxFuture<'_, Result<()>>> = waiting
                .map(|open| Box::pin(self.supersede_if_void(&view, open.id, number)) as BoxFuture<'_, _>)
                .collect();
            stream::iter(ended).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            if is_last {
                self.look_soon();
                return Ok(());
            }
        }
    }

    async fn supersede_if_void(&self, view: &View, id: ApprovalId, number: &str) -> Result<()> {
        let scope = self.inner.store.tenant(view.tenant.id);
        let approval = scope.approval(id).await.map_err(Error::store("reading an approval"))?;
        let Some(approval) = approval.filter(|approval| approval.status == ApprovalStatus::Pending) else {
            return Ok(());
        };
        let run = scope.run(approval.run).await.map_err(Error::store("reading a run"))?;
        let Some(run) = run else { return Ok(()) };
        let kept = Resumption::read(&approval.context)?;
        // A call that does not name the number is about something else: the draft that has it.
        match self.unseal(view, Parked { approval: &approval, run: &run, kept: &kept }).await {
            Err(Error::Superseded) => {
                let why = format!("version {number} was withdrawn");
                let end = End::void(Reason::Superseded, why);
                self.end_parked(&run, RunStatus::NeedsApproval, ApprovalStatus::Cancelled, end).await
            }
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
