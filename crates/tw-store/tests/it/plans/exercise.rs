//! Asks everything of the store that can be asked of it, so that it says every statement it has.

use std::{sync::Arc, time::Duration};

use tw_model::{
    ApprovalId, ApprovalStatus, ArtifactId, CredentialId, CredentialType, DeliveryStatus, EventKind, Level,
    Money, PendingCallId, PendingState, Role, RunId, RunStatus, SessionId, StandingApprovalId,
    StandingStatus, Switches, TenantId, TestCaseId, Timestamp, ToolId, Usage, UsageId, UserId, WaitsFor,
    WebhookDeliveryId, WebhookEvent, WebhookId, WebhookOff,
};
use tw_store::{
    AddedCase, AuditFilter, By, Changed, DeliveryTry, KeyScope, Left, McpSignIn, NewAudit, NewLogin,
    NewUsage, Note, Opens, Override, Premise, RenewedGrant, Rewrap, RunPlace, SealedSecret, SpendingLimits,
    StandingFilter, Store, StoredArtifact, StoredCredential, StoredMcpServer, StoredTool, TenantChange,
    TenantScope, TestCase, TestResult, Wanted, Webhook, WebhookDelivery, WrappedKey,
    log::{
        ApprovalDecision, Audit, Change, Claim, EditedInput, Entry, Expect, Finished, NewApproval,
        NewStanding, NewWait, Park, Transition, WaitChange,
    },
};
use tw_test::{TestDb, entries};
use uuid::Uuid;

use super::filters;
use crate::mcp_grants::grant_of;
use crate::mcp_servers::{drift_of, imported, mcp_server};
use crate::world::{FAR, fresh_hash, key, link_to, login_of, member, two_tenants, use_link};

const PAST: Timestamp = Timestamp::from_micros(0);

/// Everything, once.
pub(super) async fn everything(db: &TestDb) -> [TenantId; 2] {
    let (store, acme, globex) = two_tenants(db).await;
    tenants(&store, &acme).await;
    people(&store, &acme, &globex).await;
    tools(&store, &acme).await;
    mcp_servers(&store, &acme).await;
    credentials(&store, &acme).await;
    artifacts(&acme).await;
    keys_of_requests(&store, &acme).await;
    calls(&store, &acme).await;
    runs(&acme).await;
    usage(&acme).await;
    servers(&store, &acme).await;
    webhooks(&store, &acme).await;
    [acme.id(), globex.id()]
}

fn line(action: &str) -> NewAudit {
    NewAudit { action: action.to_owned(), object: "x".to_owned(), before: None, after: None, note: None }
}

async fn tenants(store: &Store, acme: &TenantScope) {
    store.tenants().await.unwrap();
    store.all_epochs().await.unwrap();
    store.find_tenant(&"acme".parse().unwrap()).await.unwrap();
    store.meta("fact").await.unwrap();
    store.set_meta_once("fact", "1").await.unwrap();
    store.replace_meta("fact", "2").await.unwrap();
    acme.tenant().await.unwrap();
    let change = TenantChange { name: Some("Acme".to_owned()), ..TenantChange::default() };
    acme.change_tenant(change, None, &By::operator()).await.unwrap();
    acme.audit(&By::operator(), line("a")).await.unwrap();
    store.log().audit(acme.id(), By::operator(), line("a")).await.unwrap();
    let (word, moment) = (Some("a".to_owned()), Some(Timestamp::now()));
    let any = AuditFilter::default;
    for filter in [
        any(),
        AuditFilter { action: word.clone(), ..any() },
        AuditFilter { object: word.clone(), ..any() },
        AuditFilter { since: moment, until: moment, ..any() },
        AuditFilter { action: word.clone(), object: word, since: moment, until: moment },
    ] {
        for before in [None, Some(tw_model::AuditId::new())] {
            acme.audit_page(&filter, before, 0, 50).await.unwrap();
        }
        acme.count_audit(&filter).await.unwrap();
    }
}

