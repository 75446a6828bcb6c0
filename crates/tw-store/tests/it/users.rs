use std::collections::HashSet;

use serde_json::json;
use tokio::task::JoinSet;
use tw_model::{Role, UserId};
use tw_store::{Added, By, Changed, Error, NewUser, TenantScope};
use tw_test::{TestDb, on_both};

use crate::world::{
    audit_len, audit_of, by, crowd, fresh_hash, key, link_to, login_of, member, person, two_tenants, use_link,
};

fn is_last_admin<T: std::fmt::Debug>(result: &Result<T, Error>) -> bool {
    matches!(result, Err(Error::Refused { why: "a tenant must keep at least one admin" }))
}

async fn admins(tenant: &TenantScope) -> usize {
    tenant.users(None, 1000).await.unwrap().iter().filter(|user| user.role == Role::Admin).count()
}

on_both! {
    async fn new_person_is_a_member_and_can_be_read(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = NewUser {
            email: "ada@example.com".to_owned(),
            display_name: "Ada".to_owned(),
            role: Role::Builder,
            password_hash: Some("hash of a password".to_owned()),
        };

        let (user, added) = acme.add_user(ada, &by("r1")).await.unwrap();

        assert_eq!(added, Added::Created);
        assert_eq!((user.email.as_str(), user.display_name.as_str()), ("ada@example.com", "Ada"));
        assert_eq!((user.role, user.has_password), (Role::Builder, true));
        assert_eq!(acme.user(user.id).await.unwrap().as_ref(), Some(&user));
        assert_eq!(acme.user_by_email("ada@example.com").await.unwrap().as_ref(), Some(&user));
        assert_eq!(acme.users(None, 10).await.unwrap(), std::slice::from_ref(&user));
        assert_eq!(acme.role_of(user.id).await.unwrap(), Some(Role::Builder));
        assert_eq!(acme.password_hash(user.id).await.unwrap().as_deref(), Some("hash of a password"));
        assert_eq!(acme.epoch().await.unwrap(), 2);
        let [line] = &audit_of(&acme, "member.added").await[..] else { panic!() };
        assert_eq!(line.object, format!("user:{}", user.id));
        assert_eq!(line.before, None);
        assert_eq!(line.after, Some(json!({ "email": "ada@example.com", "role": "builder" })));
    }

    async fn known_person_joins_under_a_name_of_the_tenants_own_and_without_a_password(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let first = NewUser { password_hash: Some("first".to_owned()), ..person("ada@example.com", Role::Admin) };
        let (there, _) = acme.add_user(first, &By::operator()).await.unwrap();
        let second = NewUser {
            email: "ada@example.com".to_owned(),
            display_name: "Countess".to_owned(),
            role: Role::Viewer,
            password_hash: Some("second".to_owned()),
        };

        let (here, added) = globex.add_user(second, &By::operator()).await.unwrap();

        assert_eq!((added, here.id, here.role), (Added::Joined, there.id, Role::Viewer));
        assert_eq!((here.display_name.as_str(), here.has_password), ("Countess", false));
        assert_eq!(globex.password_hash(here.id).await.unwrap(), None);
        assert_eq!(acme.user(there.id).await.unwrap(), Some(there.clone()));
        assert_eq!(acme.password_hash(there.id).await.unwrap().as_deref(), Some("first"));
        assert_eq!(store.memberships_of(here.id).await.unwrap(), [acme.id(), globex.id()]);
    }

    async fn password_is_of_one_tenant(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        member(&globex, "ada@example.com", Role::Member).await;
        let there = login_of(&globex, ada.id).await;
        let epoch = globex.epoch().await.unwrap();

        assert!(acme.set_password(ada.id, None, "hers", &By::operator()).await.unwrap());

        assert_eq!(globex.password_hash(ada.id).await.unwrap(), None);
        assert!(!globex.user(ada.id).await.unwrap().unwrap().has_password);
        assert_eq!(globex.login(there.id).await.unwrap(), Some(there));
        assert_eq!(globex.epoch().await.unwrap(), epoch);
    }

    async fn password_that_has_changed_meanwhile_is_not_changed(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        assert!(!acme.set_password(ada.id, Some("imagined"), "new", &By::operator()).await.unwrap());
        assert!(acme.set_password(ada.id, None, "first", &By::operator()).await.unwrap());
        assert!(!acme.set_password(ada.id, None, "new", &By::operator()).await.unwrap());

        assert_eq!(acme.password_hash(ada.id).await.unwrap().as_deref(), Some("first"));
        assert_eq!(audit_of(&acme, "user.password_set").await.len(), 1);
    }

    async fn person_whom_nobody_has_any_more_starts_anew(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        member(&acme, "root@example.com", Role::Admin).await;
        let with = |password: &str| NewUser {
            password_hash: Some(password.to_owned()),
            ..person("ada@example.com", Role::Member)
        };
        let (ada, _) = acme.add_user(with("first"), &By::operator()).await.unwrap();
        acme.remove_member(ada.id, &By::operator()).await.unwrap();

        let (back, added) = globex.add_user(with("second"), &By::operator()).await.unwrap();

        assert_eq!((back.id, added), (ada.id, Added::Created));
        assert_eq!(globex.password_hash(ada.id).await.unwrap().as_deref(), Some("second"));
    }

    async fn member_who_is_added_again_keeps_their_role(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let (epoch, lines) = (acme.epoch().await.unwrap(), audit_len(&acme).await);

        let again = acme.add_user(person("ada@example.com", Role::Admin), &By::operator()).await.unwrap();

        assert_eq!(again, (ada, Added::AlreadyMember));
        assert_eq!((acme.epoch().await.unwrap(), audit_len(&acme).await), (epoch, lines));
    }

    async fn person_added_in_many_places_at_once_is_one_person(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let other = db.store().await;
        for round in 0..5 {
            let email = format!("ada{round}@example.com");
            let mut tasks = JoinSet::new();
            for index in 0..16 {
                let tenant = if index % 2 == 0 { acme.id() } else { globex.id() };
                let scope = if index % 4 < 2 { store.tenant(tenant) } else { other.tenant(tenant) };
                let new = person(&email, Role::Member);
                tasks.spawn(async move { scope.add_user(new, &By::operator()).await.unwrap() });
            }
            let results = tasks.join_all().await;

            let count = |wanted| results.iter().filter(|(_, added)| *added == wanted).count();
            assert_eq!((count(Added::Created), count(Added::Joined), count(Added::AlreadyMember)), (1, 1, 14));
            let ids: HashSet<_> = results.iter().map(|(user, _)| user.id).collect();
            assert_eq!(ids.len(), 1);
        }
    }

    async fn member_of_one_tenant_is_unknown_to_another(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        member(&acme, "root@example.com", Role::Admin).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        assert!(acme.set_password(ada.id, None, "hers", &By::operator()).await.unwrap());
        let before = acme.user(ada.id).await.unwrap();
        let lines = audit_len(&globex).await;

        assert_eq!(globex.user(ada.id).await.unwrap(), None);
        assert_eq!(globex.user_by_email("ada@example.com").await.unwrap(), None);
        assert_eq!(globex.users(None, 10).await.unwrap(), []);
        assert_eq!(globex.role_of(ada.id).await.unwrap(), None);
        assert_eq!(globex.password_hash(ada.id).await.unwrap(), None);
        assert_eq!(globex.set_role(ada.id, Role::Viewer, &By::operator()).await.unwrap(), Changed::Missing);
        assert!(!globex.set_password(ada.id, None, "stolen", &By::operator()).await.unwrap());
        assert!(!globex.remove_member(ada.id, &By::operator()).await.unwrap());

        assert_eq!(acme.user(ada.id).await.unwrap(), before);
        assert_eq!(acme.password_hash(ada.id).await.unwrap().as_deref(), Some("hers"));
        assert_eq!((globex.epoch().await.unwrap(), audit_len(&globex).await), (1, lines));
    }

    async fn new_role_holds_at_once_and_is_audited(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;

        let Changed::Done(user) = acme.set_role(ada.id, Role::Approver, &by("r7")).await.unwrap() else { panic!() };

        assert_eq!(user.role, Role::Approver);
        assert!(ada.updated < user.updated);
        assert_eq!(acme.user(ada.id).await.unwrap().as_ref(), Some(&user));
        assert_eq!(acme.role_of(ada.id).await.unwrap(), Some(Role::Approver));
        assert_eq!(acme.epoch().await.unwrap(), 3);
        let [line] = &audit_of(&acme, "member.role_changed").await[..] else { panic!() };
        assert_eq!(line.before, Some(json!({ "role": "member" })));
        assert_eq!(line.after, Some(json!({ "role": "approver" })));

        let same = acme.set_role(ada.id, Role::Approver, &By::operator()).await.unwrap();
        assert_eq!((same, acme.epoch().await.unwrap()), (Changed::Done(user), 3));
    }

    async fn last_admin_stays_one(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        // An admin of another tenant is none here.
        member(&globex, "root@example.com", Role::Admin).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let bob = member(&acme, "bob@example.com", Role::Builder).await;
        let epoch = acme.epoch().await.unwrap();

        assert!(is_last_admin(&acme.set_role(ada.id, Role::Member, &By::operator()).await));
        assert!(is_last_admin(&acme.remove_member(ada.id, &By::operator()).await));
        assert_eq!(acme.role_of(ada.id).await.unwrap(), Some(Role::Admin));
        assert_eq!(acme.epoch().await.unwrap(), epoch);

        acme.set_role(bob.id, Role::Admin, &By::operator()).await.unwrap();
        assert!(acme.remove_member(ada.id, &By::operator()).await.unwrap());
        assert!(is_last_admin(&acme.remove_member(bob.id, &By::operator()).await));
    }

    async fn two_admins_who_leave_at_once_leave_one_behind(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let other = db.store().await.tenant(acme.id());
        let mut left = member(&acme, "ada0@example.com", Role::Admin).await.id;
        for round in 1..=10 {
            let right = member(&acme, &format!("ada{round}@example.com"), Role::Admin).await.id;
            let here = tokio::spawn({
                let acme = store.tenant(acme.id());
                async move { acme.set_role(left, Role::Member, &By::operator()).await.map(drop) }
            });
            let there = tokio::spawn({
                let other = other.clone();
                async move { other.remove_member(right, &By::operator()).await.map(drop) }
            });
            let (here, there) = (here.await.unwrap(), there.await.unwrap());

            assert_eq!(admins(&acme).await, 1);
            assert!(is_last_admin(&here) != is_last_admin(&there), "{here:?} {there:?}");
            left = if here.is_ok() { right } else { left };
        }
    }

    async fn removed_member_loses_logins_links_and_keys_here_and_nothing_elsewhere(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let bob = member(&acme, "bob@example.com", Role::Admin).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        member(&globex, "ada@example.com", Role::Viewer).await;
        let (link, there_link) = (fresh_hash(), fresh_hash());
        let login = login_of(&acme, ada.id).await;
        link_to(&acme, ada.id, &link).await;
        let (adas, bobs) = (key(&acme, "tw_ada", ada.id).await, key(&acme, "tw_bob", bob.id).await);
        let bobs_login = login_of(&acme, bob.id).await;
        let there_login = login_of(&globex, ada.id).await;
        let there_key = key(&globex, "tw_there", ada.id).await;
        link_to(&globex, ada.id, &there_link).await;
        let epochs = (acme.epoch().await.unwrap(), globex.epoch().await.unwrap());

        assert!(acme.remove_member(ada.id, &by("r9")).await.unwrap());

        assert_eq!(acme.user(ada.id).await.unwrap(), None);
        assert_eq!(acme.role_of(ada.id).await.unwrap(), None);
        assert!(acme.login(login.id).await.unwrap().unwrap().ended.is_some());
        assert!(acme.key(adas.id).await.unwrap().unwrap().revoked.is_some());
        assert_eq!(use_link(&acme, ada.id, &link, ada.created).await, None);
        assert_eq!(store.memberships_of(ada.id).await.unwrap(), [globex.id()]);
        assert_eq!(acme.login(bobs_login.id).await.unwrap(), Some(bobs_login));
        assert_eq!(acme.key(bobs.id).await.unwrap(), Some(bobs));
        assert_eq!(globex.login(there_login.id).await.unwrap(), Some(there_login));
        assert_eq!(globex.key(there_key.id).await.unwrap(), Some(there_key));
        assert_eq!(use_link(&globex, ada.id, &there_link, ada.created).await, Some(ada.id));
        assert_eq!((acme.epoch().await.unwrap(), globex.epoch().await.unwrap()), (epochs.0 + 1, epochs.1));
        let [removed] = &audit_of(&acme, "member.removed").await[..] else { panic!() };
        assert_eq!(removed.before, Some(json!({ "email": "ada@example.com", "role": "admin" })));
        let [revoked] = &audit_of(&acme, "key.revoked").await[..] else { panic!() };
        assert_eq!(revoked.object, format!("key:{}", adas.id));
        assert!(!acme.remove_member(ada.id, &By::operator()).await.unwrap());

        let (back, added) = acme.add_user(person("ada@example.com", Role::Member), &By::operator()).await.unwrap();
        assert_eq!((back.id, added), (ada.id, Added::Joined));
        assert!(acme.key(adas.id).await.unwrap().unwrap().revoked.is_some());
    }

    async fn new_password_ends_logins_and_links_here(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Member).await;
        let bob = member(&acme, "bob@example.com", Role::Member).await;
        let login = login_of(&acme, ada.id).await;
        let bobs = login_of(&acme, bob.id).await;
        let link = fresh_hash();
        link_to(&acme, ada.id, &link).await;
        let epoch = acme.epoch().await.unwrap();

        assert!(acme.set_password(ada.id, None, "secret-hash", &by("r2")).await.unwrap());

        assert_eq!(acme.password_hash(ada.id).await.unwrap().as_deref(), Some("secret-hash"));
        let after = acme.user(ada.id).await.unwrap().unwrap();
        assert!(after.has_password && ada.updated < after.updated);
        assert!(acme.login(login.id).await.unwrap().unwrap().ended.is_some());
        assert_eq!(acme.login(bobs.id).await.unwrap(), Some(bobs));
        assert_eq!(use_link(&acme, ada.id, &link, ada.created).await, None);
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        let [line] = &audit_of(&acme, "user.password_set").await[..] else { panic!() };
        assert_eq!(line.before, Some(json!({ "has_password": false })));
        assert_eq!(line.after, Some(json!({ "has_password": true })));
        assert!(!acme.set_password(UserId::new(), None, "x", &By::operator()).await.unwrap());
    }

    async fn members_come_in_pages_without_gap_or_repetition(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let mut all = Vec::new();
        for index in 0..7 {
            all.push(member(&acme, &format!("u{index}@example.com"), Role::Member).await);
            member(&globex, &format!("g{index}@example.com"), Role::Member).await;
        }
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = acme.users(after, 3).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            seen.extend(page);
        }
        assert_eq!(seen, all);
    }

    async fn other_member_with_a_role_is_found_among_any_number(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        // More than a page of members, all before whoever comes next.
        crowd(&db, &acme, 250).await;
        member(&globex, "bob@example.com", Role::Approver).await;
        let deciders = [Role::Admin, Role::Approver];

        assert!(!acme.has_other_member(&deciders, ada.id).await.unwrap());
        assert!(!acme.has_other_member(&[], ada.id).await.unwrap());
        let eve = member(&acme, "eve@example.com", Role::Approver).await;

        assert!(acme.has_other_member(&deciders, ada.id).await.unwrap());
        assert!(!acme.has_other_member(&[Role::Approver], eve.id).await.unwrap());
    }
}
