//! The numbers of a tool, and those that nobody may call any more.

use std::sync::Arc;

use tw_model::{CredentialId, CredentialType, Switches, Timestamp, ToolId};
use tw_store::{
    By, Changed, Error, Left, NewAudit, Note, SealedSecret, StoredCredential, StoredTool, TenantScope,
    Withdrawn,
};
use tw_test::{TestDb, on_both};

use crate::world::{audit_of, by, two_tenants};

fn line(action: &str) -> NewAudit {
    NewAudit { action: action.to_owned(), object: "tool:x".to_owned(), before: None, after: None, note: None }
}

fn left(notes: &[Note]) -> Left<'_> {
    Left {
        premise: None,
        claim: None,
        notes,
        content_hash: "hash",
        accepts: None,
        pins: None,
        artifact: None,
        audit: line("tool.changed"),
    }
}

/// A tool that was published under each of these numbers.
async fn published(tenant: &TenantScope, versions: &[&str]) -> StoredTool {
    let now = Timestamp::now();
    let mut tool = StoredTool {
        id: ToolId::new(),
        slug: "x".parse().unwrap(),
        switches: Switches::default(),
        definition: Arc::from("{}"),
        version: versions[0].to_owned(),
        live: None,
        live_version: None,
        published: None,
        revision: 1,
        updated: now,
        created: now,
        created_by: "{}".to_owned(),
        is_deleted: false,
        import: None,
    };
    tenant.insert_tool(&tool, left(&[]), &By::operator()).await.unwrap();
    for version in versions {
        publish(tenant, &mut tool, version).await.unwrap();
    }
    tool
}

async fn publish(tenant: &TenantScope, tool: &mut StoredTool, version: &str) -> Result<Changed<()>, Error> {
    let seen = tool.updated;
    tool.updated = tw_store::moment_after(seen);
    tool.revision += 1;
    tool.version = version.to_owned();
    tool.live_version = Some(version.to_owned());
    tenant.update_tool(tool, seen, left(&[Note::Save, Note::Publish]), &By::operator()).await
}

on_both! {
    async fn withdrawn_version_says_since_when_and_stays_so(db: TestDb) {
        let (_, acme, globex) = two_tenants(&db).await;
        let tool = published(&acme, &["1.0.0", "2.0.0"]).await;
        let withdraw = async |tenant: &TenantScope, version: &str| {
            tenant.withdraw_version(tool.id, version, line("tool.version_withdrawn"), &by("r1")).await.unwrap()
        };
        let epoch = acme.epoch().await.unwrap();

        let Withdrawn::At(at) = withdraw(&acme, "1.0.0").await else { panic!("it was published") };

        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        assert_eq!(withdraw(&acme, "1.0.0").await, Withdrawn::At(at));
        assert_eq!(acme.epoch().await.unwrap(), epoch + 1);
        assert_eq!(withdraw(&acme, "2.0.0").await, Withdrawn::Live);
        assert_eq!(withdraw(&acme, "3.0.0").await, Withdrawn::Missing);
        assert_eq!(withdraw(&globex, "1.0.0").await, Withdrawn::Missing);
        assert_eq!(audit_of(&acme, "tool.version_withdrawn").await.len(), 1);
        let withdrawn = async |version: &str| {
            acme.tool_at_version(tool.id, version, true).await.unwrap().unwrap().withdrawn
        };
        assert_eq!((withdrawn("1.0.0").await, withdrawn("2.0.0").await), (Some(at), None));
        let history = acme.tool_history(tool.id, None, None, 10).await.unwrap();
        let marked: Vec<_> = history.iter().filter(|entry| entry.withdrawn.is_some()).collect();
        assert_eq!(marked.len(), 1);
        assert_eq!((marked[0].note, marked[0].version.as_str()), (Note::Publish, "1.0.0"));
    }

    async fn withdrawn_number_is_never_published_again(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let mut tool = published(&acme, &["1.0.0", "2.0.0"]).await;
        acme.withdraw_version(tool.id, "1.0.0", line("tool.version_withdrawn"), &by("r1")).await.unwrap();

        let refused = publish(&acme, &mut tool, "1.0.0").await;

        assert!(matches!(refused, Err(Error::Taken { what: "version" })), "{refused:?}");
    }

    async fn hosts_of_a_credential_are_kept(db: TestDb) {
        let (_, acme, _) = two_tenants(&db).await;
        let now = Timestamp::now();
        let mut credential = StoredCredential {
            id: CredentialId::new(),
            label: "crm".parse().unwrap(),
            kind: CredentialType::Bearer,
            provider_key: None,
            provider_variant: None,
            fields: vec!["token".to_owned()],
            allowed_hosts: None,
            sealed: SealedSecret { ciphertext: vec![1], wrapped_key: vec![2], key_id: "k".to_owned() },
            revision: 1,
            last_used: None,
            created: now,
            updated: now,
            created_by: "{}".to_owned(),
        };
        acme.create_credential(&credential, &By::operator()).await.unwrap();
        let stored = async || acme.credential(credential.id).await.unwrap().unwrap().allowed_hosts;
        assert_eq!(stored().await, None);

        let hosts = Some(vec!["api.example.com".to_owned(), "*.example.org".to_owned()]);
        let changed = StoredCredential { allowed_hosts: hosts.clone(), updated: credential.moment_after(), ..credential.clone() };
        acme.change_credential(&changed, credential.updated, None, &By::operator()).await.unwrap();

        assert_eq!(stored().await, hosts);
        let line = audit_of(&acme, "credential.changed").await.remove(0);
        assert_eq!(line.after.unwrap()["allowed_hosts"][0], "api.example.com");
        credential = changed;
        let open = StoredCredential { allowed_hosts: None, updated: credential.moment_after(), ..credential.clone() };
        acme.change_credential(&open, credential.updated, None, &By::operator()).await.unwrap();
        assert_eq!(acme.credential(open.id).await.unwrap().unwrap().allowed_hosts, None);
    }
}
