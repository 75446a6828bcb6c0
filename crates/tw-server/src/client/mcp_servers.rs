//! `toolwright mcp-servers`.

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Map, Value, json};

use super::{Client, Server, field, items};
use crate::output::{self, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the MCP servers with their last known state
    List,
    /// Show a server and its tools
    Show {
        /// Name or id
        server: String,
    },
    /// Add a server and list its tools
    #[command(after_help = "Example:\n  \
        toolwright mcp-servers add weather https://mcp.example.com/mcp --header 'Authorization: Bearer secret:weather'")]
    Add {
        name: String,
        address: String,
        /// Sent with every request; can be given several times. Other users of the machine can read command lines, so
        /// prefer `secret:<label>` of a credential
        #[arg(long = "header", value_name = "NAME: VALUE")]
        headers: Vec<String>,
    },
    /// Change a server; options that are not given keep their values
    #[command(after_help = "Example:\n  \
        toolwright mcp-servers change weather --header 'Authorization: Bearer secret:weather' --allow forecast")]
    Change {
        /// Name or id
        server: String,
        #[arg(long)]
        name: Option<String>,
        #[arg(long)]
        address: Option<String>,
        /// Sent with every request; can be repeated; an empty value removes the header. Other users of the
        /// machine can read command lines, so prefer `secret:<label>` of a credential
        #[arg(long = "header", value_name = "NAME: VALUE")]
        headers: Vec<String>,
        /// A remote tool that may be imported; can be repeated; replaces the present list
        #[arg(long = "allow", value_name = "TOOL", conflicts_with = "allow_all")]
        allowed_tools: Vec<String>,
        /// Allow every tool to be imported
        #[arg(long)]
        allow_all: bool,
        /// The OAuth client id; empty removes it
        #[arg(long)]
        client_id: Option<String>,
        /// The OAuth client secret as `secret:<label>` of a credential; empty removes it
        #[arg(long, value_name = "REFERENCE")]
        client_secret: Option<String>,
    },
    /// Print the URL of the page to sign in to a server
    #[command(
        after_help = "Open it within ten minutes, in a browser that is signed in here as the owner of the key."
    )]
    Authorize {
        /// Name or id
        server: String,
    },
    /// Sign out: delete the stored token of a server
    SignOut {
        /// Name or id
        server: String,
    },
    /// List the tools of a server; imported tools that changed are put on hold
    Refresh {
        /// Name or id
        server: String,
    },
    /// Import tools from the server's latest list
    Import {
        /// Name or id
        server: String,
        /// The names of the tools on the server
        #[arg(required = true)]
        tools: Vec<String>,
        /// Publish the tools at once
        #[arg(long)]
        publish: bool,
    },
    /// List changes to the imported tools
    Drift {
        /// Name or id
        server: String,
    },
    /// Accept a change as a new version of the tool
    Accept {
        /// Name or id
        server: String,
        /// The id of the change
        drift: String,
    },
    /// Reject a change; the tool stays on hold
    Reject {
        /// Name or id
        server: String,
        /// The id of the change
        drift: String,
    },
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<()> {
    let client = server.client()?;
    match command {
        Command::List => {
            let servers = client.list(&["mcp-servers"], &[], None).await?;
            if server.json { output::json(&servers) } else { list(&servers) }
        }
        Command::Show { server: name } => {
            let id = named(&client, &name).await?;
            let shown = client.get(&["mcp-servers", &id], &[]).await?;
            if server.json { output::json(&shown) } else { show(&shown) }
        }
        Command::Add { name, address, headers } => {
            let body =
                json!({ "name": name, "url": address, "headers": read_headers(&headers)? }).to_string();
            let added = client.post(&["mcp-servers"], body, None).await?;
            if server.json { output::json(&added) } else { show(&added) }
        }
        Command::Change {
            server: name,
            name: new_name,
            address,
            headers,
            allowed_tools,
            allow_all,
            client_id,
            client_secret,
        } => {
            let id = named(&client, &name).await?;
            let mut body = Map::new();
            if let Some(name) = new_name {
                body.insert("name".to_owned(), json!(name));
            }
            if let Some(address) = address {
                body.insert("url".to_owned(), json!(address));
            }
            if !headers.is_empty() {
                let shown = client.get(&["mcp-servers", &id], &[]).await?;
                let before = shown["headers"].as_object().cloned().unwrap_or_default();
                body.insert("headers".to_owned(), Value::Object(changed_headers(before, &headers)?));
            }
            if allow_all || !allowed_tools.is_empty() {
                let allowed = if allow_all { Value::Null } else { json!(allowed_tools) };
                body.insert("allowed_tools".to_owned(), allowed);
            }
            for (member, value) in [("client_id", client_id), ("client_secret", client_secret)] {
                if let Some(value) = value {
                    let value = if value.is_empty() { Value::Null } else { json!(value) };
                    body.insert(member.to_owned(), value);
                }
            }
            if body.is_empty() {
                bail!("say what to change: `toolwright mcp-servers change --help` lists it");
            }
            let changed = client.patch(&["mcp-servers", &id], Value::Object(body).to_string(), None).await?;
            if server.json { output::json(&changed) } else { show(&changed) }
        }
        Command::Authorize { server: name } => {
            let id = named(&client, &name).await?;
            let page = client.post(&["mcp-servers", &id, "authorize"], "{}".to_owned(), None).await?;
            if server.json {
                return output::json(&page);
            }
            output::note("open this page within ten minutes, signed in here as the owner of the key:");
            output::say(&output::clean(&field(&page, "authorization_url")))
        }
        Command::SignOut { server: name } => {
            let id = named(&client, &name).await?;
            client.delete(&["mcp-servers", &id, "authorize"]).await?;
            output::note("signed out");
            Ok(())
        }
        Command::Refresh { server: name } => {
            let id = named(&client, &name).await?;
            let shown = client.post(&["mcp-servers", &id, "refresh"], "{}".to_owned(), None).await?;
            if server.json {
                output::json(&shown)?;
            } else {
                show(&shown)?;
            }
            match shown["status"].as_str() {
                Some("ready") => Ok(()),
                _ => bail!("the server is {}: {}", field(&shown, "status"), field(&shown, "last_error")),
            }
        }
        Command::Import { server: name, tools, publish } => {
            let id = named(&client, &name).await?;
            let body = json!({ "tools": tools, "publish": publish }).to_string();
            let imported = client.post(&["mcp-servers", &id, "import"], body, None).await?;
            if server.json {
                output::json(&imported)?;
            } else {
                for tool in items(&imported) {
                    output::say(&output::clean(&format!(
                        "{}  {}",
                        field(tool, "slug"),
                        field(tool, "status")
                    )))?;
                }
                for skipped in imported["skipped"].as_array().into_iter().flatten() {
                    output::note(&format!(
                        "skipped {}: {}",
                        field(skipped, "tool"),
                        field(skipped, "reason")
                    ));
                }
                for warning in imported["warnings"].as_array().into_iter().flatten() {
                    let (tool, path) = (field(warning, "tool"), field(warning, "path"));
                    output::note(&format!("check {tool} {path}: it {}", field(warning, "message")));
                }
            }
            match imported["skipped"].as_array().is_some_and(|skipped| !skipped.is_empty()) {
                true => bail!("not everything was imported"),
                false => Ok(()),
            }
        }
        Command::Drift { server: name } => {
            let id = named(&client, &name).await?;
            let drifts = client.list(&["mcp-servers", &id, "drift"], &[], None).await?;
            if server.json { output::json(&drifts) } else { list_drifts(&drifts) }
        }
        Command::Accept { server: name, drift } => decide(server, &client, &name, &drift, "accept").await,
        Command::Reject { server: name, drift } => decide(server, &client, &name, &drift, "reject").await,
    }
}

