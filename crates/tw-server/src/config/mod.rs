//! The settings: defaults, then a file, then the environment, then flags; the later wins.

mod load;
mod mcp_servers;
mod models;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Context, Result, bail};
use etcetera::BaseStrategy;
use serde::Deserialize;
use tracing_subscriber::EnvFilter;
use tw_egress::{Policy, Reach};
use tw_engine::{RateLimits, StdioServer};
use tw_models::Models;
use tw_store::{Durability, Target};

use crate::fail::{Hint, refusal};

pub(crate) use load::Sources;

/// Everything that can be set. Not `Debug`: a database URL or a model's key may be in it.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) database_url: Option<String>,
    /// Where people and programs reach the server, when that is not the address it listens on.
    pub(crate) public_url: Option<String>,
    #[serde(deserialize_with = "load::words")]
    pub(crate) allowed_hosts: Vec<String>,
    #[serde(deserialize_with = "load::words")]
    pub(crate) allowed_origins: Vec<String>,
    /// The reverse proxies in front of the server: addresses, or ranges such as 10.0.0.0/8. Only they are believed when
    /// they name the address that a request comes from.
    #[serde(deserialize_with = "load::words")]
    pub(crate) trusted_proxies: Vec<String>,
    pub(crate) master_key_file: Option<PathBuf>,
    pub(crate) body_limit_bytes: usize,
    /// Open connections at the most; further ones are turned away.
    pub(crate) max_connections: usize,
    pub(crate) metrics: Metrics,
    /// Calls per minute and server.
    pub(crate) limits: RateLimits,
    pub(crate) log: LogConfig,
    pub(crate) database: DatabaseConfig,
    pub(crate) egress: EgressConfig,
    /// MCP servers that are started for tenants.
    pub(crate) mcp_servers: BTreeMap<String, mcp_servers::StdioConfig>,
    pub(crate) models: BTreeMap<String, models::ModelConfig>,
    pub(crate) agents: models::AgentsConfig,
    pub(crate) otel: OtelConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7420".to_owned(),
            data_dir: None,
            database_url: None,
            public_url: None,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            trusted_proxies: Vec::new(),
            master_key_file: None,
            body_limit_bytes: 4 << 20,
            max_connections: 4096,
            metrics: Metrics::default(),
            limits: RateLimits::default(),
            log: LogConfig::default(),
            database: DatabaseConfig::default(),
            egress: EgressConfig::default(),
            mcp_servers: BTreeMap::new(),
            models: BTreeMap::new(),
            agents: models::AgentsConfig::default(),
            otel: OtelConfig::default(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Metrics {
    /// Whether `/metrics` answers without a key.
    pub(crate) public: bool,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LogConfig {
    #[serde(deserialize_with = "load::durability")]
    pub(crate) durability: Durability,
    pub(crate) format: LogFormat,
    /// A level, or levels by module: `info,tw_engine=debug`.
    pub(crate) level: String,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { durability: Durability::Full, format: LogFormat::Text, level: "info".to_owned() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LogFormat {
    Json,
    Text,
}

#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DatabaseConfig {
    /// Connections to PostgreSQL at the most.
    pub(crate) connections: u32,
}

impl Default for DatabaseConfig {
    fn default() -> Self {
        Self { connections: 20 }
    }
}

/// Where traces and metrics go. Not `Debug`: a header can hold a key.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct OtelConfig {
    /// A collector of OpenTelemetry that takes OTLP over HTTP, without the path of a signal. Without one nothing is told.
    pub(crate) endpoint: Option<String>,
    /// Sent along with everything.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) service_name: String,
}

impl Default for OtelConfig {
    fn default() -> Self {
        Self { endpoint: None, headers: BTreeMap::new(), service_name: "toolwright".to_owned() }
    }
}

impl OtelConfig {
    /// Where traces and metrics go, if they do.
    pub(crate) fn settings(&self) -> Result<Option<tw_otel::Settings>> {
        let Some(endpoint) = self.endpoint.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(None);
        };
        let fits = |url: &reqwest::Url| matches!(url.scheme(), "http" | "https") && url.query().is_none();
        if !reqwest::Url::parse(endpoint).is_ok_and(|url| fits(&url)) {
            bail!("`otel.endpoint` must be an address such as http://127.0.0.1:4318, not `{endpoint}`");
        }
        for (name, value) in &self.headers {
            // The value is not shown: it may be a key.
            if tw_egress::Request::check_header(name, value).is_err() {
                bail!("`otel.headers.{name}` cannot be sent: it must be a header of one line");
            }
        }
        Ok(Some(tw_otel::Settings {
            endpoint: endpoint.to_owned(),
            headers: self.headers.clone().into_iter().collect(),
            service_name: self.service_name.clone(),
        }))
    }
}

/// Where tools may connect to.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EgressConfig {
    pub(crate) policy: EgressPolicy,
    /// Addresses and ranges that are open beside what the policy opens.
    #[serde(deserialize_with = "load::words")]
    pub(crate) allow: Vec<String>,
}

