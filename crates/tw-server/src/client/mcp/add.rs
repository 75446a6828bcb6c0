//! `toolwright mcp add`: writes this server into the settings of an MCP client.
//!
//! The client starts `toolwright mcp`, which takes server and key from a profile. No key is copied into a file that is
//! read by others or put under version control.

use std::{
    env, fs,
    io::{self, BufRead, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use serde_json::{Map, Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

use crate::{
    client::{Server, profiles},
    fail::{Hint, refusal},
    output,
};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The client
    client: McpClient,
    /// The name under which the client shows the server
    #[arg(long, default_value = "toolwright")]
    name: String,
    /// The settings file [default: the client's own]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write without asking
    #[arg(long, short)]
    yes: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum McpClient {
    /// .mcp.json in this folder
    ClaudeCode,
    ClaudeDesktop,
    /// In your home folder, for every project
    Cursor,
    /// .vscode/mcp.json in this folder
    Vscode,
    Codex,
    Gemini,
}

impl McpClient {
    fn file(self) -> Result<PathBuf> {
        let here = || env::current_dir().context("cannot find this folder");
        let home = || etcetera::home_dir().context("cannot find your home folder");
        Ok(match self {
            Self::ClaudeCode => here()?.join(".mcp.json"),
            Self::Vscode => here()?.join(".vscode").join("mcp.json"),
            Self::Cursor => home()?.join(".cursor").join("mcp.json"),
            Self::Codex => home()?.join(".codex").join("config.toml"),
            Self::Gemini => home()?.join(".gemini").join("settings.json"),
            Self::ClaudeDesktop => {
                let folder = if cfg!(target_os = "macos") {
                    home()?.join("Library").join("Application Support")
                } else {
                    etcetera::choose_base_strategy().context("cannot find your home folder")?.config_dir()
                };
                folder.join("Claude").join("claude_desktop_config.json")
            }
        })
    }

    /// The member of the settings that lists servers.
    fn member(self) -> &'static str {
        match self {
            Self::Vscode => "servers",
            Self::Codex => "mcp_servers",
            Self::ClaudeCode | Self::ClaudeDesktop | Self::Cursor | Self::Gemini => "mcpServers",
        }
    }
}

/// How the client starts the server.
struct Start {
    command: String,
    args: Vec<String>,
}

/// The settings as they are and as they would be, and what stands under the name before and after.
struct Change {
    text: String,
    before: Option<String>,
    after: String,
}

pub(crate) fn run(server: &Server, args: &Args) -> Result<()> {
    let profile = server.profile_name();
    profiles::named(profile)
        .hint(format!("save the server and its key first: `toolwright login --profile {profile}`"))?;
    let program = env::current_exe().context("cannot find this program")?;
    let start = Start {
        command: program.display().to_string(),
        args: ["mcp", "--profile", profile].map(str::to_owned).into(),
    };
    let file = match &args.file {
        Some(file) => file.clone(),
        None => args.client.file()?,
    };
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let change = match args.client {
        McpClient::Codex => in_toml(&text, args.client.member(), &args.name, &start),
        client => in_json(&text, client, &args.name, &start),
    };
    let change = change.with_context(|| format!("{} was not changed", file.display()))?;
    if change.before.as_ref() == Some(&change.after) {
        return output::say(&format!("{} already has this entry; nothing was changed", file.display()));
    }
    output::note(&format!("{}:", file.display()));
    for line in change.before.iter().flat_map(|before| before.lines()) {
        output::note(&format!("- {line}"));
    }
    for line in change.after.lines() {
        output::note(&format!("+ {line}"));
    }
    if !args.yes && !confirmed()? {
        bail!("nothing was written");
    }
    write(&file, &change.text)?;
    output::say(&format!("wrote {}; restart the client to use it", file.display()))
}

fn confirmed() -> Result<bool> {
    if !io::stdin().is_terminal() {
        return Err(refusal(
            "nothing was written: standard input is not a terminal, so nobody can confirm",
            "give --yes to write without asking",
        ));
    }
    let _ = write!(io::stderr(), "Write this? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer).context("cannot read the answer")?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

fn in_json(text: &str, client: McpClient, name: &str, start: &Start) -> Result<Change> {
    let settings = if text.trim().is_empty() { Ok(json!({})) } else { serde_json::from_str(text) };
    let mut entry = Map::new();
    if matches!(client, McpClient::Vscode | McpClient::ClaudeCode) {
        entry.insert("type".to_owned(), "stdio".into());
    }
    entry.insert("command".to_owned(), start.command.clone().into());
    entry.insert("args".to_owned(), start.args.clone().into());
    let entry = Value::Object(entry);
    let shown = |entry: &Value| serde_json::to_string_pretty(&json!({ name: entry }));
    // Settings with comments are JSON for the client alone, and writing them anew would lose the comments.
    let settings = settings.context("the settings are not plain JSON").hint(format!(
        "add this to `{}` yourself:\n{}",
        client.member(),
        shown(&entry)?
    ))?;
    let Value::Object(mut settings) = settings else { bail!("the settings must be a JSON object") };
    let servers = settings.entry(client.member()).or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else { bail!("`{}` must be a JSON object", client.member()) };
    let before = servers.insert(name.to_owned(), entry.clone());
    Ok(Change {
        text: format!("{}\n", serde_json::to_string_pretty(&settings)?),
        before: before.as_ref().map(shown).transpose()?,
        after: shown(&entry)?,
    })
}

fn in_toml(text: &str, member: &str, name: &str, start: &Start) -> Result<Change> {
    let mut settings: DocumentMut = text.parse().context("the settings are not TOML")?;
    let servers = settings.entry(member).or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let servers = servers.as_table_like_mut().with_context(|| format!("`{member}` must be a table"))?;
    let mut entry = Table::new();
    entry["command"] = value(&start.command);
    entry["args"] = value(start.args.iter().collect::<Array>());
    let shown = |entry: &Item| format!("[{member}.{name}]\n{}", entry.to_string().trim());
    let after = Item::Table(entry);
    let after_text = shown(&after);
    let before = servers.insert(name, after).map(|before| shown(&before));
    Ok(Change { text: settings.to_string(), before, after: after_text })
}

/// Writes the file whole or not at all.
fn write(file: &Path, text: &str) -> Result<()> {
    let write = || -> io::Result<()> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        // Whoever could read the settings before still can.
        if let Ok(before) = fs::metadata(file) {
            new.as_file().set_permissions(before.permissions())?;
        }
        new.persist(file)?;
        Ok(())
    };
    write().with_context(|| format!("cannot write {}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Start {
        Start { command: "/bin/toolwright".to_owned(), args: vec!["mcp".to_owned()] }
    }

    #[test]
    fn other_settings_stay_as_they_are() {
        let before = r#"{ "theme": "dark", "mcpServers": { "other": { "command": "x" } } }"#;
        let change = in_json(before, McpClient::Cursor, "toolwright", &start()).unwrap();
        let written: Value = serde_json::from_str(&change.text).unwrap();
        assert_eq!(
            written,
            json!({ "theme": "dark", "mcpServers": {
                "other": { "command": "x" },
                "toolwright": { "command": "/bin/toolwright", "args": ["mcp"] },
            } })
        );
        assert_eq!(change.before, None);
        let again = in_json(&change.text, McpClient::Cursor, "toolwright", &start()).unwrap();
        assert_eq!(again.before, Some(again.after));
    }

    #[test]
    fn clients_have_their_own_members() {
        let change = in_json("", McpClient::Vscode, "tw", &start()).unwrap();
        let written: Value = serde_json::from_str(&change.text).unwrap();
        assert_eq!(written["servers"]["tw"]["type"], "stdio");
        let toml = in_toml("model = \"x\" # mine\n", "mcp_servers", "tw", &start()).unwrap();
        assert_eq!(
            toml.text,
            "model = \"x\" # mine\n\n[mcp_servers.tw]\ncommand = \"/bin/toolwright\"\nargs = [\"mcp\"]\n"
        );
    }

    #[test]
    fn settings_with_comments_are_left_to_their_owner() {
        let error = in_json("{ // mine\n}", McpClient::Vscode, "tw", &start()).err().unwrap();
        let text = crate::fail::text(&error);
        assert!(
            text.contains("not plain JSON") && text.contains("\"command\": \"/bin/toolwright\""),
            "{text}"
        );
    }
}
