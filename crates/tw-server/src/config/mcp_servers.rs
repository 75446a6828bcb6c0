//! `[mcp_servers.<name>]`: MCP servers that are started for tenants.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tw_engine::{McpCommand, StdioServer};
use tw_model::{TenantSlug, names_a_secret};

use super::load;

/// A server under a name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StdioConfig {
    /// The program, by its absolute path.
    command: PathBuf,
    #[serde(default)]
    args: Vec<String>,
    /// All that the process finds in its environment: a text, or `env:NAME` for a variable of this program's.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The tenants that have it.
    #[serde(deserialize_with = "load::words")]
    tenants: Vec<String>,
}

impl StdioConfig {
    pub(super) fn server(&self, name: &str) -> Result<StdioServer> {
        let at = format!("mcp_servers.{name}");
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty()
            || 32 < name.len()
            || !name.starts_with(|c: char| c.is_ascii_lowercase())
            || !name.chars().all(fits)
        {
            bail!("`{at}`: a name must have 1 to 32 of a-z, 0-9 and -, and begin with a letter");
        }
        if !self.command.is_absolute() {
            bail!("`{at}.command` must be an absolute path");
        }
        if self.tenants.is_empty() {
            bail!("`{at}.tenants` must name at least one tenant");
        }
        let tenant = |slug: &String| {
            slug.parse::<TenantSlug>()
                .with_context(|| format!("`{at}.tenants`: `{slug}` is no name of a tenant"))
        };
        let (mut env, mut secrets) = (Vec::new(), Vec::new());
        for (name, value) in &self.env {
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                bail!("`{at}.env` has a variable that no process can have");
            }
            let from = value.strip_prefix("env:");
            let value = match from {
                None => value.clone(),
                Some(from) => std::env::var(from).with_context(|| {
                    format!("`{at}.env.{name}`: the environment variable {from} is not set")
                })?,
            };
            if from.is_some() || names_a_secret(name) {
                secrets.push(value.clone().into());
            }
            env.push((name.clone(), value.into()));
        }
        Ok(StdioServer {
            command: McpCommand {
                name: name.to_owned(),
                program: self.command.clone(),
                args: self.args.clone(),
                env,
                secrets,
            },
            tenants: self.tenants.iter().map(tenant).collect::<Result<_>>()?,
        })
    }
}
