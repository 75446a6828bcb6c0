//! The configured models, and asking one of them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep};
use toolwright_sdk::Credentials;
use tw_model::{Code, TenantId, ToolFailure};

use crate::{
    ModelAnswer, ModelAsker, ModelRequest, ModelSpec, TextSink,
    ask::Asked,
    attempt::{Attempt, Relay, Setback},
    key::Endpoint,
};

/// How long a model may say nothing within an answer.
const SILENCE: Duration = Duration::from_secs(30);
/// However long a provider asks us to wait.
const ASKED_WAIT_MAX: Duration = Duration::from_secs(30);
const NAME_MAX: usize = 64;

/// The models of this server, by name. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Models(Arc<Configured>);

#[derive(Debug, Default)]
struct Configured {
    specs: BTreeMap<String, ModelSpec>,
    /// Between the tries of one request.
    waits: Vec<Duration>,
    silence: Duration,
}

/// What is wrong with the configured models.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelFault {
    #[error("`models.{name}`: a name must have 1 to {NAME_MAX} letters a-z, digits, `_` and `-`")]
    Name { name: String },
    #[error("`models.{name}.{member}` must not be empty")]
    Empty { name: String, member: &'static str },
    #[error("`models.{name}.base_url` must be an address such as https://api.example.com/v1: {why}")]
    BaseUrl { name: String, why: String },
    #[error("`models.{name}.{member}` must be at least 1")]
    Zero { name: String, member: &'static str },
    #[error("`models.{name}.fallback` must name another model, and there is no `models.{fallback}`")]
    NoFallback { name: String, fallback: String },
    #[error("`models.{name}.fallback` must not lead back to `models.{name}`")]
    FallbackLoop { name: String },
}

impl Models {
    /// Checks all of them. `waits` are the times between the tries of one request.
    pub fn new(specs: BTreeMap<String, ModelSpec>, waits: Vec<Duration>) -> Result<Self, ModelFault> {
        for (name, spec) in &specs {
            check(name, spec)?;
            check_fallbacks(name, &specs)?;
        }
        Ok(Self(Arc::new(Configured { specs, waits, silence: SILENCE })))
    }

    /// The same models, which may be silent for less.
    #[must_use]
    pub fn with_silence(self, silence: Duration) -> Self {
        let Configured { specs, waits, .. } = &*self.0;
        Self(Arc::new(Configured { specs: specs.clone(), waits: waits.clone(), silence }))
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &ModelSpec)> {
        self.0.specs.iter().map(|(name, spec)| (name.as_str(), spec))
    }

    /// The model of a name, or what an operator has to write for there to be one.
    pub fn get(&self, name: &str) -> Result<&ModelSpec, ToolFailure> {
        self.0.specs.get(name).ok_or_else(|| {
            let variable = name.to_ascii_uppercase();
            let message = format!(
                "no model is configured as `models.{name}`: an operator adds `[models.{name}]` to the configuration, \
                 or sets `TOOLWRIGHT_MODELS__{variable}__PROVIDER` and `TOOLWRIGHT_MODELS__{variable}__MODEL` in the \
                 environment of the server"
            );
            ToolFailure::with_code(Code::ModelNotConfigured, message)
        })
    }

    /// Refuses a model that is not there or has no key, before anything is asked.
    pub async fn check(
        &self,
        tenant: TenantId,
        credentials: &dyn Credentials,
        name: &str,
    ) -> Result<(), ToolFailure> {
        Endpoint::find(tenant, credentials, name, self.get(name)?).await.map(drop)
    }

    /// Asks a model, and the one behind it where it is away. Text is handed on while it arrives; once some was, nothing
    /// is asked again, because what was shown cannot be taken back.
    pub async fn ask(
        &self,
        asker: &ModelAsker,
        name: &str,
        request: &ModelRequest,
        sink: &mut dyn TextSink,
    ) -> Result<ModelAnswer, ToolFailure> {
        let mut spec = self.get(name)?;
        let mut name = name;
        let mut endpoint = Endpoint::find(asker.tenant, &*asker.credentials, name, spec).await?;
        let mut attempts = 0;
        loop {
            let asked = Asked { asker, name, spec, endpoint: &endpoint, request };
            let setback = match self.ask_one(&asked, &mut attempts, sink).await {
                Ok(answer) => return Ok(answer),
                Err(setback) => setback,
            };
            let Some(fallback) = spec.fallback.as_deref().filter(|_| setback.may_pass) else {
                return Err(setback.failure);
            };
            tracing::info!(model = name, fallback, run = %asker.run, "a model is away, asking the one behind it");
            let next = self.get(fallback)?;
            // What went wrong first says more than that the second one has no key.
            let found = Endpoint::find(asker.tenant, &*asker.credentials, fallback, next).await;
            let Ok(found) = found else { return Err(setback.failure) };
            (name, spec, endpoint) = (fallback, next, found);
        }
    }

    /// Asks one model, several times if need be.
    async fn ask_one(
        &self,
        asked: &Asked<'_>,
        attempts: &mut u32,
        sink: &mut dyn TextSink,
    ) -> Result<ModelAnswer, Setback> {
        let mut waits = self.0.waits.iter();
        loop {
            *attempts += 1;
            let mut relay = Relay::new(asked.endpoint, sink);
            let attempt = Attempt { asked, number: *attempts, silence: self.0.silence };
            let mut setback = match attempt.make(&mut relay).await {
                Ok(answer) => return Ok(answer),
                Err(setback) => setback,
            };
            if relay.has_told() {
                setback.may_pass = false;
            }
            let Some(usual) = waits.next().filter(|_| setback.may_pass) else { return Err(setback) };
            let wait = setback.asked_wait.map_or(*usual, |asked| asked.min(ASKED_WAIT_MAX));
            // What cannot be waited for is not waited for: the caller hears now what the provider said.
            if asked.asker.deadline <= Instant::now() + wait {
                return Err(setback);
            }
            sleep(wait).await;
        }
    }
}

fn check(name: &str, spec: &ModelSpec) -> Result<(), ModelFault> {
    let owned = || name.to_owned();
    let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-');
    if name.is_empty() || NAME_MAX < name.len() || !name.chars().all(letters) {
        return Err(ModelFault::Name { name: owned() });
    }
    if spec.model.trim().is_empty() {
        return Err(ModelFault::Empty { name: owned(), member: "model" });
    }
    for (member, is_zero) in [
        ("context_tokens", spec.context_tokens == 0),
        ("max_output_tokens", spec.max_output_tokens == 0),
        ("timeout_ms", spec.timeout.is_zero()),
    ] {
        if is_zero {
            return Err(ModelFault::Zero { name: owned(), member });
        }
    }
    // Where it leads is for the rules of the egress to say, when it is called.
    let is_web = spec.base_url.starts_with("https://") || spec.base_url.starts_with("http://");
    if !is_web {
        let why = "it must begin with https:// or http://".to_owned();
        return Err(ModelFault::BaseUrl { name: owned(), why });
    }
    if spec.base_url.contains(['?', '#', ' ']) {
        let why = "it must not have a query, a fragment or spaces".to_owned();
        return Err(ModelFault::BaseUrl { name: owned(), why });
    }
    Ok(())
}

fn check_fallbacks(name: &str, specs: &BTreeMap<String, ModelSpec>) -> Result<(), ModelFault> {
    let mut at = name;
    for _ in 0..=specs.len() {
        let Some(fallback) = specs.get(at).and_then(|spec| spec.fallback.as_deref()) else { return Ok(()) };
        if !specs.contains_key(fallback) {
            return Err(ModelFault::NoFallback { name: at.to_owned(), fallback: fallback.to_owned() });
        }
        at = fallback;
    }
    Err(ModelFault::FallbackLoop { name: name.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelKey, Provider};

    fn spec(fallback: Option<&str>) -> ModelSpec {
        ModelSpec {
            provider: Provider::OpenAi,
            model: "m".to_owned(),
            base_url: "https://h.test/v1".to_owned(),
            key: ModelKey::None,
            context_tokens: 1,
            max_output_tokens: 1,
            timeout: Duration::from_secs(1),
            shared: true,
            price: None,
            fallback: fallback.map(str::to_owned),
        }
    }

    fn fault(specs: &[(&str, ModelSpec)]) -> String {
        let specs = specs.iter().map(|(name, spec)| ((*name).to_owned(), spec.clone())).collect();
        Models::new(specs, Vec::new()).map_or_else(|fault| fault.to_string(), |_| String::new())
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        assert_eq!(fault(&[("default", spec(Some("cheap"))), ("cheap", spec(None))]), "");
        assert_eq!(
            fault(&[("default", spec(Some("cheap")))]),
            "`models.default.fallback` must name another model, and there is no `models.cheap`"
        );
        assert_eq!(
            fault(&[("a", spec(Some("b"))), ("b", spec(Some("a")))]),
            "`models.a.fallback` must not lead back to `models.a`"
        );
        let other = ModelSpec { base_url: "ftp://h.test".to_owned(), ..spec(None) };
        assert!(fault(&[("a", other)]).contains("it must begin with https://"));
        let other = ModelSpec { max_output_tokens: 0, ..spec(None) };
        assert_eq!(fault(&[("a", other)]), "`models.a.max_output_tokens` must be at least 1");
        assert!(fault(&[("A b", spec(None))]).contains("a name must have"));
    }

    #[test]
    fn missing_model_names_its_settings() {
        let failure = Models::default().get("cheap-one").unwrap_err();
        assert_eq!(failure.code, Code::ModelNotConfigured);
        assert!(failure.message.contains("`models.cheap-one`"), "{}", failure.message);
        assert!(failure.message.contains("`TOOLWRIGHT_MODELS__CHEAP-ONE__MODEL`"), "{}", failure.message);
    }
}
