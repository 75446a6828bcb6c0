//! The second fence: what PostgreSQL itself refuses to the role that the server works under.
//!
//! The tables are asked for from the database, so that a new one without its fence fails here.

use tw_test::{Kind, TestDb};
use uuid::Uuid;

use crate::world::Raw;

const INSUFFICIENT_PRIVILEGE: &str = "42501";
const APPEND_ONLY: [&str; 2] = ["session_events", "audit_log"];
/// What the server adds to and reads, and nothing else.
const ADDED_TO: [&str; 3] = ["schema_contents", "schema_versions", "tool_versions"];

/// Every table that belongs to tenants, with the column that says to which.
const FENCED: &str = "SELECT table_name::text FROM information_schema.columns
    WHERE table_schema = 'public' AND column_name = 'tenant_id' UNION SELECT 'tenants' ORDER BY 1";

fn tenant_column(table: &str) -> &'static str {
    if table == "tenants" { "id" } else { "tenant_id" }
}

async fn fenced_tables(raw: &mut Raw) -> Vec<String> {
    let tables = raw.column(FENCED).await.unwrap();
    assert!(13 <= tables.len(), "{tables:?}");
    tables
}

/// Puts one row of each tenant into every fenced table, with whatever fits the columns.
async fn fill(raw: &mut Raw, tenants: &[Uuid]) {
    let checks = "SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname)
        FROM pg_constraint WHERE contype = 'c' AND connamespace = 'public'::regnamespace";
    for sql in raw.column(checks).await.unwrap() {
        raw.execute(sql).await.unwrap();
    }
    for table in fenced_tables(raw).await {
        let own = tenant_column(&table);
        let column = |part: &str| {
            format!(
                "SELECT string_agg({part}, ', ' ORDER BY ordinal_position) FROM information_schema.columns
                 WHERE table_schema = 'public' AND table_name = '{table}' AND column_name <> '{own}'
                   AND is_nullable = 'NO' AND column_default IS NULL"
            )
        };
        let value = "CASE data_type WHEN 'uuid' THEN 'gen_random_uuid()' WHEN 'bigint' THEN '1'
            WHEN 'integer' THEN '1' WHEN 'boolean' THEN 'false' WHEN 'bytea' THEN 'uuid_send(gen_random_uuid())'
            ELSE 'gen_random_uuid()::text' END";
        let names = raw.column(column("quote_ident(column_name)")).await.unwrap().remove(0);
        let values = raw.column(column(value)).await.unwrap().remove(0);
        for tenant in tenants {
            raw.execute(format!("INSERT INTO {table} ({own}, {names}) VALUES ('{tenant}', {values})"))
                .await
                .unwrap_or_else(|error| panic!("{table}: {error}"));
        }
    }
}

/// A connection as the server has it, before it says which tenant it works for.
async fn as_server(db: &TestDb) -> Raw {
    let mut raw = Raw::open(db).await;
    raw.execute("SET ROLE toolwright_app").await.unwrap();
    raw
}

async fn work_for(raw: &mut Raw, tenant: Uuid) {
    raw.execute(format!("SET tw.tenants = '{{{tenant}}}'")).await.unwrap();
}

async fn tenants_seen(raw: &mut Raw, table: &str) -> Vec<String> {
    let own = tenant_column(table);
    raw.column(format!("SELECT {own}::text FROM {table}")).await.unwrap()
}

