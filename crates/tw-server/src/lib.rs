//! The program: one binary that serves, keeps house and asks.
//!
//! Three kinds of commands live here. `serve` is the server. The operator's commands (`operator/`,
//! `backup`, `doctor`) work on the database itself, and need no server. The client's commands (`client/`)
//! are a door like any other: they speak HTTP to a server, under a key. Nothing here decides who may do
//! what, and no secret is printed but the ones a command was asked to make.
//!
//! Start with [`Command`]; `config/` says what can be set, `serve.rs` how a server starts and stops.

mod backup;
mod banner;
mod client;
mod config;
mod doctor;
mod fail;
mod folder;
mod logging;
mod master_key;
mod operator;
mod output;
mod serve;
mod signals;
mod span;

use std::process::ExitCode;

use anyhow::Result;
use clap::{CommandFactory, Parser, Subcommand};

use crate::{client::Server, config::Sources, operator::Common};

/// A server for tools that people and agents share, and the commands around it.
#[derive(Debug, Parser)]
#[command(
    name = "toolwright",
    version,
    after_help = "Start here:\n  \
        toolwright serve                       start; the first start prints a sign-in link and a key\n  \
        toolwright login                       save the server and the key for the commands that ask it\n  \
        toolwright tools list                  list the tools\n  \
        toolwright tools run SLUG --help       show the fields of a tool\n  \
        toolwright mcp add cursor              give the tools to an MCP client"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the server
    #[command(after_help = "Examples:\n  \
        toolwright serve\n  \
        toolwright serve --data-dir ./data --listen 127.0.0.1:0\n  \
        TOOLWRIGHT_DATABASE_URL=postgres://… toolwright serve --config /etc/toolwright.toml\n\n\
        Every setting is also an environment variable: `[log] level` is TOOLWRIGHT_LOG__LEVEL.")]
    Serve(serve::Args),
    /// Apply pending database migrations; `serve` does so by itself
    Migrate(Sources),
    /// Print a new master key, or re-encrypt stored secrets under another one
    #[command(after_help = "Example:\n  (umask 077; toolwright master-key > /etc/toolwright/key)")]
    MasterKey {
        #[command(subcommand)]
        command: Option<operator::master_key::Command>,
    },
    /// Copy the embedded database to a file while it is in use
    #[command(after_help = "Example:\n  toolwright backup --out /backups/toolwright-$(date +%F).sqlite")]
    Backup(backup::Args),
    /// Check the installation
    Doctor(Common),
    /// Create and list tenants, directly in the database
    Tenants {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: operator::tenants::Command,
    },
    /// Add people and create sign-in links, directly in the database
    Users {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: operator::users::Command,
    },
    /// Create, list and revoke API keys, directly in the database
    Keys {
        #[command(flatten)]
        common: Common,
        #[command(subcommand)]
        command: operator::keys::Command,
    },
    /// List, show, run, create and publish tools
    Tools {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: client::tools::Command,
    },
    /// Run as an MCP server over stdio, or add it to an MCP client
    #[command(after_help = "Examples:\n  \
        toolwright mcp add claude-code\n\n  \
        By hand, in a client's settings:\n  \
        { \"command\": \"toolwright\", \"args\": [\"mcp\", \"--profile\", \"default\"] }")]
    Mcp {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: Option<client::mcp::Command>,
    },
    /// Save a server and an API key as a profile
    #[command(after_help = "Examples:\n  \
        toolwright login\n  \
        toolwright login --profile work --url https://tools.example.com\n  \
        toolwright login < key.txt\n\n\
        The key is tried first. Commands use the profile `default` unless --profile or TOOLWRIGHT_PROFILE names another.")]
    Login(Server),
    /// Remove a saved profile
    Logout(Server),
    /// List the saved profiles
    Profiles(Server),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        toolwright completions bash > ~/.local/share/bash-completion/completions/toolwright\n  \
        toolwright completions zsh > ~/.zfunc/_toolwright\n  \
        toolwright completions fish > ~/.config/fish/completions/toolwright.fish")]
    Completions { shell: clap_complete::Shell },
    /// List, show and follow runs
    Runs {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: client::runs::Command,
    },
    /// List, approve and deny calls that wait for approval
    Approvals {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: client::approvals::Command,
    },
    /// Import and use tools of external MCP servers
    McpServers {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: client::mcp_servers::Command,
    },
    /// Create and test webhooks, which notify other services of events
    Webhooks {
        #[command(flatten)]
        server: Server,
        #[command(subcommand)]
        command: client::webhooks::Command,
    },
    /// Show the user or agent that the key acts as
    Me(Server),
    /// Run what tenants wrote, for a server that starts this itself
    #[command(hide = true)]
    SandboxWorker,
}

