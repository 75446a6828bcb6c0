//! A history: some thousands of rows in every table that grows, of two tenants.

use tw_model::TenantId;
use tw_test::{Kind, TestDb};

use crate::world::Raw;

pub(super) const RUNS: u32 = 20_000;
/// How many rows the other tables get.
const ROWS: u32 = 8_000;

/// Nearly all runs are alike; one in a hundred is not, in every respect. Two tenants, as the fence is one of the things
/// that mislead a planner.
const HISTORY: &str = "INSERT INTO runs (id, tenant_id, session_id, own_session, root_run_id, tool_id, tool, version,
    status, source, channel, mode, principal, actor, effectful, repeatable, lease_epoch, last_seq, input_seq, error_code,
    listed_us, requested_us, started_us)
    SELECT {id}, {half}, {id}, {yes}, {id}, {id}, CASE WHEN i % 100 = 0 THEN 'rare' ELSE 'usual' END, '1.0.0',
    CASE WHEN i % 100 = 0 THEN 'error' ELSE 'success' END, CASE WHEN i % 100 = 0 THEN 'web' ELSE 'api' END, 'rest',
    CASE WHEN i % 100 = 0 THEN 'debug' ELSE 'production' END,
    CASE WHEN i % 100 = 0 THEN 'user:rare' ELSE 'user:usual' END, '{}', {no}, {yes}, 1, 2, 1,
    CASE WHEN i % 100 = 0 THEN 'TIMEOUT' END, i, i, i FROM {runs}";