async fn people(store: &Store, acme: &TenantScope, globex: &TenantScope) {
    let ada = member(acme, "ada@example.com", Role::Admin).await.id;
    let bob = member(acme, "bob@example.com", Role::Admin).await.id;
    member(globex, "ada@example.com", Role::Admin).await;
    acme.user(ada).await.unwrap();
    acme.user_by_email("ada@example.com").await.unwrap();
    acme.users(None, 50).await.unwrap();
    acme.count_users().await.unwrap();
    acme.first_with_role(Role::Admin).await.unwrap();
    acme.has_other_member(&[Role::Admin, Role::Approver], ada).await.unwrap();
    acme.role_of(ada).await.unwrap();
    acme.role_since(ada).await.unwrap();
    acme.password_hash(ada).await.unwrap();
    acme.set_language(ada, Some("de")).await.unwrap();
    acme.language(ada).await.unwrap();
    store.find_memberships("ada@example.com").await.unwrap();
    store.memberships_of(ada).await.unwrap();

    let login = login_of(acme, ada).await;
    acme.login(login.id).await.unwrap();
    acme.touch_login(login.id, FAR).await.unwrap();
    acme.end_login(login.id, "test", &By::operator()).await.unwrap();
    let link = fresh_hash();
    link_to(acme, ada, &link).await;
    store.find_link(&link).await.unwrap();
    store.find_login(&link).await.unwrap();
    use_link(acme, ada, &link, Timestamp::now()).await;
    let opens = Opens::new();
    let new = NewLogin { user: ada, token_hash: &fresh_hash(), expires: FAR, opens: &opens, how: "password" };
    acme.create_login(new, None, &By::operator()).await.unwrap();

    let made = key(acme, "prefix", bob).await;
    key(acme, "other", bob).await;
    store.find_key("prefix").await.unwrap();
    acme.key(made.id).await.unwrap();
    acme.keys(None, 50).await.unwrap();
    acme.count_keys().await.unwrap();
    acme.touch_key(made.id, Timestamp::now()).await.unwrap();
    acme.revoke_key(made.id, &By::operator()).await.unwrap();
    acme.set_password(bob, None, "hash", &By::operator()).await.unwrap();
    acme.set_role(ada, Role::Member, &By::operator()).await.unwrap();
    acme.set_role(ada, Role::Admin, &By::operator()).await.unwrap();
    acme.remove_member(bob, &By::operator()).await.unwrap();
}

async fn tools(store: &Store, acme: &TenantScope) {
    let now = Timestamp::now();
    let mut tool = StoredTool {
        id: ToolId::new(),
        slug: "own".parse().unwrap(),
        switches: Switches::default(),
        definition: Arc::from("{}"),
        version: "1.0.0".to_owned(),
        live: None,
        live_version: None,
        published: None,
        revision: 1,
        updated: now,
        created: now,
        created_by: "{}".to_owned(),
        is_deleted: false,
        import: None,
    };
    let premise = Premise { as_of: 0, is_upset_by: &|_| false };
    let left = |notes| Left {
        premise: Some(premise),
        claim: None,
        notes,
        artifact: None,
        content_hash: "hash",
        accepts: None,
        pins: None,
        audit: line("tool.changed"),
    };
    acme.insert_tool(&tool, left(&[Note::Save]), &By::operator()).await.unwrap();
    tool.updated = tw_store::moment_after(now);
    tool.revision = 2;
    acme.update_tool(&tool, now, left(&[Note::Save, Note::Publish]), &By::operator()).await.unwrap();
    acme.withdraw_version(tool.id, "1.0.0", line("withdrawn"), &By::operator()).await.unwrap();
    acme.tools_changed_since(0).await.unwrap();
    acme.custom_tool(tool.id).await.unwrap();
    acme.tool_slug(tool.id).await.unwrap();
    acme.tool_snapshot(tool.id, 1).await.unwrap();
    acme.tool_content("hash").await.unwrap();
    acme.tool_at_version(tool.id, "1.0.0", true).await.unwrap();
    for only in [None, Some(Note::Save), Some(Note::Publish), Some(Note::Version)] {
        for before in [None, Some(Uuid::max())] {
            acme.tool_history(tool.id, only, before, 50).await.unwrap();
        }
        acme.count_tool_history(tool.id, only).await.unwrap();
    }
    cases(acme, tool.id).await;
    let seen = tool.updated;
    tool.updated = tw_store::moment_after(seen);
    tool.is_deleted = true;
    acme.update_tool(&tool, seen, left(&[]), &By::operator()).await.unwrap();
    let slug = "echo".parse().unwrap();
    let layer = Override { enabled: Some(false), ..Override::default() };
    acme.set_override(&slug, layer.clone(), None, &By::operator()).await.unwrap();
    acme.overrides().await.unwrap();
    acme.remove_override(&slug, None, &By::operator()).await.unwrap();
    store.set_for_everybody(&slug, layer, &By::operator()).await.unwrap();
}

