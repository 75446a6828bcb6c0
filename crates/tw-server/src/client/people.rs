//! Names of people, as far as the key may read them.

use std::collections::HashMap;

use anyhow::{Context, Result};
use serde_json::Value;

use super::{Client, field, items};
use crate::operator::keys::prefix;

/// The members of the tenant by id.
pub(super) struct People(HashMap<String, String>);

impl People {
    /// Without the right to read members there are ids in the place of names.
    pub(super) async fn of(client: &Client) -> Self {
        let members = client.list(&["users"], &[], None).await.unwrap_or_default();
        let name = |member: &Value| {
            let name = field(member, "display_name");
            (field(member, "id"), if name.is_empty() { field(member, "email") } else { name })
        };
        Self(items(&members).map(name).collect())
    }

    /// Who it was: `{ "kind", "id" | "slug" }`, or the same in one word, `user:<id>`.
    pub(super) fn name(&self, who: &Value) -> String {
        let (kind, id) = match who {
            Value::String(label) => label.split_once(':').unwrap_or((label, "")),
            actor => {
                let part = |name: &str| actor[name].as_str();
                (part("kind").unwrap_or_default(), part("slug").or(part("id")).unwrap_or_default())
            }
        };
        match kind {
            "user" => self.0.get(id).cloned().unwrap_or_else(|| format!("user {id}")),
            _ => format!("{kind} {id}").trim_end().to_owned(),
        }
    }

    /// Who it was, by the name that is told with it: `{ "kind", "id" | "slug", "name", "role" }`.
    pub(super) fn subject(subject: &Value) -> String {
        let name = match subject["kind"].as_str() {
            Some("user") => field(subject, "name"),
            _ => Self(HashMap::new()).name(subject),
        };
        format!("{name} ({})", field(subject, "role"))
    }

    /// The id of the member with this email; an id is one already.
    pub(super) async fn member_id(client: &Client, email_or_id: String) -> Result<String> {
        if !email_or_id.contains('@') {
            return Ok(email_or_id);
        }
        let members = client.list(&["users"], &[], None).await?;
        let email = email_or_id.trim().to_lowercase();
        let found = items(&members).find(|member| field(member, "email").to_lowercase() == email);
        found.map(|member| field(member, "id")).with_context(|| format!("no member has the email `{email}`"))
    }

    /// The id of the API key with this prefix; an id is one already.
    pub(super) async fn key_id(client: &Client, prefix_or_id: String) -> Result<String> {
        if prefix_or_id.contains('-') {
            return Ok(prefix_or_id);
        }
        let keys = client.list(&["api-keys"], &[], None).await?;
        let prefix = prefix(&prefix_or_id);
        let found = items(&keys).find(|key| key["prefix"] == prefix);
        found.map(|key| field(key, "id")).with_context(|| format!("no API key has the prefix `{prefix}`"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn people_are_named_in_both_spellings_and_strangers_by_their_id() {
        let people = People(HashMap::from([("1".to_owned(), "Ada".to_owned())]));
        assert_eq!(people.name(&json!("user:1")), "Ada");
        assert_eq!(people.name(&json!({ "kind": "user", "id": "1", "key": "9" })), "Ada");
        assert_eq!(people.name(&json!({ "kind": "user", "id": "2" })), "user 2");
        assert_eq!(
            people.name(&json!({ "kind": "agent", "slug": "analyst", "owner": "1" })),
            "agent analyst"
        );
        assert_eq!(people.name(&json!("agent:analyst")), "agent analyst");
        assert_eq!(people.name(&json!({ "kind": "system" })), "system");
        assert_eq!(people.name(&Value::Null), "");
        let ada = json!({ "kind": "user", "id": "1", "name": "Ada", "role": "builder" });
        assert_eq!(People::subject(&ada), "Ada (builder)");
        let agent = json!({ "kind": "agent", "slug": "analyst", "name": "Ada", "role": "agent" });
        assert_eq!(People::subject(&agent), "agent analyst (agent)");
    }
}
