use std::time::Duration;

use tokio::task::JoinSet;
use tw_model::{LoginId, Role, Timestamp, UserId};
use tw_store::{By, Error, NewLogin, Opens};
use tw_test::{TestDb, on_both};

use crate::world::{FAR, audit_of, fresh_hash, link_to, login_of, member, sign_in, two_tenants, use_link};

on_both! {
    async fn login_lasts_until_it_is_ended(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let (token, epoch) = (fresh_hash(), acme.epoch().await.unwrap());

        let login = sign_in(&acme, ada.id, &token).await.unwrap().unwrap();

        assert_eq!((login.tenant, login.user, login.expires, login.ended), (acme.id(), ada.id, FAR, None));
        assert_eq!(acme.login(login.id).await.unwrap(), Some(login.clone()));
        assert_eq!(store.find_login(&token).await.unwrap(), Some((acme.id(), login.id)));
        assert_eq!(acme.epoch().await.unwrap(), epoch);

        assert!(acme.end_login(login.id, "sign_out", &By::operator()).await.unwrap());
        assert!(acme.login(login.id).await.unwrap().unwrap().ended.is_some());
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);

        assert!(!acme.end_login(login.id, "sign_out", &By::operator()).await.unwrap());
        assert!(!acme.end_login(LoginId::new(), "sign_out", &By::operator()).await.unwrap());
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
    }

    async fn use_of_a_login_is_noted_while_it_lasts(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let login = login_of(&acme, ada.id).await;
        let epoch = acme.epoch().await.unwrap();
        let later = login.created.plus(Duration::from_secs(60));
        let seen = async || acme.login(login.id).await.unwrap().unwrap().last_seen;

        acme.touch_login(login.id, later).await.unwrap();
        assert_eq!(seen().await, later);
        acme.touch_login(login.id, login.created).await.unwrap();
        assert_eq!(seen().await, later);
        assert_eq!(acme.epoch().await.unwrap(), epoch);
        acme.end_login(login.id, "sign_out", &By::operator()).await.unwrap();
        acme.touch_login(login.id, FAR).await.unwrap();
        assert_eq!(seen().await, later);
    }

    async fn login_of_one_tenant_is_unknown_to_another(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        let login = login_of(&acme, ada.id).await;
        let epoch = globex.epoch().await.unwrap();

        assert_eq!(globex.login(login.id).await.unwrap(), None);
        assert!(!globex.end_login(login.id, "sign_out", &By::operator()).await.unwrap());
        globex.touch_login(login.id, FAR).await.unwrap();

        assert_eq!(acme.login(login.id).await.unwrap(), Some(login));
        assert_eq!(globex.epoch().await.unwrap(), epoch);
    }

    async fn only_members_sign_in(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let eve = member(&globex, "eve@example.com", Role::Admin).await;
        for stranger in [eve.id, UserId::new()] {
            assert_eq!(sign_in(&acme, stranger, &fresh_hash()).await.unwrap(), None);
            let link = acme.create_link(stranger, &fresh_hash(), FAR, &By::operator()).await;
            assert!(matches!(link, Err(Error::Refused { .. })), "{link:?}");
        }
    }

    async fn token_serves_once(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let token = fresh_hash();
        sign_in(&acme, ada.id, &token).await.unwrap().unwrap();
        link_to(&acme, ada.id, &token).await;

        let login = sign_in(&acme, ada.id, &token).await;
        assert!(matches!(login, Err(Error::Taken { what: "login token" })), "{login:?}");
        let link = acme.create_link(ada.id, &token, FAR, &By::operator()).await;
        assert!(matches!(link, Err(Error::Taken { what: "link token" })), "{link:?}");
    }

    async fn link_used_by_many_at_once_signs_in_one(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let other = db.store().await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        for _ in 0..10 {
            let token = fresh_hash();
            link_to(&acme, ada.id, &token).await;
            let mut tasks = JoinSet::new();
            for index in 0..16 {
                let scope = if index % 2 == 0 { store.tenant(acme.id()) } else { other.tenant(acme.id()) };
                tasks.spawn(async move { use_link(&scope, ada.id, &token, Timestamp::now()).await });
            }
            let signed_in: Vec<_> = tasks.join_all().await.into_iter().flatten().collect();

            assert_eq!(signed_in, [ada.id]);
            assert_eq!(use_link(&acme, ada.id, &token, Timestamp::now()).await, None);
        }
    }

    async fn link_that_has_run_out_signs_nobody_in(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let (token, end) = (fresh_hash(), Timestamp::from_micros(1_000_000));
        acme.create_link(ada.id, &token, end, &By::operator()).await.unwrap();

        assert_eq!(use_link(&acme, ada.id, &token, end).await, None);
        assert_eq!(use_link(&acme, ada.id, &token, Timestamp::from_micros(end.micros() - 1)).await, Some(ada.id));
    }

    async fn link_of_one_tenant_opens_no_other(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        let token = fresh_hash();
        link_to(&acme, ada.id, &token).await;

        assert_eq!(use_link(&globex, ada.id, &token, Timestamp::now()).await, None);
        assert_eq!(store.find_link(&token).await.unwrap(), Some((acme.id(), ada.id)));
        assert_eq!(use_link(&acme, ada.id, &token, Timestamp::now()).await, Some(ada.id));
    }

    async fn sign_in_counts_only_under_the_password_it_was_made_with(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        assert!(acme.set_password(ada.id, None, "first", &By::operator()).await.unwrap());
        let opens = Opens::from([(acme.id(), "a".to_owned()), (globex.id(), "b".to_owned())]);
        let by_password = async |password: &'static str| {
            let token = fresh_hash();
            let new = NewLogin { user: ada.id, token_hash: &token, expires: FAR, opens: &opens, how: "password" };
            acme.create_login(new, Some(password), &By::operator()).await.unwrap()
        };

        let made = by_password("first").await.unwrap();
        assert_eq!(acme.login(made.id).await.unwrap(), Some(made.clone()));
        assert_eq!(made.opens, opens);
        assert!(acme.set_password(ada.id, Some("first"), "second", &By::operator()).await.unwrap());

        assert_eq!(by_password("first").await, None);
        assert!(by_password("second").await.is_some());
    }

    async fn coming_and_going_is_audited(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let token = fresh_hash();
        link_to(&acme, ada.id, &token).await;
        use_link(&acme, ada.id, &token, Timestamp::now()).await.unwrap();
        let here = login_of(&acme, ada.id).await;
        acme.end_login(here.id, "sign_out", &By::operator()).await.unwrap();

        assert_eq!(audit_of(&acme, "user.link_made").await.len(), 1);
        let [second, first] = &audit_of(&acme, "login.opened").await[..] else { panic!() };
        assert_eq!(first.after.as_ref().unwrap()["by"], "link");
        assert_eq!(second.after, Some(serde_json::json!({ "login": here.id, "by": "password" })));
        let [ended] = &audit_of(&acme, "login.ended").await[..] else { panic!() };
        assert_eq!((&ended.object, &ended.after.as_ref().unwrap()["by"]), (&format!("user:{}", ada.id), &"sign_out".into()));
    }
}
