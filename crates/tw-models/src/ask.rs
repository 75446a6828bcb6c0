//! What is asked, for whom, and until when.

use std::sync::Arc;

use tokio::time::Instant;
use toolwright_sdk::{Credentials, ToolContext, UsageMeter};
use tw_egress::Egress;
use tw_model::{RunId, TenantId, ToolFailure};

use crate::{Ledger, ModelSpec, key::Endpoint};

/// Who said something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnRole {
    User,
    Assistant,
}

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelTurn {
    pub role: TurnRole,
    pub text: String,
}

/// A question to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    pub system: Option<String>,
    pub turns: Vec<ModelTurn>,
    /// Whether the answer has to be JSON. Providers that can be told so are.
    pub json: bool,
    pub temperature: Option<f64>,
    /// Below the limit of the model; above it, that counts.
    pub max_output_tokens: Option<u64>,
    /// Which question of its run it is, from 1.
    pub pass: u32,
}

impl ModelRequest {
    /// What it says, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let turns: usize = self.turns.iter().map(|turn| turn.text.len()).sum();
        self.system.as_ref().map_or(0, String::len) + turns
    }
}

/// For whom a model is asked.
#[derive(Clone, Debug)]
pub struct ModelAsker {
    pub tenant: TenantId,
    pub run: RunId,
    /// The client of the tenant.
    pub egress: Egress,
    pub credentials: Arc<dyn Credentials>,
    pub ledger: Arc<dyn Ledger>,
    pub deadline: Instant,
    /// Counts what is asked.
    pub usage: UsageMeter,
}

impl ModelAsker {
    /// The run of a tool.
    pub fn of(cx: &ToolContext) -> Result<Self, ToolFailure> {
        Ok(Self {
            tenant: cx.tenant(),
            run: cx.run(),
            egress: cx.http()?,
            credentials: Arc::clone(cx.service::<dyn Credentials>()?),
            ledger: Arc::clone(cx.service::<dyn Ledger>()?),
            deadline: cx.deadline(),
            usage: cx.usage().clone(),
        })
    }
}

/// One question to one model.
pub(crate) struct Asked<'a> {
    pub(crate) asker: &'a ModelAsker,
    pub(crate) name: &'a str,
    pub(crate) spec: &'a ModelSpec,
    pub(crate) endpoint: &'a Endpoint,
    pub(crate) request: &'a ModelRequest,
}
