//! `toolwright runs`.

use anyhow::Result;
use clap::Subcommand;
use serde_json::Value;

use super::{Server, field, items, people::People, tail};
use crate::output::{self, block, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List runs, the newest first
    List {
        /// Runs of this tool
        #[arg(long, value_name = "SLUG")]
        tool: Option<String>,
        /// running, success, error, pending, needs_approval, cancelled or timed_out
        #[arg(long)]
        status: Option<String>,
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Show a run with its input and output
    Show { id: String },
    /// Follow the events of a session, or of a run to its end
    #[command(after_help = "Examples:\n  \
        toolwright runs tail SESSION_ID\n  \
        toolwright runs tail RUN_ID --json\n  \
        toolwright runs tail                   the newest run")]
    Tail {
        /// A session or a run [default: the newest run]
        #[arg(value_name = "SESSION_ID | RUN_ID")]
        id: Option<String>,
        /// Only what happens from now on
        #[arg(long)]
        new: bool,
    },
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<()> {
    let client = server.client()?;
    match command {
        Command::List { tool, status, limit } => {
            let runs = client.list(&["runs"], &[("tool", tool), ("status", status)], Some(limit)).await?;
            if server.json { output::json(&runs) } else { list(&runs) }
        }
        Command::Show { id } => {
            let run = client.get(&["runs", &id], &[]).await?;
            if server.json { output::json(&run) } else { show(&run, &People::of(&client).await) }
        }
        Command::Tail { id, new } => {
            let shown = |event: &Value| match server.json {
                true => output::json_line(event),
                false => output::say(&line(event)),
            };
            tail::follow(&client, id, new, shown).await
        }
    }
}

fn list(runs: &Value) -> Result<()> {
    output::table(
        &["id", "tool", "version", "status", "source", "started", "ms"],
        items(runs).map(|run| {
            vec![
                field(run, "run_id"),
                field(run, "tool"),
                field(run, "version"),
                field(run, "status"),
                field(run, "source"),
                moment(&field(run, "started_at")),
                field(run, "duration_ms"),
            ]
        }),
    )
}

fn show(run: &Value, people: &People) -> Result<()> {
    let names = [
        "run_id",
        "tool",
        "version",
        "status",
        "error",
        "error_code",
        "effect",
        "source",
        "mode",
        "session_id",
        "parent_run_id",
        "duration_ms",
        "summary",
    ];
    let mut pairs: Vec<(&str, String)> = names.iter().map(|name| (*name, field(run, name))).collect();
    pairs.push(("by", people.name(&run["actor"])));
    pairs.push(("started", moment(&field(run, "started_at"))));
    pairs.push(("finished", moment(&field(run, "finished_at"))));
    output::pairs(&pairs)?;
    for name in ["input", "output"] {
        if !run[name].is_null() {
            output::say(&format!("\n{name}:\n{}", block(&run[name])))?;
        }
    }
    Ok(())
}

/// An event in one line.
fn line(event: &Value) -> String {
    let at = moment(&field(event, "at"));
    // What tells most, of what this kind of event has.
    let payload = &event["payload"];
    let mut telling = ["text", "error", "reason", "summary", "input"].iter().map(|name| &payload[*name]);
    let said = output::plain(telling.find(|value| !value.is_null()).unwrap_or(payload));
    let head =
        format!("{at}  {:>4}  {:20}  {}", field(event, "seq"), field(event, "type"), field(event, "tool"));
    format!("{}  {}", output::clean(&head), output::cell(&said))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn event_is_one_line_whatever_it_holds() {
        let event = json!({ "at": "2026-11-15T09:40:11.5Z", "seq": 3, "type": "tool.output_appended", "tool": "t",
            "payload": { "text": "a\n\u{1b}[2Jb" } });
        assert_eq!(line(&event), "2026-11-15 09:40:11     3  tool.output_appended  t  a [2Jb");
    }
}
