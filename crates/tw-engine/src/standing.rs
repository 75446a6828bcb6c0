//! Standing approvals: a yes that holds for later calls of an agent, until it runs out, somebody takes it back, or
//! anything that it is bound to changes.
//!
//! Nothing of this is kept in memory. A call that would have to be asked about reads the rows, and the log writes its
//! start under the epoch that they were read at; whoever takes a standing approval back moves the epoch.

pub(crate) mod list;

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use serde_json::Value;
use tw_base::{Error, Result};
use tw_identity::rights::{DecideApprovals, Permit};
use tw_model::{Caller, Level, Party, PermissionSet, StandingApprovalId, StandingStatus, TenantId};
use tw_registry::Tool;
use tw_schema::Violation;
use tw_store::{StandingApproval, StandingFilter, log::NewStanding};

use crate::{
    Engine,
    corridor::resolve::Parked,
    resume::resumed_caller,
    run_log::{
        Rights, Standing, StandingContext, StandingFacts, StandingSeal, Way, bound_values, definitions_hash,
        input_digest, raw,
    },
};

/// How long a standing approval may hold.
pub const STANDING_LIFE_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// How many pointers one may name.
const FIELDS_MAX: usize = 32;
/// How much of an input one may be bound to: it is read with every call that it may be for.
const VALUES_BYTES_MAX: usize = 16 << 10;
/// How many a tenant may have that hold.
const STANDING_MAX: i64 = 1_000;

/// What an approver wants to hold for later calls as well.
#[derive(Clone, Debug)]
pub struct StandingWish {
    pub life: Duration,
    /// JSON pointers to what has to be the same; `None` for the whole input.
    pub fields: Option<Vec<String>>,
}

/// What was approved, as far as a standing approval asks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ApprovedInput<'a> {
    /// JSON.
    pub(crate) text: &'a str,
    pub(crate) has_secrets: bool,
    pub(crate) level: Option<Level>,
}

impl Engine {
    /// Makes a standing approval of what is approved, to be written with the decision.
    pub(crate) async fn stand(
        &self,
        approver: &Caller,
        parked: Parked<'_>,
        approved: ApprovedInput<'_>,
        wish: &StandingWish,
    ) -> Result<NewStanding> {
        if approved.level == Some(Level::Destructive) {
            return Err(Error::invalid("/standing", Violation::standing_destructive()));
        }
        if approved.has_secrets {
            return Err(Error::invalid("/standing", Violation::standing_secrets()));
        }
        let input: Value = serde_json::from_str(approved.text).unwrap_or_default();
        let values = checked_values(wish.fields.as_deref(), &input)?;
        let Parked { approval, run, kept } = parked;
        self.check_room(approver.tenant).await?;
        let resumed = resumed_caller(self, run, &approval.context).await;
        let (agent, _) = resumed.map_err(|error| match error {
            // The approver's own credentials are in order.
            Error::Unauthenticated { why } => Error::NotPermitted { why: why.to_owned() },
            error => error,
        })?;
        let view = self.inner.catalogue.view(approver.tenant, approver.epoch).await?;
        let pinned = kept.pinned.as_deref();
        let definitions = self.definitions_of(&view, approval.tool_id, pinned, kept.mode).await?;
        let tool = definitions.first().ok_or(Error::Superseded)?;
        let chain = kept.chain.iter().map(|link| &link.tool);
        let context = StandingContext {
            agent: agent.party(),
            approver: approver.party(),
            way: Way::new(kept.mode, chain, kept.wrapper.as_ref()),
            pinned: kept.pinned.clone(),
        };
        let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
        let mut new = NewStanding {
            id: StandingApprovalId::new(),
            principal: agent.principal.label(),
            tool_id: approval.tool_id,
            tool: tool.slug.to_string(),
            definition_hash: definitions_hash(definitions.iter().map(|tool| &**tool)),
            context: context.to_text(),
            fields: wish.fields.as_ref().map(|fields| raw(fields).get().to_owned()),
            values: raw(&values).get().to_owned(),
            values_digest: input_digest(&values),
            approved_by: approver.principal.label(),
            seal: Vec::new(),
            created: now,
            expires: now.plus(wish.life.min(STANDING_LIFE_MAX)),
        };
        let gone = || Error::NotPermitted {
            why: "the caller or the approver is no longer a member of the tenant".to_owned(),
        };
        let asked =
            self.rights(approver.tenant, &context.agent, &agent.permissions).await?.ok_or_else(gone)?;
        let decided = self.rights(approver.tenant, &context.approver, &approver.permissions).await?;
        let decided = decided.ok_or_else(gone)?;
        let reach = self.reach_of(approver.tenant, tool).await?;
        let facts = StandingSeal { agent: &asked, approver: &decided, reach: &reach };
        let row = row_of(approver.tenant, &new, wish.fields.as_deref());
        new.seal = facts.seal(row, &self.inner.secrets).to_vec();
        Ok(new)
    }

