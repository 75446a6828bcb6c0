//! `toolwright approvals standing`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::Value;

use crate::{
    client::{Client, Server, field, items, people::People},
    output::{self, moment},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List standing approvals, newest first
    List {
        /// active, expired, revoked or void [default: all]
        #[arg(long)]
        status: Option<String>,
        /// The slug of an agent
        #[arg(long)]
        agent: Option<String>,
        /// The slug of a tool
        #[arg(long)]
        tool: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Revoke a standing approval
    Revoke { id: String },
}

pub(super) async fn run(server: &Server, client: &Client, command: Command) -> Result<()> {
    match command {
        Command::List { status, agent, tool, limit } => {
            let query = [("status", status), ("agent", agent), ("tool", tool)];
            let standing = client.list(&["standing-approvals"], &query, Some(limit)).await?;
            if server.json { output::json(&standing) } else { list(&standing, &People::of(client).await) }
        }
        Command::Revoke { id } => {
            client.delete(&["standing-approvals", &id]).await?;
            output::note("revoked");
            Ok(())
        }
    }
}

fn list(standing: &Value, people: &People) -> Result<()> {
    output::table(
        &["id", "agent", "tool", "values", "approved by", "expires", "uses", "status"],
        items(standing).map(|standing| {
            vec![
                field(standing, "id"),
                field(standing, "agent"),
                field(standing, "tool"),
                field(standing, "values"),
                people.name(&standing["approved_by"]),
                moment(&field(standing, "expires_at")),
                field(standing, "uses"),
                field(standing, "status"),
            ]
        }),
    )
}
