//! One's own tenant: its settings, and its audit log.

use serde_json::Value;
use tw_base::{Error, Page, PageRequest, Result, by, faultless, name_violation};
use tw_model::{AuditId, Money, check_name};
use tw_schema::{Fault, Violation};
use tw_store::{AuditFilter, AuditRecord, Changed, SpendingLimits, Tenant, TenantChange};

use crate::{
    callers::Identity,
    rights::{Permit, ReadAudit, ReadSettings, WriteSettings},
};

/// Settings that are yes or no.
const SWITCHES: [&str; 2] = ["approve_all_writes", "forbid_self_approval"];
/// What the tenant may spend on language models.
const BUDGETS: &str = "budgets";
const BUDGET_NAMES: [&str; 3] = ["cost_per_day", "cost_per_month", "tokens_per_day"];
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
        if name == BUDGETS {
            return budget_fault(value);
        }
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

/// What is wrong with the budgets, if anything is.
fn budget_fault(budgets: &Value) -> Option<Fault> {
    let at = format!("/settings/{BUDGETS}");
    if budgets.is_null() {
        return None;
    }
    let Some(members) = budgets.as_object() else {
        return Some(Violation::typed(&["object", "null"], budgets).at(at));
    };
    members.iter().find_map(|(name, value)| {
        let shown: String = name.chars().take(NAME_SHOWN).collect();
        let place = format!("{at}/{}", shown.replace('~', "~0").replace('/', "~1"));
        if !BUDGET_NAMES.contains(&name.as_str()) {
            return Some(Violation::unknown_member().at(place));
        }
        let is_tokens = name == "tokens_per_day";
        match value {
            Value::Null => None,
            Value::Number(number) if number.as_f64().is_some_and(|number| number < 0.0) => {
                Some(Violation::minimum(0).at(place))
            }
            Value::Number(number) if is_tokens && number.as_u64().is_none() => {
                Some(Violation::wrong_type("integer", "number").at(place))
            }
            Value::Number(number) if !is_tokens && number.as_f64().and_then(Money::from_units).is_none() => {
                Some(Violation::maximum(1_000_000_000).at(place))
            }
            Value::Number(_) => None,
            other => {
                let expected: &[&str] = if is_tokens { &["integer", "null"] } else { &["number", "null"] };
                Some(Violation::typed(expected, other).at(place))
            }
        }
    })
}

/// The budgets among the settings of a tenant.
#[must_use]
pub fn spending_limits(settings: &Value) -> SpendingLimits {
    let budgets = &settings[BUDGETS];
    let money = |name: &str| budgets[name].as_f64().and_then(Money::from_units);
    SpendingLimits {
        cost_per_day: money("cost_per_day"),
        cost_per_month: money("cost_per_month"),
        tokens_per_day: budgets["tokens_per_day"].as_u64(),
    }
}
