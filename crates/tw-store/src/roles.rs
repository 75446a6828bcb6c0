//! The role that the server works under on PostgreSQL, one for each database.
//!
//! Roles belong to the cluster. One that several databases share lets the owner of one of them read the others, so each
//! database has its own, named by the number that the cluster gave it. A copy or a restored dump gets another number, and
//! its own role with the next migration.

use sqlx::{AssertSqlSafe, PgConnection};

/// What the role may do, and with what. Who may see which rows is for the fences.
const RIGHTS: [(&str, &str); 4] = [
    (
        "SELECT, INSERT",
        "session_events, audit_log, schema_contents, schema_versions, tool_versions, withdrawn_versions",
    ),
    (
        "SELECT, INSERT, UPDATE",
        "tenants, users, sessions, runs, pending_calls, approvals, api_keys, logins, sign_in_links, tenant_epoch, meta,
         tools, tenant_keys, standing_approvals, usage_records, usage_days, mcp_drifts, webhook_deliveries",
    ),
    ("SELECT, INSERT, DELETE", "pending_children, artifact_versions"),
    (
        "SELECT, INSERT, UPDATE, DELETE",
        "memberships, idempotency, replicas, credentials, places, test_cases, mcp_servers, webhooks, artifacts,
         mcp_sign_ins, mcp_grants, log_fences",
    ),
];

/// Any number, known to nobody else: two servers must not hand out rights at the same moment.
const LOCK: i64 = 0x7477_726f_6c65;

/// Sees to it that the database has its role. Running it again changes nothing.
pub(crate) async fn settle(connection: &mut PgConnection) -> sqlx::Result<()> {
    const ROLES: &str = "SELECT 'toolwright_app_' || oid, tw_app_role(),
        EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'toolwright_app_' || oid)
        FROM pg_database WHERE datname = current_database()";
    let (own, before, is_there): (String, String, bool) =
        sqlx::query_as(ROLES).fetch_one(&mut *connection).await?;
    if own == before && is_there {
        return Ok(());
    }
    let rights: String =
        RIGHTS.iter().map(|(rights, tables)| format!("GRANT {rights} ON {tables} TO {own};\n")).collect();
    // Both names are made of fixed words and a number; in an older database the second is the word alone.
    let sql = format!(
        "BEGIN;
        SELECT pg_advisory_xact_lock({LOCK});
        DO $$
        BEGIN
            CREATE ROLE {own} NOLOGIN;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN
            NULL;
        END $$;
        DO $$
        DECLARE
            mine record;
        BEGIN
            IF NOT pg_has_role(current_user, '{own}', 'MEMBER') THEN
                EXECUTE format('GRANT {own} TO %I', current_user);
            END IF;
            IF EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{before}') THEN
                REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {before};
                REVOKE ALL ON ALL FUNCTIONS IN SCHEMA public FROM {before};
                REVOKE ALL ON SCHEMA public FROM {before};
            END IF;
            FOR mine IN SELECT p.oid::regprocedure AS name FROM pg_proc p
                WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'tw\\_%' LOOP
                EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO {own}', mine.name);
            END LOOP;
        END $$;
        GRANT USAGE ON SCHEMA public TO {own};
        {rights}
        CREATE OR REPLACE FUNCTION tw_app_role() RETURNS text LANGUAGE sql STABLE
            SET search_path = pg_catalog, pg_temp AS $$ SELECT '{own}' $$;
        COMMIT"
    );
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.map(drop)
}

/// Takes the role on. Row-level security binds it whatever user the URL names, a superuser included.
pub(crate) async fn take(connection: &mut PgConnection) -> sqlx::Result<()> {
    let role: String = sqlx::query_scalar("SELECT tw_app_role()").fetch_one(&mut *connection).await?;
    let plain = role.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
    if !plain {
        return Err(sqlx::Error::Protocol("`tw_app_role()` names no role of this program".to_owned()));
    }
    sqlx::raw_sql(AssertSqlSafe(format!("SET ROLE {role}"))).execute(connection).await.map(drop)
}
