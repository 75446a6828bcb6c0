//! `toolwright webhooks`.

use anyhow::{Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};

use super::{Client, Server, field, items};
use crate::output::{self, moment};

const EVENTS: [&str; 6] =
    ["run.completed", "run.failed", "approval.requested", "approval.decided", "tool.published", "mcp.drift"];

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the webhooks
    List,
    /// Create a webhook and print its secret, which is shown only once
    #[command(after_help = "Example:\n  \
        toolwright webhooks create https://example.com/hook --event run.failed --event approval.requested")]
    Create {
        // Not `url`: that is the server's, and the key would be sent here.
        /// The address of the receiver
        #[arg(value_name = "URL")]
        address: String,
        /// An event to send; can be given several times
        #[arg(long = "event", value_name = "EVENT", required = true, value_parser = EVENTS)]
        events: Vec<String>,
    },
    /// Delete a webhook
    Delete { id: String },
    /// Send a test message and report whether the receiver accepted it
    Test { id: String },
    /// List the deliveries of a webhook, newest first
    Deliveries {
        id: String,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Repeat a delivery with the same id
    Redeliver {
        /// The id of the delivery
        id: String,
    },
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<()> {
    let client = server.client()?;
    match command {
        Command::List => {
            let webhooks = client.list(&["webhooks"], &[], None).await?;
            if server.json { output::json(&webhooks) } else { list(&webhooks) }
        }
        Command::Create { address, events } => {
            let body = json!({ "url": address, "events": events }).to_string();
            let made = client.post(&["webhooks"], body, None).await?;
            if server.json {
                return output::json(&made);
            }
            output::note(&format!("webhook {}; its secret is shown only now:", field(&made, "id")));
            output::say(&field(&made, "secret"))
        }
        Command::Delete { id } => {
            client.delete(&["webhooks", &id]).await?;
            output::note("deleted");
            Ok(())
        }
        Command::Test { id } => tried(server, &client, &["webhooks", &id, "test"]).await,
        Command::Redeliver { id } => {
            tried(server, &client, &["webhooks", "deliveries", &id, "redeliver"]).await
        }
        Command::Deliveries { id, limit } => {
            let deliveries = client.list(&["webhooks", &id, "deliveries"], &[], Some(limit)).await?;
            if server.json { output::json(&deliveries) } else { told(&deliveries) }
        }
    }
}

/// Sends, and says how that went. What was not taken is an error for scripts.
async fn tried(server: &Server, client: &Client, path: &[&str]) -> Result<()> {
    let delivery = client.post(path, "{}".to_owned(), None).await?;
    if server.json {
        output::json(&delivery)?;
    }
    if delivery["status"] != "delivered" {
        bail!("the receiver did not accept the message: {}", field(&delivery, "error"));
    }
    if !server.json {
        let (status, took) = (field(&delivery, "response_status"), field(&delivery, "duration_ms"));
        output::note(&format!("the receiver answered with {status} after {took} ms"));
    }
    Ok(())
}

fn list(webhooks: &Value) -> Result<()> {
    output::table(
        &["id", "url", "events", "state", "failing since"],
        items(webhooks).map(|webhook| {
            let events: Vec<_> =
                webhook["events"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let state = match (webhook["enabled"].as_bool(), webhook["disabled_reason"].as_str()) {
                (Some(true), _) => "enabled".to_owned(),
                (_, Some(why)) => format!("disabled: {why}"),
                _ => "disabled".to_owned(),
            };
            vec![
                field(webhook, "id"),
                field(webhook, "url"),
                events.join(" "),
                state,
                moment(&field(webhook, "failing_since")),
            ]
        }),
    )
}

fn told(deliveries: &Value) -> Result<()> {
    output::table(
        &["id", "type", "happened", "status", "attempts", "answer", "next attempt", "error"],
        items(deliveries).map(|delivery| {
            vec![
                field(delivery, "id"),
                field(delivery, "type"),
                moment(&field(delivery, "created_at")),
                field(delivery, "status"),
                field(delivery, "attempts"),
                field(delivery, "response_status"),
                moment(&field(delivery, "next_attempt_at")),
                field(delivery, "error"),
            ]
        }),
    )
}
