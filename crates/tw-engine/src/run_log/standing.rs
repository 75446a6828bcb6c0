//! What a standing approval is bound to.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tw_base::{Secrets, secrets::equal};
use tw_model::{Caller, Mode, Party, PermissionSet, Slug, StandingApprovalId, TenantId, Timestamp, ToolId};
use tw_registry::Tool;
use tw_store::StandingApproval;

use super::{WrapperSettings, input_digest, seal::CallReach};

/// Proof that a standing approval lets a call through. Only [`StandingSeal::check`] makes one.
#[derive(Clone, Debug)]
pub(crate) struct Standing {
    id: StandingApprovalId,
    approved_by: String,
    expires: Timestamp,
}

impl Standing {
    pub(crate) fn id(&self) -> StandingApprovalId {
        self.id
    }

    pub(crate) fn approved_by(&self) -> &str {
        &self.approved_by
    }

    pub(crate) fn is_over(&self, now: Timestamp) -> bool {
        self.expires <= now
    }
}

/// How a call came to its tool. Later calls have to come the same way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Way {
    mode: Mode,
    /// The tools that led to it, outermost first.
    chain: Vec<Slug>,
    /// The digest of the author's settings, where a tool that wraps this one made the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wrapper: Option<String>,
}

impl Way {
    pub(crate) fn new<'a>(
        mode: Mode,
        chain: impl Iterator<Item = &'a Slug>,
        settings: Option<&WrapperSettings>,
    ) -> Self {
        let digest = |settings: &WrapperSettings| {
            input_digest(&serde_json::json!({ "tool": settings.tool, "sealed": settings.sealed }))
        };
        Self { mode, chain: chain.cloned().collect(), wrapper: settings.map(digest) }
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }
}

/// What is kept of a standing approval beside its columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct StandingContext {
    pub(crate) agent: Party,
    pub(crate) approver: Party,
    pub(crate) way: Way,
    /// The number of the tool's version, where the caller named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pinned: Option<String>,
}

impl StandingContext {
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a context is plain JSON")
    }
}

/// What somebody may do at a moment, and since when they have their role.
#[derive(Clone, Debug)]
pub(crate) struct Rights {
    pub(crate) permissions: PermissionSet,
    pub(crate) member_since: Timestamp,
    pub(crate) role_since: Timestamp,
}

impl Rights {
    fn text(&self) -> String {
        let names: Vec<&str> = self.permissions.iter().map(tw_model::Permission::as_str).collect();
        format!("{} {} {}", self.member_since.micros(), self.role_since.micros(), names.join(" "))
    }
}

/// What is written down about a standing approval, in its row or for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandingFacts<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) id: StandingApprovalId,
    pub(crate) principal: &'a str,
    pub(crate) tool_id: ToolId,
    pub(crate) tool: &'a str,
    pub(crate) definition_hash: &'a str,
    pub(crate) context: &'a str,
    pub(crate) fields: Option<&'a [String]>,
    pub(crate) values_digest: &'a str,
    pub(crate) approved_by: &'a str,
    pub(crate) created: Timestamp,
    pub(crate) expires: Timestamp,
}

impl<'a> StandingFacts<'a> {
    fn of(tenant: TenantId, standing: &'a StandingApproval) -> Self {
        Self {
            tenant,
            id: standing.id,
            principal: &standing.principal,
            tool_id: standing.tool_id,
            tool: &standing.tool,
            definition_hash: &standing.definition_hash,
            context: &standing.context,
            fields: standing.fields.as_deref(),
            values_digest: &standing.values_digest,
            approved_by: &standing.approved_by,
            created: standing.created,
            expires: standing.expires,
        }
    }
}

/// The facts under the seal that are not in the row, as they are now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandingSeal<'a> {
    pub(crate) agent: &'a Rights,
    pub(crate) approver: &'a Rights,
    pub(crate) reach: &'a CallReach,
}

impl StandingSeal<'_> {
    pub(crate) fn seal(&self, row: StandingFacts<'_>, secrets: &Secrets) -> [u8; 32] {
        // As in the seal of an approval, every part has a fixed form without line breaks. The first line tells the two
        // apart.
        let mut text = format!(
            "standing\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}",
            row.tenant,
            row.id,
            blake3::hash(row.principal.as_bytes()),
            row.tool_id,
            blake3::hash(row.tool.as_bytes()),
            blake3::hash(row.definition_hash.as_bytes()),
            blake3::hash(row.context.as_bytes()),
            blake3::hash(serde_json::json!(row.fields).to_string().as_bytes()),
            blake3::hash(row.values_digest.as_bytes()),
            blake3::hash(row.approved_by.as_bytes()),
            row.created.micros(),
            row.expires.micros(),
            self.agent.text(),
            self.approver.text(),
        );
        text.push_str(&self.reach.text());
        secrets.seal(&text)
    }

    /// Checks a standing approval as it is stored.
    pub(crate) fn check(
        &self,
        tenant: TenantId,
        standing: &StandingApproval,
        secrets: &Secrets,
    ) -> Option<Standing> {
        let values: Value = serde_json::from_str(standing.values.get()).ok()?;
        let seal = self.seal(StandingFacts::of(tenant, standing), secrets);
        let is_sealed = input_digest(&values) == standing.values_digest && equal(&standing.seal, &seal);
        is_sealed.then(|| Standing {
            id: standing.id,
            approved_by: standing.approved_by.clone(),
            expires: standing.expires,
        })
    }
}

/// One name for all definitions that a call is held against.
pub(crate) fn definitions_hash<'a>(definitions: impl Iterator<Item = &'a Tool>) -> String {
    let mut hashes: Vec<&str> = definitions.map(|tool| tool.definition_hash.as_str()).collect();
    hashes.dedup();
    hashes.join(" ")
}

/// The parts of an input that have to be the same: all of it, or what these pointers lead to, by pointer. `None` where
/// one leads nowhere.
pub(crate) fn bound_values(fields: Option<&[String]>, input: &Value) -> Option<Value> {
    let Some(fields) = fields else { return Some(input.clone()) };
    let value = |field: &String| Some((field.clone(), input.pointer(field)?.clone()));
    fields.iter().map(value).collect::<Option<Map<_, _>>>().map(Value::Object)
}

/// The tools that led to a call, outermost first.
pub(crate) fn tools_above(caller: &Caller) -> impl Iterator<Item = &Slug> {
    caller.chain.iter().map(|link| &link.tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_those_that_the_pointers_lead_to() {
        let input = json!({ "customer": "c1", "to": { "a/b": [1, 2] }, "note": null });
        let check = |fields: &[&str], expected: Option<Value>| {
            let fields: Vec<String> = fields.iter().map(|field| (*field).to_owned()).collect();
            assert_eq!(bound_values(Some(&fields), &input), expected, "{fields:?}");
        };
        check(&["/customer"], Some(json!({ "/customer": "c1" })));
        check(&["/to/a~1b/1", "/note"], Some(json!({ "/to/a~1b/1": 2, "/note": null })));
        check(&[""], Some(json!({ "": input })));
        check(&["/customer", "/absent"], None);
        check(&["/to/a~1b/2"], None);
        assert_eq!(bound_values(None, &input), Some(input.clone()));
    }
}
