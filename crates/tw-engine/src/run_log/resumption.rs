//! What is kept of a run that waits, so that any replica can resume it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};
use tw_base::{Error, Result};
use tw_model::{
    Caller, Channel, Code, Implementation, Link, Mode, Party, Principal, Role, SEALED, SessionId, Source,
    ToolId, Trace,
};
use tw_vault::{CallSecrets, OpenedCall};

use super::raw;

/// What a parked run needs to be resumed, wherever and whenever that is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Resumption {
    pub(crate) principal: Principal,
    pub(crate) display_name: String,
    pub(crate) role: Role,
    pub(crate) source: Source,
    pub(crate) channel: Channel,
    pub(crate) mode: Mode,
    /// The number of the tool's version, where the caller named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pinned: Option<String>,
    pub(crate) session: SessionId,
    pub(crate) chain: Vec<Link>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<Trace>,
    /// The definition that runs, where the run began before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) begun: Option<Begun>,
    /// Who changed the input before it was approved. Their right is asked for again whenever the run goes on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) edited_by: Option<Party>,
    /// The author's settings, where the run was called by a tool that wraps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wrapper: Option<WrapperSettings>,
    /// The input with its secrets, sealed for the run, where the log shows it without them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sealed_input: Option<String>,
    /// The same, open. Never written down.
    #[serde(skip)]
    pub(crate) opened: Option<OpenedCall>,
    /// What upstream services are to know a repeated request by; see [`crate::CallRequest`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upstream_key: Option<String>,
    /// How long the run may take, where a worker or a person is waited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout_ms: Option<u64>,
    /// The schema of the answer, where a worker or a person is waited for: as it was when they were asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer_schema: Option<Arc<Value>>,
    /// How long it has been at work before.
    #[serde(default, skip_serializing_if = "Duration::is_zero")]
    pub(crate) spent: Duration,
    /// The calls it made that were refused, by their names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) refused: BTreeMap<String, KeptRefusal>,
}

/// A tool of the tenant's own, as it was when a run began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) content_hash: String,
    pub(crate) version: String,
}

/// The settings of a tool that wraps another one, with their secrets sealed as they are in its definition: they are kept
/// with a call that waits, and opened when it runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct WrapperSettings {
    /// The wrapper, which its secrets are bound to.
    pub(crate) tool: ToolId,
    pub(crate) sealed: Arc<Value>,
}

impl WrapperSettings {
    /// Whether anything in them has to be opened.
    pub(crate) fn has_secrets(&self) -> bool {
        fn is_sealed(value: &Value) -> bool {
            match value {
                Value::String(text) => text.starts_with(SEALED),
                Value::Array(items) => items.iter().any(is_sealed),
                Value::Object(members) => members.values().any(is_sealed),
                _ => false,
            }
        }
        is_sealed(&self.sealed)
    }
}

/// An inner call that was refused. It left no run that would answer again, and what a run has built on a refusal must
/// still hold when it is resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct KeptRefusal {
    pub(crate) code: Code,
    pub(crate) message: String,
}

impl Resumption {
    pub(crate) fn new(caller: &Caller, mode: Mode, session: SessionId) -> Self {
        Self {
            principal: caller.principal.clone(),
            display_name: caller.display_name.to_string(),
            role: caller.role,
            source: caller.source,
            channel: caller.channel,
            mode,
            pinned: None,
            session,
            chain: caller.chain.to_vec(),
            trace: caller.trace.as_deref().cloned(),
            begun: None,
            edited_by: None,
            wrapper: None,
            sealed_input: None,
            opened: None,
            upstream_key: None,
            timeout_ms: None,
            answer_schema: None,
            spent: Duration::ZERO,
            refused: BTreeMap::new(),
        }
    }

    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).expect("a resumption is plain JSON")
    }

    /// The same for a run of this kind. A program that does not know the kind could only end the run, so it must not be
    /// able to read this: the word in front is no JSON.
    pub(crate) fn text_for(&self, kind: Implementation) -> String {
        match kind.is_recent() {
            true => format!("{} {}", kind.type_name(), self.to_text()),
            false => self.to_text(),
        }
    }

    /// The input with its secrets and these, where the log shows it without them.
    pub(crate) fn opened_input(&self) -> (Option<Box<RawValue>>, Option<&Arc<CallSecrets>>) {
        let opened = self.opened.as_ref();
        (opened.map(|opened| raw(&opened.input)), opened.map(|opened| &opened.secrets))
    }

    /// Reads what was kept.
    pub(crate) fn read(context: &str) -> Result<Self> {
        let text = match context.split_once(' ') {
            Some((word, text)) if !word.starts_with('{') => {
                Implementation::parse(word).ok_or_else(|| {
                    let why = format!("this version of the program cannot run the kind `{word}`");
                    Error::internal("reading a parked call", why)
                })?;
                text
            }
            _ => context,
        };
        serde_json::from_str(text).map_err(|error| Error::internal("reading a parked call", error))
    }
}