fn read_headers(headers: &[String]) -> Result<Map<String, Value>> {
    let read = |header: &String| {
        let (name, value) = header.split_once(':').context("a header must be `Name: value`")?;
        Ok((name.trim().to_owned(), json!(value.trim())))
    };
    headers.iter().map(read).collect()
}

/// The headers that a server has, with those that are given in the place of theirs.
fn changed_headers(mut before: Map<String, Value>, headers: &[String]) -> Result<Map<String, Value>> {
    for (name, value) in read_headers(headers)? {
        before.retain(|known, _| !known.eq_ignore_ascii_case(&name));
        if value != "" {
            before.insert(name, value);
        }
    }
    Ok(before)
}

async fn decide(server: &Server, client: &Client, name: &str, drift: &str, verb: &str) -> Result<()> {
    let id = named(client, name).await?;
    let decided = client.post(&["mcp-servers", &id, "drift", drift, verb], "{}".to_owned(), None).await?;
    if server.json {
        return output::json(&decided);
    }
    output::say(&output::clean(&format!("{}  {}", field(&decided, "slug"), field(&decided, "status"))))
}

/// The id of a server that is named by its name, or by its id.
async fn named(client: &Client, name: &str) -> Result<String> {
    let servers = client.list(&["mcp-servers"], &[], None).await?;
    let is_it = |server: &&Value| server["id"] == name || field(server, "name").eq_ignore_ascii_case(name);
    match items(&servers).find(is_it) {
        Some(server) => Ok(field(server, "id")),
        None => bail!("there is no MCP server `{}`", output::clean(name)),
    }
}

fn list(servers: &Value) -> Result<()> {
    output::table(
        &["name", "address", "status", "tools", "changes", "listed"],
        items(servers).map(|server| {
            vec![
                field(server, "name"),
                field(server, "url"),
                field(server, "status"),
                field(server, "tool_count"),
                field(server, "pending_drifts"),
                moment(&field(server, "last_listed_at")),
            ]
        }),
    )
}

fn show(server: &Value) -> Result<()> {
    let names = ["id", "name", "url", "status", "last_error", "protocol_version", "client_id"];
    let mut pairs: Vec<(&str, String)> = names.iter().map(|name| (*name, field(server, name))).collect();
    if server["sign_in"].is_object() {
        pairs.push(("sign_in", field(&server["sign_in"], "status")));
        pairs.push(("issuer", field(&server["sign_in"], "issuer")));
    }
    output::pairs(&pairs)?;
    let tools = server["tools"].as_array().into_iter().flatten();
    output::say("")?;
    output::table(
        &["tool", "status", "slug", "description"],
        tools.map(|tool| {
            vec![field(tool, "name"), field(tool, "status"), field(tool, "slug"), field(tool, "description")]
        }),
    )
}

fn list_drifts(drifts: &Value) -> Result<()> {
    output::table(
        &["id", "slug", "kind", "status", "seen", "differs at"],
        items(drifts).map(|drift| {
            let places = drift["diff"].as_array().into_iter().flatten().map(|each| field(each, "path"));
            vec![
                field(drift, "id"),
                field(drift, "slug"),
                field(drift, "kind"),
                field(drift, "status"),
                moment(&field(drift, "seen_at")),
                places.collect::<Vec<_>>().join(" "),
            ]
        }),
    )
}
