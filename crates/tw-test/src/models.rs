//! A language model that says what a test wrote down, in the format of any provider.

use serde_json::{Value, json};

use crate::{
    Upstream,
    hostile::{Received, Then},
};

/// Whose format an answer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelFormat {
    /// Also that of Ollama and of other servers.
    OpenAi,
    Anthropic,
    Gemini,
}

impl ModelFormat {
    pub const ALL: [Self; 3] = [Self::OpenAi, Self::Anthropic, Self::Gemini];

    /// The word of the configuration.
    #[must_use]
    pub const fn provider(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// The header that carries the key.
    #[must_use]
    pub const fn key_header(self) -> &'static str {
        match self {
            Self::OpenAi => "authorization",
            Self::Anthropic => "x-api-key",
            Self::Gemini => "x-goog-api-key",
        }
    }
}

/// What every answer says it took: 12 tokens in, of which 4 were cached, and 7 out.
pub const INPUT_TOKENS: u64 = 12;
pub const CACHED_TOKENS: u64 = 4;
pub const OUTPUT_TOKENS: u64 = 7;

/// A server on a loopback port of its own. The answers are those of the script, one for each request; behind the last,
/// it is an [`Upstream`] like any other.
#[derive(Debug)]
pub struct ModelServer {
    pub upstream: Upstream,
}

impl ModelServer {
    pub async fn start() -> Self {
        Self { upstream: Upstream::start().await }
    }

    /// What to configure.
    #[must_use]
    pub fn base_url(&self) -> String {
        self.upstream.url("/v1")
    }

    #[must_use]
    pub fn requests(&self) -> Vec<Received> {
        self.upstream.requests()
    }

    /// The body of a request.
    #[must_use]
    pub fn asked(&self, index: usize) -> Value {
        serde_json::from_slice(&self.requests()[index].body).expect("requests are JSON")
    }

    /// Streams these pieces.
    pub fn streams(&self, format: ModelFormat, pieces: &[&str]) {
        let events: Vec<_> = pieces.iter().map(|piece| delta(format, piece)).collect();
        let stream = [opening(format), events, ending(format)].concat();
        self.upstream.script_then([SSE_HEAD.to_owned(), sse(format, &stream)].concat(), Then::Close);
    }

    /// Streams these pieces and says nothing more, with the connection open.
    pub fn falls_silent_after(&self, format: ModelFormat, pieces: &[&str]) {
        self.upstream.script_then(beginning(format, pieces), Then::Hold);
    }

    /// Streams these pieces and closes the connection.
    pub fn breaks_off_after(&self, format: ModelFormat, pieces: &[&str]) {
        self.upstream.script_then(beginning(format, pieces), Then::Close);
    }

    /// Answers with one JSON document.
    pub fn says(&self, format: ModelFormat, text: &str) {
        self.answers("200 OK", "application/json", &whole(format, text).to_string());
    }

    /// Answers with anything at all.
    pub fn answers(&self, status: &str, content_type: &str, body: &str) {
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: {content_type}\r\ncontent-length: {length}\r\n");
        self.upstream.script([format!("{head}\r\n{body}")]);
    }

    /// Refuses a request, and says when to come back.
    pub fn is_busy(&self, retry_after: &str) {
        let body = r#"{"error":{"message":"slow down"}}"#;
        let head = format!("HTTP/1.1 429 Too Many Requests\r\nretry-after: {retry_after}\r\n");
        let rest = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        self.upstream.script([head + &rest]);
    }

    /// Streams an event that is no JSON.
    pub fn streams_garbage(&self) {
        self.upstream.script_then(format!("{SSE_HEAD}data: {{\"choices\": [\n\n"), Then::Close);
    }

    /// Calls a tool, in a form that no provider has.
    pub fn calls_a_tool(&self, format: ModelFormat) {
        let call = match format {
            ModelFormat::OpenAi => {
                json!({ "choices": [{ "message": { "content": null, "tool_calls": [{ "function": 7 }] }, "finish_reason": "tool_calls" }] })
            }
            ModelFormat::Anthropic => {
                json!({ "content": [{ "type": "tool_use", "name": [], "input": "{" }], "stop_reason": "tool_use" })
            }
            ModelFormat::Gemini => {
                json!({ "candidates": [{ "content": { "parts": [{ "functionCall": "x" }] }, "finishReason": "STOP" }] })
            }
        };
        self.answers("200 OK", "application/json", &call.to_string());
    }
}