impl EgressConfig {
    pub(crate) fn policy(&self) -> Result<Policy> {
        let reach = match self.policy {
            EgressPolicy::Public => Reach::Public,
            EgressPolicy::Any => Reach::Any,
        };
        Policy::new(reach, &self.allow).context("`[egress]` cannot be used")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EgressPolicy {
    /// Addresses of the public internet.
    #[default]
    Public,
    Any,
}

impl Config {
    /// What the types alone do not say.
    fn check(mut self) -> Result<Self> {
        // An empty variable is how a compose file says "not set".
        let filled = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        self.database_url = filled(self.database_url);
        self.public_url = filled(self.public_url);
        self.data_dir = self.data_dir.filter(|path| !path.as_os_str().is_empty());
        self.master_key_file = self.master_key_file.filter(|path| !path.as_os_str().is_empty());
        if let Some(url) = &self.public_url {
            let fits = |url: &reqwest::Url| {
                matches!(url.scheme(), "http" | "https") && url.query().is_none() && url.fragment().is_none()
            };
            if !reqwest::Url::parse(url).is_ok_and(|url| fits(&url)) {
                bail!("`public_url` must be an address such as https://tools.example.com, not `{url}`");
            }
            self.public_url = Some(url.trim_end_matches('/').to_owned());
        }
        if let Some(url) = &self.database_url {
            let known = url.starts_with("postgres://") || url.starts_with("postgresql://");
            // The URL is not shown: it may hold a password.
            let hint = "for SQLite leave it out and set `data_dir`";
            known.then_some(()).context("`database_url` must start with postgres://").hint(hint)?;
        }
        if self.listen.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            bail!("`listen` must be an address and a port such as 127.0.0.1:7420, not `{}`", self.listen);
        }
        if self.body_limit_bytes == 0 || self.max_connections == 0 || self.database.connections == 0 {
            bail!("`body_limit_bytes`, `max_connections` and `database.connections` must be at least 1");
        }
        self.egress.policy()?;
        self.otel.settings()?;
        self.trusted_proxies()?;
        self.models()?;
        self.mcp_servers()?;
        EnvFilter::try_new(&self.log.level)
            .context("`log.level` must be error, warn, info, debug or trace, or such a word by module")?;
        Ok(self)
    }

    pub(crate) fn trusted_proxies(&self) -> Result<Vec<tw_http::AddressRange>> {
        let read = |text: &String| {
            let network = text.parse::<tw_http::AddressRange>();
            network.map_err(|_| {
                anyhow::anyhow!(
                    "`trusted_proxies` must be addresses or ranges such as 10.0.0.0/8, not `{text}`"
                )
            })
        };
        self.trusted_proxies.iter().map(read).collect()
    }

    /// The MCP servers that are started, with their environment.
    pub(crate) fn mcp_servers(&self) -> Result<Vec<StdioServer>> {
        self.mcp_servers.iter().map(|(name, config)| config.server(name)).collect()
    }

    /// The language models, with their keys.
    pub(crate) fn models(&self) -> Result<Models> {
        models::models(&self.models, &self.agents)
    }

    /// The folder of the SQLite database.
    pub(crate) fn data_dir(&self) -> Result<PathBuf> {
        if let Some(folder) = &self.data_dir {
            return Ok(folder.clone());
        }
        let user = etcetera::base_strategy::choose_native_strategy();
        let user =
            user.map_err(|_| refusal("there is no home folder to keep data in", "name one with --data-dir"))?;
        Ok(user.data_dir().join("toolwright"))
    }

    pub(crate) fn target(&self) -> Result<Target> {
        match &self.database_url {
            Some(url) => Ok(Target::Postgres { url: url.clone() }),
            None => Ok(Target::sqlite_in(&self.data_dir()?)),
        }
    }
}

/// A database by name, for people: without the password, and without parameters, among which there may be one.
pub(crate) fn shown(target: &Target) -> String {
    match target {
        Target::Sqlite { file } => format!("SQLite, {}", file.display()),
        Target::Postgres { url } => match reqwest::Url::parse(url) {
            Ok(url) => {
                let user =
                    if url.username().is_empty() { String::new() } else { format!("{}@", url.username()) };
                let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
                let host = url.host_str().unwrap_or_default();
                format!("PostgreSQL, {}://{user}{host}{port}{}", url.scheme(), url.path())
            }
            Err(_) => "PostgreSQL".to_owned(),
        },
    }
}
