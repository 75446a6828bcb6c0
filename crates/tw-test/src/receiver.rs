//! A receiver of webhooks that answers what a test wrote down.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::hmac;
use serde_json::Value;

use crate::{
    Upstream,
    hostile::{Received, Then},
};

/// A server on a loopback port of its own. The answers are those of the script, one for each message; behind the last,
/// it takes everything.
#[derive(Debug)]
pub struct Receiver {
    pub upstream: Upstream,
}

/// A message as it came.
#[derive(Clone, Debug)]
pub struct HookMessage {
    pub received: Received,
    pub body: Value,
}

impl Receiver {
    pub async fn start() -> Self {
        Self { upstream: Upstream::start().await }
    }

    /// What to make a webhook with.
    #[must_use]
    pub fn url(&self) -> String {
        self.upstream.url("/hook")
    }

    /// Answers the next message with this status.
    pub fn answers(&self, status: u16, body: &str) {
        let length = body.len();
        self.upstream.script([format!("HTTP/1.1 {status} So\r\ncontent-length: {length}\r\n\r\n{body}")]);
    }

    /// Takes the next message and never answers.
    pub fn falls_silent(&self) {
        self.upstream.script_then("", Then::Hold);
    }

    /// Every message so far, in order.
    #[must_use]
    pub fn messages(&self) -> Vec<HookMessage> {
        let read = |received: Received| {
            let body = serde_json::from_slice(&received.body).expect("messages are JSON");
            HookMessage { received, body }
        };
        self.upstream.requests().into_iter().map(read).collect()
    }

    /// The messages of a type.
    #[must_use]
    pub fn told(&self, kind: &str) -> Vec<HookMessage> {
        self.messages().into_iter().filter(|message| message.kind() == kind).collect()
    }
}

impl HookMessage {
    #[must_use]
    pub fn id(&self) -> &str {
        self.received.header("webhook-id").expect("a message has an id")
    }

    #[must_use]
    pub fn kind(&self) -> &str {
        self.body["type"].as_str().expect("a message has a type")
    }

    /// Whether one of its signatures is by this secret. Worked out by another library than the one that signs.
    #[must_use]
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let secret = secret.strip_prefix("whsec_").and_then(|text| STANDARD.decode(text).ok());
        let key = hmac::Key::new(hmac::HMAC_SHA256, &secret.expect("a secret is `whsec_` and base64"));
        let header = |name| self.received.header(name).unwrap_or_default().as_bytes();
        let (id, time) = (header("webhook-id"), header("webhook-timestamp"));
        let signed = [id, b".", time, b".", &self.received.body].concat();
        let signatures = self.received.header("webhook-signature").unwrap_or_default().split(' ');
        let signatures = signatures.filter_map(|one| STANDARD.decode(one.strip_prefix("v1,")?).ok());
        signatures.into_iter().any(|signature| hmac::verify(&key, &signed, &signature).is_ok())
    }
}
