//! What of the server a tool may use besides its input, by capability.

use std::{
    any::{Any, TypeId},
    collections::{BTreeMap, HashMap},
    fmt,
    sync::Arc,
};

use serde_json::Value;
use tw_egress::{Egress, Site};
use tw_model::{AllowedHost, Code, TenantId, ToolFailure};
use zeroize::Zeroizing;

use crate::BoxFuture;

/// The way out.
pub trait Network: fmt::Debug + Send + Sync {
    /// The client of a tenant, whose connections no other tenant uses.
    fn egress(&self, tenant: TenantId) -> Egress;
}

/// Runs jq filters in a sandbox.
pub trait Filters: fmt::Debug + Send + Sync {
    /// Everything that a filter gives for a value.
    fn jq<'a>(
        &'a self,
        tenant: TenantId,
        filter: &'a str,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<Vec<Value>, ToolFailure>>;
}

/// Opens the credentials of tenants.
pub trait Credentials: fmt::Debug + Send + Sync {
    /// The credential that goes by this label or id.
    fn credential<'a>(
        &'a self,
        tenant: TenantId,
        label: &'a str,
    ) -> BoxFuture<'a, Result<Credential, ToolFailure>>;

    /// The credential that the tenant has for a provider, if it has one. The empty variant names those without one.
    fn credential_for<'a>(
        &'a self,
        tenant: TenantId,
        provider: &'a str,
        variant: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Option<Credential>, ToolFailure>>;
}

/// Services by their type. A tool gets at those whose type it can name, so a room of the server offers its services to
/// its own tools without a change to a trait that all tools share. Cheap to clone.
#[derive(Clone, Default)]
pub struct Services(Arc<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>);

impl Services {
    /// Adds a service, or replaces the one of the same type.
    #[must_use]
    pub fn with<T: ?Sized + Send + Sync + 'static>(mut self, service: Arc<T>) -> Self {
        Arc::make_mut(&mut self.0).insert(TypeId::of::<T>(), Arc::new(service));
        self
    }

    #[must_use]
    pub fn get<T: ?Sized + Send + Sync + 'static>(&self) -> Option<&Arc<T>> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("count", &self.0.len()).finish()
    }
}

/// The texts of a credential. Forgotten for good when dropped, and never shown.
#[derive(Clone)]
pub struct Credential {
    /// What it is called, for a failure.
    pub label: String,
    /// Whom it is for, as its provider and the variant of that; empty where nobody has said.
    pub providers: Vec<String>,
    /// The hosts that it may be sent to; `None` for every host.
    pub allowed_hosts: Option<Vec<String>>,
    /// What stands for `secret:<label>`.
    pub value: Option<Zeroizing<String>>,
    pub fields: BTreeMap<String, Zeroizing<String>>,
}

impl Credential {
    /// Whether it is for this provider, or this variant of one.
    #[must_use]
    pub fn is_for(&self, provider: &str) -> bool {
        self.providers.iter().any(|name| name == provider)
    }

    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name).map(|text| text.as_str())
    }

    /// What stands for `secret:<label>`, bound to its hosts.
    #[must_use]
    pub fn secret(&self) -> Option<Secret> {
        self.value.clone().map(|value| self.bound(value))
    }

    /// What stands for `secret:<label>.<field>`, bound to its hosts.
    #[must_use]
    pub fn field_secret(&self, name: &str) -> Option<Secret> {
        self.fields.get(name).cloned().map(|value| self.bound(value))
    }

    fn bound(&self, value: Zeroizing<String>) -> Secret {
        Secret { value, label: self.label.clone(), allowed_hosts: self.allowed_hosts.clone() }
    }
}

/// One text of a credential, and where it may be sent. Forgotten for good when dropped, and never shown.
#[derive(Clone)]
pub struct Secret {
    pub value: Zeroizing<String>,
    pub label: String,
    pub allowed_hosts: Option<Vec<String>>,
}

impl Secret {
    /// A text that may be sent anywhere.
    pub fn anywhere(value: impl Into<String>) -> Self {
        Self { value: Zeroizing::new(value.into()), label: String::new(), allowed_hosts: None }
    }

    /// Refuses a request to a host that the credential is not for. Whoever sends a secret asks this first, with the
    /// URL that the request has.
    pub fn check_host(&self, url: &str) -> Result<(), ToolFailure> {
        if AllowedHost::any_allows(self.allowed_hosts.as_deref(), url) {
            return Ok(());
        }
        let (label, site) = (&self.label, Site::in_text(url));
        let message = format!(
            "the credential `{label}` may not be sent to {site}: its `allowed_hosts` does not name that host"
        );
        Err(ToolFailure::with_code(Code::EgressDenied, message))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("label", &self.label).finish_non_exhaustive()
    }
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.fields.keys().collect();
        f.debug_struct("Credential").field("fields", &names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    trait Greets: Send + Sync {
        fn greeting(&self) -> String;
    }

    impl Greets for String {
        fn greeting(&self) -> String {
            format!("hello {self}")
        }
    }

    #[test]
    fn service_is_found_by_its_type_alone() {
        let services =
            Services::default().with::<dyn Greets>(Arc::new("you".to_owned())).with(Arc::new(7_u8));
        assert_eq!(
            services.get::<dyn Greets>().map(|greets| greets.greeting()).as_deref(),
            Some("hello you")
        );
        assert_eq!(services.get::<u8>().map(|number| **number), Some(7));
        assert!(services.get::<u16>().is_none());
    }
}
