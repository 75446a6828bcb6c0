//! `toolwright tools test`.

use std::process::ExitCode;

use anyhow::Result;
use serde_json::{Value, json};

use crate::{
    client::{Client, field, items},
    output,
};

/// Runs the test cases of a tool and says how they went. Fails where one does not pass.
pub(super) async fn test(
    client: &Client,
    tool: &str,
    against: Option<String>,
    as_json: bool,
) -> Result<ExitCode> {
    let body = match against {
        Some(against) => json!({ "against": against }),
        None => json!({}),
    };
    let report = client.post(&["tools", tool, "tests", "run"], body.to_string(), None).await?;
    if as_json {
        output::json(&report)?;
    } else {
        for item in items(&report) {
            output::say(&output::clean(&lines(item)))?;
        }
        output::say(&format!("{} passed, {} failed", field(&report, "passed"), field(&report, "failed")))?;
    }
    let passed = report["failed"] == 0;
    Ok(if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A case in a line, and each difference in a line of its own.
pub(crate) fn lines(item: &Value) -> String {
    let mark = if item["passed"] == true { "passed" } else { "failed" };
    let run = field(item, "run_id");
    let run = if run.is_empty() { String::new() } else { format!("  (run {run})") };
    let mut lines = format!("{mark}  {}{run}", output::cell(&field(item, "name")));
    for diff in item["diff"].as_array().into_iter().flatten() {
        let value = |name: &str| output::cell(&diff[name].to_string());
        let path = output::cell(&field(diff, "path"));
        lines.push_str(&format!("\n        {path}: expected {}, got {}", value("expected"), value("actual")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_a_line_and_each_difference_another() {
        let passed = json!({ "name": "Greets", "passed": true, "run_id": "r1", "diff": [] });
        assert_eq!(lines(&passed), "passed  Greets  (run r1)");
        let failed = json!({
            "name": "Greets\u{1b}[2J", "passed": false, "run_id": null,
            "diff": [{ "path": "/output/who", "expected": "Ada", "actual": 1 }],
        });
        assert_eq!(lines(&failed), "failed  Greets[2J\n        /output/who: expected \"Ada\", got 1");
    }
}
