//! How far a call is, told to a client that asked for it.

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tw_engine::ToolProgress;

use crate::rpc::RpcParams;

/// How many reports wait until the client has read those before.
const WAITING_MAX: usize = 16;

/// The reports of one call, under the name that its client gave them.
pub(crate) struct CallReports {
    /// `None` of a client that does not want them.
    token: Option<Value>,
    reports: mpsc::Receiver<ToolProgress>,
}

impl CallReports {
    /// With the sender for whoever makes the call. A client that is answered plainly hears nothing.
    pub(crate) fn of(params: &RpcParams<'_>, may_stream: bool) -> (Option<mpsc::Sender<ToolProgress>>, Self) {
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
        let token = token.filter(|token| may_stream && (token.is_string() || token.is_number())).cloned();
        let (sender, reports) = mpsc::channel(WAITING_MAX);
        (token.is_some().then_some(sender), Self { token, reports })
    }

    /// The next one, as a notification. Resolves to `None` once there is none to come.
    pub(crate) async fn next(&mut self) -> Option<Bytes> {
        let ToolProgress { progress, total, message } = self.reports.recv().await?;
        let mut params = json!({ "progressToken": self.token, "progress": progress });
        if let Some(total) = total {
            params["total"] = json!(total);
        }
        if let Some(message) = message {
            params["message"] = json!(message);
        }
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
        Some(told.to_string().into())
    }
}
