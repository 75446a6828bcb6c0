//! The generated content of Gemini.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Outgoing, WireError, json};
use crate::{
    ModelRequest, ModelSpec, ModelStop, TurnRole,
    answer::{AnswerPiece, PieceTokens},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    system_instruction: Option<Sent<'a>>,
    contents: Vec<Sent<'a>>,
    generation_config: GenerationConfig,
}

#[derive(Serialize)]
struct Sent<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: [TextPart<'a>; 1],
}

#[derive(Serialize)]
struct TextPart<'a> {
    text: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenerationConfig {
    max_output_tokens: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_mime_type: Option<&'static str>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answered {
    #[serde(default)]
    candidates: Vec<Candidate>,
    #[serde(default)]
    usage_metadata: Option<UsageReport>,
    #[serde(default)]
    prompt_feedback: Option<Feedback>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    content: Option<Content>,
    #[serde(default)]
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    #[serde(default)]
    text: Option<String>,
    /// Whether the text is what the model thought, and no answer.
    #[serde(default)]
    thought: bool,
    #[serde(default)]
    function_call: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    #[serde(default)]
    block_reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UsageReport {
    #[serde(default)]
    prompt_token_count: Option<u64>,
    #[serde(default)]
    candidates_token_count: Option<u64>,
    #[serde(default)]
    thoughts_token_count: Option<u64>,
    #[serde(default)]
    cached_content_token_count: Option<u64>,
}

pub(super) fn outgoing(spec: &ModelSpec, request: &ModelRequest, max: u64) -> Outgoing {
    let turns = request.turns.iter().map(|turn| {
        let role = match turn.role {
            TurnRole::User => "user",
            TurnRole::Assistant => "model",
        };
        Sent { role: Some(role), parts: [TextPart { text: &turn.text }] }
    });
    let system = request.system.as_deref();
    let body = Body {
        system_instruction: system.map(|text| Sent { role: None, parts: [TextPart { text }] }),
        contents: turns.collect(),
        generation_config: GenerationConfig {
            max_output_tokens: max,
            temperature: request.temperature,
            response_mime_type: request.json.then_some("application/json"),
        },
    };
    let path = format!("/models/{}:streamGenerateContent?alt=sse", spec.model);
    Outgoing { path, headers: Vec::new(), body: json(&body) }
}

pub(super) fn event(data: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    serde_json::from_slice(data).map(piece)
}

/// One document, or the list of them that a server sends which does not stream.
pub(super) fn whole(body: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Documents {
        List(Vec<Answered>),
        One(Box<Answered>),
    }
    let documents = match serde_json::from_slice(body)? {
        Documents::List(list) => list,
        Documents::One(one) => vec![*one],
    };
    let mut whole = AnswerPiece::default();
    for document in documents {
        let next = piece(document);
        whole.text.push_str(&next.text);
        whole.stop = next.stop.or(whole.stop);
        whole.error = next.error.or(whole.error);
        whole.tokens = if next.tokens == PieceTokens::default() { whole.tokens } else { next.tokens };
    }
    Ok(whole)
}

fn piece(answered: Answered) -> AnswerPiece {
    let mut piece = AnswerPiece { error: answered.error.map(WireError::told), ..AnswerPiece::default() };
    if answered.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
        piece.stop = Some(ModelStop::Filtered);
        piece.is_last = true;
    }
    for candidate in answered.candidates {
        let parts = candidate.content.map(|content| content.parts).unwrap_or_default();
        let wants_tool = parts.iter().any(|part| part.function_call.is_some());
        piece.text.extend(parts.into_iter().filter(|part| !part.thought).filter_map(|part| part.text));
        let stop = candidate.finish_reason.as_deref().map(stop_of);
        piece.stop = if wants_tool { Some(ModelStop::ToolCall) } else { stop }.or(piece.stop);
    }
    if let Some(usage) = answered.usage_metadata {
        let thoughts = usage.thoughts_token_count.unwrap_or(0);
        piece.tokens = PieceTokens {
            input: usage.prompt_token_count,
            output: usage.candidates_token_count.map(|count| count.saturating_add(thoughts)),
            cached: usage.cached_content_token_count,
            cache_write: None,
        };
    }
    piece
}

fn stop_of(reason: &str) -> ModelStop {
    match reason {
        "MAX_TOKENS" => ModelStop::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
            ModelStop::Filtered
        }
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => ModelStop::ToolCall,
        _ => ModelStop::Done,
    }
}