async fn mcp_servers(store: &Store, acme: &TenantScope) {
    let (mut server, by) = (mcp_server("acme"), By::operator());
    let now = Timestamp::now();
    acme.create_mcp_server(&server, Some("[]"), now, 9, &by).await.unwrap();
    acme.mcp_server(server.id).await.unwrap();
    acme.mcp_server_by_name("ACME").await.unwrap();
    acme.mcp_servers(None, 50).await.unwrap();
    acme.count_mcp_servers().await.unwrap();
    acme.mcp_listing(server.id).await.unwrap();
    store.due_mcp_servers(now, 9).await.unwrap();
    assert!(acme.claim_mcp_server(server.id, now, FAR).await.unwrap());
    assert!(acme.hasten_mcp_server(server.id, now).await.unwrap());
    assert!(!acme.hasten_mcp_server(server.id, now).await.unwrap());
    assert!(acme.note_mcp_answer(server.id, server.updated, &server.answer, None, now).await.unwrap());
    let tool = imported(acme, server.id).await;
    let drift = drift_of(server.id, tool.id, "other");
    assert!(acme.add_mcp_drift(&drift, Some("{}"), &by).await.unwrap());
    acme.mcp_drift(drift.id).await.unwrap();
    acme.mcp_drifts(server.id, None, 50).await.unwrap();
    acme.last_mcp_drift(tool.id).await.unwrap();
    acme.pending_mcp_drifts().await.unwrap();
    acme.reject_mcp_drift(&drift, &by).await.unwrap();
    assert!(acme.close_mcp_drift(tool.id, "pinned", "x", &by).await.unwrap());
    mcp_grants(acme, &server).await;
    server = acme.mcp_server(server.id).await.unwrap().unwrap();
    let seen = server.updated;
    server.updated = server.moment_after();
    acme.change_mcp_server(&server, seen, now, &by).await.unwrap();
    let epoch = acme.epoch().await.unwrap();
    acme.remove_mcp_server(server.id, server.updated, epoch, &by).await.unwrap();
}

async fn mcp_grants(acme: &TenantScope, server: &StoredMcpServer) {
    let (by, now, user) = (By::operator(), Timestamp::now(), UserId::new());
    let sign_in = McpSignIn { server: server.id, user, sealed: vec![1], expires: FAR };
    acme.begin_mcp_sign_in(&[1; 32], &sign_in, now, serde_json::json!({}), &by).await.unwrap();
    acme.take_mcp_sign_in(&[1; 32], user, now).await.unwrap();
    let grant = grant_of(server);
    acme.keep_mcp_grant(&grant, None, &by).await.unwrap();
    acme.mcp_grant(server.id).await.unwrap();
    acme.mcp_grants(server.id, server.id).await.unwrap();
    assert!(acme.lease_mcp_grant(&grant, now, Duration::from_secs(1)).await.unwrap());
    acme.release_mcp_grant(&grant).await.unwrap();
    acme.refuse_mcp_grant(&grant, "no", "unauthorized").await.unwrap();
    let renewed = RenewedGrant { sealed: &[2], scope: None, given: now, expires: None };
    acme.renew_mcp_grant(&grant, &renewed).await.unwrap();
    assert!(acme.forget_mcp_grant(server.id, &by).await.unwrap());
}

async fn cases(acme: &TenantScope, tool: ToolId) {
    let (id, now) = (TestCaseId::new(), Timestamp::now());
    let case = TestCase {
        id,
        tool,
        name: "c".to_owned(),
        input: "{}".to_owned(),
        expect: "{}".to_owned(),
        result: None,
        created: now,
        updated: now,
        created_by: "{}".to_owned(),
    };
    let added = acme.create_test_case(&case, 1, line("added"), &By::operator()).await.unwrap();
    assert_eq!(added, AddedCase::Done);
    acme.test_case(tool, id).await.unwrap();
    acme.test_cases(tool, None, 50).await.unwrap();
    acme.count_test_cases(tool).await.unwrap();
    let result = TestResult { content_hash: "hash".to_owned(), passed: true, run: None, at: now };
    acme.note_test_result(tool, id, now, &result).await.unwrap();
    acme.change_test_case(&case, now, line("changed"), &By::operator()).await.unwrap();
    assert!(acme.remove_test_case(tool, id, line("removed"), &By::operator()).await.unwrap());
}