#[track_caller]
fn assert_refused(result: sqlx::Result<u64>, doing: &str) {
    let error = result.expect_err(doing);
    let code = error.as_database_error().and_then(|error| error.code()).map(String::from);
    assert_eq!(code.as_deref(), Some(INSUFFICIENT_PRIVILEGE), "{doing}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_table_of_tenants_has_a_fence() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut raw = Raw::open(&db).await;
    let fenced = "SELECT c.relname::text FROM pg_class c JOIN pg_policies p
        ON p.schemaname = 'public' AND p.tablename = c.relname
        WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity AND p.permissive = 'PERMISSIVE'
          AND p.roles = '{toolwright_app}' AND p.cmd = 'ALL' AND p.qual LIKE '%tw_tenants()%'
          AND p.with_check LIKE '%tw_tenants()%' ORDER BY 1";

    assert_eq!(raw.column(fenced).await.unwrap(), fenced_tables(&mut raw).await);
    let people = "SELECT relname::text FROM pg_class WHERE relname = 'users' AND relrowsecurity";
    assert_eq!(raw.column(people).await.unwrap(), ["users"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_names_no_tenant_sees_and_writes_nothing() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    fill(&mut owner, &[Uuid::now_v7(), Uuid::now_v7()]).await;
    let mut server = as_server(&db).await;

    for table in fenced_tables(&mut owner).await {
        assert_eq!(tenants_seen(&mut owner, &table).await.len(), 2, "{table}");
        assert_eq!(tenants_seen(&mut server, &table).await, [""; 0], "{table}");
        let own = tenant_column(&table);
        let insert = format!("INSERT INTO {table} ({own}) VALUES ('{}')", Uuid::now_v7());
        assert_refused(server.execute(insert).await, &table);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn server_that_names_a_tenant_reaches_that_one_alone() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    let (ours, theirs) = (Uuid::now_v7(), Uuid::now_v7());
    fill(&mut owner, &[ours, theirs]).await;
    let mut server = as_server(&db).await;
    work_for(&mut server, ours).await;

    for table in fenced_tables(&mut owner).await {
        let own = tenant_column(&table);
        assert_eq!(tenants_seen(&mut server, &table).await, [ours.to_string()], "{table}");
        let insert = format!("INSERT INTO {table} ({own}) VALUES ('{theirs}')");
        assert_refused(server.execute(insert).await, &table);
        if APPEND_ONLY.contains(&table.as_str()) || ADDED_TO.contains(&table.as_str()) {
            continue;
        }
        let touch = format!("UPDATE {table} SET {own} = {own} WHERE {own} = '{theirs}'");
        assert_eq!(server.execute(touch).await.unwrap(), 0, "{table}");
        let give_away = format!("UPDATE {table} SET {own} = '{theirs}'");
        assert_refused(server.execute(give_away).await, &table);
        // Not every table lets the server delete at all.
        if let Ok(gone) = server.execute(format!("DELETE FROM {table}")).await {
            assert_eq!(gone, 1, "{table}");
            assert_eq!(tenants_seen(&mut owner, &table).await, [theirs.to_string()], "{table}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn person_is_seen_and_changed_by_their_tenants_alone() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    let (ours, theirs) = (Uuid::now_v7(), Uuid::now_v7());
    for (name, tenant) in [("ada", ours), ("eve", theirs)] {
        let id = Uuid::now_v7();
        let person = format!("INSERT INTO users VALUES ('{id}', '{name}', '{name}', 'hash', 1, 1)");
        let member = format!("INSERT INTO memberships VALUES ('{tenant}', '{id}', 'admin', 1, 1, '{{}}')");
        owner.execute(person).await.unwrap();
        owner.execute(member).await.unwrap();
    }
    let mut server = as_server(&db).await;

    assert_eq!(server.column("SELECT email FROM users").await.unwrap(), [""; 0]);
    assert_eq!(server.execute("UPDATE users SET password_hash = 'mine'").await.unwrap(), 0);
    work_for(&mut server, ours).await;
    assert_eq!(server.column("SELECT email FROM users").await.unwrap(), ["ada"]);
    assert_eq!(server.execute("UPDATE users SET password_hash = 'mine'").await.unwrap(), 1);
    assert_refused(server.execute("DELETE FROM users").await, "deleting people");
    let theirs = "SELECT password_hash FROM users WHERE email = 'eve'";
    assert_eq!(owner.column(theirs).await.unwrap(), ["hash"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn server_can_neither_change_nor_delete_what_is_append_only() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    let tenant = Uuid::now_v7();
    fill(&mut owner, &[tenant]).await;
    let mut server = as_server(&db).await;
    work_for(&mut server, tenant).await;

    for table in APPEND_ONLY {
        for sql in [
            format!("UPDATE {table} SET actor = ''"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            assert_refused(server.execute(sql.clone()).await, &sql);
            let refused = owner.execute(sql.clone()).await.unwrap_err().to_string();
            assert!(refused.contains("is append-only"), "{sql}: {refused}");
        }
        assert_eq!(tenants_seen(&mut server, table).await, [tenant.to_string()]);
    }
    assert_refused(
        server.execute("ALTER TABLE audit_log DISABLE TRIGGER ALL").await,
        "disabling the trigger",
    );
    assert_refused(server.execute("ALTER TABLE runs DISABLE ROW LEVEL SECURITY").await, "opening the fence");
}

#[tokio::test(flavor = "multi_thread")]
async fn server_adds_to_the_history_of_tools_and_changes_none_of_it() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    let (ours, theirs) = (Uuid::now_v7(), Uuid::now_v7());
    fill(&mut owner, &[ours, theirs]).await;
    let mut server = as_server(&db).await;
    work_for(&mut server, ours).await;

    for table in ADDED_TO {
        assert_eq!(tenants_seen(&mut server, table).await, [ours.to_string()], "{table}");
        for sql in [
            format!("UPDATE {table} SET content_hash = 'x'"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ] {
            assert_refused(server.execute(sql.clone()).await, &sql);
        }
        let fences = format!(
            "SELECT cmd || ' ' || qual FROM pg_policies WHERE tablename = '{table}' AND policyname <> 'tenant_fence'"
        );
        assert_eq!(owner.column(fences).await.unwrap(), [""; 0], "{table} has no gate beside the fence");
    }
    // What everybody is told can be read by all and written by nobody who works for a tenant.
    let told = format!(
        "INSERT INTO tools (id, tenant_id, slug, slug_key, kind, revision, created_us, updated_us, created_by)
         VALUES (gen_random_uuid(), '{}', 'x', 'x', 'system_override', 1, 1, 1, 'x')",
        Uuid::nil()
    );
    owner.execute(told.clone()).await.unwrap();
    assert_eq!(tenants_seen(&mut server, "tools").await.len(), 2);
    assert_refused(server.execute(told.replace("'x', 'x', 's", "'y', 'y', 's")).await, "telling everybody");
    let nil = Uuid::nil();
    let touched = server.execute(format!("UPDATE tools SET slug = 'z' WHERE tenant_id = '{nil}'")).await;
    assert_eq!(touched.unwrap(), 0);
}

/// Who looks past the fence by a function of the owner's must not be able to choose what it looks at.
#[tokio::test(flavor = "multi_thread")]
async fn functions_that_look_past_the_fence_look_in_our_tables() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    let loose = "SELECT proname::text FROM pg_proc WHERE prosecdef AND pronamespace = 'public'::regnamespace
        AND NOT coalesce(proconfig, '{}') @> ARRAY['search_path=public, pg_temp']";
    assert_eq!(owner.column(loose).await.unwrap(), [""; 0]);

    let mut server = as_server(&db).await;
    server.execute("CREATE TEMP TABLE tenants (id uuid, slug text)").await.unwrap();
    server.execute("INSERT INTO pg_temp.tenants VALUES (gen_random_uuid(), 'acme')").await.unwrap();
    assert_eq!(server.column("SELECT id::text FROM tw_find_tenant('acme')").await.unwrap(), [""; 0]);
}

/// Whatever user its address names: what is taken from the role is taken from the server.
#[tokio::test(flavor = "multi_thread")]
async fn server_works_under_the_role_and_not_as_its_user() {
    let db = TestDb::new(Kind::Postgres).await;
    let store = db.store().await;
    assert_eq!(store.meta("check").await.unwrap(), None);

    Raw::open(&db).await.execute("REVOKE SELECT ON meta FROM toolwright_app").await.unwrap();

    let refused = store.meta("check").await;
    assert!(matches!(refused, Err(tw_store::Error::Database { .. })), "{refused:?}");
}