const SSE_HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n\r\n";

fn beginning(format: ModelFormat, pieces: &[&str]) -> String {
    let events: Vec<_> = pieces.iter().map(|piece| delta(format, piece)).collect();
    [SSE_HEAD.to_owned(), sse(format, &[opening(format), events].concat())].concat()
}

fn sse(format: ModelFormat, events: &[Value]) -> String {
    let event = |event: &Value| match (format, event["type"].as_str()) {
        (ModelFormat::Anthropic, Some(kind)) => format!("event: {kind}\ndata: {event}\n\n"),
        _ if event.is_string() => format!("data: {}\n\n", event.as_str().unwrap_or_default()),
        _ => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect()
}

fn opening(format: ModelFormat) -> Vec<Value> {
    match format {
        ModelFormat::OpenAi => {
            vec![json!({ "choices": [{ "index": 0, "delta": { "role": "assistant", "content": "" } }] })]
        }
        ModelFormat::Anthropic => vec![
            json!({ "type": "message_start", "message": { "role": "assistant", "usage": {
                "input_tokens": INPUT_TOKENS - CACHED_TOKENS, "cache_read_input_tokens": CACHED_TOKENS, "output_tokens": 1 } } }),
            json!({ "type": "content_block_start", "index": 0, "content_block": { "type": "text", "text": "" } }),
            json!({ "type": "ping" }),
        ],
        ModelFormat::Gemini => Vec::new(),
    }
}

fn delta(format: ModelFormat, text: &str) -> Value {
    match format {
        ModelFormat::OpenAi => json!({ "choices": [{ "index": 0, "delta": { "content": text } }] }),
        ModelFormat::Anthropic => {
            json!({ "type": "content_block_delta", "index": 0, "delta": { "type": "text_delta", "text": text } })
        }
        ModelFormat::Gemini => {
            json!({ "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] } }] })
        }
    }
}

fn ending(format: ModelFormat) -> Vec<Value> {
    match format {
        ModelFormat::OpenAi => vec![
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] }),
            json!({ "choices": [], "usage": openai_usage() }),
            json!("[DONE]"),
        ],
        ModelFormat::Anthropic => vec![
            json!({ "type": "content_block_stop", "index": 0 }),
            json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" }, "usage": { "output_tokens": OUTPUT_TOKENS } }),
            json!({ "type": "message_stop" }),
        ],
        ModelFormat::Gemini => vec![
            json!({ "candidates": [{ "content": { "parts": [] }, "finishReason": "STOP" }], "usageMetadata": gemini_usage() }),
        ],
    }
}

fn whole(format: ModelFormat, text: &str) -> Value {
    match format {
        ModelFormat::OpenAi => json!({
            "choices": [{ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" }],
            "usage": openai_usage(),
        }),
        ModelFormat::Anthropic => json!({
            "role": "assistant", "content": [{ "type": "text", "text": text }], "stop_reason": "end_turn",
            "usage": { "input_tokens": INPUT_TOKENS - CACHED_TOKENS, "cache_read_input_tokens": CACHED_TOKENS,
                "output_tokens": OUTPUT_TOKENS },
        }),
        ModelFormat::Gemini => json!({
            "candidates": [{ "content": { "role": "model", "parts": [{ "text": text }] }, "finishReason": "STOP" }],
            "usageMetadata": gemini_usage(),
        }),
    }
}

fn openai_usage() -> Value {
    let details = json!({ "cached_tokens": CACHED_TOKENS });
    json!({ "prompt_tokens": INPUT_TOKENS, "completion_tokens": OUTPUT_TOKENS, "prompt_tokens_details": details })
}

fn gemini_usage() -> Value {
    json!({ "promptTokenCount": INPUT_TOKENS, "candidatesTokenCount": OUTPUT_TOKENS,
        "cachedContentTokenCount": CACHED_TOKENS })
}
