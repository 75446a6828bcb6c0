//! The language models that a tenant can ask.

use toolwright_sdk::Credentials;
use tw_identity::rights::{Permit, ReadModels};
use tw_models::ModelPrice;

use crate::Engine;

/// A model, as tenants see it.
#[derive(Clone, Debug)]
pub struct ListedModel {
    pub name: String,
    pub provider: &'static str,
    pub model: String,
    pub price: Option<ModelPrice>,
    /// Whether there is a key for it.
    pub available: bool,
}

impl Engine {
    /// All configured models, by name.
    pub async fn models(&self, permit: &Permit<ReadModels>) -> Vec<ListedModel> {
        let tenant = permit.caller().tenant;
        let credentials: &dyn Credentials = &*self.inner.tool_services;
        let mut listed = Vec::new();
        for (name, spec) in self.inner.models.iter() {
            listed.push(ListedModel {
                name: name.to_owned(),
                provider: spec.provider.as_str(),
                model: spec.model.clone(),
                price: spec.price,
                available: self.inner.models.check(tenant, credentials, name).await.is_ok(),
            });
        }
        listed
    }
}
