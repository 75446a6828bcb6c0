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
            let mut sent = Map::new();
            for header in &headers {
                let (name, value) = header.split_once(':').context("a header must be `Name: value`")?;
                sent.insert(name.trim().to_owned(), json!(value.trim()));
            }
            let body = json!({ "name": name, "url": address, "headers": sent }).to_string();
            let added = client.post(&["mcp-servers"], body, None).await?;
            if server.json { output::json(&added) } else { show(&added) }
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
    let names = ["id", "name", "url", "status", "last_error", "protocol_version"];
    let pairs: Vec<(&str, String)> = names.iter().map(|name| (*name, field(server, name))).collect();
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
