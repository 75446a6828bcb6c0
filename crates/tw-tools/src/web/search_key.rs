//! Who is asked for a search, and whose key pays for it.

use std::{env, fmt};

use serde_json::Value;
use toolwright_sdk::{Code, Credential, Redactor, Secret, ToolContext, ToolFailure};

use super::web_search::{PROVIDERS, Provider};

/// A key for a provider, and where to go with it. Never shown.
pub(super) struct Key {
    secret: Secret,
    /// Where the provider is asked, if it is not the usual place.
    endpoint: Option<String>,
}

impl Key {
    /// The first key there is, with whom it is for: of the tool's own settings, of the credential that they name, of the
    /// tenant's credentials, of the installation. Settings that name a provider look for its keys alone.
    ///
    /// An endpoint counts only beside the key that it was written with. Otherwise whoever writes
    /// settings could have somebody else's key sent to a place of their own.
    pub(super) async fn find(cx: &ToolContext) -> Result<(&'static dyn Provider, Self), ToolFailure> {
        let setting = |name: &str| cx.settings().and_then(|settings| text(settings.get(name)));
        let said = setting("provider").map(|name| provider(&name)).transpose()?;
        if let Some(written) = setting("api_key") {
            let secret = match written.strip_prefix("secret:") {
                Some(reference) => cx.secret(reference).await?,
                None => Secret::anywhere(written),
            };
            return Ok((said.unwrap_or(PROVIDERS[0]), Self { secret, endpoint: setting("endpoint") }));
        }
        // One that is named and cannot be used is an error: another one would be somebody else's.
        if let Some(label) = setting("credentials_ref") {
            let credential = cx.credential(&label).await?;
            let key = Self::of(&credential).ok_or_else(|| {
                missing(format!("the credential '{label}' has neither 'api_key' nor 'token'"))
            })?;
            let of_credential = || PROVIDERS.into_iter().find(|provider| credential.is_for(provider.name()));
            return Ok((said.or_else(of_credential).unwrap_or(PROVIDERS[0]), key));
        }
        let candidates =
            || PROVIDERS.into_iter().filter(|one| said.is_none_or(|said| said.name() == one.name()));
        for provider in candidates() {
            let name = provider.name();
            for (key, variant) in [("web_search", Some(name)), (name, None)] {
                let credential = cx.credential_for(key, variant).await?;
                if let Some(found) = credential.as_ref().and_then(Self::of) {
                    return Ok((provider, found));
                }
            }
        }
        for provider in candidates() {
            let value = env::var(provider.variable()).ok().filter(|value| !value.trim().is_empty());
            if let Some(value) = value {
                return Ok((provider, Self { secret: Secret::anywhere(value.trim()), endpoint: None }));
            }
        }
        let names =
            candidates().map(|provider| format!("'{}'", provider.name())).collect::<Vec<_>>().join(" or ");
        let variables = candidates().map(Provider::variable).collect::<Vec<_>>().join(" or ");
        Err(missing(format!(
            "there is no key for a web search: add a credential with the provider_key 'web_search' and the \
             provider_variant {names}, or with the provider_key {names}; also looked for 'api_key' and \
             'credentials_ref' in the settings of the tool, and for {variables} in the environment of the server"
        )))
    }

    fn of(credential: &Credential) -> Option<Self> {
        let field = |name: &str| credential.field(name).filter(|text| !text.is_empty()).map(str::to_owned);
        let named = |name: &str| credential.field_secret(name).filter(|secret| !secret.value.is_empty());
        let secret = named("api_key").or_else(|| named("token"))?;
        Some(Self { secret, endpoint: field("endpoint") })
    }

    pub(super) fn value(&self) -> &str {
        &self.secret.value
    }

    /// Refuses an address that the key may not be sent to.
    pub(super) fn check_host(&self, url: &str) -> Result<(), ToolFailure> {
        self.secret.check_host(url)
    }

    pub(super) fn endpoint(&self) -> Option<&str> {
        self.endpoint.as_deref()
    }

    /// Finds the key in what somebody says who was told it.
    pub(super) fn redactor(&self) -> Redactor {
        Redactor::new([self.value()])
    }
}

fn provider(name: &str) -> Result<&'static dyn Provider, ToolFailure> {
    PROVIDERS.into_iter().find(|provider| provider.name() == name).ok_or_else(|| {
        let names = PROVIDERS.map(Provider::name).join(", ");
        ToolFailure::new(format!("'provider' in the settings of the tool must be one of {names}"))
    })
}

fn text(value: Option<&Value>) -> Option<String> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn missing(message: String) -> ToolFailure {
    ToolFailure::with_code(Code::CredentialMissing, message)
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").field("endpoint", &self.endpoint.is_some()).finish_non_exhaustive()
    }
}
