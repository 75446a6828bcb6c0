//! What of the house a tool may use besides its input.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;
use tw_egress::Egress;
use tw_model::{TenantId, ToolFailure};
use zeroize::Zeroizing;

use crate::BoxFuture;

/// The rooms that a tool gets into through its [`crate::ToolContext`]. The engine is the one who has them.
pub trait House: fmt::Debug + Send + Sync {
    /// The way out, with connections that no other tenant uses.
    fn egress(&self, tenant: TenantId) -> Egress;

    /// Runs a jq filter where it cannot hurt, and returns everything it gives.
    fn jq<'a>(
        &'a self,
        tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>>;

    /// The credential that goes by this label or id.
    fn credential<'a>(
        &'a self,
        tenant: TenantId,
        label: &'a str,
    ) -> BoxFuture<'a, Result<Credential, ToolFailure>>;

    /// The credential that the tenant has for a provider, if it has one.
    fn credential_for<'a>(
        &'a self,
        tenant: TenantId,
        provider: &'a str,
        variant: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Credential>, ToolFailure>>;
}

/// The texts of a credential. Forgotten for good when dropped, and never shown.
#[derive(Clone)]
pub struct Credential {
    /// What stands for `secret:<label>`.
    pub value: Option<Zeroizing<String>>,
    pub fields: BTreeMap<String, Zeroizing<String>>,
}

impl Credential {
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|text| text.as_str())
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.keys().collect();
        f.debug_struct("Credential").field("fields", &names).finish_non_exhaustive()
    }
}