async fn usage(acme: &TenantScope) {
    let worst = Usage {
        provider: "openai".to_owned(),
        model: "m".to_owned(),
        input_tokens: 1,
        output_tokens: 1,
        cached_tokens: 0,
        cache_write_tokens: 0,
        cost: Some(Money::from_nanos(1)),
        estimated: true,
    };
    let (id, run) = (UsageId::new(), RunId::new());
    let new = NewUsage { id, run, name: "default".to_owned(), worst: worst.clone() };
    let limits = SpendingLimits { cost_per_month: Money::from_units(1.0), ..SpendingLimits::default() };
    let reserved = acme.reserve_usage(&new, &limits, Timestamp::now()).await.unwrap();
    assert_eq!(reserved, Ok(()));
    acme.settle_usage(id, &worst, &worst).await.unwrap();
}

struct Rewrapped;

impl Rewrap for Rewrapped {
    fn data_key(&self, _: TenantId, _: &StoredCredential) -> Option<Vec<u8>> {
        Some(vec![0])
    }

    fn tenant_key(&self, _: TenantId, _: &[u8]) -> Option<Vec<u8>> {
        Some(vec![0])
    }
}

async fn artifacts(acme: &TenantScope) {
    let (id, now) = (ArtifactId::new(), Timestamp::now());
    let artifact = StoredArtifact {
        id,
        name: "a".to_owned(),
        version: 1,
        language: "javascript".to_owned(),
        checksum: "blake3:0".to_owned(),
        created: now,
        updated: now,
        created_by: "{}".to_owned(),
    };
    acme.create_artifact(&artifact, "1", &By::operator()).await.unwrap();
    acme.artifact(id).await.unwrap();
    acme.artifacts(None, 50).await.unwrap();
    acme.count_artifacts().await.unwrap();
    acme.artifact_version(id, 1).await.unwrap();
    acme.artifact_versions(id, None, 50).await.unwrap();
    let after = StoredArtifact { version: 2, updated: artifact.moment_after(), ..artifact.clone() };
    let changed = acme.change_artifact(&artifact, &after, Some("2"), &By::operator()).await.unwrap();
    assert_eq!(changed, Changed::Done(()));
    let epoch = acme.epoch().await.unwrap();
    let removed = acme.remove_artifact(id, after.updated, epoch, &By::operator()).await.unwrap();
    assert_eq!(removed, Changed::Done(()));
}

async fn credentials(store: &Store, acme: &TenantScope) {
    let now = Timestamp::now();
    let credential = StoredCredential {
        id: CredentialId::new(),
        label: "crm".parse().unwrap(),
        kind: CredentialType::Bearer,
        provider_key: None,
        provider_variant: None,
        fields: Vec::new(),
        allowed_hosts: None,
        sealed: SealedSecret { ciphertext: vec![1], wrapped_key: vec![2], key_id: "k".to_owned() },
        revision: 1,
        last_used: None,
        created: now,
        updated: now,
        created_by: "{}".to_owned(),
    };
    acme.create_credential(&credential, &By::operator()).await.unwrap();
    acme.credential(credential.id).await.unwrap();
    acme.credential_by_label(&credential.label).await.unwrap();
    acme.credential_for("web_search", None).await.unwrap();
    acme.credential_for("web_search", Some("serper")).await.unwrap();
    acme.credentials(None, 50).await.unwrap();
    acme.count_credentials().await.unwrap();
    acme.touch_credential(credential.id, now).await.unwrap();
    acme.tenant_key().await.unwrap();
    acme.tenant_key_or(&WrappedKey { bytes: vec![1], key_id: "k".to_owned() }).await.unwrap();
    store.rewrap_keys("other", &Rewrapped, &By::operator()).await.unwrap();
    acme.change_credential(&credential, now, None, &By::operator()).await.unwrap();
    let epoch = acme.epoch().await.unwrap();
    acme.remove_credential(credential.id, now, epoch, &By::operator()).await.unwrap();
}

