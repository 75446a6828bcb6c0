use serde_json::Value;
use tokio::task::JoinSet;
use tw_model::{ActsAs, KeyId, Role, Timestamp, UserId};
use tw_store::{By, Error, NewKey};
use tw_test::{TestDb, on_both};

use crate::world::{FAR, audit_len, audit_of, by, key, member, new_key, two_tenants};

on_both! {
    async fn new_key_is_read_back_whole(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let epoch = acme.epoch().await.unwrap();
        let new = NewKey {
            role: Role::Agent,
            acts_as: ActsAs::Agent,
            agent: Some("scout".to_owned()),
            expires: Some(FAR),
            ..new_key("tw_1", ada.id)
        };
        let who = by("r1");

        let made = acme.create_key(new.clone(), &who).await.unwrap();

        assert_eq!((made.tenant, made.owner, made.hash), (acme.id(), ada.id, new.hash));
        assert_eq!((made.name.as_str(), made.prefix.as_str()), ("deploy", "tw_1"));
        assert_eq!((made.role, made.acts_as, made.agent.as_deref()), (Role::Agent, ActsAs::Agent, Some("scout")));
        assert_eq!((made.expires, made.last_used, made.revoked), (Some(FAR), None, None));
        assert_eq!(made.created_by, who.actor);
        assert_eq!(acme.key(made.id).await.unwrap(), Some(made));
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
    }

    async fn audit_of_a_key_names_it_and_keeps_its_hash_out(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let made = key(&acme, "tw_1", ada.id).await;

        let [line] = &audit_of(&acme, "key.created").await[..] else { panic!() };

        assert_eq!(line.object, format!("key:{}", made.id));
        let Some(Value::Object(after)) = &line.after else { panic!() };
        assert_eq!((&after["prefix"], &after["role"]), (&"tw_1".into(), &"member".into()));
        assert!(!after.contains_key("hash"));
    }

    async fn revoked_key_stays_visible_and_cannot_be_revoked_twice(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let made = key(&acme, "tw_1", ada.id).await;
        let epoch = acme.epoch().await.unwrap();

        let revoked = acme.revoke_key(made.id, &by("r5")).await.unwrap().unwrap();

        assert!(revoked.revoked.is_some());
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        assert_eq!(acme.key(made.id).await.unwrap().as_ref(), Some(&revoked));
        assert_eq!(acme.keys(None, 10).await.unwrap(), std::slice::from_ref(&revoked));
        assert_eq!(store.find_key("tw_1").await.unwrap(), Some((acme.id(), made.id)));
        let [line] = &audit_of(&acme, "key.revoked").await[..] else { panic!() };
        assert_eq!(line.before.as_ref().unwrap()["revoked"], Value::Null);
        assert_ne!(line.after.as_ref().unwrap()["revoked"], Value::Null);

        let again = acme.revoke_key(made.id, &By::operator()).await.unwrap();
        assert_eq!(again, Some(revoked));
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        assert_eq!(audit_of(&acme, "key.revoked").await.len(), 1);
    }

    async fn key_revoked_by_many_at_once_is_revoked_once(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let made = key(&acme, "tw_1", ada.id).await;
        let epoch = acme.epoch().await.unwrap();
        let mut tasks = JoinSet::new();
        for _ in 0..16 {
            let acme = acme.clone();
            tasks.spawn(async move { acme.revoke_key(made.id, &By::operator()).await.unwrap().unwrap().revoked });
        }
        let mut moments = tasks.join_all().await;

        moments.dedup();
        assert_eq!(moments.len(), 1);
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        assert_eq!(audit_of(&acme, "key.revoked").await.len(), 1);
    }

    async fn prefix_is_taken_once_over_all_tenants(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let eve = member(&globex, "eve@example.com", Role::Admin).await;
        key(&acme, "tw_1", ada.id).await;
        let (epoch, lines) = (globex.epoch().await.unwrap(), audit_len(&globex).await);

        let taken = globex.create_key(new_key("tw_1", eve.id), &By::operator()).await;

        assert!(matches!(taken, Err(Error::Taken { what: "key prefix" })), "{taken:?}");
        // What did not happen is in nobody's audit.
        assert_eq!((globex.epoch().await.unwrap(), audit_len(&globex).await), (epoch, lines));
    }

    async fn key_of_one_tenant_is_unknown_to_another(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let made = key(&acme, "tw_1", ada.id).await;
        let epochs = (acme.epoch().await.unwrap(), globex.epoch().await.unwrap());

        assert_eq!(globex.key(made.id).await.unwrap(), None);
        assert_eq!(globex.keys(None, 10).await.unwrap(), []);
        assert_eq!(globex.revoke_key(made.id, &By::operator()).await.unwrap(), None);
        globex.touch_key(made.id, FAR).await.unwrap();

        assert_eq!(acme.key(made.id).await.unwrap(), Some(made));
        assert_eq!((acme.epoch().await.unwrap(), globex.epoch().await.unwrap()), epochs);
    }

    async fn use_of_a_key_is_noted_and_changes_no_epoch(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let made = key(&acme, "tw_1", ada.id).await;
        let epoch = acme.epoch().await.unwrap();
        let (early, late) = (Timestamp::from_micros(1_000), Timestamp::from_micros(2_000));

        acme.touch_key(made.id, late).await.unwrap();
        // A report that was on its way for longer does not turn the clock back.
        acme.touch_key(made.id, early).await.unwrap();

        assert_eq!(acme.key(made.id).await.unwrap().unwrap().last_used, Some(late));
        assert_eq!(acme.epoch().await.unwrap(), epoch);
        acme.touch_key(KeyId::new(), late).await.unwrap();
    }

    async fn owner_of_a_key_is_a_member(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let eve = member(&globex, "eve@example.com", Role::Admin).await;
        for owner in [eve.id, UserId::new()] {
            let refused = acme.create_key(new_key("tw_1", owner), &By::operator()).await;
            assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        }
        assert_eq!(acme.epoch().await.unwrap(), 1);
    }

    async fn keys_come_in_pages_without_gap_or_repetition(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let eve = member(&globex, "eve@example.com", Role::Admin).await;
        let mut all = Vec::new();
        for index in 0..7 {
            all.push(key(&acme, &format!("tw_a{index}"), ada.id).await);
            key(&globex, &format!("tw_g{index}"), eve.id).await;
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = acme.keys(after, 3).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            seen.extend(page);
        }
        assert_eq!(seen, all);
    }
}