/// What is around them. Of what waits, or is to be decided, one in a hundred still is.
const AROUND: [&str; 31] = [
    "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
     SELECT {half}, {id}, 1, {id}, 'tool.started', {id}, 'usual', '{}', '{}', i FROM {runs}",
    "INSERT INTO sessions (id, tenant_id, kind, principal, created_us, updated_us)
     SELECT {id}, {tenant}, 'chat', 'user:usual', i, i FROM {rows}",
    "INSERT INTO pending_calls (id, tenant_id, run_id, waits_for, state, context, deadline_us, expires_us, created_us, updated_us)
     SELECT {id}, {tenant}, {id}, CASE i % 4 WHEN 0 THEN 'approval' WHEN 1 THEN 'worker' WHEN 2 THEN 'person' ELSE 'child' END,
     CASE WHEN i % 100 < 4 THEN 'waiting' ELSE 'resolved' END, '{}', i, i, i, i FROM {rows}",
    "INSERT INTO pending_children (tenant_id, run_id, child_run_id) SELECT {tenant}, {id}, {id} FROM {rows}",
    "INSERT INTO approvals (id, tenant_id, run_id, tool_id, tool, version, input, input_digest, definition_hash, seal, reason,
     requested_by, owner_id, requested_us, expires_us, status)
     SELECT {id}, {tenant}, {id}, {id}, 'usual', '1.0.0', '{}', 'd', 'h', {bytes}, 'level', 'user:usual', {id}, i, i,
     CASE WHEN i % 100 = 0 THEN 'pending' ELSE 'approved' END FROM {rows}",
    "INSERT INTO idempotency (tenant_id, principal, route, key, body_hash, replica_id, created_us, expires_us)
     SELECT {tenant}, 'user:usual', 'POST /runs', 'k' || i, {bytes}, {id}, i, i + 1000000000000 FROM {rows}",
    "INSERT INTO audit_log (id, tenant_id, at_us, actor, action, object)
     SELECT {id}, {tenant}, i, '{}', CASE WHEN i % 100 = 0 THEN 'rare' ELSE 'usual' END, 'run:' || i FROM {rows}",
    "INSERT INTO users (id, email, display_name, created_us, updated_us) SELECT {id}, 'u' || i || '@x', '', i, i FROM {rows}",
    "INSERT INTO memberships (tenant_id, user_id, role, created_us, updated_us, created_by, display_name)
     SELECT {tenant}, {id}, CASE WHEN i % 100 = 0 THEN 'admin' ELSE 'member' END, i, i, '{}', 'U' FROM {rows}",
    "INSERT INTO api_keys (id, tenant_id, name, prefix, hash, role, acts_as, owner_id, created_us, created_by)
     SELECT {id}, {tenant}, 'k', 'p' || i, {bytes}, 'member', 'user', {id}, i, '{}' FROM {rows}",
    "INSERT INTO logins (id, tenant_id, user_id, token_hash, created_us, last_seen_us, expires_us)
     SELECT {id}, {tenant}, {id}, {bytes}, i, i, i FROM {rows}",
    "INSERT INTO sign_in_links (token_hash, tenant_id, user_id, created_us, expires_us, used_us)
     SELECT {bytes}, {tenant}, {id}, i, i, CASE WHEN i % 100 <> 0 THEN i END FROM {rows}",
    "INSERT INTO tools (id, tenant_id, slug, slug_key, kind, status, revision, created_us, updated_us, created_by, definition,
     version, changed_epoch, deleted_us)
     SELECT {id}, {tenant}, 't' || i, 't' || i, CASE WHEN i % 100 = 0 THEN 'system_override' ELSE 'tenant_custom' END,
     'published', 1, i, i, '{}', '{}', '1.0.0', i, CASE WHEN i % 10 = 0 THEN i END FROM {rows}",
    "INSERT INTO schema_contents (tenant_id, content_hash, content) SELECT {tenant}, 'h' || i, '{}' FROM {rows}",
    "INSERT INTO schema_versions (tenant_id, subject_kind, subject_id, id, revision, version, content_hash, author, created_us)
     SELECT {tenant}, 'tool', {tool}, {id}, i, '1.0.0', 'h' || i, '{}', i FROM {rows}",
    "INSERT INTO tool_versions (id, tenant_id, tool_id, reason, version, revision, content_hash, author, created_us)
     SELECT {id}, {tenant}, {tool}, 'publish', '1.0.' || i, i, 'h' || i, '{}', i FROM {rows}",
    "INSERT INTO withdrawn_versions (tenant_id, tool_id, version, author, withdrawn_us)
     SELECT {tenant}, {tool}, '1.0.' || i, '{}', i FROM {rows}",
    "INSERT INTO credentials (id, tenant_id, label, label_key, type, fields, ciphertext, wrapped_key, key_id, revision,
     created_us, updated_us, created_by)
     SELECT {id}, {tenant}, 'c' || i, 'c' || i, 'bearer', '[]', {bytes}, {bytes}, 'k', 1, i, i, '{}' FROM {rows}",
    "INSERT INTO artifacts (id, tenant_id, name, version, language, checksum, created_us, updated_us, created_by)
     SELECT {id}, {tenant}, 'a' || i, 1, 'javascript', 'c', i, i, '{}' FROM {rows}",
    "INSERT INTO artifact_versions (tenant_id, artifact_id, version, language, source, checksum, author, created_us)
     SELECT {tenant}, {id}, i, 'javascript', '1', 'c', '{}', i FROM {rows}",
    "INSERT INTO test_cases (tenant_id, tool_id, id, name, input, expect, created_us, updated_us, created_by)
     SELECT {tenant}, {tool}, {id}, 'c', '{}', '{}', i, i, '{}' FROM {rows}",
    "INSERT INTO standing_approvals (id, tenant_id, principal, tool_id, tool, definition_hash, context, fields, field_values,
     values_digest, approved_by, seal, created_us, expires_us, revoked_us)
     SELECT {id}, {tenant}, 'agent:' || i % 7, {tool}, 't' || i % 100, 'h' || i % 11, '{}', '[]', '{}', 'd' || i, 'user:1',
     {bytes}, i, i, CASE WHEN i % 2 = 0 THEN i END FROM {rows}",
    "INSERT INTO usage_records (tenant_id, id, run_id, day, name, provider, model, input_tokens, output_tokens, cached_tokens,
     cache_write_tokens, estimated, created_us)
     SELECT {tenant}, {id}, {id}, i, 'default', 'openai', 'm', 1, 1, 0, 0, {yes}, i FROM {rows}",
    "INSERT INTO usage_days (tenant_id, day, tokens, cost_nanos) SELECT {tenant}, i, 1, 1 FROM {rows}",
    "INSERT INTO mcp_servers (tenant_id, id, name, name_key, url, headers, status, tools, due_us, created_us, updated_us,
     created_by)
     SELECT {tenant}, {id}, 's' || i, 's' || i, 'u', '{}', 'ok', 0, i + 1000000000000, i, i, '{}' FROM {rows}",
    "INSERT INTO mcp_drifts (tenant_id, id, server_id, tool_id, slug, kind, pinned_hash, diff, status, seen_us)
     SELECT {tenant}, {id}, {id}, {id}, 's' || i, 'changed', 'h', '[]',
     CASE WHEN i % 100 = 0 THEN 'pending' ELSE 'accepted' END, i FROM {rows}",
    "INSERT INTO mcp_sign_ins (tenant_id, state_hash, server_id, user_id, sealed, expires_us)
     SELECT {tenant}, {bytes}, {id}, {id}, {bytes}, i + 1000000000000 FROM {rows}",
    "INSERT INTO mcp_grants (tenant_id, server_id, id, url, issuer, sealed, revision, given_us, leased_us, signed_in_us,
     signed_in_by)
     SELECT {tenant}, {id}, {id}, 'u', 'i', {bytes}, 1, i, 0, i, '{}' FROM {rows}",
    "INSERT INTO webhooks (id, tenant_id, url, events, enabled, secret, created_us, updated_us, created_by)
     SELECT {id}, {tenant}, 'https://a.example', 63, {yes}, {bytes}, i, i, '{}' FROM {rows}",
    "INSERT INTO webhook_deliveries (id, tenant_id, webhook_id, type, run_id, at_us, state, next_us)
     SELECT {id}, {tenant}, {id}, 'run.completed', {id}, i, CASE WHEN i % 100 = 0 THEN 'pending' ELSE 'delivered' END, i
     FROM {rows}",
    "INSERT INTO places (tenant_id, name, place, replica_id, until_us) SELECT {tenant}, 'g' || i, 0, {id}, i FROM {rows}",
];

