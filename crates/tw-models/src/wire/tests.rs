use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::{ModelKey, ModelStop, ModelTurn, TurnRole, answer::PieceTokens};

fn spec(provider: Provider) -> ModelSpec {
    ModelSpec {
        provider,
        model: "m-1".to_owned(),
        base_url: provider.base_url().to_owned(),
        key: ModelKey::None,
        context_tokens: 1000,
        max_output_tokens: 100,
        timeout: Duration::from_secs(1),
        shared: true,
        price: None,
        fallback: None,
    }
}

fn request() -> ModelRequest {
    let turn = |role, text: &str| ModelTurn { role, text: text.to_owned() };
    ModelRequest {
        system: Some("be brief".to_owned()),
        turns: vec![
            turn(TurnRole::User, "hi"),
            turn(TurnRole::Assistant, "yes?"),
            turn(TurnRole::User, "go"),
        ],
        json: true,
        temperature: Some(0.5),
        max_output_tokens: Some(50),
        pass: 1,
    }
}

fn sent(provider: Provider, base_url: &str) -> (String, Value) {
    let outgoing = outgoing(&spec(provider), base_url, &request());
    (outgoing.path, serde_json::from_slice(&outgoing.body).unwrap())
}

#[test]
fn openai_is_asked_for_a_stream_with_its_usage() {
    let (path, body) = sent(Provider::OpenAi, "http://h.test/v1");
    assert_eq!(path, "/chat/completions");
    assert_eq!(
        body,
        json!({
            "model": "m-1", "stream": true, "stream_options": { "include_usage": true }, "max_tokens": 50,
            "temperature": 0.5, "response_format": { "type": "json_object" },
            "messages": [{ "role": "system", "content": "be brief" }, { "role": "user", "content": "hi" },
                { "role": "assistant", "content": "yes?" }, { "role": "user", "content": "go" }],
        })
    );
    let (_, body) = sent(Provider::OpenAi, Provider::OpenAi.base_url());
    assert_eq!((&body["max_completion_tokens"], &body["max_tokens"]), (&json!(50), &Value::Null));
}

#[test]
fn anthropic_is_told_what_to_keep_in_its_cache() {
    let (path, body) = sent(Provider::Anthropic, "");
    let kept = json!({ "type": "ephemeral" });
    assert_eq!(path, "/messages");
    assert_eq!(body["system"], json!([{ "type": "text", "text": "be brief", "cache_control": kept }]));
    assert_eq!(body["messages"][0]["content"], json!([{ "type": "text", "text": "hi" }]));
    assert_eq!(
        body["messages"][2]["content"],
        json!([{ "type": "text", "text": "go", "cache_control": kept }])
    );
    assert_eq!((&body["max_tokens"], &body["stream"]), (&json!(50), &json!(true)));
}

#[test]
fn gemini_has_the_model_in_its_path() {
    let (path, body) = sent(Provider::Gemini, "");
    assert_eq!(path, "/models/m-1:streamGenerateContent?alt=sse");
    assert_eq!(
        body,
        json!({
            "systemInstruction": { "parts": [{ "text": "be brief" }] },
            "contents": [{ "role": "user", "parts": [{ "text": "hi" }] },
                { "role": "model", "parts": [{ "text": "yes?" }] }, { "role": "user", "parts": [{ "text": "go" }] }],
            "generationConfig": { "maxOutputTokens": 50, "temperature": 0.5, "responseMimeType": "application/json" },
        })
    );
}

#[test]
fn cached_tokens_are_part_of_the_input() {
    let event = json!({ "type": "message_start", "message": { "usage": {
        "input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 3, "output_tokens": 1 } } });
    let piece = super::event(Provider::Anthropic, event.to_string().as_bytes()).unwrap();
    let tokens = PieceTokens { input: Some(18), cached: Some(5), cache_write: Some(3), output: None };
    assert_eq!(piece.tokens, tokens);
    let usage = json!({ "choices": [], "usage": {
        "prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": { "cached_tokens": 2 } } });
    let piece = super::event(Provider::OpenAi, usage.to_string().as_bytes()).unwrap();
    assert_eq!((piece.tokens.input, piece.tokens.cached), (Some(9), Some(2)));
    let usage = json!({ "usageMetadata": {
        "promptTokenCount": 9, "candidatesTokenCount": 4, "thoughtsTokenCount": 6, "cachedContentTokenCount": 2 } });
    let piece = super::event(Provider::Gemini, usage.to_string().as_bytes()).unwrap();
    assert_eq!((piece.tokens.output, piece.tokens.cached), (Some(10), Some(2)));
}

#[test]
fn call_of_a_tool_is_told_apart_from_text() {
    let openai = json!({ "choices": [{ "delta": { "content": null, "tool_calls": [{ "id": 7 }] } }] });
    let anthropic = json!({ "type": "content_block_start", "content_block": { "type": "tool_use", "name": "x", "input": "{" } });
    let gemini = json!({ "candidates": [{ "content": { "parts": [{ "functionCall": 1 }] } }] });
    for (provider, event) in
        [(Provider::OpenAi, openai), (Provider::Anthropic, anthropic), (Provider::Gemini, gemini)]
    {
        let piece = super::event(provider, event.to_string().as_bytes()).unwrap();
        assert_eq!((piece.text.as_str(), piece.stop), ("", Some(ModelStop::ToolCall)), "{provider:?}");
    }
}

#[test]
fn thoughts_of_a_model_are_no_answer() {
    let parts = json!([{ "text": "hm", "thought": true }, { "text": "4" }]);
    let event = json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": "STOP" }] });
    let piece = super::whole(Provider::Gemini, json!([event]).to_string().as_bytes()).unwrap();
    assert_eq!((piece.text.as_str(), piece.stop), ("4", Some(ModelStop::Done)));
}

#[test]
fn error_of_every_provider_is_read() {
    for body in
        [r#"{"error":{"message":"no"}}"#, r#"{"error":"no"}"#, r#"{"type":"error","error":{"message":"no"}}"#]
    {
        assert_eq!(refusal(body.as_bytes()).as_deref(), Some("no"), "{body}");
    }
    assert_eq!(refusal(b"<html>"), None);
}
