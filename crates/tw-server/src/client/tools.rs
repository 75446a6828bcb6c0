//! `toolwright tools`.

mod authoring;
mod fields;
mod legacy;
mod openapi;
mod testing;
mod transfer;

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result};
use clap::{Args as _, Subcommand};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use tw_model::Slug;

pub(super) use self::testing::lines as case_lines;
use super::{Server, field, items};
use crate::{
    config::Sources,
    fail::Hint,
    output::{self, block},
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the tools that the key may see
    #[command(visible_alias = "ls")]
    List {
        /// Words to search for
        #[arg(long)]
        q: Option<String>,
        #[arg(long)]
        category: Option<String>,
    },
    /// Show a tool and its input
    Show {
        /// Its slug or id
        slug: String,
    },
    /// Run a tool and print its output
    #[command(
        disable_help_flag = true,
        after_help = "Examples:\n  \
        toolwright tools run roi-calculator --initial-investment 10000 --annual-benefit 4000\n  \
        toolwright tools run roi-calculator --help              the fields of this tool\n  \
        toolwright tools run datetime_utils --input '{ \"operation\": \"now\" }'\n  \
        toolwright tools run roi-calculator --input - < input.json\n\n\
        Every field of a tool is a flag after its slug: `initialInvestment` is --initial-investment. A flag overrides\n\
        the same field in --input; repeat a flag for a list; @FILE inserts the content of a file.\n\n\
        The exit code is 0 if the run succeeded, 1 if it failed or was refused, and 3 if it waits for\n\
        somebody."
    )]
    Run(RunArgs),
    /// Create a tool of the tenant, as a draft
    #[command(after_help = "Examples:\n  \
        toolwright tools create greet.json\n  \
        echo '{ \"name\": \"greet\", … }' | toolwright tools create -")]
    Create {
        /// The definition as JSON, or `-` for standard input
        file: PathBuf,
    },
    /// Change a tool; definition changes go into the draft, switches take effect at once
    #[command(after_help = "Example:\n  \
        echo '{ \"description\": \"Greets people\" }' | toolwright tools patch greet -\n\n\
        Absent properties keep their values, and null resets a property.")]
    Patch {
        /// Its slug or id
        tool: String,
        /// The properties to change as JSON, or `-` for standard input
        file: PathBuf,
    },
    /// Run the test cases of a tool and show what differs
    #[command(after_help = "Examples:\n  \
        toolwright tools test greet\n  \
        toolwright tools test greet --against 1.0.0\n\n\
        The calls are made with your key, in mode `debug`. The exit code is 0 if every case passes, else 1.")]
    Test {
        /// Its slug or id
        tool: String,
        /// `draft` or a version [default: draft]
        #[arg(long, value_name = "draft|X.Y.Z")]
        against: Option<String>,
    },
    /// Publish the draft after checking it
    #[command(after_help = "Examples:\n  \
        toolwright tools publish greet\n  \
        toolwright tools publish greet --version 2.0.0\n\n\
        Publishing is refused if the draft cannot work, if it breaks callers without a new major version, or if a\n\
        test case fails. A refusal changes nothing. The audit log records skipped checks.")]
    Publish(authoring::PublishArgs),
    /// Set the version of the draft; it must be greater than the current one
    Version {
        /// Its slug or id
        tool: String,
        /// A semantic version
        #[arg(value_name = "X.Y.Z")]
        number: String,
    },
    /// Withdraw a version: calls that pin it are refused, and its number cannot be published again
    Withdraw {
        /// Its slug or id
        tool: String,
        /// A version that is not the published one
        #[arg(value_name = "X.Y.Z")]
        number: String,
    },
    /// List the saves, publications and version changes of a tool, newest first
    Versions {
        /// Its slug or id
        tool: String,
        /// Only entries of this kind
        #[arg(long, value_parser = ["save", "publish", "version"])]
        kind: Option<String>,
        /// The maximum number of entries [default: all]
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Compare two versions: the changes, which of them break callers, and the version they need
    Compare {
        /// Its slug or id
        tool: String,
        /// A version, `live` or `draft`
        #[arg(long, default_value = "live")]
        from: String,
        /// A version, `live` or `draft`
        #[arg(long, default_value = "draft")]
        to: String,
    },
    /// Delete a tool of the tenant, or the tenant's changes to a built-in tool
    Delete {
        /// Its slug or id
        tool: String,
    },
    /// Explain whether a person or a key can see and call a tool
    Explain {
        /// Its slug or id
        tool: String,
        /// A member of the tenant, by email or id [default: you]
        #[arg(long, value_name = "EMAIL_OR_ID", conflicts_with = "for_key")]
        user: Option<String>,
        /// An API key, by its prefix or id: the person or agent that it acts as
        #[arg(long, value_name = "PREFIX_OR_ID")]
        for_key: Option<String>,
    },
    /// Switch a built-in tool on or off for every tenant, directly in the database
    #[command(after_help = "Examples:\n  \
        toolwright tools switch roi-calculator off --data-dir ./data\n  \
        toolwright tools switch roi-calculator default --database-url postgres://…\n\n\
        Running servers notice within a second. `off` overrides the tenants' settings; `on` is the default for tenants\n\
        without a setting; `default` restores the tool's own default.")]
    Switch {
        #[command(flatten)]
        place: Sources,
        /// The tool's slug
        slug: Slug,
        /// on, off or default
        #[arg(value_parser = ["on", "off", "default"])]
        to: String,
    },
    /// Write each tool of the tenant to a file, for version control
    #[command(after_help = "Example:\n  toolwright tools export --out tools/\n\n\
        A file is named after its tool and holds its draft, without ids and times. Secrets are\n\
        written as `***`, which keeps the stored one when the file is imported where it came from.")]
    Export {
        /// The folder; it is created if it is missing
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
    },
    /// Create drafts from the files of a folder; importing again changes nothing
    #[command(after_help = "Example:\n  toolwright tools import tools/\n\n\
        Every *.json is one definition. A tool that is missing is created, one that differs is changed, the\n\
        others are left alone. Absent properties keep their values. Nothing is published, except active\n\
        tools in the older format without a status (with `config_schema`, `schema` or `is_system`), if the\n\
        key may publish.\n\n\
        A file that fails does not stop the others; the exit code is then 1.")]
    Import {
        /// The folder
        dir: PathBuf,
    },
    /// Create a draft http tool for each operation of an OpenAPI document
    #[command(after_help = "Example:\n  toolwright tools import-openapi shop.json\n\n\
        The document must be JSON or YAML, version 3.0 or 3.1. What cannot be a tool is skipped, with the reason.")]
    ImportOpenapi {
        /// The document, or `-` for standard input
        file: PathBuf,
        /// The base URL of the API; overrides the servers in the document
        #[arg(long, value_name = "URL")]
        server_url: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The tool's slug or id
    #[arg(required_unless_present = "help")]
    slug: Option<String>,
    /// The fields of the tool, as flags
    #[arg(value_name = "FIELDS", allow_hyphen_values = true)]
    rest: Vec<String>,
    /// Print help; after a slug, the fields of the tool
    #[arg(long, short, action = clap::ArgAction::SetTrue)]
    help: bool,
    #[command(flatten)]
    options: RunOptions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunOptions {
    /// The input as JSON, or `-` to read it from standard input [default: {}]
    #[arg(long, value_name = "JSON", conflicts_with = "input_file")]
    input: Option<String>,
    /// A file with the input, or `-` for standard input
    #[arg(long, value_name = "FILE")]
    input_file: Option<PathBuf>,
    /// How long to wait for the run to end [default: the tool's time limit]
    #[arg(long, value_name = "MS")]
    wait: Option<u64>,
    /// The session to record the run in
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// `debug` also runs drafts
    #[arg(long, value_parser = ["production", "debug"])]
    mode: Option<String>,
    /// Repeating the command with the same key and input does not run the tool again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

#[derive(Serialize)]
struct Body {
    // The text as given: a number keeps its digits, and the server sees what was typed.
    input: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<String>,
}

pub(crate) async fn run(server: &Server, command: Command) -> Result<ExitCode> {
    let json = server.json;
    if let Command::Switch { place, slug, to } = &command {
        crate::operator::tools::switch(place, slug, to, json).await?;
        return Ok(ExitCode::SUCCESS);
    }
    if let Command::Run(args) = command {
        return run_tool(server, args).await;
    }
    let client = server.client()?;
    match command {
        // Done by now.
        Command::Switch { .. } | Command::Run(_) => {}
        Command::Explain { tool, user, for_key } => {
            authoring::explain(&client, &tool, user, for_key, json).await?;
        }
        Command::Create { file } => authoring::create(&client, &file, json).await?,
        Command::Patch { tool, file } => authoring::patch(&client, &tool, &file, json).await?,
        Command::Withdraw { tool, number } => authoring::withdraw(&client, &tool, &number, json).await?,
        Command::Publish(args) => authoring::publish(&client, &args, json).await?,
        Command::Version { tool, number } => authoring::version(&client, &tool, &number, json).await?,
        Command::Versions { tool, kind, limit } => {
            authoring::versions(&client, &tool, kind, limit, json).await?;
        }
        Command::Compare { tool, from, to } => authoring::compare(&client, &tool, from, to, json).await?,
        Command::Delete { tool } => authoring::delete(&client, &tool, json).await?,
        Command::Test { tool, against } => return testing::test(&client, &tool, against, json).await,
        Command::Export { out } => transfer::export(&client, &out, json).await?,
        Command::ImportOpenapi { file, server_url } => {
            openapi::import(&client, &file, server_url, json).await?;
        }
        Command::Import { dir } => return transfer::import(&client, &dir, json).await,
        Command::List { q, category } => {
            let tools = client.list(&["tools"], &[("q", q), ("category", category)], None).await?;
            match server.json {
                true => output::json(&tools)?,
                false => list(&tools)?,
            }
        }
        Command::Show { slug } => {
            let tool = client.get(&["tools", &slug], &[]).await?;
            match server.json {
                true => output::json(&tool)?,
                false => show(&tool)?,
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// `tools run`. What stands behind the slug is read by the schema of the tool.
async fn run_tool(server: &Server, args: RunArgs) -> Result<ExitCode> {
    let Some(slug) = args.slug.clone() else {
        output::say(
            &RunArgs::augment_args(clap::Command::new("toolwright tools run")).render_long_help().to_string(),
        )?;
        return Ok(ExitCode::SUCCESS);
    };
    let server = &fields::server_in(&args.rest).over(server);
    let client = server.client()?;
    let RunArgs { rest, help, options, .. } = args;
    let asks_help = help || rest.iter().any(|word| word == "--help" || word == "-h");
    let (options, given) = if rest.is_empty() && !asks_help {
        (options, BTreeMap::new())
    } else {
        let fields = fields::Fields::of(&client.get(&["tools", &slug], &[]).await?);
        if asks_help {
            output::say(&output::clean(&fields.help()))?;
            return Ok(ExitCode::SUCCESS);
        }
        let (behind, given) = fields.read(&rest)?;
        (behind.over(options), given)
    };
    let input = options.input(given)?;
    let RunOptions { wait: wait_ms, session: session_id, mode, idempotency_key, .. } = options;
    let body = Body { input, wait_ms, session_id, mode };
    let body = serde_json::to_string(&body)?;
    let run = client.post(&["tools", &slug, "run"], body, idempotency_key.as_deref()).await?;
    match server.json {
        true => output::json(&run)?,
        false => tell(&run)?,
    }
    Ok(exit_code(&run))
}

impl RunOptions {
    /// The input as given, with the fields laid over it.
    fn input(&self, fields: BTreeMap<String, Box<RawValue>>) -> Result<Box<RawValue>> {
        let text = match (&self.input, &self.input_file) {
            (Some(text), _) if text != "-" => text.clone(),
            (None, Some(file)) => text_of(file)?,
            (None, None) => "{}".to_owned(),
            (Some(_), _) => text_of(Path::new("-"))?,
        };
        let hint = r#"the input must be JSON such as '{ "name": "value" }'"#;
        let input = json_text(text).context("the input is not JSON").hint(hint)?;
        if fields.is_empty() {
            return Ok(input);
        }
        let given: Result<BTreeMap<String, Box<RawValue>>, _> = serde_json::from_str(input.get());
        let mut given =
            given.context("the input is not an object, so fields cannot be laid over it").hint(hint)?;
        given.extend(fields);
        Ok(serde_json::value::to_raw_value(&given)?)
    }

    /// What stood behind the slug, and where it says nothing what stood before it.
    fn over(self, before: Self) -> Self {
        Self {
            input: self.input.or(before.input),
            input_file: self.input_file.or(before.input_file),
            wait: self.wait.or(before.wait),
            session: self.session.or(before.session),
            mode: self.mode.or(before.mode),
            idempotency_key: self.idempotency_key.or(before.idempotency_key),
        }
    }
}

/// What is in a file, or comes in by standard input for `-`.
fn text_of(file: &Path) -> Result<String> {
    if file != Path::new("-") {
        return fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()));
    }
    let mut text = String::new();
    io::stdin().lock().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}

/// A text that is JSON, as it is.
pub(super) fn json_text(text: String) -> serde_json::Result<Box<RawValue>> {
    RawValue::from_string(text.trim().to_owned())
}

fn list(tools: &Value) -> Result<()> {
    output::table(
        &["slug", "name", "category", "level", "version", "status"],
        items(tools).map(|tool| {
            let status = match tool["available"].as_bool() {
                Some(false) => "not available".to_owned(),
                _ => field(tool, "status"),
            };
            let mut row: Vec<String> = ["slug", "name", "category", "permission_level", "version"]
                .map(|name| field(tool, name))
                .into();
            row.push(status);
            row
        }),
    )
}

fn show(tool: &Value) -> Result<()> {
    let names =
        ["slug", "name", "description", "category", "version", "status", "timeout_ms", "unavailable_reason"];
    let mut pairs: Vec<(&str, String)> = names.iter().map(|name| (*name, field(tool, name))).collect();
    pairs.push(("level", field(tool, "permission_level")));
    output::pairs(&pairs)?;
    for (title, name) in [("input", "input_schema"), ("output", "output_schema")] {
        if !tool[name].is_null() {
            output::say(&format!("\n{title}:\n{}", block(&tool[name])))?;
        }
    }
    Ok(())
}

/// Prints how a run went: its output, and beside it what a person should know.
pub(super) fn tell(run: &Value) -> Result<()> {
    let id = field(run, "run_id");
    if !run["output"].is_null() {
        output::say(&block(&run["output"]))?;
    }
    match run["status"].as_str().unwrap_or_default() {
        "success" => {}
        "needs_approval" => {
            let approval = field(run, "approval_id");
            output::note(&format!(
                "run {id} waits for approval {approval}: toolwright approvals show {approval}"
            ));
        }
        "pending" | "running" => {
            output::note(&format!("run {id} has not ended yet: toolwright runs tail {id}"));
        }
        status => {
            let error = if run["error"].is_null() { status.to_owned() } else { field(run, "error") };
            let code = field(run, "error_code");
            let code = if code.is_empty() { String::new() } else { format!("{code}, ") };
            output::note(&format!("error: {error} ({code}run {id})"));
        }
    }
    Ok(())
}

fn exit_code(run: &Value) -> ExitCode {
    match run["status"].as_str().unwrap_or_default() {
        "success" => ExitCode::SUCCESS,
        "pending" | "running" | "needs_approval" => ExitCode::from(3),
        _ => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn exit_code_tells_success_from_failure_and_from_waiting() {
        let code = |status: &str| format!("{:?}", exit_code(&json!({ "status": status })));
        let (ok, failed, waits) = (ExitCode::SUCCESS, ExitCode::FAILURE, ExitCode::from(3));
        assert_eq!(code("success"), format!("{ok:?}"));
        for status in ["error", "cancelled", "timed_out", "something new"] {
            assert_eq!(code(status), format!("{failed:?}"), "{status}");
        }
        for status in ["pending", "needs_approval", "running"] {
            assert_eq!(code(status), format!("{waits:?}"), "{status}");
        }
    }

    #[test]
    fn input_reaches_the_server_digit_by_digit() {
        let input = json_text(r#" { "n": 18446744073709551615, "x": 1.10 } "#.to_owned()).unwrap();
        let body = Body { input, wait_ms: Some(5), session_id: None, mode: None };
        let text = serde_json::to_string(&body).unwrap();
        assert_eq!(text, r#"{"input":{ "n": 18446744073709551615, "x": 1.10 },"wait_ms":5}"#);
        assert!(json_text("{ n: 1 }".to_owned()).is_err());
    }
}
