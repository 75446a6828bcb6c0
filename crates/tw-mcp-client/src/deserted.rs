//! Tells a server that nobody waits for its answer any more.

use serde_json::json;
use tokio::{runtime::Handle, time::Instant};

use crate::{
    era::ServerManner,
    exchange::{ASIDE_FOR, ServerLine},
    rpc,
};

const METHOD: &str = "notifications/cancelled";

/// A call under way. Dropped before its answer is there, it tells the server. A run that is cancelled or late is
/// dropped at its next await, so this is the one place that sees every way in which a call ends too early.
///
/// In the present revision the closed connection says it. Earlier servers work on, and have to be told; one that
/// knows no revision knows no such message.
pub(crate) struct UnderWay<'a> {
    line: &'a ServerLine,
    session: Option<&'a ServerManner>,
    id: u64,
}

impl<'a> UnderWay<'a> {
    pub(crate) fn new(line: &'a ServerLine, manner: &'a ServerManner, id: u64) -> Self {
        Self { line, session: Some(manner).filter(|manner| !manner.is_sessionless()), id }
    }

    /// Says that the server has answered.
    pub(crate) fn answered(mut self) {
        self.session = None;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        let (Some(manner), Ok(runtime)) = (self.session, Handle::try_current()) else { return };
        let (line, manner) = (self.line.clone(), manner.clone());
        let params = json!({ "requestId": self.id, "reason": "the caller does not wait for it any more" });
        runtime.spawn(async move {
            let body = rpc::notification(METHOD, &params);
            let told = line.tell(METHOD, body, &manner, Instant::now() + ASIDE_FOR).await;
            if let Err(error) = told {
                tracing::debug!(%error, "an MCP server was not told that a call is not wanted any more");
            }
        });
    }
}
