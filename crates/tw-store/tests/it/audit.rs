use serde_json::{Value, json};
use tw_model::Timestamp;
use tw_store::{AuditFilter, By, NewAudit};
use tw_test::{TestDb, on_both};

use crate::world::{Raw, audit_len, by, two_tenants};

fn line(action: &str, object: &str) -> NewAudit {
    NewAudit {
        action: action.to_owned(),
        object: object.to_owned(),
        before: Some(json!({ "n": 1 })),
        after: Some(json!({ "n": 2 })),
        note: Some("a note".to_owned()),
    }
}

on_both! {
    async fn line_is_read_back_whole(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (who, started) = (by("r1"), Timestamp::now());

        acme.audit(&who, line("call.refused", "tool:mail.send")).await.unwrap();

        let filter = AuditFilter { action: Some("call.refused".to_owned()), ..AuditFilter::default() };
        let [record] = &acme.audit_page(&filter, None, 0, 10).await.unwrap().0[..] else { panic!() };
        assert_eq!(record.actor, serde_json::from_str::<Value>(&who.actor).unwrap());
        assert_eq!((record.action.as_str(), record.object.as_str()), ("call.refused", "tool:mail.send"));
        assert_eq!((&record.before, &record.after), (&Some(json!({ "n": 1 })), &Some(json!({ "n": 2 }))));
        assert_eq!((record.request_id.as_deref(), record.note.as_deref()), (Some("r1"), Some("a note")));
        assert!(started <= record.at && record.at <= Timestamp::now());
        assert_eq!(globex.audit_page(&filter, None, 0, 10).await.unwrap().0, []);
    }

    async fn operator_is_an_actor_too(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;

        let [record] = &acme.audit_page(&AuditFilter::default(), None, 0, 10).await.unwrap().0[..] else { panic!() };

        assert_eq!((&record.actor, &record.request_id), (&json!({ "kind": "operator" }), &None));
    }

    async fn lines_come_newest_first_in_pages_without_gap_or_repetition(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        for index in 0..10 {
            acme.audit(&By::operator(), line("a", &index.to_string())).await.unwrap();
            globex.audit(&By::operator(), line("a", "theirs")).await.unwrap();
        }
        let filter = AuditFilter { action: Some("a".to_owned()), ..AuditFilter::default() };
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let page = acme.audit_page(&filter, before, 0, 3).await.unwrap().0;
            let Some(last) = page.last() else { break };
            before = Some(last.id);
            seen.extend(page.into_iter().map(|record| record.object));
        }
        assert_eq!(seen, ["9", "8", "7", "6", "5", "4", "3", "2", "1", "0"]);
    }

    async fn filters_narrow_the_page_together(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        for (action, object) in [("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")] {
            acme.audit(&By::operator(), line(action, object)).await.unwrap();
        }
        let count = async |filter: AuditFilter| acme.audit_page(&filter, None, 0, 100).await.unwrap().0.len();
        let some = |text: &str| Some(text.to_owned());

        assert_eq!(count(AuditFilter { action: some("a"), ..AuditFilter::default() }).await, 3);
        assert_eq!(count(AuditFilter { object: some("x"), ..AuditFilter::default() }).await, 3);
        let both = AuditFilter { action: some("a"), object: some("x"), ..AuditFilter::default() };
        assert_eq!(count(both.clone()).await, 2);
        let last = acme.audit_page(&AuditFilter::default(), None, 0, 1).await.unwrap().0.remove(0).at;
        // From the moment itself, and up to the moment but not it.
        assert!(1 <= count(AuditFilter { since: Some(last), ..both.clone() }).await);
        assert!(count(AuditFilter { until: Some(last), ..both.clone() }).await <= 1);
        let next = Timestamp::from_micros(last.micros() + 1);
        assert_eq!(count(AuditFilter { since: Some(next), ..both.clone() }).await, 0);
        assert_eq!(count(AuditFilter { until: Some(next), ..both }).await, 2);
    }

    async fn written_line_stays_as_it_is(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let mut raw = Raw::open(&db).await;

        for sql in ["UPDATE audit_log SET note = 'better'", "DELETE FROM audit_log"] {
            let refused = raw.execute(sql).await.unwrap_err().to_string();
            assert!(refused.contains("audit_log is append-only"), "{sql}: {refused}");
        }
        assert_eq!(audit_len(&acme).await, 1);
    }
}
