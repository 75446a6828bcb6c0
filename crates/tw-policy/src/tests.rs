use std::sync::Arc;

use proptest::prelude::*;
use tw_model::{Authored, Execution, Implementation, Layer, Listing, Origin, ToolId, ToolStatus};

use super::*;

fn tool(level: Option<Level>, policy: Option<Policy>) -> ToolDef {
    let slug: tw_model::Slug = "data.updateRecord".parse().unwrap();
    ToolDef {
        id: ToolId::of_code(slug.as_str()),
        name: "Update a record".to_owned(),
        description: String::new(),
        category: "data".to_owned(),
        icon: "database".to_owned(),
        tags: Vec::new(),
        version: semver::Version::new(1, 0, 0),
        layer: Layer::Code,
        origin: Origin::Code,
        status: ToolStatus::Published,
        enabled: None,
        is_active: true,
        listing: Listing::OptOut,
        level,
        policy,
        required_permission: None,
        tenant_slugs: Vec::new(),
        output_sections: Vec::new(),
        collaborative: false,
        visible: None,
        is_async: false,
        timeout_ms: ToolDef::TIMEOUT_MS_DEFAULT,
        execution: Execution::default(),
        input_schema: Arc::new(serde_json::json!({ "type": "object" })),
        output_schema: None,
        implementation: Implementation::Code,
        authored: Authored::none(),
        published_at: None,
        has_draft: false,
        slug,
    }
}

fn agents(tool: &ToolDef) -> Facts<'_> {
    Facts { tool, by_agent: true, may_run: true, holds_required: true, approve_all_writes: false }
}

#[track_caller]
fn check(level: Option<Level>, policy: Option<Policy>, expected: Verdict) {
    assert_eq!(decide(&agents(&tool(level, policy))).verdict(), expected, "{level:?} {policy:?}");
}

#[test]
fn level_decides_where_no_policy_is_given() {
    check(Some(Level::Read), None, Verdict::Allow);
    check(Some(Level::Draft), None, Verdict::Allow);
    check(Some(Level::Write), None, Verdict::Ask);
    check(Some(Level::Destructive), None, Verdict::Ask);
    check(None, None, Verdict::Allow);
}

#[test]
fn policy_decides_where_it_is_given() {
    check(Some(Level::Read), Some(Policy::AlwaysAsk), Verdict::Ask);
    check(Some(Level::Write), Some(Policy::Auto), Verdict::Allow);
    check(None, Some(Policy::AlwaysAsk), Verdict::Ask);
}

#[test]
fn nothing_relaxes_destructive() {
    check(Some(Level::Destructive), Some(Policy::Auto), Verdict::Ask);
}

#[test]
fn tenant_that_approves_all_writes_is_asked_despite_auto() {
    let tool = tool(Some(Level::Write), Some(Policy::Auto));
    let facts = Facts { approve_all_writes: true, ..agents(&tool) };
    assert_eq!(decide(&facts), Rule::ApproveAllWrites);
}

#[test]
fn person_is_never_asked_and_still_needs_the_right() {
    let tool = tool(Some(Level::Destructive), Some(Policy::AlwaysAsk));
    let facts = Facts { by_agent: false, ..agents(&tool) };
    assert_eq!(decide(&facts), Rule::PersonsOwnCall);
    assert_eq!(decide(&Facts { may_run: false, ..facts }), Rule::MayNotRun);
}

#[test]
fn required_permission_binds_people_and_agents() {
    let mut tool = tool(Some(Level::Read), None);
    tool.required_permission = Some("entities.team.read".parse().unwrap());
    for by_agent in [true, false] {
        let facts = Facts { by_agent, holds_required: false, ..agents(&tool) };
        assert_eq!(decide(&facts), Rule::LacksPermission);
    }
}

/// The rule of the house in other words, to hold the list of rules against.
fn reference(facts: &Facts<'_>) -> Verdict {
    if !facts.may_run || (facts.tool.required_permission.is_some() && !facts.holds_required) {
        return Verdict::Deny;
    }
    if !facts.by_agent {
        return Verdict::Allow;
    }
    match (facts.tool.level, facts.tool.policy) {
        (Some(Level::Destructive), _) | (_, Some(Policy::AlwaysAsk)) | (Some(Level::Write), None) => {
            Verdict::Ask
        }
        (Some(Level::Write), Some(Policy::Auto)) if facts.approve_all_writes => Verdict::Ask,
        _ => Verdict::Allow,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn rules_agree_with_the_reference(
        level in prop::option::of(prop::sample::select(Level::ALL)),
        policy in prop::option::of(prop::sample::select(Policy::ALL)),
        bits in any::<[bool; 5]>(),
    ) {
        let mut tool = tool(level, policy);
        tool.required_permission = bits[4].then(|| "a.b".parse().unwrap());
        let facts = Facts {
            tool: &tool, by_agent: bits[0], may_run: bits[1], holds_required: bits[2], approve_all_writes: bits[3],
        };
        prop_assert_eq!(decide(&facts).verdict(), reference(&facts));
        prop_assert_eq!(explain(&facts).last().unwrap().rule, decide(&facts));
    }
}
