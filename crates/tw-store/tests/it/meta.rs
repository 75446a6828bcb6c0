use tokio::task::JoinSet;
use tw_test::{TestDb, on_both};

on_both! {
    async fn fact_is_settled_once(db: TestDb) {
        let store = db.store().await;

        assert_eq!(store.meta("check").await.unwrap(), None);
        assert_eq!(store.set_meta_once("check", "first").await.unwrap(), "first");
        assert_eq!(store.set_meta_once("check", "second").await.unwrap(), "first");
        assert_eq!(store.meta("check").await.unwrap().as_deref(), Some("first"));
        assert_eq!(store.meta("other").await.unwrap(), None);
    }

    async fn servers_that_settle_a_fact_at_once_agree(db: TestDb) {
        let stores = [db.store().await, db.store().await];
        let mut tasks = JoinSet::new();
        for index in 0..16 {
            let store = stores[index % 2].clone();
            tasks.spawn(async move { store.set_meta_once("check", &index.to_string()).await.unwrap() });
        }
        let mut answers = tasks.join_all().await;

        answers.dedup();
        assert_eq!(answers.len(), 1);
        assert_eq!(stores[0].meta("check").await.unwrap().as_ref(), answers.first());
    }
}
