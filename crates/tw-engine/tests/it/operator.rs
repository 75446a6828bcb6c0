//! What an operator does where a tenant has more people and keys than a page holds.

use tw_engine::Operator;
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role, TenantSlug};
use tw_test::{Kind, TestDb, on_both};

use crate::world::World;

/// More than are read at a time.
const MANY: u32 = 1_100;

/// Members and keys, each member with one of its own, written past the store: one by one would take seconds.
async fn crowd(world: &World) {
    let mut raw = world.raw().await;
    let tenant = raw.id(world.tenant().uuid());
    // Later than every id of today.
    let (id, bytes, from) = match world.db.kind() {
        Kind::Sqlite => (
            "unhex(printf('ff%030x', i))",
            "unhex(printf('%064x', i))",
            format!(
                "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY}) SELECT i FROM n)"
            ),
        ),
        Kind::Postgres => (
            "('ff' || lpad(to_hex(i), 30, '0'))::uuid",
            "decode(lpad(to_hex(i), 64, '0'), 'hex')",
            format!("generate_series(1, {MANY}) AS n (i)"),
        ),
    };
    let inserts = [
        format!(
            "INSERT INTO users (id, email, display_name, created_us, updated_us)
             SELECT {id}, 'p' || i || '@acme.test', '', 1, 1 FROM {from}"
        ),
        format!(
            "INSERT INTO memberships (tenant_id, user_id, role, created_us, updated_us, created_by, display_name)
             SELECT {tenant}, {id}, 'member', 1, 1, '{{}}', 'P' FROM {from}"
        ),
        format!(
            "INSERT INTO api_keys (id, tenant_id, name, prefix, hash, role, acts_as, owner_id, created_us, created_by)
             SELECT {id}, {tenant}, 'k' || i, 'prefix' || i, {bytes}, 'member', 'user', {id}, 1, '{{}}' FROM {from}"
        ),
    ];
    for insert in inserts {
        raw.execute(insert).await;
    }
}

fn key() -> KeyRequest {
    KeyRequest { name: "k".to_owned(), role: Role::Member, acts_as: ActsAs::User, agent: None, expires: None }
}

on_both! {
    async fn owner_of_a_key_is_found_however_many_members_there_are(db: TestDb) {
        let world = World::new(db).await;
        crowd(&world).await;
        let operator = Operator::new(world.one().store.clone());
        let slug: TenantSlug = "acme".parse().unwrap();
        let users = operator.users(&slug).await.unwrap();
        let last = users.last().unwrap();
        assert_eq!(last.email, format!("p{MANY}@acme.test"));

        let named = operator.create_key(&slug, key(), Some(&last.email.to_uppercase())).await.unwrap();
        let unnamed = operator.create_key(&slug, key(), None).await.unwrap();

        assert_eq!(named.key.owner, last.id);
        assert_eq!(unnamed.key.owner, world.user("admin"));
        for nobody in ["nobody@acme.test", "no address"] {
            assert!(operator.create_key(&slug, key(), Some(nobody)).await.is_err(), "{nobody}");
        }
    }

    async fn key_is_revoked_however_many_there_are(db: TestDb) {
        let world = World::new(db).await;
        crowd(&world).await;
        let operator = Operator::new(world.one().store.clone());
        let slug: TenantSlug = "acme".parse().unwrap();
        let keys = operator.keys(&slug).await.unwrap();
        assert!(usize::try_from(MANY).unwrap() < keys.len());
        let [.., by_prefix, by_id] = keys.as_slice() else { panic!("there are many") };

        for (name, key) in [(by_prefix.prefix.clone(), by_prefix), (by_id.id.to_string(), by_id)] {
            let revoked = operator.revoke_key(&name).await.unwrap();
            assert_eq!((revoked.id, revoked.revoked.is_some()), (key.id, true), "{name}");
        }

        let revoked = operator.keys(&slug).await.unwrap().iter().filter(|key| key.revoked.is_some()).count();
        assert_eq!(revoked, 2);
    }
}
