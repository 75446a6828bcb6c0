//! Why somebody sees a tool or may call it, or why not.

use serde::Serialize;
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, UpdateTools};
use tw_model::{Actor, Caller, KeyId, Role, ToolDef, ToolStatus, Unlisted, UserId};
use tw_policy::{Facts, Rule, Verdict};

use crate::{
    Registry,
    catalogue::{Side, ToolEntry, View},
    tools::seen,
};

/// Whom a question is about.
#[derive(Clone, Copy, Debug)]
pub enum ExplainAbout {
    /// Whoever asks.
    Asker,
    User(UserId),
    Key(KeyId),
}

/// Whom an answer is about.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedFor {
    #[serde(flatten)]
    pub actor: Actor,
    pub name: String,
    pub role: Role,
}

/// A step that a call would take.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    pub check: &'static str,
    pub passed: bool,
    pub reason: String,
}

/// The answer to why.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    pub tool: String,
    pub subject: ExplainedFor,
    /// Whether the subject finds the tool in its catalogue.
    pub visible: bool,
    /// Whether a call of it would run, be it after somebody has approved.
    pub callable: bool,
    pub decision: Verdict,
    pub reason: String,
    /// The rule that decided, or the check that failed before any rule was asked.
    pub rule: &'static str,
    pub checks: Vec<Check>,
}

#[derive(Default)]
struct Checks(Vec<Check>);

impl Checks {
    /// Notes a step: what it says when it is passed, and what when not.
    fn note(&mut self, check: &'static str, passed: bool, yes: impl Into<String>, no: impl Into<String>) {
        let reason = if passed { yes.into() } else { no.into() };
        self.0.push(Check { check, passed, reason });
    }
}

impl Registry {
    /// Walks the steps of a call for somebody, without calling anything.
    ///
    /// A tool that only other tenants have does not exist here, for nobody.
    pub async fn explain_tool(
        &self,
        permit: &Permit<UpdateTools>,
        name: &str,
        about: ExplainAbout,
    ) -> Result<Explained> {
        let asker = permit.caller();
        let view = self.catalogue.view(asker.tenant, asker.epoch).await?;
        let missing = || Error::ToolNotFound { tool: name.to_owned() };
        let entry = view.tools.get(name).ok_or_else(missing)?;
        if entry.in_catalogue(view.slug()) == Err(Unlisted::NotForThisTenant) {
            return Err(missing());
        }
        let mut checks = Checks::default();
        let subject = match about {
            ExplainAbout::Asker => asker.clone(),
            ExplainAbout::User(id) => self.identity.user_caller(asker.tenant, id).await?,
            ExplainAbout::Key(id) => {
                let (caller, works) = self.identity.behind_key(asker.tenant, id).await?;
                let no = works.err().unwrap_or_default();
                checks.note("credentials", works.is_ok(), "the key works", no);
                caller
            }
        };
        let works = checks.0.iter().all(|check| check.passed);
        let def = match entry {
            ToolEntry::Code(tool) => ToolDef::clone(&tool.def),
            ToolEntry::Own(own) => own.def(Side::Live)?,
        };
        let rule = walk(&mut checks, entry, &def, &subject, &view);
        let failed = checks.0.iter().find(|check| !check.passed);
        Ok(Explained {
            tool: def.slug.to_string(),
            visible: works && seen(entry, &subject, &view).is_some(),
            callable: failed.is_none(),
            decision: if failed.is_some() { Verdict::Deny } else { rule.verdict() },
            reason: failed.map_or_else(|| rule.to_string(), |check| check.reason.clone()),
            rule: failed.map_or(rule.as_str(), |check| check.check),
            subject: ExplainedFor {
                actor: subject.actor(),
                name: subject.display_name.to_string(),
                role: subject.role,
            },
            checks: checks.0,
        })
    }
}

/// The steps from the catalogue to the policy. Returns what the policy says, whatever stood before it.
fn walk(checks: &mut Checks, entry: &ToolEntry, def: &ToolDef, subject: &Caller, view: &View) -> Rule {
    let slug = &def.slug;
    checks.note("exists", true, format!("`{slug}` is a tool here"), "");
    let listed =
        if def.tenant_slugs.is_empty() { "every tenant may have it" } else { "this tenant is on its list" };
    checks.note("tenant_allow_list", true, listed, "");
    let off_for_all = view.is_off_for_everybody(slug);
    let no = "the operator has switched it off for everybody";
    checks.note("switched_on_for_everybody", !off_for_all, "nobody has switched it off for everybody", no);
    let catalogue = entry.in_catalogue(view.slug());
    let no = match catalogue {
        Ok(()) => "",
        Err(Unlisted::NotForThisTenant) => "this tenant is not on its list",
        Err(Unlisted::NotSwitchedOn) => "the tool is off by default, and this tenant has not switched it on",
        Err(Unlisted::SwitchedOff) => "this tenant has switched it off",
    };
    checks.note(
        "switched_on_here",
        catalogue.is_ok() || off_for_all,
        "it is switched on for this tenant",
        no,
    );
    match &def.required_permission {
        None => checks.note("required_permission", true, "it requires no permission of its own", ""),
        Some(name) => {
            let (yes, no) = (
                format!("`{name}` is held"),
                format!("the tool requires the permission `{name}`, and the subject does not have it"),
            );
            checks.note("required_permission", subject.permissions.has(name.as_str()), yes, no);
        }
    }
    checks.note("active", def.is_active, "it is active", "it is not active: `is_active` is false");
    let live = match entry {
        ToolEntry::Code(_) => true,
        ToolEntry::Own(own) => own.stored.live.is_some(),
    };
    let published = def.status == ToolStatus::Published && live;
    let no = format!("it is {} and runs only once it is published", def.status);
    checks.note("status", published, "it is published", no);
    let may_run = subject.permissions.has("tools.tenant.run");
    let no = format!("the role {} does not hold `tools.tenant.run`", subject.role);
    checks.note("may_run", may_run, "`tools.tenant.run` is held", no);
    let rule = tw_policy::decide(&Facts {
        by_agent: subject.principal.is_agent(),
        // Looked at above; here it is about whether somebody has to be asked.
        may_run: true,
        holds_required: true,
        level: def.level,
        policy: def.policy,
        approve_all_writes: view.setting("approve_all_writes"),
    });
    checks.note("policy", rule.verdict() != Verdict::Deny, rule.to_string(), rule.to_string());
    rule
}
