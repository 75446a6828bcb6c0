//! Whose key pays for a search.

use std::{env, fmt};

use serde_json::Value;
use toolwright_sdk::{Code, Credential, Redactor, Secret, ToolContext, ToolFailure};

use super::web_search::Provider;

/// A key for a provider, and where to go with it. Never shown.
pub(super) struct Key {
    secret: Secret,
    /// Where the provider is asked, if it is not the usual place.
    endpoint: Option<String>,
}

impl Key {
    /// The first key there is: of the tool's own settings, of the credential that they name, of the
    /// tenant's credentials, of the installation.
    ///
    /// An endpoint counts only beside the key that it was written with. Otherwise whoever writes
    /// settings could have somebody else's key sent to a place of their own.
    pub(super) async fn find(cx: &ToolContext, provider: &dyn Provider) -> Result<Self, ToolFailure> {
        let setting = |name: &str| cx.settings().and_then(|settings| text(settings.get(name)));
        if let Some(written) = setting("api_key") {
            let secret = match written.strip_prefix("secret:") {
                Some(reference) => cx.secret(reference).await?,
                None => Secret::anywhere(written),
            };
            return Ok(Self { secret, endpoint: setting("endpoint") });
        }
        // One that is named and cannot be used is an error: another one would be somebody else's.
        if let Some(label) = setting("credentials_ref") {
            let credential = cx.credential(&label).await?;
            return Self::of(&credential).ok_or_else(|| {
                missing(format!("the credential '{label}' has neither 'api_key' nor 'token'"))
            });
        }
        let name = provider.name();
        for (key, variant) in [("web_search", Some(name)), (name, None)] {
            let credential = cx.credential_for(key, variant).await?;
            if let Some(found) = credential.as_ref().and_then(Self::of) {
                return Ok(found);
            }
        }
        let variable = provider.variable();
        let value = env::var(variable).ok().filter(|value| !value.trim().is_empty());
        let value = value.ok_or_else(|| {
            missing(format!(
                "there is no key for {name}: looked for 'api_key' and 'credentials_ref' in the settings of \
                 the tool, for a credential with the provider_key 'web_search' and the provider_variant \
                 '{name}', for one with the provider_key '{name}', and for {variable} in the environment of \
                 the server"
            ))
        })?;
        Ok(Self { secret: Secret::anywhere(value.trim()), endpoint: None })
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