/// The runs alone.
pub(super) async fn runs(db: &TestDb, tenants: [TenantId; 2]) {
    rows(db, tenants, &[HISTORY]).await;
}

/// Every table.
pub(super) async fn everything(db: &TestDb, tenants: [TenantId; 2]) {
    runs(db, tenants).await;
    rows(db, tenants, &AROUND).await;
}

async fn rows(db: &TestDb, tenants: [TenantId; 2], inserts: &[&str]) {
    let mut raw = Raw::open(db).await;
    let [ours, theirs] = tenants.map(|tenant| tenant.uuid().simple().to_string());
    let (id, bytes, ours, theirs, yes, no) = match db.kind() {
        Kind::Sqlite => (
            "unhex(printf('%032x', i))",
            "unhex(printf('%064x', i))",
            format!("x'{ours}'"),
            format!("x'{theirs}'"),
            "1",
            "0",
        ),
        Kind::Postgres => (
            "lpad(to_hex(i), 32, '0')::uuid",
            "decode(lpad(to_hex(i), 64, '0'), 'hex')",
            format!("'{ours}'::uuid"),
            format!("'{theirs}'::uuid"),
            "true",
            "false",
        ),
    };
    // A hundred tools.
    let tool = id.replace(", i)", ", i % 100)").replace("(i)", "(i % 100)");
    let half = format!("CASE WHEN i % 3 = 0 THEN {theirs} ELSE {ours} END");
    let others = id.replace(", i)", ", i % 40 + 900000)").replace("(i)", "(i % 40 + 900000)");
    let tenant = format!("CASE i % 40 WHEN 0 THEN {ours} WHEN 1 THEN {theirs} ELSE {others} END");
    let numbers = |most: u32| match db.kind() {
        Kind::Sqlite => format!(
            "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most}) SELECT i FROM n)"
        ),
        Kind::Postgres => format!("generate_series(1, {most}) AS n (i)"),
    };
    for insert in inserts {
        let sql = insert
            .replace("{id}", id)
            .replace("{tool}", &tool)
            .replace("{bytes}", bytes)
            .replace("{tenant}", &tenant);
        let sql = sql.replace("{half}", &half);
        let sql = sql.replace("{ours}", &ours).replace("{yes}", yes).replace("{no}", no);
        let sql = sql.replace("{runs}", &numbers(RUNS)).replace("{rows}", &numbers(ROWS));
        raw.execute(sql.as_str()).await.unwrap_or_else(|error| panic!("{error}: {sql}"));
    }
    raw.execute("ANALYZE").await.unwrap();
}
