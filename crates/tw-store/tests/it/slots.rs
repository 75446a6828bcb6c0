use std::time::Duration;

use tokio::task::JoinSet;
use tw_model::Timestamp;
use tw_store::Store;
use tw_test::{TestDb, on_both};

use crate::world::{FAR, two_tenants};

/// A server that says it is alive, and the moment it did.
async fn alive(db: &TestDb) -> (Store, Timestamp) {
    let store = db.store().await;
    let beat = store.heartbeat().await.unwrap();
    (store, beat)
}

on_both! {
    async fn group_has_as_many_slots_as_it_is_large_and_each_tenant_its_own(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (other, now) = alive(&db).await;
        let since = now.minus(Duration::from_secs(15));
        let there = other.tenant(acme.id());
        let first = there.take_slot("press", 2, FAR, now, since).await.unwrap();
        assert_eq!(first, Some(0));
        assert_eq!(there.take_slot("press", 2, FAR, now, since).await.unwrap(), Some(1));
        assert_eq!(there.take_slot("press", 2, FAR, now, since).await.unwrap(), None);
        assert_eq!(acme.take_slot("press", 2, FAR, now, since).await.unwrap(), None, "here neither");
        assert_eq!(there.take_slot("lathe", 1, FAR, now, since).await.unwrap(), Some(0));
        let elsewhere = other.tenant(globex.id());
        assert_eq!(elsewhere.take_slot("press", 1, FAR, now, since).await.unwrap(), Some(0));

        there.leave_slot("press", 0, FAR).await.unwrap();
        assert_eq!(there.take_slot("press", 2, FAR, now, since).await.unwrap(), Some(0));
    }

    async fn slot_is_free_when_its_time_is_over_or_its_server_is_gone(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ((one, _), (two, now)) = (alive(&db).await, alive(&db).await);
        let since = now.minus(Duration::from_secs(15));
        let (one, two) = (one.tenant(acme.id()), two.tenant(acme.id()));
        let soon = now.plus(Duration::from_secs(5));
        assert_eq!(one.take_slot("press", 1, soon, now, since).await.unwrap(), Some(0));
        assert_eq!(two.take_slot("press", 1, FAR, now, since).await.unwrap(), None);
        assert_eq!(two.take_slot("press", 1, FAR, soon, since).await.unwrap(), Some(0), "its time is over");
        one.leave_slot("press", 0, soon).await.unwrap();
        assert_eq!(one.take_slot("press", 1, FAR, soon, since).await.unwrap(), None, "who left had lost it");

        let later = FAR.minus(Duration::from_secs(60));
        assert_eq!(one.take_slot("press", 1, FAR, later, later).await.unwrap(), Some(0), "nobody is heard of");
    }

    async fn number_of_each_who_has_a_slot_is_kept_to(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let (server, now) = alive(&db).await;
        let since = now.minus(Duration::from_secs(15));
        let scope = server.tenant(acme.id());
        let take = async |size| scope.take_slot("press", size, FAR, now, since).await.unwrap();
        assert_eq!(take(1).await, Some(0));
        assert_eq!(take(3).await, None, "the one at work allows no other");
        scope.leave_slot("press", 0, FAR).await.unwrap();
        assert_eq!((take(3).await, take(3).await, take(3).await), (Some(0), Some(1), Some(2)));
        scope.leave_slot("press", 0, FAR).await.unwrap();
        assert_eq!(take(1).await, None, "two are still at work");
        assert_eq!(take(2).await, None);
        assert_eq!(take(u32::MAX).await, Some(0), "as large as it may be");
    }

    async fn many_who_ask_at_once_are_no_more_than_the_slots(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let ((one, _), (two, now)) = (alive(&db).await, alive(&db).await);
        let since = now.minus(Duration::from_secs(15));
        let mut tasks = JoinSet::new();
        for index in 0..24 {
            let scope = if index % 2 == 0 { &one } else { &two }.tenant(acme.id());
            tasks.spawn(async move { scope.take_slot("press", 3, FAR, now, since).await.unwrap() });
        }
        let mut taken: Vec<i64> = tasks.join_all().await.into_iter().flatten().collect();
        assert!(!taken.is_empty(), "somebody got one");
        // Who came away with nothing may have met another at the same slot, and asks again.
        while let Some(slot) = one.tenant(acme.id()).take_slot("press", 3, FAR, now, since).await.unwrap() {
            taken.push(slot);
        }
        taken.sort_unstable();
        assert_eq!(taken, [0, 1, 2]);
    }
}
