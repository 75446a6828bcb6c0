//! Who may call what, and what a person has to approve first. Pure: facts in, verdict out.
//!
//! This room asks nobody and remembers nothing, so that the same facts always get the same verdict and
//! `explain` can show the very steps that were taken. It must never read a clock, a database or a
//! configuration.
//!
//! Start with [`decide`].

mod gates;

use std::fmt;

use serde::Serialize;
use tw_model::{Level, Policy};

pub use gates::{CallSwitch, CallSwitches, GateOverride, Unavailable, holds_required};

/// What a decision is made from.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Whether the call is made by an agent rather than by a person or a person's program.
    pub by_agent: bool,
    /// Whether the caller holds the right to run tools at all.
    pub may_run: bool,
    /// Whether the caller holds the tool's `required_permission`; true where it has none.
    pub holds_required: bool,
    /// How dangerous the call is: by the tool's definition, or by its input where that says more.
    pub level: Option<Level>,
    pub policy: Option<Policy>,
    /// The tenant wants every `write` asked for, whatever a tool's policy says.
    pub approve_all_writes: bool,
}

/// What is to happen with a call. The order is from lax to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allow,
    Ask,
    Deny,
}

/// The rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    MayNotRun,
    LacksPermission,
    PersonsOwnCall,
    Destructive,
    ApproveAllWrites,
    PolicyAuto,
    PolicyAlwaysAsk,
    LevelRead,
    LevelDraft,
    LevelWrite,
    NothingSaid,
}

impl Rule {
    /// The verdict this rule stands for.
    #[must_use]
    pub const fn verdict(self) -> Verdict {
        match self {
            Self::MayNotRun | Self::LacksPermission => Verdict::Deny,
            Self::Destructive | Self::ApproveAllWrites | Self::PolicyAlwaysAsk | Self::LevelWrite => {
                Verdict::Ask
            }
            Self::PersonsOwnCall
            | Self::PolicyAuto
            | Self::LevelRead
            | Self::LevelDraft
            | Self::NothingSaid => Verdict::Allow,
        }
    }

    /// The word used on the wire and in the log.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::MayNotRun => "may_not_run",
            Self::LacksPermission => "lacks_permission",
            Self::PersonsOwnCall => "persons_own_call",
            Self::Destructive => "destructive",
            Self::ApproveAllWrites => "approve_all_writes",
            Self::PolicyAuto => "policy_auto",
            Self::PolicyAlwaysAsk => "policy_always_ask",
            Self::LevelRead => "level_read",
            Self::LevelDraft => "level_draft",
            Self::LevelWrite => "level_write",
            Self::NothingSaid => "nothing_said",
        }
    }

    /// The rule whose words these are, as they are kept with an approval.
    #[must_use]
    pub fn told(words: &str) -> Option<Self> {
        RULES.iter().map(|(rule, _)| *rule).find(|rule| rule.to_string() == words)
    }
}

impl fmt::Display for Rule {
    /// Why, in words for the caller or the approver.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MayNotRun => "the caller may not run tools",
            Self::LacksPermission => "the caller lacks the permission that the tool requires",
            Self::PersonsOwnCall => "a person's own call is its own approval",
            Self::Destructive => "the tool is destructive, and no setting relaxes that",
            Self::ApproveAllWrites => "the tenant wants every write approved",
            Self::PolicyAuto => "the tool's policy lets agents run it",
            Self::PolicyAlwaysAsk => "the tool's policy asks for every call of an agent",
            Self::LevelRead => "the tool only reads",
            Self::LevelDraft => "the tool only makes drafts",
            Self::LevelWrite => "the tool writes",
            Self::NothingSaid => "the tool has neither a level nor a policy",
        })
    }
}

/// Whether a rule has anything to say about a call.
type Applies = fn(&Facts) -> bool;

/// The rules in the order in which they are asked. The first that applies decides.
///
/// Denials come before everything else, and what only ever takes rights away comes before what grants
/// them: a definition or an override can therefore make a tool stricter and cannot open one that is
/// destructive.
const RULES: [(Rule, Applies); 11] = [
    (Rule::MayNotRun, |facts| !facts.may_run),
    (Rule::LacksPermission, |facts| !facts.holds_required),
    (Rule::PersonsOwnCall, |facts| !facts.by_agent),
    (Rule::Destructive, |facts| facts.level == Some(Level::Destructive)),
    (Rule::ApproveAllWrites, |facts| facts.approve_all_writes && facts.level == Some(Level::Write)),
    (Rule::PolicyAlwaysAsk, |facts| facts.policy == Some(Policy::AlwaysAsk)),
    (Rule::PolicyAuto, |facts| facts.policy == Some(Policy::Auto)),
    (Rule::LevelRead, |facts| facts.level == Some(Level::Read)),
    (Rule::LevelDraft, |facts| facts.level == Some(Level::Draft)),
    (Rule::LevelWrite, |facts| facts.level == Some(Level::Write)),
    (Rule::NothingSaid, |_| true),
];

/// Decides one call: the first rule that applies.
#[must_use]
pub fn decide(facts: &Facts) -> Rule {
    RULES
        .iter()
        .find_map(|(rule, applies)| applies(facts).then_some(*rule))
        .expect("the last rule always applies")
}

/// Decides one call that several definitions have a say in, such as the version that was named and the one that is
/// live: the strictest of their rules. `None` without any facts.
#[must_use]
pub fn strictest(facts: &[Facts]) -> Option<Rule> {
    // Of equally strict rules the first says why: it belongs to what would run.
    facts.iter().map(decide).reduce(|first, rule| if first.verdict() < rule.verdict() { rule } else { first })
}

/// A rule that was asked, and whether it applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RuleChecked {
    pub rule: Rule,
    pub applies: bool,
}

/// The rules that were asked on the way to the verdict, the deciding one last.
#[must_use]
pub fn explain(facts: &Facts) -> Vec<RuleChecked> {
    let mut asked = Vec::new();
    for (rule, applies) in &RULES {
        let applies = applies(facts);
        asked.push(RuleChecked { rule: *rule, applies });
        if applies {
            break;
        }
    }
    asked
}

#[cfg(test)]
mod tests;
