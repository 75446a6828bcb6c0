//! No way of calling a tool is laxer than the direct call: what is decided is what a reference says, and at least as
//! strict as a direct call by each party.

use std::{
    collections::BTreeMap,
    env,
    hash::{BuildHasher, Hasher, RandomState},
    sync::Arc,
};

use tw_model::{
    Caller, CallerParts, Channel, Implementation, KeyId, Level, Listing, Mode, Policy, Principal, Role,
    Source, TenantId, ToolDef, ToolStatus, UserId,
};

use crate::{CallSwitches, Facts, GateOverride, Verdict, strictest};

const CASES: u64 = 20_000;
/// Held by everybody, by those who build, and by administrators in person.
const PERMISSIONS: [&str; 3] = ["entities.team.read", "entities.team.delete", "members.tenant.read"];

/// What a definition says about its calls.
#[derive(Clone, Copy, Debug)]
struct Said {
    level: Option<Level>,
    policy: Option<Policy>,
    required: Option<&'static str>,
    /// How dangerous the input of this call is by what the executor says.
    of_input: Option<Level>,
}

#[derive(Clone, Copy, Debug)]
struct Who {
    is_agent: bool,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    Direct,
    Pinned,
    Edited,
    EditedPinned,
    Inner,
    InnerOfEdited,
}

/// A state of a tool and its versions, of overrides and switches, and a call.
#[derive(Clone, Debug)]
struct Case {
    live: Said,
    /// An older version, or whatever else would run instead of what is live.
    then: Said,
    is_active: bool,
    /// It changed on the server it comes from, and nobody has decided about that.
    is_held: bool,
    /// This program knows what runs it.
    is_known_kind: bool,
    status: ToolStatus,
    listing: Listing,
    for_tenants: &'static [&'static str],
    always_asks: bool,
    /// What the operator has switched for everybody.
    operator: Option<bool>,
    tenant: GateOverride,
    approve_all_writes: bool,
    mode: Mode,
    caller: Who,
    /// Who made the calls above an inner call.
    above: Vec<Who>,
    /// Who changed the input before it was approved.
    approver: Who,
    way: Way,
}

impl Case {
    fn parties(&self) -> Vec<Who> {
        let mut parties = vec![self.caller];
        if matches!(self.way, Way::Inner | Way::InnerOfEdited) {
            parties.extend(&self.above);
        }
        if matches!(self.way, Way::Edited | Way::EditedPinned | Way::InnerOfEdited) {
            parties.push(self.approver);
        }
        parties
    }

    fn is_held_against_then(&self) -> bool {
        matches!(self.way, Way::Pinned | Way::EditedPinned)
    }

    fn directly_by(&self, caller: Who) -> Self {
        Self { caller, way: Way::Direct, ..self.clone() }
    }
}

/// What the policy says, by the functions that a call is decided with.
fn decided(case: &Case) -> Verdict {
    let mut live = tool(case.live);
    live.is_active = case.is_active;
    live.status = case.status;
    live.listing = case.listing;
    live.tenant_slugs = case.for_tenants.iter().map(|&slug| slug.to_owned()).collect();
    let operator = GateOverride { enabled: case.operator, ..GateOverride::default() };
    operator.lay_over(&mut live, case.always_asks);
    case.tenant.lay_over(&mut live, case.always_asks);
    let switches = CallSwitches {
        listed: live.in_catalogue("acme"),
        is_active: live.is_active,
        is_held: case.is_held,
        is_known_kind: case.is_known_kind,
        status: live.status,
    };
    if switches.available(case.mode).is_err() {
        return Verdict::Deny;
    }
    let mut definitions = vec![(live, case.live.of_input)];
    if case.is_held_against_then() {
        definitions.insert(0, (tool(case.then), case.then.of_input));
    }
    let mut facts = Vec::new();
    for party in case.parties().into_iter().map(caller) {
        facts.extend(definitions.iter().map(|(def, of_input)| {
            let facts = Facts::of(def, &party, case.approve_all_writes);
            Facts { level: facts.level.max(*of_input), ..facts }
        }));
    }
    strictest(&facts).unwrap().verdict()
}

/// The same in other words, and without a function of the policy.
fn expected(case: &Case) -> Verdict {
    let Case { tenant, operator, .. } = case;
    let is_for_tenant = case.for_tenants.is_empty() || case.for_tenants.contains(&"acme");
    let is_off = [*operator, tenant.enabled].contains(&Some(false));
    let is_on = [*operator, tenant.enabled].contains(&Some(true)) || case.listing == Listing::OptOut;
    let is_active = case.is_active && tenant.is_active != Some(false);
    let runs = match tenant.status.unwrap_or(case.status) {
        ToolStatus::Published => true,
        ToolStatus::Draft => case.mode == Mode::Debug,
        ToolStatus::Deprecated | ToolStatus::Disabled => false,
    };
    let is_to_run = is_active && runs && case.is_known_kind && !case.is_held;
    if !is_for_tenant || is_off || !is_on || !is_to_run {
        return Verdict::Deny;
    }
    let overridden = if case.always_asks { None } else { tenant.policy };
    let live = Said {
        level: [case.live.level, tenant.level].into_iter().flatten().max(),
        policy: overridden.or(case.live.policy),
        ..case.live
    };
    let held_against = if case.is_held_against_then() { vec![live, case.then] } else { vec![live] };
    let mut verdict = Verdict::Allow;
    for who in case.parties() {
        for said in &held_against {
            verdict = verdict.max(expected_of(*said, who, case.approve_all_writes));
        }
    }
    verdict
}

