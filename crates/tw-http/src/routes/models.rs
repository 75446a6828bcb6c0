//! Language models: which there are, and what runs take of them.

use axum::extract::State;
use serde::Serialize;
use tw_engine::ListedModel;
use tw_identity::rights::ReadModels;
use tw_model::{Money, Usage};

use super::List;
use crate::{App, auth::Allowed};

/// The usage of one or several requests to models.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct UsageView {
    provider: String,
    model: String,
    /// Including cached tokens.
    input_tokens: u64,
    output_tokens: u64,
    cached_tokens: u64,
    cache_write_tokens: u64,
    /// `null` if the model has no price.
    cost: Option<f64>,
    /// Whether the tokens are an estimate (bytes divided by four) because the provider reported none.
    estimated: bool,
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> Self {
        Self {
            provider: usage.provider,
            model: usage.model,
            input_tokens: usage.input_tokens,
            output_tokens: usage.output_tokens,
            cached_tokens: usage.cached_tokens,
            cache_write_tokens: usage.cache_write_tokens,
            cost: usage.cost.map(Money::units),
            estimated: usage.estimated,
        }
    }
}

/// The price of a million tokens.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct PriceView {
    input: f64,
    cached: f64,
    cache_write: f64,
    output: f64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ModelView {
    /// The name that tools use.
    name: String,
    /// `openai`, `anthropic`, `gemini` or `ollama`.
    provider: &'static str,
    /// The provider's name of the model.
    model: String,
    price: Option<PriceView>,
    /// Whether the tenant or the operator has a key for the model.
    available: bool,
}

impl From<ListedModel> for ModelView {
    fn from(listed: ListedModel) -> Self {
        let price = listed.price.map(|price| PriceView {
            input: price.input.units(),
            cached: price.cached.units(),
            cache_write: price.cache_write.units(),
            output: price.output.units(),
        });
        let ListedModel { name, provider, model, available, .. } = listed;
        Self { name, provider, model, price, available }
    }
}

/// List the language models that the operator has configured, by name.
#[utoipa::path(get, path = "/api/models", operation_id = "list_models", tag = "tools",
    responses((status = 200, body = List<ModelView>)))]
pub(crate) async fn list(
    State(app): State<App>,
    Allowed(permit): Allowed<ReadModels>,
) -> axum::Json<List<ModelView>> {
    let items: Vec<ModelView> = app.engine.models(&permit).await.into_iter().map(Into::into).collect();
    let total = i64::try_from(items.len()).ok();
    axum::Json(List { items, next_cursor: None, total })
}
