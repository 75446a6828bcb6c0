//! The two schemas say the same, and what must not change cannot.

use tw_model::Role;
use tw_store::Login;
use tw_test::{Kind, TestDb, on_both};

use crate::world::{Raw, login_of, member, two_tenants};

const SQLITE: &str = "SELECT t.name || '.' || c.name || CASE WHEN c.\"notnull\" THEN ' not null' ELSE '' END
    FROM sqlite_schema t JOIN pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_sqlx_migrations'";
/// Groups of the log have fences where a connection to the database can break.
const POSTGRES: &str =
    "SELECT table_name || '.' || column_name || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END
    FROM information_schema.columns
    WHERE table_schema = 'public' AND table_name NOT IN ('_sqlx_migrations', 'log_fences')";
const SQLITE_INDEXES: &str = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";
const POSTGRES_INDEXES: &str = "SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
    JOIN pg_namespace n ON n.oid = i.relnamespace
    WHERE n.nspname = 'public' AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conindid = x.indexrelid)";

#[tokio::test(flavor = "multi_thread")]
async fn both_databases_have_the_same_tables_columns_and_indexes() {
    let (sqlite, postgres) = (TestDb::new(Kind::Sqlite).await, TestDb::new(Kind::Postgres).await);
    for (on_sqlite, on_postgres) in [(SQLITE, POSTGRES), (SQLITE_INDEXES, POSTGRES_INDEXES)] {
        let here = sorted(&sqlite, on_sqlite).await;
        let there = sorted(&postgres, on_postgres).await;

        assert!(10 <= here.len(), "{here:?}");
        let lonely = |names: &[String], others: &[String]| -> Vec<String> {
            names.iter().filter(|name| !others.contains(name)).cloned().collect()
        };
        assert_eq!((lonely(&here, &there), lonely(&there, &here)), (Vec::new(), Vec::new()));
    }
}

async fn sorted(db: &TestDb, sql: &str) -> Vec<String> {
    let mut names = Raw::open(db).await.column(sql).await.unwrap();
    names.sort();
    names
}

