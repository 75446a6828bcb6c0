//! `[models.<name>]`: the language models that tools may ask.

use std::{collections::BTreeMap, path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Deserializer, de};
use tw_model::Money;
use tw_models::{ModelKey, ModelPrice, ModelSpec, Models, Provider};

/// A language model under a name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelConfig {
    #[serde(deserialize_with = "provider")]
    provider: Provider,
    /// As the provider calls it.
    model: String,
    base_url: Option<String>,
    /// The key itself, `env:NAME` for the environment variable that holds it, or `file:PATH` for the file.
    api_key: Option<String>,
    #[serde(default = "context_tokens")]
    context_tokens: u64,
    #[serde(default = "max_output_tokens")]
    max_output_tokens: u64,
    #[serde(default = "timeout_ms")]
    timeout_ms: u64,
    /// Whether tenants without a key of their own use `api_key`.
    #[serde(default = "yes")]
    shared: bool,
    price: Option<PriceConfig>,
    fallback: Option<String>,
}

/// What a million tokens cost.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceConfig {
    #[serde(deserialize_with = "money")]
    input: Money,
    #[serde(default, deserialize_with = "some_money")]
    cached: Option<Money>,
    #[serde(default, deserialize_with = "some_money")]
    cache_write: Option<Money>,
    #[serde(deserialize_with = "money")]
    output: Money,
}

/// `[agents]`: how agents and prompts deal with models.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct AgentsConfig {
    /// Between the tries of one request, in seconds.
    pub(crate) retry_s: Vec<u64>,
}

impl Default for AgentsConfig {
    fn default() -> Self {
        Self { retry_s: vec![1, 4, 15] }
    }
}

fn context_tokens() -> u64 {
    ModelSpec::CONTEXT_TOKENS
}

fn max_output_tokens() -> u64 {
    ModelSpec::MAX_OUTPUT_TOKENS
}

fn timeout_ms() -> u64 {
    u64::try_from(ModelSpec::TIMEOUT.as_millis()).unwrap_or(u64::MAX)
}

fn yes() -> bool {
    true
}

fn provider<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Provider, D::Error> {
    const KNOWN: &[&str] = &["openai", "anthropic", "gemini", "ollama"];
    let text = String::deserialize(deserializer)?;
    Provider::parse(&text).ok_or_else(|| de::Error::unknown_variant(&text, KNOWN))
}

fn money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Money, D::Error> {
    let units = f64::deserialize(deserializer)?;
    Money::from_units(units)
        .ok_or_else(|| de::Error::custom("must be a price of at least 0 per million tokens"))
}

fn some_money<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Money>, D::Error> {
    money(deserializer).map(Some)
}

/// Makes the models, with their keys.
pub(super) fn models(configs: &BTreeMap<String, ModelConfig>, agents: &AgentsConfig) -> Result<Models> {
    let spec = |(name, config): (&String, &ModelConfig)| Ok((name.clone(), config.spec(name)?));
    let specs = configs.iter().map(spec).collect::<Result<_>>()?;
    let waits = agents.retry_s.iter().copied().map(Duration::from_secs).collect();
    Ok(Models::new(specs, waits)?)
}

impl ModelConfig {
    fn spec(&self, name: &str) -> Result<ModelSpec> {
        let base_url = self.base_url.as_deref().map(str::trim).filter(|url| !url.is_empty());
        let base_url = base_url.unwrap_or(self.provider.base_url()).trim_end_matches('/');
        Ok(ModelSpec {
            provider: self.provider,
            model: self.model.clone(),
            base_url: base_url.to_owned(),
            key: self.key(name)?,
            context_tokens: self.context_tokens,
            max_output_tokens: self.max_output_tokens,
            timeout: Duration::from_millis(self.timeout_ms),
            shared: self.shared,
            price: self.price.as_ref().map(PriceConfig::price),
            fallback: self.fallback.clone().filter(|fallback| !fallback.is_empty()),
        })
    }

    /// A key that is not in the environment is told when the model is asked: tenants may bring their own.
    fn key(&self, name: &str) -> Result<ModelKey> {
        let text = self.api_key.as_deref().map(str::trim).unwrap_or_default();
        if let Some(variable) = text.strip_prefix("env:") {
            return Ok(match std::env::var(variable) {
                Ok(key) if !key.trim().is_empty() => ModelKey::Text(key.trim().to_owned().into()),
                _ => ModelKey::Unset { variable: variable.to_owned() },
            });
        }
        let key = match text.strip_prefix("file:") {
            Some(path) => read(name, Path::new(path))?,
            None => text.to_owned(),
        };
        Ok(if key.is_empty() { ModelKey::None } else { ModelKey::Text(key.into()) })
    }
}

fn read(name: &str, path: &Path) -> Result<String> {
    let shown = path.display();
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("`models.{name}.api_key`: the file {shown} cannot be read"))?;
    let key = text.trim();
    if key.is_empty() {
        bail!("`models.{name}.api_key`: the file {shown} is empty");
    }
    Ok(key.to_owned())
}

impl PriceConfig {
    /// Where the price of cached input is not given, it costs as much as other input.
    fn price(&self) -> ModelPrice {
        ModelPrice {
            input: self.input,
            cached: self.cached.unwrap_or(self.input),
            cache_write: self.cache_write.unwrap_or(self.input),
            output: self.output,
        }
    }
}
