//! Which key a request is sent with, and where.

use toolwright_sdk::{Credential, Credentials, Redactor, Secret};
use tw_model::{Code, TenantId, ToolFailure};

use crate::{ModelKey, ModelSpec};

/// What stands for a credential that has no variant.
const NO_VARIANT: &str = "";

/// A model that can be asked: where it is, and by which key.
pub(crate) struct Endpoint {
    pub(crate) base_url: String,
    pub(crate) key: Option<Secret>,
}

impl Endpoint {
    /// The first of: the tenant's credential for this model, the one for its provider, the operator's key.
    pub(crate) async fn find(
        tenant: TenantId,
        credentials: &dyn Credentials,
        name: &str,
        spec: &ModelSpec,
    ) -> Result<Self, ToolFailure> {
        let provider = spec.provider.as_str();
        for variant in [name, NO_VARIANT] {
            let found = credentials.credential_for(tenant, provider, Some(variant)).await?;
            if let Some(credential) = found {
                return Self::of_tenant(spec, &credential);
            }
        }
        let base_url = spec.base_url.clone();
        match &spec.key {
            ModelKey::Text(key) if spec.shared => {
                Ok(Self { base_url, key: Some(Secret::anywhere(key.as_str())) })
            }
            _ if !spec.provider.needs_key() => Ok(Self { base_url, key: None }),
            _ => Err(missing(name, spec)),
        }
    }

    fn of_tenant(spec: &ModelSpec, credential: &Credential) -> Result<Self, ToolFailure> {
        let key = credential.field_secret("api_key").or_else(|| credential.secret());
        let endpoint = credential.field("endpoint").map(|url| url.trim().trim_end_matches('/'));
        let base_url = endpoint.filter(|url| !url.is_empty()).unwrap_or(&spec.base_url).to_owned();
        if key.is_none() && spec.provider.needs_key() {
            let label = &credential.label;
            let message = format!("the credential `{label}` has no `api_key`");
            return Err(ToolFailure::with_code(Code::CredentialMissing, message));
        }
        if let Some(key) = &key {
            key.check_host(&base_url)?;
        }
        Ok(Self { base_url, key })
    }

    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::new(self.key.iter().map(|key| key.value.as_str()))
    }
}

fn missing(name: &str, spec: &ModelSpec) -> ToolFailure {
    let provider = spec.provider.as_str();
    let operator = match &spec.key {
        _ if !spec.shared => String::new(),
        ModelKey::Unset { variable } => {
            format!(", or the operator sets the environment variable `{variable}`")
        }
        ModelKey::None | ModelKey::Text(_) => format!(", or the operator sets `models.{name}.api_key`"),
    };
    let message = format!(
        "there is no key for the model `models.{name}`: add a credential with `provider_key` `{provider}`{operator}"
    );
    ToolFailure::with_code(Code::CredentialMissing, message)
}
