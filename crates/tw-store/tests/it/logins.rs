use std::time::Duration;

use tokio::task::JoinSet;
use tw_model::{LoginId, Role, Timestamp, UserId};
use tw_store::Error;
use tw_test::{TestDb, on_both};

use crate::world::{FAR, fresh_hash, member, two_tenants};

on_both! {
    async fn login_lasts_until_it_is_ended(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let (token, epoch) = (fresh_hash(), acme.epoch().await.unwrap());

        let login = acme.create_login(ada.id, &token, FAR).await.unwrap();

        assert_eq!((login.tenant, login.user, login.expires, login.ended), (acme.id(), ada.id, FAR, None));
        assert_eq!(acme.login(login.id).await.unwrap(), Some(login.clone()));
        assert_eq!(store.find_login(&token).await.unwrap(), Some((acme.id(), login.id)));
        assert_eq!(acme.epoch().await.unwrap(), epoch);

        assert!(acme.end_login(login.id).await.unwrap());
        assert!(acme.login(login.id).await.unwrap().unwrap().ended.is_some());
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);

        assert!(!acme.end_login(login.id).await.unwrap());
        assert!(!acme.end_login(LoginId::new()).await.unwrap());
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
    }

    async fn use_of_a_login_is_noted_while_it_lasts(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let login = acme.create_login(ada.id, &fresh_hash(), FAR).await.unwrap();
        let epoch = acme.epoch().await.unwrap();
        let later = login.created.plus(Duration::from_secs(60));
        let seen = async || acme.login(login.id).await.unwrap().unwrap().last_seen;

        acme.touch_login(login.id, later).await.unwrap();
        assert_eq!(seen().await, later);
        acme.touch_login(login.id, login.created).await.unwrap();
        assert_eq!(seen().await, later);
        assert_eq!(acme.epoch().await.unwrap(), epoch);
        acme.end_login(login.id).await.unwrap();
        acme.touch_login(login.id, FAR).await.unwrap();
        assert_eq!(seen().await, later);
    }

    async fn login_of_one_tenant_is_unknown_to_another(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        let login = acme.create_login(ada.id, &fresh_hash(), FAR).await.unwrap();
        let epoch = globex.epoch().await.unwrap();

        assert_eq!(globex.login(login.id).await.unwrap(), None);
        assert!(!globex.end_login(login.id).await.unwrap());
        globex.touch_login(login.id, FAR).await.unwrap();

        assert_eq!(acme.login(login.id).await.unwrap(), Some(login));
        assert_eq!(globex.epoch().await.unwrap(), epoch);
    }

    async fn only_members_sign_in(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let eve = member(&globex, "eve@example.com", Role::Admin).await;
        for stranger in [eve.id, UserId::new()] {
            let login = acme.create_login(stranger, &fresh_hash(), FAR).await;
            assert!(matches!(login, Err(Error::Refused { .. })), "{login:?}");
            let link = acme.create_link(stranger, &fresh_hash(), FAR).await;
            assert!(matches!(link, Err(Error::Refused { .. })), "{link:?}");
        }
    }

    async fn token_serves_once(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let token = fresh_hash();
        acme.create_login(ada.id, &token, FAR).await.unwrap();
        acme.create_link(ada.id, &token, FAR).await.unwrap();

        let login = acme.create_login(ada.id, &token, FAR).await;
        assert!(matches!(login, Err(Error::Taken { what: "login token" })), "{login:?}");
        let link = acme.create_link(ada.id, &token, FAR).await;
        assert!(matches!(link, Err(Error::Taken { what: "link token" })), "{link:?}");
    }

    async fn link_used_by_many_at_once_signs_in_one(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let other = db.store().await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        for _ in 0..10 {
            let token = fresh_hash();
            acme.create_link(ada.id, &token, FAR).await.unwrap();
            let mut tasks = JoinSet::new();
            for index in 0..16 {
                let scope = if index % 2 == 0 { store.tenant(acme.id()) } else { other.tenant(acme.id()) };
                tasks.spawn(async move { scope.use_link(&token, Timestamp::now()).await.unwrap() });
            }
            let signed_in: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();

            assert_eq!(signed_in, [ada.id]);
            assert_eq!(acme.use_link(&token, Timestamp::now()).await.unwrap(), None);
        }
    }

    async fn link_that_has_run_out_signs_nobody_in(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let (token, end) = (fresh_hash(), Timestamp::from_micros(1_000_000));
        acme.create_link(ada.id, &token, end).await.unwrap();

        assert_eq!(acme.use_link(&token, end).await.unwrap(), None);
        assert_eq!(acme.use_link(&token, Timestamp::from_micros(end.micros() - 1)).await.unwrap(), Some(ada.id));
    }

    async fn link_of_one_tenant_opens_no_other(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        let token = fresh_hash();
        acme.create_link(ada.id, &token, FAR).await.unwrap();

        assert_eq!(globex.use_link(&token, Timestamp::now()).await.unwrap(), None);
        assert_eq!(store.find_link(&token).await.unwrap(), Some((acme.id(), ada.id)));
        assert_eq!(acme.use_link(&token, Timestamp::now()).await.unwrap(), Some(ada.id));
    }
}
