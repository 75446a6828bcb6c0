//! The services that tools get: the way out, the workers that run filters, and the vault.

use std::{fmt, sync::Arc};

use serde_json::Value;
use toolwright_sdk::{BoxFuture, Credential, Credentials, Filters, Network, Services};
use tw_base::Error;
use tw_egress::Egress;
use tw_model::{Code, TenantId, ToolFailure};
use tw_sandbox::{JqLimits, Sandbox};
use tw_vault::{OpenedCredential, Vault};

pub(crate) struct ToolServices {
    egress: Egress,
    sandbox: Sandbox,
    /// Of each tenant; see [`Egress::apart`] and [`Sandbox::apart`].
    apart: moka::sync::Cache<TenantId, (Egress, Sandbox)>,
    vault: Vault,
}

impl ToolServices {
    pub(crate) fn new(egress: Egress, sandbox: Sandbox, vault: Vault) -> Arc<Self> {
        Arc::new(Self { egress, sandbox, apart: moka::sync::Cache::new(10_000), vault })
    }

    fn of(&self, tenant: TenantId) -> (Egress, Sandbox) {
        self.apart.get_with(tenant, || (self.egress.apart(), self.sandbox.apart()))
    }

    /// All of them, for the context of a call.
    pub(crate) fn services(self: &Arc<Self>) -> Services {
        let services = Services::default().with::<dyn Network>(Arc::clone(self) as _);
        services.with::<dyn Filters>(Arc::clone(self) as _).with::<dyn Credentials>(Arc::clone(self) as _)
    }

    pub(crate) async fn close(&self) {
        self.sandbox.close().await;
    }
}

impl fmt::Debug for ToolServices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolServices").field("vault", &self.vault).finish_non_exhaustive()
    }
}

impl Network for ToolServices {
    fn egress(&self, tenant: TenantId) -> Egress {
        self.of(tenant).0
    }
}

impl Filters for ToolServices {
    fn jq<'a>(
        &'a self,
        tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>> {
        Box::pin(async move {
            let given = self.of(tenant).1.jq(filter, input, JqLimits::default()).await;
            given.map_err(|error| match error {
                tw_sandbox::Error::Filter { .. } => ToolFailure::invalid(error.to_string()),
                error => ToolFailure::new(error.to_string()),
            })
        })
    }
}

impl Credentials for ToolServices {
    fn credential<'a>(
        &'a self,
        tenant: TenantId,
        label: &'a str,
    ) -> BoxFuture<'a, Result<Credential, ToolFailure>> {
        Box::pin(async move {
            let opened = self.vault.open(tenant, label).await;
            opened.map(shown).map_err(|error| failed(&error))
        })
    }

    fn credential_for<'a>(
        &'a self,
        tenant: TenantId,
        provider: &'a str,
        variant: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Credential>, ToolFailure>> {
        Box::pin(async move {
            let found = self.vault.open_for(tenant, provider, variant).await;
            found.map(|found| found.map(shown)).map_err(|error| failed(&error))
        })
    }
}

fn shown(secret: OpenedCredential) -> Credential {
    let (label, allowed_hosts) = (secret.label.to_string(), secret.allowed_hosts.clone());
    let (providers, value) = (secret.providers.clone(), secret.value());
    Credential { label, providers, allowed_hosts, value, fields: secret.into_fields() }
}

/// A store that is away is nothing that the caller of a tool can mend.
fn failed(error: &Error) -> ToolFailure {
    match error {
        Error::CredentialMissing { .. } => ToolFailure::with_code(Code::CredentialMissing, error.to_string()),
        error => {
            tracing::error!(error = error as &dyn std::error::Error, "a credential could not be opened");
            ToolFailure::with_code(
                Code::Internal,
                "the credential could not be opened; the server's log says why",
            )
        }
    }
}
