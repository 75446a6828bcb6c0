use serde_json::json;
use tokio::task::JoinSet;
use tw_model::TenantId;
use tw_store::{By, Changed, Error, TenantChange};
use tw_test::{TestDb, on_both};

use crate::world::{audit_len, audit_of, by, new_tenant, two_tenants};

fn named(name: &str) -> TenantChange {
    TenantChange { name: Some(name.to_owned()), ..TenantChange::default() }
}

on_both! {
    async fn new_tenant_is_found_listed_and_audited(db: TestDb) {
        let store = db.store().await;
        let made = store.create_tenant(&"acme".parse().unwrap(), "Acme", &by("r1")).await.unwrap();
        new_tenant(&store, "aardvark").await;

        assert_eq!((made.slug.as_str(), made.name.as_str(), made.status.as_str()), ("acme", "Acme", "active"));
        assert_eq!(made.settings, json!({}));
        let scope = store.tenant(made.id);
        assert_eq!(scope.tenant().await.unwrap().as_ref(), Some(&made));
        assert_eq!(store.find_tenant(&made.slug).await.unwrap(), Some(made.id));
        assert_eq!(scope.epoch().await.unwrap(), 1);
        let slugs: Vec<_> = store.tenants().await.unwrap().into_iter().map(|tenant| tenant.slug).collect();
        assert_eq!(slugs, ["aardvark".parse().unwrap(), made.slug]);
        let [line] = &audit_of(&scope, "tenant.created").await[..] else { panic!() };
        assert_eq!(line.object, format!("tenant:{}", made.id));
        assert_eq!(line.request_id.as_deref(), Some("r1"));
        assert_eq!(line.before, None);
        assert_eq!(line.after.as_ref().unwrap()["slug"], "acme");
    }

    async fn there_is_no_tenant_before_the_first(db: TestDb) {
        let store = db.store().await;
        assert!(store.tenants().await.unwrap().is_empty());
        assert!(store.all_epochs().await.unwrap().is_empty());
    }

    async fn slug_is_taken_once(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;

        let again = store.create_tenant(&"acme".parse().unwrap(), "Another", &By::operator()).await;

        assert!(matches!(again, Err(Error::Taken { what: "tenant slug" })), "{again:?}");
        assert_eq!(store.tenants().await.unwrap().len(), 2);
        assert_eq!(acme.tenant().await.unwrap().unwrap().name, "acme");
        assert_eq!(store.all_epochs().await.unwrap().len(), 2);
    }

    async fn of_many_who_make_the_same_tenant_at_once_one_wins(db: TestDb) {
        let stores = [db.store().await, db.store().await];
        let mut tasks = JoinSet::new();
        for index in 0..16 {
            let store = stores[index % 2].clone();
            tasks.spawn(async move {
                store.create_tenant(&"acme".parse().unwrap(), "Acme", &By::operator()).await
            });
        }
        let results = tasks.join_all().await;

        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        let taken = |result: &&Result<_, _>| matches!(result, Err(Error::Taken { what: "tenant slug" }));
        assert_eq!(results.iter().filter(taken).count(), 15);
        assert_eq!(stores[0].tenants().await.unwrap().len(), 1);
    }

    async fn settings_are_merged_and_null_removes(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let set = |settings| TenantChange { settings: Some(settings), ..TenantChange::default() };
        let first = set(json!({ "a": { "b": 1 }, "c": true }));
        acme.change_tenant(first, None, &By::operator()).await.unwrap();

        let changed =
            acme.change_tenant(set(json!({ "a": { "d": 2 }, "c": null, "e": [] })), None, &By::operator()).await;

        let Changed::Done(tenant) = changed.unwrap() else { panic!() };
        assert_eq!(tenant.settings, json!({ "a": { "d": 2 }, "e": [] }));
        assert_eq!(acme.tenant().await.unwrap().unwrap(), tenant);
        assert_eq!(globex.tenant().await.unwrap().unwrap().settings, json!({}));
        let [line, _] = &audit_of(&acme, "tenant.changed").await[..] else { panic!() };
        assert_eq!(line.before.as_ref().unwrap()["settings"], json!({ "a": { "b": 1 }, "c": true }));
        assert_eq!(line.after.as_ref().unwrap()["settings"], json!({ "a": { "d": 2 }, "e": [] }));
    }

    async fn stale_change_changes_nothing(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let seen = acme.tenant().await.unwrap().unwrap().updated;
        let changed = acme.change_tenant(named("First"), Some(seen), &By::operator()).await.unwrap();
        let Changed::Done(first) = changed else { panic!("{changed:?}") };
        let (epoch, lines) = (acme.epoch().await.unwrap(), audit_len(&acme).await);

        let stale = acme.change_tenant(named("Second"), Some(seen), &By::operator()).await.unwrap();

        assert_eq!(stale, Changed::Stale(first.clone()));
        assert_eq!(acme.tenant().await.unwrap().unwrap(), first);
        assert_eq!((acme.epoch().await.unwrap(), audit_len(&acme).await), (epoch, lines));
    }

    async fn of_many_changes_to_what_was_seen_one_is_made(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let seen = acme.tenant().await.unwrap().unwrap().updated;
        let mut tasks = JoinSet::new();
        for index in 0..16 {
            let scope = acme.clone();
            tasks.spawn(async move {
                scope.change_tenant(named(&format!("Name {index}")), Some(seen), &By::operator()).await.unwrap()
            });
        }
        let results = tasks.join_all().await;

        let done: Vec<_> = results.iter().filter(|result| matches!(result, Changed::Done(_))).collect();
        assert_eq!(done, [&Changed::Done(acme.tenant().await.unwrap().unwrap())]);
        assert_eq!(acme.epoch().await.unwrap(), 2);
    }

    async fn every_change_is_a_new_version_and_a_new_epoch(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let mut before = (acme.tenant().await.unwrap().unwrap().updated, acme.epoch().await.unwrap());
        for turn in 0..20 {
            let changed = acme.change_tenant(named(&format!("Name {turn}")), None, &By::operator()).await;
            let Changed::Done(tenant) = changed.unwrap() else { panic!() };
            let after = (tenant.updated, acme.epoch().await.unwrap());
            assert!(before.0 < after.0 && before.1 < after.1, "{before:?} {after:?}");
            before = after;
        }
        assert_eq!(globex.epoch().await.unwrap(), 1);
    }

    async fn change_to_what_is_already_so_is_none(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let before = acme.tenant().await.unwrap().unwrap();

        let changed = acme.change_tenant(named("acme"), None, &By::operator()).await.unwrap();

        assert_eq!(changed, Changed::Done(before));
        assert_eq!((acme.epoch().await.unwrap(), audit_len(&acme).await), (1, 1));
    }

    async fn status_and_settings_that_make_no_sense_are_refused(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let odd_status = TenantChange { status: Some("asleep".to_owned()), ..TenantChange::default() };
        let odd_settings = TenantChange { settings: Some(json!([])), ..TenantChange::default() };
        for change in [odd_status, odd_settings] {
            let refused = acme.change_tenant(change, None, &By::operator()).await;
            assert!(matches!(refused, Err(Error::Refused { .. })), "{refused:?}");
        }
        let suspend = TenantChange { status: Some("suspended".to_owned()), ..TenantChange::default() };
        acme.change_tenant(suspend, None, &By::operator()).await.unwrap();
        assert_eq!(acme.tenant().await.unwrap().unwrap().status, "suspended");
        assert_eq!(acme.epoch().await.unwrap(), 2);
    }

    async fn tenant_that_does_not_exist_cannot_be_changed(db: TestDb) {
        let (store, ..) = two_tenants(&db).await;
        let nobody = store.tenant(TenantId::new());

        assert_eq!(nobody.tenant().await.unwrap(), None);
        assert_eq!(nobody.change_tenant(named("x"), None, &By::operator()).await.unwrap(), Changed::Missing);
        assert_eq!(nobody.epoch().await.unwrap(), 0);
        assert_eq!(store.all_epochs().await.unwrap().len(), 2);
    }

    async fn who_listens_hears_of_a_change(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let mut heard = store.wake().tenants();

        acme.change_tenant(named("Acme"), None, &By::operator()).await.unwrap();

        assert_eq!(heard.recv().await.unwrap(), acme.id());
    }
}
