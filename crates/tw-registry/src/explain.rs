//! Why somebody sees a tool or may call it, or why not.

use serde::Serialize;
use tw_base::{Error, Result};
use tw_identity::rights::{Permit, UpdateTools};
use tw_model::{Actor, Caller, KeyId, Mode, Role, ToolDef, Unlisted, UserId};
use tw_policy::{CallSwitch, Facts, Rule, Unavailable, Verdict};

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

/// The checks of a call, from the catalogue to the policy: the very ones that a call is held against. Returns what the
/// policy says, whatever stood before it.
fn walk(checks: &mut Checks, entry: &ToolEntry, def: &ToolDef, subject: &Caller, view: &View) -> Rule {
    let slug = &def.slug;
    checks.note("exists", true, format!("`{slug}` is a tool here"), "");
    let facts = Facts::of(def, subject, view.setting("approve_all_writes"));
    let [catalogue, gates @ ..] = entry.switches(view.slug(), Side::Live).checks(Mode::Production);
    note_catalogue(checks, def, catalogue.1, view);
    match &def.required_permission {
        None => checks.note("required_permission", true, "it requires no permission of its own", ""),
        Some(name) => {
            let (yes, no) = (
                format!("`{name}` is held"),
                format!("the tool requires the permission `{name}`, and the subject does not have it"),
            );
            checks.note("required_permission", facts.holds_required, yes, no);
        }
    }
    for (gate, passed) in gates {
        let no = passed.err().map_or_else(String::new, |why| why_not(why, entry));
        let (check, yes) = said_of(gate);
        checks.note(check, passed.is_ok(), yes, no);
    }
    let no = format!("the role {} does not hold `tools.tenant.run`", subject.role);
    checks.note("may_run", facts.may_run, "`tools.tenant.run` is held", no);
    // Both are looked at above; here it is about whether somebody has to be asked.
    let rule = tw_policy::decide(&Facts { may_run: true, holds_required: true, ..facts });
    checks.note("policy", rule.verdict() != Verdict::Deny, rule.to_string(), rule.to_string());
    rule
}

/// The one check of the catalogue, as three: who has to change what is another person for each.
fn note_catalogue(checks: &mut Checks, def: &ToolDef, listed: Result<(), Unavailable>, view: &View) {
    let unlisted = match listed {
        Err(Unavailable::Hidden(unlisted)) => Some(unlisted),
        _ => None,
    };
    let is_for_all = def.tenant_slugs.is_empty();
    let yes = if is_for_all { "every tenant may have it" } else { "this tenant is on its list" };
    let is_for_tenant = unlisted != Some(Unlisted::NotForThisTenant);
    checks.note("tenant_allow_list", is_for_tenant, yes, "this tenant is not on its list");
    let is_off = unlisted == Some(Unlisted::SwitchedOff);
    let is_off_for_all = is_off && view.is_off_for_everybody(&def.slug);
    checks.note(
        "switched_on_for_everybody",
        !is_off_for_all,
        "nobody has switched it off for everybody",
        "the operator has switched it off for everybody",
    );
    let no = match unlisted {
        Some(Unlisted::NotSwitchedOn) => "the tool is off by default, and this tenant has not switched it on",
        _ => "this tenant has switched it off",
    };
    let is_on = !matches!(unlisted, Some(Unlisted::NotSwitchedOn | Unlisted::SwitchedOff)) || is_off_for_all;
    checks.note("switched_on_here", is_on, "it is switched on for this tenant", no);
}

/// What a check is called, and what is said where it passes.
fn said_of(gate: CallSwitch) -> (&'static str, &'static str) {
    match gate {
        CallSwitch::Catalogue => ("catalogue", "it is in the catalogue"),
        CallSwitch::NotDisabled => ("not_disabled", "its status does not switch it off"),
        CallSwitch::Active => ("active", "it is active"),
        CallSwitch::NotHeld => ("not_held", "no change on the server it comes from waits for a decision"),
        CallSwitch::KnownKind => ("known_kind", "this program knows its kind"),
        CallSwitch::Published => ("status", "it is published"),
    }
}

fn why_not(why: Unavailable, entry: &ToolEntry) -> String {
    match why {
        Unavailable::Hidden(unlisted) => unlisted.as_str().to_owned(),
        Unavailable::Disabled => "its status is `disabled`".to_owned(),
        Unavailable::Inactive => "it is not active: `is_active` is false".to_owned(),
        Unavailable::Held => {
            "it changed on the server it comes from, and is held until somebody decides about the change"
                .to_owned()
        }
        Unavailable::UnknownKind => {
            let kind = entry.unknown_kind(Side::Live).unwrap_or_default();
            format!("it is of the kind `{kind}`, which this version of the program cannot run")
        }
        Unavailable::NotPublished(status) => format!("it is {status} and runs only once it is published"),
    }
}
