//! Chat completions, of OpenAI and of the many servers that speak like it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Outgoing, WireError, json};
use crate::{
    ModelRequest, ModelSpec, ModelStop, TurnRole,
    answer::{AnswerPiece, PieceTokens},
};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Sent<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    /// OpenAI itself refuses it for its newer models.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    /// Others do not know it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat>,
}

#[derive(Serialize)]
struct Sent<'a> {
    role: &'static str,
    content: &'a str,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct ResponseFormat {
    r#type: &'static str,
}

#[derive(Deserialize)]
struct Answered {
    #[serde(default)]
    choices: Vec<Choice>,
    #[serde(default)]
    usage: Option<UsageReport>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct Choice {
    #[serde(default, alias = "message")]
    delta: Option<Said>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    tool_calls: Option<Value>,
}

/// A text, or what some servers make of it: a list of parts.
#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
struct ContentPart {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct UsageReport {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    completion_tokens: Option<u64>,
    #[serde(default)]
    prompt_tokens_details: Option<PromptDetails>,
}

#[derive(Deserialize)]
struct PromptDetails {
    #[serde(default)]
    cached_tokens: Option<u64>,
}

pub(super) fn outgoing(spec: &ModelSpec, base_url: &str, request: &ModelRequest, max: u64) -> Outgoing {
    let is_openai = base_url.starts_with("https://api.openai.com/");
    let system = request.system.as_deref().map(|content| Sent { role: "system", content });
    let turns = request.turns.iter().map(|turn| {
        let role = match turn.role {
            TurnRole::User => "user",
            TurnRole::Assistant => "assistant",
        };
        Sent { role, content: &turn.text }
    });
    let body = Body {
        model: &spec.model,
        messages: system.into_iter().chain(turns).collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: (!is_openai).then_some(max),
        max_completion_tokens: is_openai.then_some(max),
        temperature: request.temperature,
        response_format: request.json.then_some(ResponseFormat { r#type: "json_object" }),
    };
    Outgoing { path: "/chat/completions".to_owned(), headers: Vec::new(), body: json(&body) }
}

pub(super) fn event(data: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    serde_json::from_slice(data).map(piece)
}

pub(super) fn whole(body: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    serde_json::from_slice(body).map(piece)
}

fn piece(answered: Answered) -> AnswerPiece {
    let mut piece = AnswerPiece { error: answered.error.map(WireError::told), ..AnswerPiece::default() };
    for choice in answered.choices {
        let mut wants_tool = false;
        if let Some(said) = choice.delta {
            wants_tool =
                said.tool_calls.is_some_and(|calls| calls.as_array().is_none_or(|list| !list.is_empty()));
            piece.text.extend(said.content.map(Content::text));
        }
        let stop = choice.finish_reason.as_deref().map(stop_of);
        piece.stop = if wants_tool { Some(ModelStop::ToolCall) } else { stop }.or(piece.stop);
    }
    if let Some(usage) = answered.usage {
        piece.tokens = PieceTokens {
            input: usage.prompt_tokens,
            output: usage.completion_tokens,
            cached: usage.prompt_tokens_details.and_then(|details| details.cached_tokens),
            cache_write: None,
        };
    }
    piece
}

fn stop_of(reason: &str) -> ModelStop {
    match reason {
        "length" => ModelStop::Length,
        "content_filter" => ModelStop::Filtered,
        "tool_calls" | "function_call" => ModelStop::ToolCall,
        _ => ModelStop::Done,
    }
}

impl Content {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}
