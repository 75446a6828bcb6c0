//! MCP servers of others, and what is found to have changed there.

use std::sync::Arc;

use tw_model::{McpDriftId, McpServerId, Switches, Timestamp, ToolId};
use tw_store::{
    By, Changed, DriftStatus, Error, Import, LastAnswer, Left, McpDrift, NewAudit, Note, StoredMcpServer,
    StoredTool, TenantScope,
};
use tw_test::{TestDb, on_both};

use crate::world::{FAR, audit_of, two_tenants};

pub(crate) fn mcp_server(name: &str) -> StoredMcpServer {
    let now = Timestamp::now();
    StoredMcpServer {
        id: McpServerId::new(),
        name: name.to_owned(),
        url: "https://mcp.example.com".to_owned(),
        headers: "{}".to_owned(),
        allowed_tools: None,
        oauth: None,
        answer: LastAnswer { status: "reachable".to_owned(), ..LastAnswer::default() },
        created: now,
        updated: now,
        created_by: "{}".to_owned(),
    }
}

fn left<'a>(notes: &'a [Note], accepts: Option<McpDriftId>, pins: Option<&'a str>) -> Left<'a> {
    let (action, object) = ("tool.changed".to_owned(), "tool:x".to_owned());
    let audit = NewAudit { action, object, before: None, after: None, note: None };
    Left { premise: None, claim: None, notes, content_hash: "hash", artifact: None, accepts, pins, audit }
}

/// A tool that was imported as `pinned`.
pub(crate) async fn imported(tenant: &TenantScope, server: McpServerId) -> StoredTool {
    let now = Timestamp::now();
    let id = ToolId::new();
    let import = Import { server, tool: "add".to_owned(), hash: "pinned".to_owned(), held: false };
    let tool = StoredTool {
        id,
        slug: format!("s{}.add", id.uuid().simple()).parse().unwrap(),
        switches: Switches::default(),
        definition: Arc::from("{}"),
        version: "1.0.0".to_owned(),
        live: None,
        live_version: None,
        published: None,
        revision: 1,
        updated: now,
        created: now,
        created_by: "{}".to_owned(),
        is_deleted: false,
        import: Some(Box::new(import)),
    };
    tenant.insert_tool(&tool, left(&[Note::Save], None, Some("remote")), &By::operator()).await.unwrap();
    tool
}

pub(crate) fn drift_of(server: McpServerId, tool: ToolId, current: &str) -> McpDrift {
    McpDrift {
        id: McpDriftId::new(),
        server,
        tool,
        slug: "s.add".to_owned(),
        kind: "changed".to_owned(),
        remote_name: Some("add".to_owned()),
        pinned_hash: "pinned".to_owned(),
        current_hash: Some(current.to_owned()),
        diff: "[]".to_owned(),
        status: DriftStatus::Pending,
        seen: Timestamp::now(),
        decided: None,
        decided_by: None,
    }
}

async fn tool_now(tenant: &TenantScope, tool: &StoredTool) -> StoredTool {
    tenant.custom_tool(tool.id).await.unwrap().unwrap()
}

async fn is_held(tenant: &TenantScope, tool: &StoredTool) -> bool {
    tool_now(tenant, tool).await.import.unwrap().held
}

