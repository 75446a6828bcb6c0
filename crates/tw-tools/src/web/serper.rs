//! Serper, which asks Google.

use serde::Deserialize;
use serde_json::json;
use toolwright_sdk::{
    ToolFailure,
    egress::{Method, Request, Response},
};

use super::{
    outside::upstream,
    search_key::Key,
    web_search::{Hit, Provider},
};

const ENDPOINT: &str = "https://google.serper.dev/search";

#[derive(Debug)]
pub(super) struct Serper;

#[derive(Debug, Deserialize)]
struct SearchAnswer {
    #[serde(default)]
    organic: Vec<Organic>,
}

#[derive(Debug, Deserialize)]
struct Organic {
    #[serde(default)]
    title: String,
    link: String,
    #[serde(default)]
    snippet: String,
    position: Option<u64>,
}

impl Provider for Serper {
    fn name(&self) -> &'static str {
        "serper"
    }

    fn variable(&self) -> &'static str {
        "SERPER_API_KEY"
    }

    fn request(&self, key: &Key, query: &str, max_results: u8) -> Request {
        Request::new(Method::Post, key.endpoint().unwrap_or(ENDPOINT))
            .header("x-api-key", key.value())
            .header("content-type", "application/json")
            .body(json!({ "q": query, "num": max_results }).to_string())
    }

    fn hits(&self, response: &Response) -> Result<Vec<Hit>, ToolFailure> {
        let answer: SearchAnswer = serde_json::from_slice(&response.in_utf8())
            .map_err(|error| upstream(format!("the answer of serper cannot be read: {error}")))?;
        let hits = (1..).zip(answer.organic).map(|(place, found)| Hit {
            title: found.title,
            url: found.link,
            snippet: found.snippet,
            position: found.position.unwrap_or(place),
        });
        Ok(hits.collect())
    }
}
