//! Who refers to a credential.

use serde_json::{Value, json};
use tw_base::{Error, Result};
use tw_exec::BoxFuture;
use tw_model::{Label, TenantId, ToolId};
use tw_store::{StoredCredential, StoredMcpServer};
use tw_vault::{References, TenantKey, UsedBy, open_secrets};

use crate::{
    Registry,
    authoring::{LOOKING_FOR_USERS, in_lane},
    catalogue::{Side, ToolEntry, View},
};

/// More than a tenant may have.
const SERVERS_MAX: i64 = 1_000;

impl References for Registry {
    fn references<'a>(
        &'a self,
        tenant: TenantId,
        epoch: i64,
        credential: &'a StoredCredential,
    ) -> BoxFuture<'a, Result<(Vec<UsedBy>, i64)>> {
        Box::pin(async move {
            let view = self.catalogue.view(tenant, epoch).await?;
            let key = self.vault.tool_secrets(tenant).await?;
            // A change to a server is one of the epoch too, so what is read now is not older than the view.
            let servers = self.store.tenant(tenant).mcp_servers(None, SERVERS_MAX).await;
            let servers = servers.map_err(Error::store("reading MCP servers"))?;
            let (epoch, credential) = (view.epoch, credential.clone());
            let walk = move || {
                let mut users = users_of(&view, key.as_deref(), &credential);
                let sent_to =
                    servers.into_iter().filter(|server| is_sent_to(server, key.as_deref(), &credential));
                users.extend(sent_to.map(|StoredMcpServer { name, .. }| UsedBy {
                    kind: "mcp_server",
                    slug: format!("MCP server {name}"),
                    name,
                }));
                users
            };
            Ok((in_lane(tenant, LOOKING_FOR_USERS, walk).await?, epoch))
        })
    }
}

/// The tenant's tools that refer to a credential, in what runs or in what was saved last.
fn users_of(view: &View, key: Option<&TenantKey>, credential: &StoredCredential) -> Vec<UsedBy> {
    let mut users = Vec::new();
    for entry in view.tools.sorted().iter() {
        let ToolEntry::Own(own) = entry else { continue };
        let texts = [Some(&own.stored.definition), own.stored.live.as_ref()];
        if texts.into_iter().flatten().any(|text| refers(own.stored.id, text, key, credential)) {
            let (slug, name) = (own.stored.slug.to_string(), own.face(Side::Draft).name.clone());
            users.push(UsedBy { kind: "tool", slug, name });
        }
    }
    users
}

fn refers(tool: ToolId, definition: &str, key: Option<&TenantKey>, credential: &StoredCredential) -> bool {
    // Most tools refer to none, and need not be read for that.
    let search = Search::of(credential);
    if !["secret:", "sealed:", "redential", &search.id].iter().any(|hint| definition.contains(hint)) {
        return false;
    }
    // One that cannot be read cannot be run either, so it uses nothing.
    let Ok(mut definition) = serde_json::from_str::<Value>(definition) else { return false };
    ["implementation", "execution_spec"].iter().any(|part| {
        let Some(part) = definition.get_mut(part) else { return false };
        // A reference within a longer text is hidden like the text, and so is what is named like a secret.
        let _ = open_secrets(key, tool, part);
        search.finds(part, false)
    })
}

/// Whether a header of a server refers to a credential.
fn is_sent_to(server: &StoredMcpServer, key: Option<&TenantKey>, credential: &StoredCredential) -> bool {
    let Ok(headers) = serde_json::from_str::<Value>(&server.headers) else { return false };
    let mut part = json!({ "headers": headers });
    // As it is sealed for the server.
    let _ = open_secrets(key, ToolId::from_uuid(server.id.uuid()), &mut part);
    Search::of(credential).finds(&part, false)
}

struct Search<'a> {
    id: String,
    label: String,
    fields: &'a [String],
}

impl<'a> Search<'a> {
    fn of(credential: &'a StoredCredential) -> Self {
        Self { id: credential.id.to_string(), label: credential.label.key(), fields: &credential.fields }
    }

    /// Looks for a reference in a value; `named` where a key above says that a credential stands there.
    fn finds(&self, value: &Value, named: bool) -> bool {
        match value {
            Value::Object(members) => members.iter().any(|(key, member)| {
                let named = named || key.to_ascii_lowercase().starts_with("credential");
                self.finds(member, named) || self.finds_in(key)
            }),
            Value::Array(items) => items.iter().any(|item| self.finds(item, named)),
            Value::String(text) => {
                let whole = text.eq_ignore_ascii_case(&self.id)
                    || (named && text.trim().eq_ignore_ascii_case(&self.label));
                whole || self.finds_in(text)
            }
            _ => false,
        }
    }

    /// Whether `secret:<label>` or `secret:<id>`, or one of its fields by `secret:<label>.<field>`, stands in a text.
    fn finds_in(&self, text: &str) -> bool {
        text.match_indices("secret:").any(|(at, marker)| {
            let rest = &text[at + marker.len()..];
            let end = rest.find(|c| !Label::takes(c)).unwrap_or(rest.len());
            // A sentence may end behind a label, which itself ends with a letter or a digit.
            let named = rest[..end].trim_end_matches(['.', '_', '-']).to_ascii_lowercase();
            [&self.label, &self.id].into_iter().any(|name| self.is_of(&named, name))
        })
    }

    /// Whether a reference is to what has this name, or to a field of it.
    fn is_of(&self, reference: &str, name: &str) -> bool {
        let Some(rest) = reference.strip_prefix(name) else { return false };
        let is_field = |field: &str| self.fields.iter().any(|each| each.eq_ignore_ascii_case(field));
        rest.is_empty() || rest.strip_prefix('.').is_some_and(is_field)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reference_is_found_wherever_it_stands_and_nothing_else_is() {
        let fields = ["username".to_owned(), "password".to_owned()];
        let id = "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11".to_owned();
        let search = Search { id, label: "crm".to_owned(), fields: &fields };
        for found in [
            json!({ "headers": { "X-Key": "secret:crm" } }),
            json!({ "headers": { "X-Key": "Bearer secret:CRM, for now" } }),
            json!(["the key is secret:crm."]),
            json!({ "body": { "deep": [{ "user": "secret:crm.username" }] } }),
            json!({ "credentials_ref": "Crm" }),
            json!({ "credential": { "id": "01932C07-5F1A-7CC0-9D3C-2F7A1F0E8A11" } }),
            json!({ "anything": "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11" }),
            json!({ "headers": { "Authorization": "Basic secret:01932C07-5f1a-7cc0-9d3c-2f7a1f0e8a11" } }),
            json!({ "query": { "user": "secret:01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11.username" } }),
        ] {
            assert!(search.finds(&found, false), "{found}");
        }
        for other in [
            json!({ "headers": { "X-Key": "secret:crm-2" } }),
            json!({ "headers": { "X-Key": "secret:crm.eu" } }),
            json!({ "headers": { "X-Key": "secret:my-crm" } }),
            json!({ "url": "https://crm.example", "name": "crm" }),
            json!({ "credentials_ref": "crm2" }),
            json!({ "query": { "user": "secret:01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11.other" } }),
            json!({ "query": { "user": "secret:01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a12" } }),
        ] {
            assert!(!search.finds(&other, false), "{other}");
        }
    }
}
