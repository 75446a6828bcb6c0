//! The messages of Anthropic.

use serde::{Deserialize, Serialize};

use super::{Outgoing, WireError, json};
use crate::{
    ModelRequest, ModelSpec, ModelStop, TurnRole,
    answer::{AnswerPiece, PieceTokens},
};

const VERSION: &str = "2023-06-01";

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system: Option<[TextBlock<'a>; 1]>,
    messages: Vec<Sent<'a>>,
}

#[derive(Serialize)]
struct Sent<'a> {
    role: &'static str,
    content: [TextBlock<'a>; 1],
}

#[derive(Serialize)]
struct TextBlock<'a> {
    r#type: &'static str,
    text: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Serialize)]
struct CacheControl {
    r#type: &'static str,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Event {
    MessageStart {
        message: Opened,
    },
    ContentBlockStart {
        content_block: Block,
    },
    ContentBlockDelta {
        delta: Delta,
    },
    MessageDelta {
        delta: Ending,
        #[serde(default)]
        usage: Option<UsageReport>,
    },
    MessageStop,
    Error {
        error: WireError,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Opened {
    #[serde(default)]
    usage: Option<UsageReport>,
}

#[derive(Deserialize)]
struct Delta {
    #[serde(default)]
    text: Option<String>,
}

#[derive(Deserialize)]
struct Ending {
    #[serde(default)]
    stop_reason: Option<String>,
}

#[derive(Deserialize)]
struct UsageReport {
    #[serde(default)]
    input_tokens: Option<u64>,
    #[serde(default)]
    cache_read_input_tokens: Option<u64>,
    #[serde(default)]
    cache_creation_input_tokens: Option<u64>,
    #[serde(default)]
    output_tokens: Option<u64>,
}

#[derive(Deserialize)]
struct Whole {
    #[serde(default)]
    content: Vec<Block>,
    #[serde(default)]
    stop_reason: Option<String>,
    #[serde(default)]
    usage: Option<UsageReport>,
    #[serde(default)]
    error: Option<WireError>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(default)]
    r#type: String,
    #[serde(default)]
    text: Option<String>,
}

pub(super) fn outgoing(spec: &ModelSpec, request: &ModelRequest, max: u64) -> Outgoing {
    let last = request.turns.len().saturating_sub(1);
    let turns = request.turns.iter().enumerate().map(|(index, turn)| {
        let role = match turn.role {
            TurnRole::User => "user",
            TurnRole::Assistant => "assistant",
        };
        Sent { role, content: [block(&turn.text, index == last)] }
    });
    let body = Body {
        model: &spec.model,
        max_tokens: max,
        stream: true,
        temperature: request.temperature,
        system: request.system.as_deref().map(|text| [block(text, true)]),
        messages: turns.collect(),
    };
    let headers = vec![("anthropic-version", VERSION)];
    Outgoing { path: "/messages".to_owned(), headers, body: json(&body) }
}

/// A block that is marked is kept by the provider with everything before it, for the next request.
fn block(text: &str, is_marked: bool) -> TextBlock<'_> {
    let cache_control = is_marked.then_some(CacheControl { r#type: "ephemeral" });
    TextBlock { r#type: "text", text, cache_control }
}

pub(super) fn event(data: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    let mut piece = AnswerPiece::default();
    match serde_json::from_slice(data)? {
        Event::MessageStart { message } => {
            let tokens = message.usage.map(tokens).unwrap_or_default();
            // What it says of the output at the beginning is no count.
            piece.tokens = PieceTokens { output: None, ..tokens };
        }
        Event::ContentBlockStart { content_block } => take_block(&mut piece, content_block),
        Event::ContentBlockDelta { delta } => piece.text.extend(delta.text),
        Event::MessageDelta { delta, usage } => {
            piece.stop = delta.stop_reason.as_deref().map(stop_of);
            piece.tokens =
                PieceTokens { output: usage.and_then(|usage| usage.output_tokens), ..piece.tokens };
        }
        Event::MessageStop => piece.is_last = true,
        Event::Error { error } => piece.error = Some(error.told()),
        Event::Other => {}
    }
    Ok(piece)
}

pub(super) fn whole(body: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    let whole: Whole = serde_json::from_slice(body)?;
    let mut piece = AnswerPiece {
        stop: whole.stop_reason.as_deref().map(stop_of),
        tokens: whole.usage.map(tokens).unwrap_or_default(),
        error: whole.error.map(WireError::told),
        ..AnswerPiece::default()
    };
    whole.content.into_iter().for_each(|block| take_block(&mut piece, block));
    Ok(piece)
}

fn take_block(piece: &mut AnswerPiece, block: Block) {
    if block.r#type == "tool_use" {
        piece.stop = Some(ModelStop::ToolCall);
    }
    piece.text.extend(block.text.filter(|_| block.r#type == "text"));
}

/// Cached tokens are counted beside the input there, and within it here.
fn tokens(usage: UsageReport) -> PieceTokens {
    let (read, written) = (usage.cache_read_input_tokens, usage.cache_creation_input_tokens);
    let special = read.unwrap_or(0).saturating_add(written.unwrap_or(0));
    PieceTokens {
        input: usage.input_tokens.map(|input| input.saturating_add(special)),
        cached: read,
        cache_write: written,
        output: usage.output_tokens,
    }
}

fn stop_of(reason: &str) -> ModelStop {
    match reason {
        "max_tokens" | "model_context_window_exceeded" => ModelStop::Length,
        "refusal" => ModelStop::Filtered,
        "tool_use" => ModelStop::ToolCall,
        _ => ModelStop::Done,
    }
}
