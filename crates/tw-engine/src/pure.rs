//! Results of pure tools.
//!
//! Kept in memory and for a while: it saves work and is never the only place where something is known. A call that
//! is answered from here is a run like any other. Functions of the program are quicker than looking them up.

use std::time::Duration;

use serde_json::Value;
use tw_model::{Caller, Mode, ToolResult};
use tw_registry::Tool;

const KEPT: Duration = Duration::from_secs(300);
const BYTES_MAX: u64 = 64 << 20;
/// One large result must not push out all others.
const RESULT_BYTES_MAX: usize = 1 << 20;

#[derive(Debug)]
pub(crate) struct Results(moka::sync::Cache<Question, (ToolResult, u32)>);

/// One input to one tool of one tenant, as both were then: a credential that was replaced gives another answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question([u8; 32]);

impl Question {
    /// `None` where the answer is not kept.
    pub(crate) fn of(caller: &Caller, tool: &Tool, mode: Mode, input: &Value) -> Option<Self> {
        // What it calls has rules of its own, which are for each caller. A result of what has effects is never kept,
        // whatever its author says: the second call must have them too.
        let executor = &tool.executor;
        let kept = tool.def.execution.is_pure
            && !tool.def.has_effects()
            && !executor.is_function()
            && executor.calls().is_empty()
            && !executor.is_resumable();
        (kept && mode == Mode::Production).then(|| {
            let mut hasher = blake3::Hasher::new();
            for part in [caller.tenant.uuid().as_bytes(), tool.def.id.uuid().as_bytes()] {
                hasher.update(part);
            }
            hasher.update(&caller.epoch.to_be_bytes());
            hasher.update(tool.definition_hash.as_bytes());
            hasher.update(tw_schema::digest(input).to_string().as_bytes());
            Self(*hasher.finalize().as_bytes())
        })
    }
}

impl Default for Results {
    fn default() -> Self {
        let weigh = |_: &Question, (_, bytes): &(ToolResult, u32)| *bytes;
        Self(moka::sync::Cache::builder().time_to_live(KEPT).max_capacity(BYTES_MAX).weigher(weigh).build())
    }
}

impl Results {
    pub(crate) fn get(&self, asked: &Question) -> Option<ToolResult> {
        self.0.get(asked).map(|(result, _)| result)
    }

    pub(crate) fn keep(&self, asked: Question, result: &ToolResult) {
        let bytes = result.data.to_string().len();
        if bytes <= RESULT_BYTES_MAX {
            self.0.insert(asked, (result.clone(), u32::try_from(bytes + 256).unwrap_or(u32::MAX)));
        }
    }
}
