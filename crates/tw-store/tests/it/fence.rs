//! The second fence: what PostgreSQL itself refuses to the role that the server works under.
//!
//! The tables are asked for from the database, so that a new one without its fence fails here.

use tw_store::{By, Options, Store, Target};
use tw_test::{Kind, TestDb};
use uuid::Uuid;

use crate::world::Raw;

const INSUFFICIENT_PRIVILEGE: &str = "42501";
const APPEND_ONLY: [&str; 2] = ["session_events", "audit_log"];
/// What the server adds to and reads, and nothing else.
const ADDED_TO: [&str; 3] = ["schema_contents", "schema_versions", "tool_versions"];
/// Where the server changes no row.
const NOT_CHANGED: [&str; 3] = ["artifact_versions", "pending_children", "withdrawn_versions"];

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

/// The role that the server works under in this database.
async fn role_of(raw: &mut Raw) -> String {
    raw.column("SELECT tw_app_role()").await.unwrap().remove(0)
}

/// A connection as the server has it, before it says which tenant it works for.
async fn as_server(db: &TestDb) -> Raw {
    let mut raw = Raw::open(db).await;
    let role = role_of(&mut raw).await;
    raw.execute(format!("SET ROLE {role}")).await.unwrap();
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
          AND p.roles = '{public}' AND p.cmd = 'ALL' AND p.qual LIKE '%tw_tenants()%'
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
        if APPEND_ONLY.iter().chain(&ADDED_TO).chain(&NOT_CHANGED).any(|kept| *kept == table) {
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

    let mut owner = Raw::open(&db).await;
    let role = role_of(&mut owner).await;
    owner.execute(format!("REVOKE SELECT ON meta FROM {role}")).await.unwrap();

    let refused = store.meta("check").await;
    assert!(matches!(refused, Err(tw_store::Error::Database { .. })), "{refused:?}");
}

/// Makes a database in the cluster of another one, with an owner of its own, and brings its schema up to date.
async fn owned_database(raw: &mut Raw, url: &str, name: &str) -> String {
    raw.execute(format!("CREATE ROLE {name} LOGIN CREATEROLE")).await.unwrap();
    raw.execute(format!("CREATE DATABASE {name} OWNER {name}")).await.unwrap();
    let url = address(url, name, name);
    tw_store::migrate(&Target::Postgres { url: url.clone() }).await.unwrap();
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn user_who_may_not_make_the_role_is_told_what_to_do() {
    let db = TestDb::new(Kind::Postgres).await;
    let Target::Postgres { url } = db.target() else { unreachable!() };
    let mut cluster = Raw::open(&db).await;
    let name = format!("tw_plain_{}", Uuid::now_v7().simple());
    cluster.execute(format!("CREATE ROLE {name} LOGIN")).await.unwrap();
    cluster.execute(format!("CREATE DATABASE {name} OWNER {name}")).await.unwrap();

    let refused = tw_store::migrate(&Target::Postgres { url: address(&url, &name, &name) }).await;

    let said = refused.unwrap_err().to_string();
    assert!(
        said.contains("permission denied")
            && said.contains("CREATEROLE")
            && said.contains("toolwright migrate"),
        "{said}"
    );
    cluster.execute(format!("DROP DATABASE {name}")).await.unwrap();
    cluster.execute(format!("DROP ROLE {name}")).await.unwrap();
}

/// The address of a database in the same cluster.
fn address(url: &str, user: &str, database: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap();
    let (_, rest) = rest.split_once('@').unwrap();
    let (host, _) = rest.split_once('/').unwrap();
    format!("{scheme}://{user}@{host}/{database}")
}

#[tokio::test(flavor = "multi_thread")]
async fn owner_of_one_database_reads_nothing_of_another_in_the_cluster() {
    let db = TestDb::new(Kind::Postgres).await;
    let Target::Postgres { url } = db.target() else { unreachable!() };
    let mut cluster = Raw::open(&db).await;
    let id = Uuid::now_v7().simple().to_string();
    let (ours, theirs) = (format!("tw_ours_{id}"), format!("tw_theirs_{id}"));
    let our_url = owned_database(&mut cluster, &url, &ours).await;
    let their_url = owned_database(&mut cluster, &url, &theirs).await;
    let store = Store::open(&Options::new(Target::Postgres { url: their_url.clone() })).await.unwrap();
    let tenant = store.create_tenant(&"acme".parse().unwrap(), "acme", &By::operator()).await.unwrap();
    store.close().await;
    let mut owner = Raw::at(&their_url).await;
    let role = role_of(&mut owner).await;
    assert_ne!(role_of(&mut Raw::at(&our_url).await).await, role);

    let mut stranger = Raw::at(&address(&url, &ours, &theirs)).await;

    assert_refused(stranger.execute(format!("SET ROLE {role}")).await, "taking the role");
    // The role of old is still in the cluster, and its members have no rights here.
    stranger.execute("SET ROLE toolwright_app").await.unwrap();
    work_for(&mut stranger, tenant.id.uuid()).await;
    for sql in ["SELECT slug FROM tenants", "SELECT id FROM tw_all_tenants()", "SELECT tw_bump_every_epoch()"]
    {
        assert_refused(stranger.execute(sql).await, sql);
    }
    drop((stranger, owner));
    for name in [&ours, &theirs] {
        cluster.execute(format!("DROP DATABASE {name} WITH (FORCE)")).await.unwrap();
        cluster.execute(format!("DROP ROLE {name}")).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn copy_of_a_database_gets_a_role_of_its_own() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut raw = Raw::open(&db).await;
    let after = role_of(&mut raw).await;
    // As it is in a copy: the database names the role of the one that it was copied from.
    let before = format!("toolwright_app_{}", uuid::Uuid::now_v7().simple());
    raw.execute(format!("CREATE ROLE {before} NOLOGIN")).await.unwrap();
    raw.execute(format!("GRANT SELECT ON runs TO {before}")).await.unwrap();
    let named = "CREATE OR REPLACE FUNCTION tw_app_role() RETURNS text LANGUAGE sql STABLE AS";
    raw.execute(format!("{named} $$ SELECT '{before}' $$")).await.unwrap();

    tw_store::migrate(&db.target()).await.unwrap();
    tw_store::migrate(&db.target()).await.unwrap();

    assert_eq!(role_of(&mut raw).await, after);
    let rights = |role: &str| format!("SELECT has_table_privilege('{role}', 'runs', 'SELECT')::text");
    assert_eq!(raw.column(rights(&before)).await.unwrap(), ["false"]);
    assert_eq!(raw.column(rights(&after)).await.unwrap(), ["true"]);
    let store = db.store().await;
    store.create_tenant(&"acme".parse().unwrap(), "acme", &By::operator()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_the_server_calls_its_functions() {
    let db = TestDb::new(Kind::Postgres).await;
    let open = "SELECT p.oid::regprocedure::text FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace AND p.proname LIKE 'tw\\_%'
          AND has_function_privilege('public', p.oid, 'EXECUTE')";
    assert_eq!(Raw::open(&db).await.column(open).await.unwrap(), [""; 0]);
}

/// By a moment far ahead everything would be due, and every key have run out.
#[tokio::test(flavor = "multi_thread")]
async fn functions_that_look_past_the_fence_go_by_the_clock_of_the_database() {
    let db = TestDb::new(Kind::Postgres).await;
    let mut owner = Raw::open(&db).await;
    fill(&mut owner, &[Uuid::now_v7()]).await;
    let far = "4000000000000000";
    owner.execute(format!("UPDATE idempotency SET expires_us = {far} - 1")).await.unwrap();
    owner
        .execute(format!(
            "UPDATE pending_calls SET state = 'waiting', waits_for = 'worker', expires_us = {far} - 1"
        ))
        .await
        .unwrap();
    let mut server = as_server(&db).await;
    let nil = Uuid::nil();

    let dropped = server.column(format!("SELECT tw_drop_expired_idempotency({far})::text")).await.unwrap();
    let due = server
        .column(format!("SELECT id::text FROM tw_due_pending({far}, 10, '{nil}', '{nil}')"))
        .await
        .unwrap();

    assert_eq!((dropped, due), (vec!["0".to_owned()], Vec::new()));
}
