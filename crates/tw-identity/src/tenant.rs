//! One's own tenant: its settings, and its audit log.

use serde_json::Value;
use tw_base::{Error, Page, PageRequest, Result, by, faultless, name_violation};
use tw_model::{AuditId, check_name};
use tw_schema::Violation;
use tw_store::{AuditFilter, AuditRecord, Changed, Tenant, TenantChange};

use crate::{
    callers::Identity,
    rights::{Permit, ReadAudit, ReadSettings, WriteSettings},
};

/// Settings that are yes or no.
const SWITCHES: [&str; 2] = ["approve_all_writes", "forbid_self_approval"];
/// How much of the name of a setting that there is not is repeated, and how many of them.
const NAME_SHOWN: usize = 100;
const FAULTS_TOLD: usize = 10;

/// Names a tenant as it stands.
#[must_use]
pub fn tenant_mark(tenant: &Tenant) -> String {
    tenant.updated.micros().to_string()
}

impl Identity {
    pub async fn tenant(&self, permit: &Permit<ReadSettings>) -> Result<Tenant> {
        let tenant = self.store.tenant(permit.caller().tenant).tenant().await;
        tenant.map_err(Error::store("reading a tenant"))?.ok_or(Error::NotFound { what: "tenant" })
    }

    pub async fn change_tenant(
        &self,
        permit: &Permit<WriteSettings>,
        change: TenantChange,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<Tenant> {
        let caller = permit.caller();
        check_settings(change.settings.as_ref())?;
        if let Some(name) = &change.name {
            check_name(name).map_err(|error| Error::invalid("/name", name_violation(&error)))?;
        }
        let scope = self.store.tenant(caller.tenant);
        let expected = match marks {
            None => None,
            Some(marks) => {
                let tenant = scope.tenant().await.map_err(Error::store("reading a tenant"))?;
                let tenant = tenant.filter(|tenant| marks.contains(&tenant_mark(tenant)));
                Some(tenant.ok_or(Error::Stale { what: "tenant" })?.updated)
            }
        };
        let changed = scope.change_tenant(change, expected, &by(caller, request_id)).await;
        let tenant = match changed.map_err(Error::store("changing a tenant"))? {
            Changed::Done(tenant) => tenant,
            Changed::Stale(_) => return Err(Error::Stale { what: "tenant" }),
            Changed::Missing => return Err(Error::NotFound { what: "tenant" }),
        };
        self.epochs.ask(caller.tenant).await?;
        Ok(tenant)
    }

    /// Who did what, newest first.
    pub async fn audit(
        &self,
        permit: &Permit<ReadAudit>,
        filter: &AuditFilter,
        page: &PageRequest,
    ) -> Result<Page<AuditRecord>> {
        let caller = permit.caller();
        let place = format!("audit/{}/{}", caller.tenant, caller.principal.label());
        let before = self.secrets.open_cursor(&place, page)?.map(AuditId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.audit_page(filter, before, page.offset, page.limit + 1).await;
        let (rows, is_cut) = rows.map_err(Error::store("reading the audit log"))?;
        let page = &page.cut(rows.len(), is_cut);
        let total = scope.count_audit(filter).await.map_err(Error::store("counting the audit log"))?;
        Ok(self.secrets.page(rows, page, &place, total, |record| record.id.uuid()))
    }
}

fn check_settings(settings: Option<&Value>) -> Result<()> {
    let Some(settings) = settings else { return Ok(()) };
    let Some(settings) = settings.as_object() else {
        return Err(Error::invalid("/settings", Violation::typed(&["object"], settings)));
    };
    let fault_of = |(name, value): (&String, &Value)| {
        let violation = if !SWITCHES.contains(&name.as_str()) {
            Violation::unknown_member()
        } else if !value.is_boolean() && !value.is_null() {
            Violation::typed(&["boolean", "null"], value)
        } else {
            return None;
        };
        let shown: String = name.chars().take(NAME_SHOWN).collect();
        Some(violation.at(format!("/settings/{}", shown.replace('~', "~0").replace('/', "~1"))))
    };
    faultless(settings.iter().filter_map(fault_of).take(FAULTS_TOLD).collect())
}
