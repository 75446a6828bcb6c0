use tw_model::{Role, UserId};
use tw_store::By;
use tw_test::{TestDb, on_both};

use crate::world::{fresh_hash, key, link_to, member, sign_in, two_tenants, use_link};

on_both! {
    async fn ids_are_found_before_the_tenant_is_known(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        for (tenant, email, prefix) in [(&acme, "ada@example.com", "tw_a"), (&globex, "eve@example.com", "tw_e")] {
            let user = member(tenant, email, Role::Admin).await;
            let (token, link) = (fresh_hash(), fresh_hash());
            let key = key(tenant, prefix, user.id).await;
            let login = sign_in(tenant, user.id, &token).await.unwrap().unwrap();
            link_to(tenant, user.id, &link).await;

            assert_eq!(store.find_key(prefix).await.unwrap(), Some((tenant.id(), key.id)));
            assert_eq!(store.find_login(&token).await.unwrap(), Some((tenant.id(), login.id)));
            assert_eq!(store.find_link(&link).await.unwrap(), Some((tenant.id(), user.id)));
            assert_eq!(store.find_memberships(email).await.unwrap(), [(tenant.id(), user.id)]);
        }
        assert_eq!(store.find_tenant(&"globex".parse().unwrap()).await.unwrap(), Some(globex.id()));
    }

    async fn what_does_not_exist_is_not_found(db: TestDb) {
        let (store, ..) = two_tenants(&db).await;

        assert_eq!(store.find_key("tw_none").await.unwrap(), None);
        assert_eq!(store.find_login(&fresh_hash()).await.unwrap(), None);
        assert_eq!(store.find_link(&fresh_hash()).await.unwrap(), None);
        assert_eq!(store.find_tenant(&"initech".parse().unwrap()).await.unwrap(), None);
        assert_eq!(store.find_memberships("nobody@example.com").await.unwrap(), []);
        assert_eq!(store.memberships_of(UserId::new()).await.unwrap(), []);
    }

    async fn what_is_no_longer_in_force_is_found_all_the_same(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let ada = member(&acme, "ada@example.com", Role::Admin).await;
        let (token, link) = (fresh_hash(), fresh_hash());
        let key = key(&acme, "tw_a", ada.id).await;
        let login = sign_in(&acme, ada.id, &token).await.unwrap().unwrap();
        link_to(&acme, ada.id, &link).await;

        acme.revoke_key(key.id, &By::operator()).await.unwrap();
        acme.end_login(login.id, "sign_out", &By::operator()).await.unwrap();
        use_link(&acme, ada.id, &link, ada.created).await;

        assert_eq!(store.find_key("tw_a").await.unwrap(), Some((acme.id(), key.id)));
        assert_eq!(store.find_login(&token).await.unwrap(), Some((acme.id(), login.id)));
        assert_eq!(store.find_link(&link).await.unwrap(), Some((acme.id(), ada.id)));
    }

    async fn memberships_come_oldest_first(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        let ada = member(&globex, "ada@example.com", Role::Member).await;
        member(&acme, "ada@example.com", Role::Admin).await;
        member(&acme, "bob@example.com", Role::Admin).await;

        let found = store.find_memberships("ada@example.com").await.unwrap();

        assert_eq!(found, [(globex.id(), ada.id), (acme.id(), ada.id)]);
        assert_eq!(store.memberships_of(ada.id).await.unwrap(), [globex.id(), acme.id()]);
    }

    async fn epochs_of_all_tenants_are_told_together(db: TestDb) {
        let (store, acme, globex) = two_tenants(&db).await;
        member(&acme, "ada@example.com", Role::Admin).await;

        let mut epochs = store.all_epochs().await.unwrap();

        epochs.sort();
        let mut expected = [(acme.id(), 2), (globex.id(), 1)];
        expected.sort();
        assert_eq!(epochs, expected);
    }
}