on_both! {
    async fn event_stays_as_it_was_written(db: TestDb) {
        let mut raw = Raw::open(&db).await;
        let id = match db.kind() {
            Kind::Sqlite => "randomblob(16)",
            Kind::Postgres => "gen_random_uuid()",
        };
        let event = format!(
            "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
             VALUES ({id}, {id}, 1, {id}, 'tool.started', {id}, 'x', '{{}}', '{{}}', 1)"
        );
        assert_eq!(raw.execute(event).await.unwrap(), 1);

        for sql in ["UPDATE session_events SET tool = 'y'", "DELETE FROM session_events"] {
            let refused = raw.execute(sql).await.unwrap_err().to_string();
            assert!(refused.contains("session_events is append-only"), "{sql}: {refused}");
        }
        assert_eq!(raw.column("SELECT tool FROM session_events").await.unwrap(), ["x"]);
    }

    async fn what_is_only_added_to_is_not_written_over(db: TestDb) {
        // PostgreSQL knows no such statement.
        if db.kind() == Kind::Postgres {
            return;
        }
        let (_, acme, _) = two_tenants(&db).await;
        member(&acme, "ada@example.com", Role::Member).await;
        let mut raw = Raw::open(&db).await;
        let rows = [
            ("session_events", "tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us",
             "x'01', x'02', 1, x'03', 'tool.started', x'04', 'x', '{}', '{}', 1"),
            ("schema_contents", "tenant_id, content_hash, content", "x'01', 'hash', 'x'"),
            ("schema_versions", "tenant_id, subject_kind, subject_id, id, revision, version, content_hash, author, created_us",
             "x'01', 'tool', x'02', x'03', 1, '1.0.0', 'hash', '{}', 1"),
            ("tool_versions", "id, tenant_id, tool_id, reason, version, revision, content_hash, author, created_us",
             "x'01', x'02', x'03', 'publish', '1.0.0', 1, 'hash', '{}', 1"),
        ];
        for (table, columns, values) in rows {
            let insert = format!("INTO {table} ({columns}) VALUES ({values})");
            assert_eq!(raw.execute(format!("INSERT {insert}")).await.unwrap(), 1);
            let forged = insert.replace("'x'", "'forged'");
            if forged != insert || table != "schema_contents" {
                let refused = raw.execute(format!("INSERT OR REPLACE {forged}")).await.unwrap_err().to_string();
                assert!(refused.contains(&format!("{table} is append-only")), "{refused}");
            }
            let refused = raw.execute(format!("DELETE FROM {table}")).await.unwrap_err().to_string();
            assert!(refused.contains(&format!("{table} is append-only")), "{refused}");
        }
        let by_place = "INSERT OR REPLACE INTO tool_versions
            (rowid, id, tenant_id, tool_id, reason, version, revision, content_hash, author, created_us)
            VALUES (1, x'09', x'02', x'03', 'publish', '1.0.0', 1, 'forged', '{}', 1)";
        assert!(raw.execute(by_place).await.is_err());
        let refused = raw.execute("INSERT OR REPLACE INTO audit_log SELECT * FROM audit_log").await.unwrap_err();
        assert!(refused.to_string().contains("audit_log is append-only"), "{refused}");
    }

    async fn migrating_again_changes_nothing(db: TestDb) {
        let mut raw = Raw::open(&db).await;
        let before = raw.column("SELECT description FROM _sqlx_migrations").await.unwrap();

        tw_store::migrate(&db.target()).await.unwrap();

        assert_eq!(raw.column("SELECT description FROM _sqlx_migrations").await.unwrap(), before);
    }

    async fn people_of_an_older_database_keep_what_their_first_tenant_gave_them(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        // Bob's first tenant has let him go: nobody here can say where his password is from.
        let bob = member(&globex, "bob@example.com", Role::Member).await;
        let logins = [login_of(&acme, ada.id).await, login_of(&globex, ada.id).await, login_of(&globex, bob.id).await];
        store.close().await;
        let mut raw = Raw::open(&db).await;
        for sql in [
            "ALTER TABLE memberships DROP COLUMN display_name",
            "ALTER TABLE memberships DROP COLUMN password_hash",
            "ALTER TABLE logins DROP COLUMN opens",
            "UPDATE users SET display_name = 'Ada', password_hash = 'first'",
            "UPDATE users SET created_us = 1 WHERE email = 'bob@example.com'",
            "DELETE FROM _sqlx_migrations WHERE version = 3",
        ] {
            raw.execute(sql).await.unwrap();
        }
        let target = db.target();
        assert_eq!(tw_store::pending_migrations(&target).await.unwrap(), ["0003_people_per_tenant"]);

        tw_store::migrate(&target).await.unwrap();

        assert!(tw_store::pending_migrations(&target).await.unwrap().is_empty());
        let store = db.store().await;
        let (acme, globex) = (store.tenant(acme.id()), store.tenant(globex.id()));
        for (tenant, user, name, password) in [
            (&acme, ada.id, "Ada", Some("first")),
            (&globex, ada.id, "ada@example.com", None),
            (&globex, bob.id, "bob@example.com", None),
        ] {
            assert_eq!(tenant.user(user).await.unwrap().unwrap().display_name, name);
            assert_eq!(tenant.password_hash(user).await.unwrap().as_deref(), password, "{name}");
        }
        let ended = async |login: &Login| {
            let login = store.tenant(login.tenant).login(login.id).await.unwrap().unwrap();
            assert!(login.opens.is_empty());
            login.ended.is_some()
        };
        assert_eq!([ended(&logins[0]).await, ended(&logins[1]).await, ended(&logins[2]).await], [false, true, true]);
        assert_eq!(raw.column("SELECT email FROM users WHERE password_hash IS NOT NULL").await.unwrap(), [""; 0]);
    }

    async fn what_an_older_database_waits_for_is_waited_for_still(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        store.close().await;
        let mut raw = Raw::open(&db).await;
        let (prefix, bytes) = match db.kind() {
            Kind::Sqlite => ("x", "BLOB"),
            Kind::Postgres => ("", "uuid"),
        };
        let id = |n: u8| format!("{prefix}'{}'", hex(n));
        let tenant = format!("{prefix}'{}'", acme.id().uuid().simple());
        for sql in [
            format!("ALTER TABLE pending_calls ADD COLUMN child_run_id {bytes}"),
            "CREATE INDEX pending_calls_by_child ON pending_calls (child_run_id)".to_owned(),
            "DROP INDEX pending_calls_of_children".to_owned(),
            "DROP TABLE pending_children".to_owned(),
            "DROP TABLE withdrawn_versions".to_owned(),
            "DROP INDEX memberships_by_role".to_owned(),
            "ALTER TABLE credentials DROP COLUMN allowed_hosts".to_owned(),
            format!(
                "INSERT INTO pending_calls (id, tenant_id, run_id, waits_for, state, context, expires_us, created_us,
                 updated_us, child_run_id) VALUES ({}, {tenant}, {}, 'child', 'waiting', '{{}}', 1, 1, 1, {})",
                id(1), id(2), id(3)
            ),
            format!(
                "INSERT INTO session_events (tenant_id, session_id, seq, id, type, run_id, tool, actor, payload, at_us)
                 VALUES ({tenant}, {0}, 1, {0}, 'tool.started', {0}, 'x', '{{}}', '{{}}', 1)",
                id(4)
            ),
            // What comes later speaks of all tables there are.
            "DELETE FROM _sqlx_migrations WHERE version IN (11, 13)".to_owned(),
        ] {
            raw.execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        }

        if db.kind() == Kind::Postgres {
            raw.execute("DROP FUNCTION tw_app_role(); DROP FUNCTION tw_no_later(bigint)").await.unwrap();
        }

        tw_store::migrate(&db.target()).await.unwrap();

        let tenant = db.store().await.tenant(acme.id());
        let run = |n: u8| tw_model::RunId::from_uuid(hex(n).parse().unwrap());
        assert_eq!(tenant.pending_call_of(run(2)).await.unwrap().unwrap().children, [run(3)]);
        assert_eq!(tenant.events(run(4).into(), 0, 10).await.unwrap()[0].tool.as_deref(), Some("x"));
        let refused = raw.execute("DELETE FROM session_events").await.unwrap_err().to_string();
        assert!(refused.contains("session_events is append-only"), "{refused}");
    }
}

fn hex(n: u8) -> String {
    format!("{n:02x}").repeat(16)
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn files_of_sqlite_are_for_their_owner_alone() {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    let db = TestDb::new(Kind::Sqlite).await;
    let tw_store::Target::Sqlite { file } = db.target() else { unreachable!() };
    let modes = || -> Vec<u32> {
        let files =
            fs::read_dir(file.parent().unwrap()).unwrap().map(|entry| entry.unwrap().metadata().unwrap());
        files.map(|found| found.permissions().mode() & 0o777).collect()
    };
    assert!(modes().iter().all(|mode| *mode == 0o600), "{:?}", modes());
    let wide = || fs::Permissions::from_mode(0o644);
    fs::set_permissions(&file, wide()).unwrap();

    let (store, acme, _) = two_tenants(&db).await;

    assert!(3 <= modes().len(), "the database has files beside it");
    assert!(modes().iter().all(|mode| *mode == 0o600), "{:?}", modes());
    member(&acme, "ada@example.com", Role::Member).await;
    fs::set_permissions(file.with_extension("sqlite-wal"), wide()).unwrap();
    drop(db.store().await);
    assert!(modes().iter().all(|mode| *mode == 0o600), "{:?}", modes());
    store.close().await;
}
