//! `toolwright tools import-openapi`.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::text_of;
use crate::{
    client::{Client, field},
    output,
};

pub(super) async fn import(
    client: &Client,
    file: &Path,
    server_url: Option<String>,
    as_json: bool,
) -> Result<()> {
    // JSON or YAML: the server reads either.
    let body = json!({ "document": text_of(file)?, "server_url": server_url }).to_string();
    let imported = client.post(&["tools", "import", "openapi"], body, None).await?;
    if as_json {
        return output::json(&imported);
    }
    let each = |name: &str| imported[name].as_array().into_iter().flatten().cloned().collect::<Vec<Value>>();
    for tool in each("items") {
        let level = field(&tool, "permission_level");
        output::say(&output::clean(&format!("made     {} ({level}, draft)", field(&tool, "slug"))))?;
    }
    for skipped in each("skipped") {
        let place = format!("{} {}", field(&skipped, "method"), field(&skipped, "path"));
        output::say(&output::clean(&format!("skipped  {place}: {}", field(&skipped, "reason"))))?;
    }
    for note in each("notes") {
        output::note(&format!("{}: {}", field(&note, "slug"), field(&note, "message")));
    }
    for credential in each("credentials") {
        let (label, kind) = (field(&credential, "label"), field(&credential, "type"));
        output::note(&format!(
            "the tools need the credential `{label}` of the type `{kind}`: create it if it does not exist"
        ));
    }
    output::say(&format!("{} made, {} skipped", each("items").len(), each("skipped").len()))
}