/// Reads the command line and does what it says. The whole of a program: ours, and that of somebody who
/// links tools of their own beside the shipped ones.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    // Before anything else is opened: what runs in there must find nothing.
    if matches!(cli.command, Command::SandboxWorker) {
        return tw_sandbox::serve_worker();
    }
    // The TLS library wants to be told once whose cryptography it uses.
    rustls::crypto::ring::default_provider().install_default().ok();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&anyhow::Error::new(error).context("cannot start")),
    };
    let done = runtime.block_on(dispatch(cli.command));
    // Work that nobody waits for any more must not keep the process.
    runtime.shutdown_background();
    done.unwrap_or_else(|error| failed(&error))
}

fn failed(error: &anyhow::Error) -> ExitCode {
    if !error.is::<fail::Unread>() {
        output::note(&fail::text(error));
    }
    ExitCode::FAILURE
}

async fn dispatch(command: Command) -> Result<ExitCode> {
    match command {
        Command::Serve(args) => return serve::run(args).await,
        Command::Doctor(common) => return doctor::run(&common).await,
        Command::Tools { server, command } => return client::tools::run(&server, command).await,
        Command::Runs { server, command } => return client::runs::run(&server, command).await,
        Command::Migrate(place) => migrate(&place).await?,
        Command::MasterKey { command } => operator::master_key::run(command).await?,
        Command::Backup(args) => backup::run(args).await?,
        Command::Tenants { common, command } => operator::tenants::run(&common, command).await?,
        Command::Users { common, command } => operator::users::run(&common, command).await?,
        Command::Keys { common, command } => operator::keys::run(&common, command).await?,
        Command::McpServers { server, command } => client::mcp_servers::run(&server, command).await?,
        Command::Approvals { server, command } => client::approvals::run(&server, command).await?,
        Command::Webhooks { server, command } => client::webhooks::run(&server, command).await?,
        Command::Mcp { server, command } => client::mcp::run(&server, command).await?,
        Command::Login(server) => client::login::login(&server).await?,
        Command::Logout(server) => client::login::logout(&server)?,
        Command::Profiles(server) => client::login::list(&server)?,
        Command::Completions { shell } => completions(shell)?,
        Command::Me(server) => client::me(&server).await?,
        Command::SandboxWorker => unreachable!("served before"),
    }
    Ok(ExitCode::SUCCESS)
}

fn completions(shell: clap_complete::Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "toolwright", &mut script);
    output::say(String::from_utf8(script)?.trim_end())
}

async fn migrate(place: &Sources) -> Result<()> {
    let target = place.load()?.target()?;
    folder::migrate(&target).await?;
    output::say(&format!("the database is up to date ({})", config::shown(&target)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    /// An argument of a command that has the name of a global one takes its place, and then a key goes where it must not.
    #[test]
    fn no_command_has_an_argument_in_place_of_a_global_one() {
        fn look(command: &clap::Command, global: &[&str]) {
            for argument in
                command.get_arguments().filter(|argument| global.contains(&argument.get_id().as_str()))
            {
                assert!(argument.is_global_set(), "{}: {}", command.get_name(), argument.get_id());
            }
            command.get_subcommands().for_each(|below| look(below, global));
        }
        let mut cli = Cli::command();
        cli.build();
        let with_server =
            ["tools", "runs", "mcp-servers", "approvals", "webhooks", "mcp", "login", "logout", "me"];
        for command in with_server.map(|name| cli.find_subcommand(name).expect(name)) {
            look(command, &["url", "key", "profile", "json"]);
        }
    }
}
