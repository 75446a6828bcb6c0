//! The formats of the providers. A file has the structs of one format; this one picks among them.

mod anthropic;
mod gemini;
mod openai;

use serde::{Deserialize, Serialize};

use crate::{ModelRequest, ModelSpec, Provider, answer::AnswerPiece};

/// A request as it goes out, without its key.
pub(crate) struct Outgoing {
    pub(crate) path: String,
    pub(crate) headers: Vec<(&'static str, &'static str)>,
    pub(crate) body: Vec<u8>,
}

/// The end of a stream where it is not JSON.
const DONE: &[u8] = b"[DONE]";

pub(crate) fn outgoing(spec: &ModelSpec, base_url: &str, request: &ModelRequest) -> Outgoing {
    let max = request.max_output_tokens.map_or(spec.max_output_tokens, |max| max.min(spec.max_output_tokens));
    match spec.provider {
        Provider::OpenAi | Provider::Ollama => openai::outgoing(spec, base_url, request, max),
        Provider::Anthropic => anthropic::outgoing(spec, request, max),
        Provider::Gemini => gemini::outgoing(spec, request, max),
    }
}

/// The header that carries the key.
pub(crate) fn key_header(provider: Provider, key: &str) -> (&'static str, String) {
    match provider {
        Provider::OpenAi | Provider::Ollama => ("authorization", format!("Bearer {key}")),
        Provider::Anthropic => ("x-api-key", key.to_owned()),
        Provider::Gemini => ("x-goog-api-key", key.to_owned()),
    }
}

/// Reads the data of one server-sent event.
pub(crate) fn event(provider: Provider, data: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    if data.trim_ascii() == DONE {
        return Ok(AnswerPiece { is_last: true, ..AnswerPiece::default() });
    }
    match provider {
        Provider::OpenAi | Provider::Ollama => openai::event(data),
        Provider::Anthropic => anthropic::event(data),
        Provider::Gemini => gemini::event(data),
    }
}

/// Reads an answer that came as one JSON document.
pub(crate) fn whole(provider: Provider, body: &[u8]) -> Result<AnswerPiece, serde_json::Error> {
    let piece = match provider {
        Provider::OpenAi | Provider::Ollama => openai::whole(body),
        Provider::Anthropic => anthropic::whole(body),
        Provider::Gemini => gemini::whole(body),
    }?;
    Ok(AnswerPiece { is_last: true, ..piece })
}

/// What a provider says of a request that it refuses, in the one shape that all of them have.
pub(crate) fn refusal(body: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Refused {
        error: WireError,
    }
    let refused: Refused = serde_json::from_slice(body).ok()?;
    refused.error.text().filter(|text| !text.is_empty())
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireError {
    Text(String),
    Object {
        #[serde(default)]
        message: Option<String>,
    },
}

impl WireError {
    fn text(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text),
            Self::Object { message } => message,
        }
    }

    fn told(self) -> String {
        self.text().unwrap_or_else(|| "it reports an error without a text".to_owned())
    }
}

fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("requests are plain JSON")
}

#[cfg(test)]
mod tests;
