//! What is kept of a run that waits, so that any replica can resume it.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_base::{Error, Result};
use tw_model::{Caller, Channel, Code, Link, Mode, Principal, Role, SessionId, Source, Trace};

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
    /// The author's settings, where the run was called by a tool that wraps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) settings: Option<Arc<Value>>,
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
    pub(crate) refused: BTreeMap<String, Refusal>,
}

/// A tool of the tenant's own, as it was when a run began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) content_hash: String,
    pub(crate) version: String,
}

/// An inner call that was refused. It left no run that would answer again, and what a run has built on a refusal must
/// still hold when it is resumed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refusal {
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
            settings: None,
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

    /// Reads what was kept.
    pub(crate) fn read(context: &str) -> Result<Self> {
        serde_json::from_str(context).map_err(|error| Error::internal("reading a parked call", error))
    }
}