on_both! {
    async fn server_is_read_back_as_it_was_written_by_its_own_tenant_alone(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (by, now) = (By::operator(), Timestamp::now());
        let server = StoredMcpServer { allowed_tools: Some(vec!["add".to_owned()]), ..mcp_server("Weather") };
        acme.create_mcp_server(&server, Some("[1]"), now, 1, &by).await.unwrap();
        assert_eq!(acme.mcp_server(server.id).await.unwrap().unwrap(), server);
        assert_eq!(acme.mcp_server_by_name("wEATHER").await.unwrap().unwrap(), server);
        assert_eq!(acme.mcp_listing(server.id).await.unwrap().unwrap(), "[1]");
        assert_eq!(globex.mcp_server(server.id).await.unwrap(), None);
        assert_eq!(globex.mcp_listing(server.id).await.unwrap(), None);
        let full = acme.create_mcp_server(&mcp_server("other"), None, now, 1, &by).await;
        assert!(matches!(full, Err(Error::Refused { .. })), "{full:?}");
        let twice = acme.create_mcp_server(&mcp_server("WEATHER"), None, now, 9, &by).await;
        assert!(matches!(twice, Err(Error::Taken { what: "name" })), "{twice:?}");
        globex.create_mcp_server(&mcp_server("WEATHER"), None, now, 9, &by).await.unwrap();
        assert_eq!(audit_of(&acme, "mcp_server.created").await[0].action, "mcp_server.created");
    }

    async fn due_server_is_taken_by_one_replica(db: TestDb) {
        let (store, acme, _) = two_tenants(&db).await;
        let (server, now) = (mcp_server("s"), Timestamp::now());
        acme.create_mcp_server(&server, None, now, 9, &By::operator()).await.unwrap();
        assert_eq!(store.due_mcp_servers(now, 9).await.unwrap(), [(acme.id(), server.id)]);
        assert!(acme.claim_mcp_server(server.id, now, FAR).await.unwrap());
        assert!(!acme.claim_mcp_server(server.id, now, FAR).await.unwrap());
        assert!(store.due_mcp_servers(now, 9).await.unwrap().is_empty());
        let answer = LastAnswer { status: "unreachable".to_owned(), ..LastAnswer::default() };
        let note = async |seen| acme.note_mcp_answer(server.id, seen, &answer, None, now).await.unwrap();
        assert!(note(server.updated).await);
        assert!(!note(server.moment_after()).await, "of a server that was changed meanwhile");
        assert_eq!(acme.mcp_server(server.id).await.unwrap().unwrap().answer, answer);
    }

    async fn drift_holds_its_tool_and_the_newest_one_counts(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let (by, server) = (By::operator(), McpServerId::new());
        let tool = imported(&acme, server).await;
        assert_eq!(acme.tool_content("pinned").await.unwrap().unwrap(), "remote");
        assert_eq!(tool_now(&acme, &tool).await, tool);
        let (one, two) = (drift_of(server, tool.id, "one"), drift_of(server, tool.id, "two"));
        assert!(!globex.add_mcp_drift(&one, None, &by).await.unwrap(), "another tenant's tool");
        let other = McpDrift { pinned_hash: "older".to_owned(), ..one.clone() };
        assert!(!acme.add_mcp_drift(&other, None, &by).await.unwrap(), "found against something else");
        assert!(!is_held(&acme, &tool).await);

        assert!(acme.add_mcp_drift(&one, Some("text of one"), &by).await.unwrap());
        assert!(is_held(&acme, &tool).await);
        assert_eq!(acme.tool_content("one").await.unwrap().unwrap(), "text of one");
        assert!(acme.add_mcp_drift(&two, None, &by).await.unwrap());
        assert_eq!(acme.mcp_drifts(server, None, 9).await.unwrap(), [two]);
        assert_eq!(acme.mcp_drift(one.id).await.unwrap().unwrap().status, DriftStatus::Closed);
        assert_eq!(acme.pending_mcp_drifts().await.unwrap(), [(server, 1)]);
        assert!(matches!(acme.reject_mcp_drift(&one, &by).await.unwrap(), Changed::Stale(())));

        assert!(acme.close_mcp_drift(tool.id, "pinned", "s.add", &by).await.unwrap());
        assert!(!is_held(&acme, &tool).await);
        assert!(acme.mcp_drifts(server, None, 9).await.unwrap().is_empty());
        assert!(!acme.close_mcp_drift(tool.id, "pinned", "s.add", &by).await.unwrap());
        let audit = audit_of(&acme, "mcp.drift").await;
        assert_eq!(audit.iter().filter(|line| line.action == "mcp.drift").count(), 2);
    }

    async fn rejected_drift_leaves_its_tool_held_and_is_decided_once(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let (by, server) = (By::operator(), McpServerId::new());
        let tool = imported(&acme, server).await;
        let drift = drift_of(server, tool.id, "one");
        acme.add_mcp_drift(&drift, None, &by).await.unwrap();
        assert!(matches!(acme.reject_mcp_drift(&drift, &by).await.unwrap(), Changed::Done(())));
        assert!(matches!(acme.reject_mcp_drift(&drift, &by).await.unwrap(), Changed::Stale(())));
        assert!(is_held(&acme, &tool).await);
        let last = acme.last_mcp_drift(tool.id).await.unwrap().unwrap();
        assert_eq!((last.status, last.decided_by), (DriftStatus::Rejected, Some(by.actor)));
    }

    async fn of_two_who_accept_a_drift_one_is_refused_and_changes_nothing(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let (by, server) = (By::operator(), McpServerId::new());
        let tool = imported(&acme, server).await;
        let drift = drift_of(server, tool.id, "one");
        acme.add_mcp_drift(&drift, None, &by).await.unwrap();
        let accept = async || {
            let seen = tool_now(&acme, &tool).await;
            let import = Import { hash: "one".to_owned(), held: false, ..*seen.import.clone().unwrap() };
            let updated = tw_store::moment_after(seen.updated);
            let after = StoredTool { import: Some(Box::new(import)), revision: seen.revision + 1, updated, ..seen.clone() };
            acme.update_tool(&after, seen.updated, left(&[Note::Save], Some(drift.id), Some("text")), &by).await
        };
        assert!(matches!(accept().await, Ok(Changed::Done(()))));
        let once = tool_now(&acme, &tool).await;
        assert_eq!(once.import.clone().unwrap().hash, "one");
        assert!(!once.import.clone().unwrap().held);
        assert_eq!(acme.mcp_drift(drift.id).await.unwrap().unwrap().status, DriftStatus::Accepted);
        let twice = accept().await;
        assert!(matches!(twice, Err(Error::Refused { .. })), "{twice:?}");
        assert_eq!(tool_now(&acme, &tool).await, once);
    }

    async fn server_is_removed_as_it_was_seen_and_only_unused(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let (server, by) = (mcp_server("s"), By::operator());
        acme.create_mcp_server(&server, None, FAR, 9, &by).await.unwrap();
        let epoch = acme.epoch().await.unwrap();
        imported(&acme, server.id).await;
        let remove = async |epoch| acme.remove_mcp_server(server.id, server.updated, epoch, &by).await.unwrap();
        assert!(matches!(remove(epoch).await, Changed::Stale(())), "somebody imported meanwhile");
        assert!(matches!(remove(acme.epoch().await.unwrap()).await, Changed::Done(())));
        assert!(matches!(remove(acme.epoch().await.unwrap()).await, Changed::Missing));
    }
}
