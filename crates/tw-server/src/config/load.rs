//! Reading the settings from where they are, and saying where a bad one is.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use figment::{
    Figment,
    error::{Kind, OneOf},
    providers::{Env, Format, Toml},
};
use serde::{Deserialize, Deserializer, de};
use tw_store::Durability;

use super::Config;
use crate::fail::refusal;

const PREFIX: &str = "TOOLWRIGHT_";
/// Variables with our prefix that are no settings of a server: what the other commands read, and the key,
/// which is never kept in a struct of settings.
const OTHER: &[&str] = &["MASTER_KEY", "CONFIG", "URL", "KEY"];

/// Where the settings and the data are.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Sources {
    /// The settings file, in TOML
    #[arg(long, value_name = "FILE", env = "TOOLWRIGHT_CONFIG", global = true)]
    pub(crate) config: Option<PathBuf>,
    /// The folder of the embedded database, unless `database_url` is set [default: a folder of the current user]
    #[arg(long, value_name = "DIR", global = true)]
    pub(crate) data_dir: Option<PathBuf>,
    /// The PostgreSQL database to use instead: postgres://…
    ///
    /// Other users of the machine can read command lines. A URL with a password belongs in the environment,
    /// as TOOLWRIGHT_DATABASE_URL, or in the settings file.
    #[arg(long, value_name = "URL", global = true)]
    pub(crate) database_url: Option<String>,
}

impl Sources {
    pub(crate) fn load(&self) -> Result<Config> {
        self.load_with(|_| ())
    }

    /// As [`Sources::load`], with what further flags say.
    pub(crate) fn load_with(&self, flags: impl FnOnce(&mut Config)) -> Result<Config> {
        let mut figment = Figment::new();
        if let Some(file) = &self.config {
            figment = figment.merge(Toml::string(&read(file)?));
        }
        let figment = figment.merge(environment());
        let mut config: Config = figment.extract().map_err(|error| explain(error, self.config.as_deref()))?;
        if let Some(folder) = &self.data_dir {
            config.data_dir = Some(folder.clone());
        }
        if let Some(url) = &self.database_url {
            config.database_url = Some(url.clone());
        }
        flags(&mut config);
        config.check()
    }
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).map_err(|error| {
        refusal(format!("cannot read the settings in {}: {error}", file.display()), "check --config")
    })
}

fn environment() -> Env {
    let setting = |key: &figment::value::UncasedStr| {
        let key = key.as_str().to_ascii_uppercase();
        // A Kubernetes service called `toolwright` puts such variables into every container.
        let of_kubernetes = key == "PORT"
            || ["PORT_", "SERVICE_HOST", "SERVICE_PORT"].iter().any(|start| key.starts_with(start));
        // An empty variable is how a compose file says "not set", and leaves a setting to the file.
        let is_empty = std::env::var_os(format!("{PREFIX}{key}")).is_some_and(|value| value.is_empty());
        !of_kubernetes && !is_empty
    };
    Env::prefixed(PREFIX).ignore(OTHER).filter(setting).split("__")
}

/// The first fault, by its setting and its place. A value is never shown, because it may be a secret.
fn explain(error: figment::Error, file: Option<&Path>) -> anyhow::Error {
    let Some(error) = error.into_iter().next() else { return anyhow!("the settings cannot be read") };
    let from_env = error.metadata.as_ref().is_some_and(|from| from.name.contains("environment"));
    let mut path = error.path.clone();
    let fault = match &error.kind {
        Kind::UnknownField(name, known) => {
            if path.last() != Some(name) {
                path.push(name.clone());
            }
            format!("there is no such setting; known here: {}", known.join(", "))
        }
        Kind::MissingField(name) => {
            path.push(name.to_string());
            "is missing".to_owned()
        }
        Kind::InvalidType(_, expected) | Kind::InvalidValue(_, expected) => format!("must be {expected}"),
        Kind::UnknownVariant(_, known) => format!("must be {}", OneOf(known)),
        Kind::Message(text) => without_source(text),
        other => other.to_string(),
    };
    let name = match (path.is_empty(), from_env) {
        (true, _) => String::new(),
        (false, true) => format!("{PREFIX}{}: ", path.join("__").to_ascii_uppercase()),
        (false, false) => format!("`{}`: ", path.join(".")),
    };
    match (file, from_env) {
        (_, true) => anyhow!("in the environment: {name}{fault}"),
        (Some(file), false) => anyhow!("in {}: {name}{fault}", file.display()),
        (None, false) => anyhow!("{name}{fault}"),
    }
}

/// A parser's message without the lines it quotes from the file.
fn without_source(text: &str) -> String {
    let own = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.contains('|'));
    own.collect::<Vec<_>>().join(": ")
}

/// A list, or its items in one text with commas between: what fits into an environment variable.
pub(super) fn words<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of texts")]
    enum Words {
        List(Vec<String>),
        Text(String),
    }
    let words = match Words::deserialize(deserializer)? {
        Words::List(words) => words,
        Words::Text(text) => text.split(',').map(str::to_owned).collect(),
    };
    Ok(words.iter().map(|word| word.trim().to_owned()).filter(|word| !word.is_empty()).collect())
}

pub(super) fn durability<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Durability, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "full" => Ok(Durability::Full),
        "buffered" => Ok(Durability::Buffered),
        other => Err(de::Error::unknown_variant(other, &["full", "buffered"])),
    }
}