async fn webhooks(store: &Store, acme: &TenantScope) {
    let now = Timestamp::now();
    let webhook = Webhook {
        id: WebhookId::new(),
        url: "https://a.example/hook".to_owned(),
        events: WebhookEvent::ALL.to_vec(),
        enabled: true,
        off: None,
        secret: vec![1],
        old_secret: None,
        failing_since: None,
        created: now,
        updated: now,
        created_by: "{}".to_owned(),
    };
    acme.create_webhook(&webhook, 50, &By::operator()).await.unwrap();
    let after = Webhook { updated: webhook.moment_after(), ..webhook.clone() };
    acme.change_webhook(&after, now, "webhook.changed", &By::operator()).await.unwrap();
    acme.webhooks(None, 50).await.unwrap();
    acme.count_webhooks().await.unwrap();
    // The log tells it of a run.
    let (runs, run) = (Runs { store, tenant: acme, epoch: acme.epoch().await.unwrap() }, RunId::new());
    runs.open(run, None, None).await;
    runs.change(run, EventKind::Completed, change(Expect::Lease(1), Some(RunStatus::Success))).await;
    let test = WebhookDelivery {
        id: WebhookDeliveryId::new(),
        webhook: webhook.id,
        kind: "webhook.test".to_owned(),
        run: None,
        data: Some("{}".to_owned()),
        at: now,
        status: DeliveryStatus::Pending,
        attempts: 1,
        next: FAR,
        is_claimed: true,
        tried: None,
        duration_us: None,
        status_code: None,
        answer: None,
        error: None,
    };
    acme.add_delivery(&test).await.unwrap();
    acme.claim_deliveries(webhook.id, now, FAR, 4).await.unwrap();
    acme.claim_delivery(test.id, now, FAR).await.unwrap();
    acme.keep_delivery_data(test.id, "{}").await.unwrap();
    acme.told_run(RunId::new()).await.unwrap();
    acme.told_approval(RunId::new()).await.unwrap();
    for (becomes, attempts) in [(DeliveryStatus::Pending, 1), (DeliveryStatus::Delivered, 2)] {
        let tried = DeliveryTry {
            at: now,
            duration: Duration::ZERO,
            status_code: Some(200),
            answer: None,
            error: None,
            becomes,
            next: PAST,
            counts: true,
        };
        acme.finish_delivery(&WebhookDelivery { attempts, ..test.clone() }, &tried).await.unwrap();
        acme.claim_deliveries(webhook.id, now, FAR, 4).await.unwrap();
    }
    acme.webhook_delivery(test.id).await.unwrap();
    acme.webhook_deliveries(webhook.id, None, 50).await.unwrap();
    acme.count_webhook_deliveries(webhook.id).await.unwrap();
    store.due_webhooks(now).await.unwrap();
    store.release_deliveries(now).await.unwrap();
    store.drop_old_deliveries(PAST).await.unwrap();
    acme.switch_off_webhook(webhook.id, WebhookOff::Gone).await.unwrap();
    let seen = acme.webhook(webhook.id).await.unwrap().unwrap().updated;
    acme.remove_webhook(webhook.id, seen, &By::operator()).await.unwrap();
}

async fn keys_of_requests(store: &Store, acme: &TenantScope) {
    let scope = KeyScope { principal: "user:1", route: "POST /tools", key: "k" };
    let now = Timestamp::now();
    acme.claim_key(scope, &[0; 32], now, FAR).await.unwrap();
    acme.idempotency(scope).await.unwrap();
    acme.release_key(scope, now).await.unwrap();
    acme.keep_answer(scope, now, "201 {}").await.unwrap();
    store.drop_expired_keys(PAST).await.unwrap();
}

fn change(expect: Expect, to: Option<RunStatus>) -> Change {
    let finished = to.filter(|to| !to.is_open()).map(|_| Finished::default());
    Change { to, finished, ..Change::expecting(expect) }
}

/// Writes about a run of a session of its own.
struct Runs<'a> {
    store: &'a Store,
    tenant: &'a TenantScope,
    epoch: i64,
}

