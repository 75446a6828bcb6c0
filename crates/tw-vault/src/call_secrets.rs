//! Secrets on their way through calls.
//!
//! A tool that holds secrets passes them on in the calls that it makes. What is called gets them as they are; what is
//! written down about the call shows `***`, and what a parked call needs to go on is sealed for its run.

use std::{fmt, sync::Arc};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_sdk::Redactor;
use tw_base::{Error, Result};
use tw_model::{
    Authored, RunId, TenantId, ToolFailure, ToolId, ToolResult, each_secret, redacted, secret_texts,
};
use zeroize::Zeroizing;

use crate::{envelope::TenantKey, vault::Vault};

/// The secrets that a call may carry, which no record of it may show.
pub struct CallSecrets {
    key: Arc<TenantKey>,
    texts: Vec<Zeroizing<String>>,
    redactor: Redactor,
}

/// What a parked call carried, open again.
#[derive(Debug)]
pub struct OpenedCall {
    pub input: Value,
    pub secrets: Arc<CallSecrets>,
}

/// What is sealed of a call.
#[derive(Serialize, Deserialize)]
struct Kept {
    input: Value,
    texts: Vec<String>,
}

impl fmt::Debug for CallSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSecrets").field("texts", &self.texts.len()).finish_non_exhaustive()
    }
}

impl CallSecrets {
    fn new(key: Arc<TenantKey>, texts: Vec<Zeroizing<String>>) -> Self {
        let redactor = Redactor::new(texts.iter().map(|text| text.as_str()));
        Self { key, texts, redactor }
    }

    /// An input as it may be written down: without the secrets, and without whatever stands where secrets stand.
    #[must_use]
    pub fn shown(&self, input: &Value) -> Value {
        self.redactor.value(redacted(input))
    }

    #[must_use]
    pub fn text(&self, text: String) -> String {
        self.redactor.text(text)
    }

    /// What a tool ends with, without the secrets.
    pub fn outcome(&self, outcome: Result<ToolResult, ToolFailure>) -> Result<ToolResult, ToolFailure> {
        self.redactor.outcome(outcome)
    }

    /// What a call has to be resumed with, sealed for its run.
    #[must_use]
    pub fn seal(&self, run: RunId, input: &Value) -> String {
        let texts = self.texts.iter().map(|text| text.to_string()).collect();
        let kept = Kept { input: input.clone(), texts };
        let kept = Zeroizing::new(serde_json::to_vec(&kept).expect("an input is plain JSON"));
        URL_SAFE_NO_PAD.encode(self.key.seal_for_run(run, &kept))
    }
}

impl Vault {
    /// The secrets that the calls of a run may carry: those of its tool's definition, and those that it was called
    /// with. `None` where there are none.
    pub async fn call_secrets(
        &self,
        tenant: TenantId,
        tool: ToolId,
        authored: &Authored,
        given: Option<&Arc<CallSecrets>>,
    ) -> Result<Option<Arc<CallSecrets>>> {
        let mut texts = given.map(|given| given.texts.clone()).unwrap_or_default();
        let mut has_own = false;
        for part in [Some(&authored.implementation), authored.execution_spec.as_ref()].into_iter().flatten() {
            each_secret(&mut part.clone(), &mut |_| has_own = true);
        }
        if !has_own {
            return Ok(given.cloned());
        }
        for part in [Some(&authored.implementation), authored.execution_spec.as_ref()].into_iter().flatten() {
            let opened = self.open_part(tenant, tool, part).await?;
            texts.extend(secret_texts(&opened).into_iter().map(Zeroizing::new));
        }
        let key = self.new_tool_secrets(tenant).await?;
        Ok(Some(Arc::new(CallSecrets::new(key, texts))))
    }

    /// What a parked call has to be resumed with.
    pub async fn open_call(&self, tenant: TenantId, run: RunId, sealed: &str) -> Result<OpenedCall> {
        let corrupt = || {
            Error::internal("opening the secrets of a call", format!("what run {run} carries does not open"))
        };
        let key = self.tool_secrets(tenant).await?.ok_or_else(corrupt)?;
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| corrupt())?;
        let opened = key.open_for_run(run, &bytes).ok_or_else(corrupt)?;
        let Kept { input, texts } = serde_json::from_slice(&opened).map_err(|_| corrupt())?;
        let texts = texts.into_iter().map(Zeroizing::new).collect();
        Ok(OpenedCall { input, secrets: Arc::new(CallSecrets::new(key, texts)) })
    }
}
