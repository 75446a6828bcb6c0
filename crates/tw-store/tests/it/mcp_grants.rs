//! Sign-ins to MCP servers of others.

use std::time::Duration;

use serde_json::json;
use tw_model::{Timestamp, UserId};
use tw_store::{By, Changed, McpSignIn, RenewedGrant, StoredMcpGrant, StoredMcpServer};
use tw_test::{TestDb, on_both};
use uuid::Uuid;

use crate::{
    mcp_servers::mcp_server,
    world::{FAR, two_tenants},
};

const LEASE: Duration = Duration::from_secs(30);

pub(crate) fn grant_of(server: &StoredMcpServer) -> StoredMcpGrant {
    let now = Timestamp::now();
    StoredMcpGrant {
        id: Uuid::now_v7(),
        server: server.id,
        url: server.url.clone(),
        issuer: "https://login.example.com".to_owned(),
        scope: Some("tools".to_owned()),
        sealed: b"sealed".to_vec(),
        revision: 1,
        given: now,
        expires: Some(now.plus(LEASE)),
        refused: None,
        signed_in: now,
        signed_in_by: "{}".to_owned(),
    }
}

on_both! {
    async fn sign_in_is_taken_once_by_whoever_began_it(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (by, now, server) = (By::operator(), Timestamp::now(), mcp_server("s"));
        let (user, other) = (UserId::new(), UserId::new());
        let sign_in = McpSignIn { server: server.id, user, sealed: b"sealed".to_vec(), expires: now.plus(LEASE) };
        let begin = async |hash: u8| {
            acme.begin_mcp_sign_in(&[hash; 32], &sign_in, now, json!({}), &by).await.unwrap();
        };
        begin(1).await;
        begin(2).await;
        assert_eq!(acme.take_mcp_sign_in(&[1; 32], user, now).await.unwrap(), None, "of two the later one counts");
        assert_eq!(acme.take_mcp_sign_in(&[2; 32], other, now).await.unwrap(), None);
        assert_eq!(globex.take_mcp_sign_in(&[2; 32], user, now).await.unwrap(), None);
        assert_eq!(acme.take_mcp_sign_in(&[2; 32], user, now).await.unwrap(), Some(sign_in.clone()));
        assert_eq!(acme.take_mcp_sign_in(&[2; 32], user, now).await.unwrap(), None, "once");
        begin(3).await;
        let late = now.plus(LEASE);
        assert_eq!(acme.take_mcp_sign_in(&[3; 32], user, late).await.unwrap(), None, "too late");
    }

    async fn grant_is_renewed_by_one_and_gone_with_its_address(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (by, now) = (By::operator(), Timestamp::now());
        let server = mcp_server("s");
        acme.create_mcp_server(&server, None, FAR, 9, &by).await.unwrap();
        let grant = grant_of(&server);
        let elsewhere = StoredMcpGrant { url: "https://else.example.com".to_owned(), ..grant.clone() };
        assert!(matches!(acme.keep_mcp_grant(&elsewhere, None, &by).await.unwrap(), Changed::Stale(())));
        assert!(matches!(globex.keep_mcp_grant(&grant, None, &by).await.unwrap(), Changed::Missing));
        assert!(matches!(acme.keep_mcp_grant(&grant, Some("{}"), &by).await.unwrap(), Changed::Done(())));
        assert_eq!(acme.mcp_grant(server.id).await.unwrap(), Some(grant.clone()));
        assert_eq!(acme.mcp_grants(server.id, server.id).await.unwrap(), std::slice::from_ref(&grant));
        assert_eq!(globex.mcp_grants(server.id, server.id).await.unwrap(), []);
        let moved = acme.mcp_server(server.id).await.unwrap().unwrap();
        assert!(server.updated < moved.updated && moved.oauth.as_deref() == Some("{}"));

        assert!(acme.lease_mcp_grant(&grant, now, LEASE).await.unwrap());
        assert!(!acme.lease_mcp_grant(&grant, now, LEASE).await.unwrap(), "somebody is at it");
        acme.release_mcp_grant(&grant).await.unwrap();
        assert!(acme.lease_mcp_grant(&grant, now, LEASE).await.unwrap());
        let renewed = RenewedGrant { sealed: b"other", scope: None, given: now, expires: None };
        acme.renew_mcp_grant(&grant, &renewed).await.unwrap();
        assert!(!acme.lease_mcp_grant(&grant, now, LEASE).await.unwrap(), "it is another one by now");
        // Whoever was slower says nothing about what was renewed.
        acme.refuse_mcp_grant(&grant, "no", "unauthorized").await.unwrap();
        let after = acme.mcp_grant(server.id).await.unwrap().unwrap();
        assert_eq!((after.revision, after.sealed.as_slice(), &after.refused), (2, &b"other"[..], &None));
        acme.refuse_mcp_grant(&after, "no", "unauthorized").await.unwrap();
        assert_eq!(acme.mcp_grant(server.id).await.unwrap().unwrap().refused.as_deref(), Some("no"));
        assert_eq!(acme.mcp_server(server.id).await.unwrap().unwrap().answer.status, "unauthorized");
        assert!(!acme.lease_mcp_grant(&after, now, LEASE).await.unwrap(), "it is over");

        let before = acme.mcp_server(server.id).await.unwrap().unwrap();
        let named = StoredMcpServer { name: "t".to_owned(), updated: before.moment_after(), ..before.clone() };
        acme.change_mcp_server(&named, before.updated, FAR, &by).await.unwrap();
        assert!(acme.mcp_grant(server.id).await.unwrap().is_some(), "a name is no address");
        let moved = StoredMcpServer { url: "https://x.example".to_owned(), updated: named.moment_after(), ..named.clone() };
        acme.change_mcp_server(&moved, named.updated, FAR, &by).await.unwrap();
        assert_eq!(acme.mcp_grant(server.id).await.unwrap(), None);
        assert!(!acme.forget_mcp_grant(server.id, &by).await.unwrap());
    }
}