impl Runs<'_> {
    async fn write(&self, run: RunId, kind: EventKind, transition: Transition) {
        let entry = entries::entry(self.tenant.id(), (run, run.into()), kind, transition);
        self.store.log().append(entry).wait().await.unwrap();
    }

    async fn open(&self, run: RunId, park: Option<Park>, claim: Option<Claim>) {
        let new = entries::new_run(run, self.store.replica(), self.epoch);
        let new = Transition::Open(Box::new(tw_store::log::NewRun { park, claim, ..new }));
        self.write(run, EventKind::Started, new).await;
    }

    async fn change(&self, run: RunId, kind: EventKind, change: Change) {
        self.write(run, kind, Transition::Change(Box::new(change))).await;
    }

    /// A run that waits.
    async fn waiting(&self, waits_for: WaitsFor, children: Vec<RunId>) -> (RunId, PendingCallId) {
        let (run, id) = (RunId::new(), PendingCallId::new());
        self.open(run, None, None).await;
        let wait = NewWait {
            id,
            waits_for,
            state: PendingState::Waiting,
            context: "{}".to_owned(),
            children,
            deadline: None,
            expires: FAR,
        };
        let parked = Change {
            wait: Some(WaitChange::Park(wait)),
            ..change(Expect::Lease(1), Some(RunStatus::Pending))
        };
        self.change(run, EventKind::OutputAppended, parked).await;
        (run, id)
    }
}

/// One that was made with a decision: used, looked for, listed, taken back.
async fn standing(runs: &Runs<'_>, made: &NewStanding) {
    let (acme, run) = (runs.tenant, RunId::new());
    let new = entries::new_run(run, runs.store.replica(), runs.epoch);
    let new = tw_store::log::NewRun { standing: Some(made.id), ..new };
    runs.write(run, EventKind::Started, Transition::Open(Box::new(new))).await;
    acme.standing_candidates("agent:bot", made.tool_id, "hash").await.unwrap();
    assert_eq!(acme.standing_approval(made.id).await.unwrap().unwrap().uses, 1);
    let word = |word: &str| Some(word.to_owned());
    for status in
        [None, Some(StandingStatus::Active), Some(StandingStatus::Expired), Some(StandingStatus::Revoked)]
    {
        for (principal, tool) in
            [(None, None), (word("agent:bot"), None), (None, word("own")), (word("agent:bot"), word("own"))]
        {
            let filter = StandingFilter { principal, tool, status };
            for before in [None, Some(made.id)] {
                acme.standing_approvals(&filter, before, 0, 50).await.unwrap();
            }
            acme.count_standing_approvals(&filter).await.unwrap();
        }
    }
    // One that is not there moves no epoch.
    let none = StandingApprovalId::new();
    assert!(!acme.revoke_standing(none, line("revoked"), &By::operator()).await.unwrap());
}

async fn calls(store: &Store, acme: &TenantScope) {
    let runs = Runs { store, tenant: acme, epoch: acme.epoch().await.unwrap() };
    in_a_session(store, acme).await;

    let run = RunId::new();
    let claim = Claim {
        route: "r".to_owned(),
        key: "k".to_owned(),
        body_hash: [0; 32],
        expires: FAR,
        instead_of: None,
    };
    runs.open(run, None, Some(claim)).await;
    runs.change(run, EventKind::OutputAppended, change(Expect::Lease(1), None)).await;
    runs.change(run, EventKind::Completed, change(Expect::Lease(1), Some(RunStatus::Success))).await;

    let (run, id) = (RunId::new(), ApprovalId::new());
    let approval = NewApproval {
        id,
        input: "{}".to_owned(),
        input_digest: "digest".to_owned(),
        definition_hash: "hash".to_owned(),
        seal: vec![0; 32],
        level: Some(Level::Write),
        reason: "a test".to_owned(),
        owner: UserId::new(),
        expires: FAR,
    };
    runs.open(run, Some(Park { context: "{}".to_owned(), approval }), None).await;
    let input = EditedInput {
        input: "{}".to_owned(),
        digest: "digest".to_owned(),
        seal: vec![1; 32],
        level: None,
        context: "{}".to_owned(),
    };
    let standing = NewStanding {
        id: StandingApprovalId::new(),
        principal: "agent:bot".to_owned(),
        tool_id: ToolId::new(),
        tool: "own".to_owned(),
        definition_hash: "hash".to_owned(),
        context: "{}".to_owned(),
        fields: Some("[]".to_owned()),
        values: "{}".to_owned(),
        values_digest: "digest".to_owned(),
        approved_by: "user:1".to_owned(),
        seal: vec![0; 32],
        created: Timestamp::now(),
        expires: FAR,
    };
    let decision = ApprovalDecision {
        status: ApprovalStatus::Approved,
        by: None,
        note: None,
        changes: None,
        input: Some(input),
        standing: Some(Box::new(standing.clone())),
    };
    let asked = Expect::Status(RunStatus::NeedsApproval);
    let yes = Change { decision: Some(decision), ..change(asked, Some(RunStatus::Pending)) };
    runs.change(run, EventKind::Approved, yes).await;
    self::standing(&runs, &standing).await;
    acme.approval(id).await.unwrap();
    acme.approval_of_run(run).await.unwrap();
    for status in [None, Some(ApprovalStatus::Pending), Some(ApprovalStatus::Approved)] {
        for after in [None, Some(id)] {
            acme.approvals(status, after, 0, 50).await.unwrap();
        }
        acme.count_approvals(status).await.unwrap();
        acme.open_approvals(None, 100).await.unwrap();
    }

    let (child, _) = runs.waiting(WaitsFor::Person, Vec::new()).await;
    let (parent, _) = runs.waiting(WaitsFor::Child, vec![child]).await;
    acme.pending_call_of(parent).await.unwrap();
    acme.calls_for_people(None, 0, 50).await.unwrap();
    acme.calls_for_people(Some(PendingCallId::new()), 0, 50).await.unwrap();
    acme.count_calls_for_people().await.unwrap();
    for_workers(acme, &runs).await;
    store.due_pending(Timestamp::now(), None, 50).await.unwrap();
}

