//! `toolwright runs`.

use std::process::ExitCode;

use anyhow::Result;
use clap::Subcommand;
use serde_json::{Value, json};

use super::{Server, field, items, people::People, tail};
use crate::output::{self, block, moment};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List runs, the newest first
    List {
        /// Only runs of this tool
        #[arg(long, value_name = "SLUG")]
        tool: Option<String>,
        /// running, success, error, pending, needs_approval, cancelled, denied or timed_out
        #[arg(long)]
        status: Option<String>,
        /// production or debug [default: both]
        #[arg(long)]
        mode: Option<String>,
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
        /// Only new events
        #[arg(long)]
        new: bool,
    },
    /// Replay recorded calls of a tool and show the differences
    #[command(
        after_help = "Steps with effects never run; they get their recorded answers. The exit code is 1 if a result differs."
    )]
    Replay {
        #[arg(long, value_name = "SLUG")]
        tool: String,
        /// draft or a version
        #[arg(long, value_name = "VERSION", default_value = "draft")]
        against: String,
        /// How many of the newest calls to replay, at most 100 [default: 20]
        #[arg(long)]
        limit: Option<i64>,
    },
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<ExitCode> {
    let client = server.client()?;
    match command {
        Command::List { tool, status, mode, limit } => {
            let denied = status.as_deref() == Some("denied");
            let (status, code) = match denied {
                true => (Some(CANCELLED.to_owned()), Some(DENIED.to_owned())),
                false => (status, None),
            };
            let query = [("tool", tool), ("status", status), ("error_code", code), ("mode", mode)];
            let runs = client.list(&["runs"], &query, Some(limit)).await?;
            if server.json { output::json(&runs)? } else { list(&runs, &People::of(&client).await)? }
        }
        Command::Show { id } => {
            let run = client.get(&["runs", &id], &[]).await?;
            if server.json { output::json(&run)? } else { show(&run, &People::of(&client).await)? }
        }
        Command::Tail { id, new } => {
            let shown = |event: &Value| match server.json {
                true => output::json_line(event),
                false => output::say(&line(event)),
            };
            tail::follow(&client, id, new, shown).await?;
        }
        Command::Replay { tool, against, limit } => {
            let mut body = json!({ "version": against });
            if let Some(limit) = limit {
                body["limit"] = json!(limit);
            }
            let report = client.post(&["tools", &tool, "replay"], body.to_string(), None).await?;
            if server.json {
                output::json(&report)?
            } else {
                replayed(&report)?
            }
            if report["different"] != 0 {
                return Ok(ExitCode::FAILURE);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A recorded call in a line each, with the first difference, or why it was not made again.
fn replayed(report: &Value) -> Result<()> {
    output::table(
        &["run", "version", "recorded", "replayed", "result", "what differs"],
        items(report).map(|item| {
            let result = match item["same"].as_bool() {
                Some(true) => "same",
                Some(false) => "different",
                None => "not replayed",
            };
            let diff = &item["diff"][0];
            let told = match (item["reason"].as_str(), diff.is_null()) {
                (Some(reason), _) => reason.to_owned(),
                (None, true) => String::new(),
                (None, false) => {
                    format!("{}: was {}, is {}", field(diff, "path"), diff["expected"], diff["actual"])
                }
            };
            vec![
                field(item, "run_id"),
                field(item, "version"),
                field(item, "recorded_status"),
                field(item, "replayed_status"),
                result.to_owned(),
                told,
            ]
        }),
    )?;
    let count = |name: &str| field(report, name);
    output::say(&format!(
        "{} same, {} different, {} not replayed",
        count("same"),
        count("different"),
        count("not_replayed")
    ))
}

const CANCELLED: &str = "cancelled";
/// The error code of a run that was cancelled because an approver denied its call.
const DENIED: &str = "DENIED";

/// The status of a run. People want to know whether somebody denied a call or cancelled its run.
fn status(run: &Value) -> String {
    let denied = run["status"] == CANCELLED && run["error_code"] == DENIED;
    if denied { "denied".to_owned() } else { field(run, "status") }
}

fn list(runs: &Value, people: &People) -> Result<()> {
    output::table(
        &["id", "tool", "version", "status", "by", "source", "mode", "started", "ms"],
        items(runs).map(|run| {
            vec![
                field(run, "run_id"),
                field(run, "tool"),
                field(run, "version"),
                status(run),
                people.name(&run["actor"]),
                field(run, "source"),
                field(run, "mode"),
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
    pairs.insert(3, ("status", status(run)));
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
    fn denied_run_is_told_from_a_cancelled_one() {
        let run = |code| json!({ "status": "cancelled", "error_code": code });
        assert_eq!(status(&run("DENIED")), "denied");
        assert_eq!(status(&run("CANCELLED")), "cancelled");
        assert_eq!(status(&json!({ "status": "success", "error_code": null })), "success");
    }

    #[test]
    fn event_is_one_line_whatever_it_holds() {
        let event = json!({ "at": "2026-11-15T09:40:11.5Z", "seq": 3, "type": "tool.output_appended", "tool": "t",
            "payload": { "text": "a\n\u{1b}[2Jb" } });
        assert_eq!(line(&event), "2026-11-15 09:40:11     3  tool.output_appended  t  a [2Jb");
    }
}
