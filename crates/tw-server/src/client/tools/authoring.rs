//! Making, changing and publishing tools of a server.

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::{json_text, text_of};
use crate::{
    client::{Client, field, items, people::People},
    fail::Hint,
    output,
};

/// The JSON of a file as it is: the server says what is wrong with it, all at once.
fn definition(file: &Path) -> Result<String> {
    let text = json_text(text_of(file)?).context("the definition is not JSON");
    let text = text.hint(r#"a definition is such as '{ "slug": "greet", "name": "Greet", … }'"#)?;
    Ok(text.get().to_owned())
}

pub(super) async fn create(client: &Client, file: &Path, as_json: bool) -> Result<()> {
    let tool = client.post(&["tools"], definition(file)?, None).await?;
    tell("created", &tool, as_json)
}

pub(super) async fn patch(client: &Client, tool: &str, file: &Path, as_json: bool) -> Result<()> {
    let tool = client.patch(&["tools", tool], definition(file)?, None).await?;
    tell("changed", &tool, as_json)
}

/// What is to be published, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct PublishArgs {
    /// Its slug or id
    tool: String,
    /// The version to publish as; it must be greater than the current one
    #[arg(long, value_name = "X.Y.Z")]
    version: Option<String>,
    /// Publish even if the change breaks callers of the published version
    #[arg(long)]
    accept_breaking: bool,
    /// Publish without running the test cases
    #[arg(long)]
    ignore_tests: bool,
}

pub(super) async fn publish(client: &Client, args: &PublishArgs, as_json: bool) -> Result<()> {
    let PublishArgs { tool, version, accept_breaking, ignore_tests } = args;
    let body =
        json!({ "version": version, "accept_breaking": accept_breaking, "ignore_tests": ignore_tests });
    let tool = client.post(&["tools", tool, "publish"], body.to_string(), None).await?;
    tell("published", &tool, as_json)
}

pub(super) async fn version(client: &Client, tool: &str, number: &str, as_json: bool) -> Result<()> {
    let query = [("new_version", Some(number.to_owned()))];
    let tool = client.post_query(&["tools", tool, "version"], &query).await?;
    tell("changed", &tool, as_json)
}

pub(super) async fn withdraw(client: &Client, tool: &str, number: &str, as_json: bool) -> Result<()> {
    let version = client.post_query(&["tools", tool, "versions", number, "withdraw"], &[]).await?;
    if as_json {
        return output::json(&version);
    }
    output::say(&output::clean(&format!("withdrew {tool} {}", field(&version, "version"))))
}

pub(super) async fn delete(client: &Client, tool: &str, as_json: bool) -> Result<()> {
    client.delete(&["tools", tool]).await?;
    match as_json {
        true => output::json(&json!({ "tool": tool, "removed": true })),
        false => output::say(&output::clean(&format!("deleted {tool}"))),
    }
}

/// Says what has become of a tool.
fn tell(done: &str, tool: &Value, as_json: bool) -> Result<()> {
    if as_json {
        return output::json(tool);
    }
    let (slug, status) = (field(tool, "slug"), field(tool, "status"));
    let line = format!("{done} {slug} {} ({status})", field(tool, "version"));
    output::say(&output::clean(&line))?;
    if tool["has_draft"] == true {
        output::note(&format!("the change is a draft; to publish it: toolwright tools publish {slug}"));
    }
    Ok(())
}

pub(super) async fn versions(
    client: &Client,
    tool: &str,
    kind: Option<String>,
    limit: Option<usize>,
    as_json: bool,
) -> Result<()> {
    let versions = client.list(&["tools", tool, "versions"], &[("kind", kind)], limit).await?;
    if as_json {
        return output::json(&versions);
    }
    let people = People::of(client).await;
    output::table(
        &["revision", "version", "what", "when", "content", "by"],
        items(&versions).map(|entry| {
            let content: String = field(entry, "content_hash").chars().take(12).collect();
            let when = output::moment(&field(entry, "created_at"));
            let by = people.name(&entry["author"]);
            vec![field(entry, "revision"), field(entry, "version"), field(entry, "kind"), when, content, by]
        }),
    )
}

pub(super) async fn compare(
    client: &Client,
    tool: &str,
    from: String,
    to: String,
    as_json: bool,
) -> Result<()> {
    let query = [("from", Some(from)), ("to", Some(to))];
    let compared = client.get(&["tools", tool, "versions", "compare"], &query).await?;
    if as_json {
        return output::json(&compared);
    }
    output::pairs(&[
        ("from", field(&compared, "from")),
        ("to", field(&compared, "to")),
        ("breaking", field(&compared, "breaking")),
        ("required bump", field(&compared, "required_bump")),
    ])?;
    for change in compared["changes"].as_array().into_iter().flatten() {
        let mark = if change["breaking"] == true { "breaks" } else { "fits  " };
        let line = format!(
            "{mark}  {} {}: {}",
            field(change, "part"),
            field(change, "path"),
            field(change, "message")
        );
        output::say(&output::clean(&line))?;
    }
    Ok(())
}

pub(super) async fn explain(
    client: &Client,
    tool: &str,
    user: Option<String>,
    key: Option<String>,
    as_json: bool,
) -> Result<()> {
    let user = match user {
        Some(user) => Some(People::member_id(client, user).await?),
        None => None,
    };
    let key = match key {
        Some(key) => Some(People::key_id(client, key).await?),
        None => None,
    };
    let explained = client.get(&["tools", tool, "explain"], &[("user", user), ("key", key)]).await?;
    if as_json {
        return output::json(&explained);
    }
    let mut pairs = vec![("subject", People::subject(&explained["subject"]))];
    for name in ["visible", "callable", "decision", "reason", "rule"] {
        pairs.push((name, field(&explained, name)));
    }
    output::pairs(&pairs)?;
    for check in explained["checks"].as_array().into_iter().flatten() {
        let mark = if check["passed"] == true { "yes" } else { "no " };
        let line = format!("{mark}  {}: {}", field(check, "check"), field(check, "reason"));
        output::say(&output::clean(&line))?;
    }
    Ok(())
}
