mod ways;

use proptest::prelude::*;

use super::*;

fn agents(level: Option<Level>, policy: Option<Policy>) -> Facts {
    Facts { by_agent: true, may_run: true, holds_required: true, level, policy, approve_all_writes: false }
}

#[track_caller]
fn check(level: Option<Level>, policy: Option<Policy>, expected: Verdict) {
    assert_eq!(decide(&agents(level, policy)).verdict(), expected, "{level:?} {policy:?}");
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
fn rule_is_known_by_its_words() {
    assert_eq!(Rule::told(&Rule::LevelWrite.to_string()), Some(Rule::LevelWrite));
    assert_eq!(Rule::told(&Rule::Destructive.to_string()), Some(Rule::Destructive));
    assert_eq!(Rule::told("somebody wants it so"), None);
}

#[test]
fn nothing_relaxes_destructive() {
    check(Some(Level::Destructive), Some(Policy::Auto), Verdict::Ask);
}

#[test]
fn tenant_that_approves_all_writes_is_asked_despite_auto() {
    let facts = Facts { approve_all_writes: true, ..agents(Some(Level::Write), Some(Policy::Auto)) };
    assert_eq!(decide(&facts), Rule::ApproveAllWrites);
}

#[test]
fn person_is_never_asked_and_still_needs_the_right() {
    let facts = Facts { by_agent: false, ..agents(Some(Level::Destructive), Some(Policy::AlwaysAsk)) };
    assert_eq!(decide(&facts), Rule::PersonsOwnCall);
    assert_eq!(decide(&Facts { may_run: false, ..facts }), Rule::MayNotRun);
}

#[test]
fn required_permission_binds_people_and_agents() {
    for by_agent in [true, false] {
        let facts = Facts { by_agent, holds_required: false, ..agents(Some(Level::Read), None) };
        assert_eq!(decide(&facts), Rule::LacksPermission);
    }
}

#[test]
fn strictest_rule_wins_and_the_first_of_equals_says_why() {
    let [read, write, asks] = [
        agents(Some(Level::Read), None),
        agents(Some(Level::Write), None),
        agents(None, Some(Policy::AlwaysAsk)),
    ];
    let denied = Facts { holds_required: false, ..read };
    assert_eq!(strictest(&[read, write]), Some(Rule::LevelWrite));
    assert_eq!(strictest(&[write, read]), Some(Rule::LevelWrite));
    assert_eq!(strictest(&[asks, write]), Some(Rule::PolicyAlwaysAsk));
    assert_eq!(strictest(&[write, denied, asks]), Some(Rule::LacksPermission));
    assert_eq!(strictest(&[]), None);
}

/// The same rules in other words, to hold the list of rules against.
fn reference(facts: &Facts) -> Verdict {
    if !facts.may_run || !facts.holds_required {
        return Verdict::Deny;
    }
    if !facts.by_agent {
        return Verdict::Allow;
    }
    match (facts.level, facts.policy) {
        (Some(Level::Destructive), _) | (_, Some(Policy::AlwaysAsk)) | (Some(Level::Write), None) => {
            Verdict::Ask
        }
        (Some(Level::Write), Some(Policy::Auto)) if facts.approve_all_writes => Verdict::Ask,
        _ => Verdict::Allow,
    }
}

fn any_facts() -> impl Strategy<Value = Facts> {
    let level = prop::option::of(prop::sample::select(Level::ALL));
    let policy = prop::option::of(prop::sample::select(Policy::ALL));
    (level, policy, any::<[bool; 4]>()).prop_map(|(level, policy, bits)| {
        let [by_agent, may_run, holds_required, approve_all_writes] = bits;
        Facts { by_agent, may_run, holds_required, level, policy, approve_all_writes }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100_000))]

    #[test]
    fn rules_agree_with_the_reference(facts in any_facts()) {
        prop_assert_eq!(decide(&facts).verdict(), reference(&facts));
        prop_assert_eq!(explain(&facts).last().unwrap().rule, decide(&facts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    /// Whatever a call is held against besides the tool as it is now makes it stricter or changes nothing.
    #[test]
    fn no_other_definition_makes_a_call_laxer(now in any_facts(), others in prop::collection::vec(any_facts(), 0..3)) {
        let direct = decide(&now).verdict();
        let mut all = others.clone();
        all.push(now);
        prop_assert!(direct <= strictest(&all).unwrap().verdict());
        let strictest_alone = all.iter().map(|facts| decide(facts).verdict()).max();
        prop_assert_eq!(strictest(&all).map(Rule::verdict), strictest_alone);
    }

    /// Raising the level, or taking a right away, never makes a call laxer.
    #[test]
    fn no_stricter_fact_makes_a_call_laxer(facts in any_facts()) {
        let verdict = decide(&facts).verdict();
        let raised = Facts { level: Some(Level::Destructive), ..facts };
        for stricter in [raised, Facts { may_run: false, ..facts }, Facts { holds_required: false, ..facts }] {
            prop_assert!(verdict <= decide(&stricter).verdict());
        }
    }
}
