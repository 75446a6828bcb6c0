//! `toolwright approvals`.

mod standing;

use std::time::Duration;

use anyhow::{Context, Result};
use clap::Subcommand;
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{Server, field, items, people::People, tools};
use crate::output::{self, block, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the calls that wait for approval
    List {
        /// pending, approved, denied, expired or cancelled [default: pending]
        #[arg(long)]
        status: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show a call that waits for approval
    Show { id: String },
    /// Approve the call, and print its result
    #[command(after_help = "Examples:\n  \
        toolwright approvals approve ID --note 'checked with finance'\n  \
        toolwright approvals approve ID --input '{ \"amount\": 50 }'\n  \
        toolwright approvals approve ID --standing 1h --field /customer")]
    Approve {
        id: String,
        /// Run with this input instead of the requested one
        #[arg(long, value_name = "JSON")]
        input: Option<String>,
        /// The reason, for the record
        #[arg(long)]
        note: Option<String>,
        /// Also approve later calls of the same agent for this time, such as 30m or 8h; at most 24h
        #[arg(long, value_name = "TIME", value_parser = crate::span::parse)]
        standing: Option<Duration>,
        /// A JSON Pointer to an input value that must be equal in later calls; can be given several times [default: the
        /// whole input must be equal]
        #[arg(long = "field", value_name = "POINTER", requires = "standing")]
        fields: Vec<String>,
    },
    /// List and revoke standing approvals
    Standing {
        #[command(subcommand)]
        command: standing::Command,
    },
    /// Deny the call
    Deny {
        id: String,
        /// The reason, for the record and the caller
        #[arg(long)]
        note: Option<String>,
    },
}

#[derive(Serialize)]
struct Decision {
    #[serde(skip_serializing_if = "Option::is_none")]
    input: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standing: Option<Standing>,
}

#[derive(Serialize)]
struct Standing {
    for_s: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<String>,
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<()> {
    let client = server.client()?;
    match command {
        Command::List { status, limit } => {
            let approvals = client.list(&["approvals"], &[("status", status)], Some(limit)).await?;
            if server.json { output::json(&approvals) } else { list(&approvals, &People::of(&client).await) }
        }
        Command::Show { id } => {
            let approval = client.get(&["approvals", &id], &[]).await?;
            if server.json { output::json(&approval) } else { show(&approval, &People::of(&client).await) }
        }
        Command::Standing { command } => standing::run(server, &client, command).await,
        Command::Approve { id, input, note, standing, fields } => {
            let input = input.map(tools::json_text).transpose().context("the input is not JSON")?;
            let standing = standing.map(|long| Standing { for_s: long.as_secs(), fields });
            let body = serde_json::to_string(&Decision { input, note, standing })?;
            let run = client.post(&["approvals", &id, "approve"], body, None).await?;
            if server.json {
                return output::json(&run);
            }
            output::note(&format!(
                "approved; the run {} is {}",
                field(&run, "run_id"),
                field(&run, "status")
            ));
            if let Some(standing) = run["standing_approval_id"].as_str() {
                output::note(&format!(
                    "later calls are approved, too; to revoke: toolwright approvals standing revoke {standing}"
                ));
            }
            tools::tell(&run)
        }
        Command::Deny { id, note } => {
            let body = serde_json::to_string(&Decision { input: None, note, standing: None })?;
            let answer = client.post(&["approvals", &id, "deny"], body, None).await?;
            if server.json { output::json(&answer) } else { output::say("denied") }
        }
    }
}

fn list(approvals: &Value, people: &People) -> Result<()> {
    output::table(
        &["id", "tool", "input", "level", "asked by", "asked", "expires", "status"],
        items(approvals).map(|approval| {
            vec![
                field(approval, "id"),
                field(approval, "tool"),
                field(approval, "input"),
                field(approval, "level"),
                people.name(&approval["requested_by"]),
                moment(&field(approval, "requested_at")),
                moment(&field(approval, "expires_at")),
                field(approval, "status"),
            ]
        }),
    )
}

fn show(approval: &Value, people: &People) -> Result<()> {
    let names = ["id", "status", "tool", "version", "level", "reason", "run_id"];
    let mut pairs: Vec<(&str, String)> = names.iter().map(|name| (*name, field(approval, name))).collect();
    pairs.push(("asked by", people.name(&approval["requested_by"])));
    pairs.push(("asked", moment(&field(approval, "requested_at"))));
    pairs.push(("expires", moment(&field(approval, "expires_at"))));
    pairs.push(("decided by", people.name(&approval["decided_by"])));
    pairs.push(("note", field(approval, "note")));
    output::pairs(&pairs)?;
    output::say(&format!("\ninput:\n{}", block(&approval["input"])))?;
    if !approval["changes"].is_null() {
        output::say(&format!("\nchanges:\n{}", block(&approval["changes"])))?;
    }
    Ok(())
}