async fn in_a_session(store: &Store, acme: &TenantScope) {
    let session = acme.create_session("chat", None, "user:1").await.unwrap().id;
    let run = RunId::new();
    let new = entries::new_run(run, store.replica(), acme.epoch().await.unwrap());
    let transition = Transition::Open(Box::new(new));
    let audit = Some(Box::new(Audit { by: By::operator(), what: line("a") }));
    let entry = entries::entry(acme.id(), (run, session), EventKind::Started, transition);
    store.log().append(Entry { audit, ..entry }).wait().await.unwrap();
    for session in [session, SessionId::from(run)] {
        acme.session(session).await.unwrap();
    }
    acme.events(session, 0, 50).await.unwrap();
    acme.last_seq(session).await.unwrap();
}

async fn for_workers(acme: &TenantScope, runs: &Runs<'_>) {
    let (run, call) = runs.waiting(WaitsFor::Worker, Vec::new()).await;
    let now = Timestamp::now();
    let tools = ["echo".to_owned()];
    let all = Wanted {
        tools: &[],
        lease: Uuid::now_v7(),
        worker: Uuid::now_v7(),
        now,
        alive_since: now.minus(Duration::from_secs(15)),
        until: FAR,
        most: 10,
    };
    acme.lease_calls(&all).await.unwrap();
    acme.lease_calls(&Wanted { tools: &tools, ..all.clone() }).await.unwrap();
    acme.worker_told_of(call).await.unwrap();
    acme.take_back_calls(&all, call, now).await.unwrap();
    acme.take_back_calls(&Wanted { tools: &tools, ..all.clone() }, call, now).await.unwrap();
    acme.renew_leases(all.lease, FAR).await.unwrap();
    acme.release_leases(all.lease).await.unwrap();
    acme.pending_call(call).await.unwrap();
    let late = change(Expect::Status(RunStatus::Pending), Some(RunStatus::TimedOut));
    runs.change(run, EventKind::Failed, late).await;
    let wait = WaitChange::Late { result: "{}".to_owned(), by: "user:1".to_owned() };
    runs.change(run, EventKind::LateResult, Change { wait: Some(wait), ..change(Expect::Ended, None) }).await;
    acme.close_unanswered(call, now).await.unwrap();
}

async fn runs(acme: &TenantScope) {
    let run = RunId::new();
    acme.run(run).await.unwrap();
    acme.ended_of(&[run]).await.unwrap();
    acme.count_below(run).await.unwrap();
    let behind = RunPlace { listed: Timestamp::now(), id: run };
    for (_, filter) in filters() {
        for behind in [None, Some(behind)] {
            acme.run_page(&filter, behind, 0, 50).await.unwrap();
        }
        acme.count_runs(&filter).await.unwrap();
    }
}

async fn servers(store: &Store, acme: &TenantScope) {
    let now = store.heartbeat().await.unwrap();
    store.ping().await.unwrap();
    store.is_alive(store.replica(), now).await.unwrap();
    store.orphaned_runs(PAST, 50).await.unwrap();
    store.forget_dead(PAST).await.unwrap();
    acme.take_slot("press", 1, FAR, now, now.minus(Duration::from_secs(15))).await.unwrap();
    acme.leave_slot("press", 0, FAR).await.unwrap();
    store.sign_off().await.unwrap();
}