fn expected_of(said: Said, who: Who, approve_all_writes: bool) -> Verdict {
    let builds = matches!(who.role, Role::Admin | Role::Builder);
    let holds_required = match said.required {
        None | Some("entities.team.read") => true,
        Some("entities.team.delete") => builds,
        Some(_) => who.role == Role::Admin && !who.is_agent,
    };
    if who.role == Role::Viewer || !holds_required {
        return Verdict::Deny;
    }
    let level = [said.level, said.of_input].into_iter().flatten().max();
    let asks = match level {
        Some(Level::Destructive) => true,
        Some(Level::Write) => said.policy != Some(Policy::Auto) || approve_all_writes,
        _ => said.policy == Some(Policy::AlwaysAsk),
    };
    if who.is_agent && asks { Verdict::Ask } else { Verdict::Allow }
}

#[test]
fn no_way_of_calling_is_laxer_than_the_direct_call() {
    // `make soak` tries other states.
    let first = env::var_os("TW_SOAK").map_or(0, |_| RandomState::new().build_hasher().finish());
    let mut seen: BTreeMap<(Way, Verdict), usize> = BTreeMap::new();
    for seed in (0..CASES).map(|step| first.wrapping_add(step)) {
        let case = Draw(seed).case();
        let verdict = decided(&case);
        assert_eq!(verdict, expected(&case), "seed {seed}: {case:#?}");
        for party in case.parties() {
            assert!(decided(&case.directly_by(party)) <= verdict, "seed {seed}, {party:?}: {case:#?}");
        }
        *seen.entry((case.way, verdict)).or_default() += 1;
    }
    // Every way is tried with every end, and often.
    assert_eq!(seen.len(), 6 * 3, "{seen:?}");
    assert!(seen.values().all(|count| 300 < *count), "{seen:?}");
}

fn tool(said: Said) -> ToolDef {
    ToolDef {
        level: said.level,
        policy: said.policy,
        required_permission: said.required.map(|permission| permission.parse().unwrap()),
        ..ToolDef::new("a".parse().unwrap(), Implementation::Internal, Arc::default())
    }
}

fn caller(who: Who) -> Caller {
    let id = UserId::new();
    let (principal, permissions) = if who.is_agent {
        (Principal::Agent { slug: "a".to_owned(), owner: id }, who.role.permissions_of_an_agent())
    } else {
        (Principal::User { id }, who.role.permissions())
    };
    Caller::new(CallerParts {
        tenant: TenantId::new(),
        tenant_slug: "acme".parse().unwrap(),
        principal,
        display_name: "A".into(),
        role: who.role,
        permissions,
        source: Source::Api,
        channel: Channel::Rest,
        key: Some(KeyId::new()),
        login: None,
        expires: None,
        epoch: 0,
        chain: Arc::default(),
        trace: None,
    })
}

/// Cases by a number, the same for the same number.
struct Draw(u64);

impl Draw {
    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        let index = self.next() % u64::try_from(choices.len()).unwrap();
        choices[usize::try_from(index).unwrap()]
    }

    /// One of several, or nothing half of the time.
    fn perhaps<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let chosen = self.one_of(choices);
        self.one_of(&[None, Some(chosen)])
    }

    /// Nearly always what lets a tool be called: each switch alone would otherwise hide all others.
    fn mostly<T: Copy>(&mut self, usual: T, others: &[T]) -> T {
        if self.next().is_multiple_of(12) { self.one_of(others) } else { usual }
    }

    fn said(&mut self) -> Said {
        Said {
            level: self.perhaps(Level::ALL),
            policy: self.perhaps(Policy::ALL),
            required: self.mostly(None, &PERMISSIONS.map(Some)),
            of_input: self.mostly(None, &[Some(Level::Write), Some(Level::Destructive)]),
        }
    }

    fn who(&mut self) -> Who {
        let is_agent = self.one_of(&[true, true, false]);
        let role = self.mostly(if is_agent { Role::Agent } else { Role::Member }, &Role::ALL);
        Who { is_agent, role }
    }

    fn case(&mut self) -> Case {
        let way = self.one_of(&[
            Way::Direct,
            Way::Pinned,
            Way::Edited,
            Way::EditedPinned,
            Way::Inner,
            Way::InnerOfEdited,
        ]);
        let tenant = GateOverride {
            enabled: self.mostly(None, &[Some(true), Some(false)]),
            is_active: self.mostly(None, &[Some(true), Some(false)]),
            status: self.mostly(None, &[Some(ToolStatus::Deprecated), Some(ToolStatus::Disabled)]),
            level: self.perhaps(Level::ALL),
            policy: self.perhaps(Policy::ALL),
        };
        Case {
            live: self.said(),
            then: self.said(),
            is_active: self.mostly(true, &[false]),
            is_held: self.mostly(false, &[true]),
            is_known_kind: self.mostly(true, &[false]),
            status: self.mostly(ToolStatus::Published, ToolStatus::ALL),
            listing: self.mostly(Listing::OptOut, Listing::ALL),
            for_tenants: self.mostly(&[], &[&["acme"], &["other"], &["other", "acme"]]),
            always_asks: self.mostly(false, &[true]),
            operator: self.mostly(None, &[Some(true), Some(false)]),
            tenant,
            approve_all_writes: self.one_of(&[true, false]),
            mode: self.one_of(&[Mode::Production, Mode::Production, Mode::Debug]),
            caller: self.who(),
            above: (0..self.one_of(&[1, 2, 3])).map(|_| self.who()).collect(),
            approver: Who { is_agent: false, role: self.one_of(&Role::ALL) },
            way,
        }
    }
}