    /// A tenant has so many and no more, or else looking through them would be a way to keep the server busy.
    async fn check_room(&self, tenant: TenantId) -> Result<()> {
        let open = StandingFilter { status: Some(StandingStatus::Active), ..StandingFilter::default() };
        let count = self.inner.store.tenant(tenant).count_standing_approvals(&open).await;
        match count.map_err(Error::store("counting standing approvals"))? {
            Some(count) if count < STANDING_MAX => Ok(()),
            _ => {
                let why = format!(
                    "a tenant must have at most {STANDING_MAX} active standing approvals: revoke one first"
                );
                Err(Error::Conflict { why })
            }
        }
    }

    /// The standing approval that lets a call through, if there is one.
    pub(crate) async fn standing_for(
        &self,
        caller: &Caller,
        definitions: &[&Tool],
        way: &Way,
        input: &Value,
    ) -> Result<Option<Standing>> {
        let Some(tool) = definitions.first() else { return Ok(None) };
        let scope = self.inner.store.tenant(caller.tenant);
        let hash = definitions_hash(definitions.iter().copied());
        let candidates = scope.standing_candidates(&caller.principal.label(), tool.def.id, &hash).await;
        // Many may name the same fields, and what these hold now may be large.
        let mut digests: HashMap<Option<Vec<String>>, Option<String>> = HashMap::new();
        for candidate in candidates.map_err(Error::store("looking for standing approvals"))? {
            let digest = digests.entry(candidate.fields.clone()).or_insert_with_key(|fields| {
                bound_values(fields.as_deref(), input).map(|values| input_digest(&values))
            });
            if digest.as_ref() != Some(&candidate.values_digest) {
                continue;
            }
            let row = scope.standing_approval(candidate.id).await;
            let Some(row) = row.map_err(Error::store("reading a standing approval"))? else { continue };
            let now = self.inner.store.now().await.map_err(Error::store("asking for the time"))?;
            let Some(context) = read(&row) else { continue };
            // What was compared above is what the seal is checked for: the row is read as a whole only now.
            let is_for_this = row.revoked.is_none()
                && now < row.expires
                && row.principal == caller.principal.label()
                && row.tool_id == tool.def.id
                && row.definition_hash == hash
                && row.fields == candidate.fields
                && row.values_digest == candidate.values_digest
                && context.way == *way;
            if !is_for_this {
                continue;
            }
            if let Some(standing) = self.judge(caller, &row, &context, tool).await? {
                return Ok(Some(standing));
            }
        }
        Ok(None)
    }

    /// Holds a standing approval for a call of this agent against everything that it is bound to, as that is now. The
    /// approver must be able to give it at this moment.
    async fn judge(
        &self,
        agent: &Caller,
        row: &StandingApproval,
        context: &StandingContext,
        tool: &Tool,
    ) -> Result<Option<Standing>> {
        let Some(approver) = self.if_member(agent, &context.approver).await? else { return Ok(None) };
        let Ok(permit) = Permit::<DecideApprovals>::check(approver) else { return Ok(None) };
        let approver = permit.caller();
        if self.forbids_self_approval(approver, agent.principal.owner(), None).await? {
            return Ok(None);
        }
        let asked = self.rights(agent.tenant, &context.agent, &agent.permissions).await?;
        let decided = self.rights(agent.tenant, &context.approver, &approver.permissions).await?;
        let (Some(asked), Some(decided)) = (asked, decided) else { return Ok(None) };
        let reach = self.reach_of(agent.tenant, tool).await?;
        let facts = StandingSeal { agent: &asked, approver: &decided, reach: &reach };
        Ok(facts.check(agent.tenant, row, &self.inner.secrets))
    }

