//! Secrets on their way through calls.
//!
//! A tool that holds secrets passes them on in the calls that it makes, and a tool that saves tools is given some. What
//! is called gets them as they are; what is written down about the call shows `***`, and what a parked call needs to go on
//! is sealed for its run.

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

use crate::{
    definition_parts::{DefinitionParts, HiddenInput},
    envelope::TenantKey,
    vault::Vault,
};

/// The secrets that a call may carry, which no record of it may show.
pub struct CallSecrets {
    key: Arc<TenantKey>,
    texts: Vec<Zeroizing<String>>,
    whose: Whose,
}

/// Who wrote the secrets of a call.
enum Whose {
    /// The tools that made the call, or whoever called those: an expression may have put them anywhere.
    PassedOn(Redactor),
    /// The caller, where a definition has them. What is called knows these places too, so what it gives back is left
    /// as it is: a key that reads `demo` must not take every `demo` with it.
    Caller(DefinitionParts),
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
    /// Where they stand in the input, if the caller wrote them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parts: Option<DefinitionParts>,
}

impl fmt::Debug for CallSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallSecrets").field("texts", &self.texts.len()).finish_non_exhaustive()
    }
}

impl CallSecrets {
    fn passed_on(key: Arc<TenantKey>, texts: Vec<Zeroizing<String>>) -> Self {
        let redactor = Redactor::new(texts.iter().map(|text| text.as_str()));
        Self { key, texts, whose: Whose::PassedOn(redactor) }
    }

    fn of_caller(key: Arc<TenantKey>, texts: Vec<Zeroizing<String>>, parts: DefinitionParts) -> Self {
        Self { key, texts, whose: Whose::Caller(parts) }
    }

    /// Where the caller has written them; `None` of those that were passed on.
    #[must_use]
    pub fn callers_parts(&self) -> Option<&DefinitionParts> {
        match &self.whose {
            Whose::PassedOn(_) => None,
            Whose::Caller(parts) => Some(parts),
        }
    }

    /// An input that secrets were passed on to, as it may be written down: without them, and without whatever stands
    /// where secrets stand.
    #[must_use]
    pub fn shown(&self, input: &Value) -> Value {
        match &self.whose {
            Whose::PassedOn(redactor) => redactor.value(redacted(input)),
            Whose::Caller(parts) => parts.hide(input).map_or_else(|| input.clone(), |hidden| hidden.shown),
        }
    }

    #[must_use]
    pub fn text(&self, text: String) -> String {
        match &self.whose {
            Whose::PassedOn(redactor) => redactor.text(text),
            Whose::Caller(_) => text,
        }
    }

    /// What a tool ends with, without the secrets.
    pub fn outcome(&self, outcome: Result<ToolResult, ToolFailure>) -> Result<ToolResult, ToolFailure> {
        match &self.whose {
            Whose::PassedOn(redactor) => redactor.outcome(outcome),
            Whose::Caller(_) => outcome,
        }
    }

    /// What a call has to be resumed with, sealed for its run.
    #[must_use]
    pub fn seal(&self, run: RunId, input: &Value) -> String {
        let texts = self.texts.iter().map(|text| text.to_string()).collect();
        let kept = Kept { input: input.clone(), texts, parts: self.callers_parts().cloned() };
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
        for part in authored.secret_parts() {
            each_secret(&mut part.clone(), &mut |_| has_own = true);
        }
        // What the caller has written is passed on from here.
        let is_as_given = given.is_none_or(|given| given.callers_parts().is_none());
        if !has_own && is_as_given {
            return Ok(given.cloned());
        }
        for part in authored.secret_parts() {
            let opened = self.open_part(tenant, tool, part).await?;
            texts.extend(secret_texts(&opened).into_iter().map(Zeroizing::new));
        }
        let key = self.new_tool_secrets(tenant).await?;
        Ok(Some(Arc::new(CallSecrets::passed_on(key, texts))))
    }

    /// The secrets that a caller has written in these parts of an input.
    pub async fn callers_secrets(
        &self,
        tenant: TenantId,
        parts: DefinitionParts,
        hidden: HiddenInput,
    ) -> Result<Arc<CallSecrets>> {
        let key = self.new_tool_secrets(tenant).await?;
        Ok(Arc::new(CallSecrets::of_caller(key, hidden.texts, parts)))
    }

    /// What a parked call has to be resumed with.
    pub async fn open_call(&self, tenant: TenantId, run: RunId, sealed: &str) -> Result<OpenedCall> {
        let corrupt = || {
            Error::internal("opening the secrets of a call", format!("what run {run} carries does not open"))
        };
        let key = self.tool_secrets(tenant).await?.ok_or_else(corrupt)?;
        let bytes = URL_SAFE_NO_PAD.decode(sealed).map_err(|_| corrupt())?;
        let opened = key.open_for_run(run, &bytes).ok_or_else(corrupt)?;
        let Kept { input, texts, parts } = serde_json::from_slice(&opened).map_err(|_| corrupt())?;
        let texts = texts.into_iter().map(Zeroizing::new).collect();
        let secrets = match parts {
            Some(parts) => CallSecrets::of_caller(key, texts, parts),
            None => CallSecrets::passed_on(key, texts),
        };
        Ok(OpenedCall { input, secrets: Arc::new(secrets) })
    }
}