    /// Somebody with the rights they have now; `None` if they are no member any more.
    async fn if_member(&self, caller: &Caller, party: &Party) -> Result<Option<Caller>> {
        match self.as_of_now(caller, party).await {
            Ok(member) => Ok(Some(member)),
            Err(Error::NotPermitted { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn rights(
        &self,
        tenant: TenantId,
        party: &Party,
        permissions: &PermissionSet,
    ) -> Result<Option<Rights>> {
        let since = self.inner.store.tenant(tenant).role_since(party.principal.owner()).await;
        let since = since.map_err(Error::store("reading a membership"))?;
        Ok(since.map(|(member_since, role_since)| Rights {
            permissions: permissions.clone(),
            member_since,
            role_since,
        }))
    }
}

/// What cannot be read is not ours, and void.
fn read(row: &StandingApproval) -> Option<StandingContext> {
    serde_json::from_str(&row.context).ok()
}

fn row_of<'a>(tenant: TenantId, new: &'a NewStanding, fields: Option<&'a [String]>) -> StandingFacts<'a> {
    StandingFacts {
        tenant,
        id: new.id,
        principal: &new.principal,
        tool_id: new.tool_id,
        tool: &new.tool,
        definition_hash: &new.definition_hash,
        context: &new.context,
        fields,
        values_digest: &new.values_digest,
        approved_by: &new.approved_by,
        created: new.created,
        expires: new.expires,
    }
}

/// What the wish binds of the input, or what is wrong with its pointers.
fn checked_values(fields: Option<&[String]>, input: &Value) -> Result<Value> {
    if let Some(fields) = fields {
        check_fields(fields, input)?;
    }
    let values = bound_values(fields, input).unwrap_or_default();
    if VALUES_BYTES_MAX < raw(&values).get().len() {
        return Err(Error::invalid("/standing/fields", Violation::standing_size(VALUES_BYTES_MAX)));
    }
    Ok(values)
}

fn check_fields(fields: &[String], input: &Value) -> Result<()> {
    if !(1..=FIELDS_MAX).contains(&fields.len()) {
        return Err(Error::invalid("/standing/fields", Violation::item_count(1, FIELDS_MAX)));
    }
    let mut seen = BTreeSet::new();
    let mut faults = Vec::new();
    for (index, field) in fields.iter().enumerate() {
        let violation = if !is_pointer(field) {
            Violation::input_pointer()
        } else if !seen.insert(field) {
            Violation::duplicate(field.as_str())
        } else if input.pointer(field).is_none() {
            Violation::points_nowhere()
        } else {
            continue;
        };
        faults.push(violation.at(format!("/standing/fields/{index}")));
    }
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::InvalidParams { what: "`standing` does not fit the input".to_owned(), faults })
}

/// RFC 6901. Without a wildcard: it would be equal to nothing.
fn is_pointer(text: &str) -> bool {
    let is_escaped = |rest: &str| rest.starts_with('0') || rest.starts_with('1');
    (text.is_empty() || text.starts_with('/')) && text.split('~').skip(1).all(is_escaped)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn pointers_are_held_against_the_input_each_at_its_index() {
        let input = json!({ "customer": "c1", "items": [{ "a/b": 1 }] });
        let places = |fields: &[&str]| match check_fields(
            &fields.iter().map(|f| (*f).to_owned()).collect::<Vec<_>>(),
            &input,
        ) {
            Ok(()) => Vec::new(),
            Err(Error::InvalidParams { faults, .. }) => faults.into_iter().map(|fault| fault.path).collect(),
            Err(error) => panic!("{error}"),
        };
        let none: [&str; 0] = [];
        assert_eq!(places(&["/customer", "/items/0/a~1b", ""]), none);
        let at = |index: usize| format!("/standing/fields/{index}");
        assert_eq!(places(&["customer", "/customer", "/gone", "/customer"]), [at(0), at(2), at(3)]);
        assert_eq!(places(&["/~2", "/~", "/items/-", "/items/00", "/items/*"]), [0, 1, 2, 3, 4].map(at));
        assert_eq!(places(&[]), ["/standing/fields"]);
        let many: Vec<String> = (0..=FIELDS_MAX).map(|i| format!("/{i}")).collect();
        assert!(check_fields(&many, &input).is_err());
    }
}
