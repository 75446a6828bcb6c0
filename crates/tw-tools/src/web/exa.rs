//! Exa, which searches an index of its own by meaning.

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

const ENDPOINT: &str = "https://api.exa.ai/search";
/// As long as the snippets of others.
const SNIPPET_CHARS: usize = 300;

#[derive(Debug)]
pub(super) struct Exa;

#[derive(Debug, Deserialize)]
struct SearchAnswer {
    #[serde(default)]
    results: Vec<Page>,
}

#[derive(Debug, Deserialize)]
struct Page {
    title: Option<String>,
    url: String,
    text: Option<String>,
}

impl Provider for Exa {
    fn name(&self) -> &'static str {
        "exa"
    }

    fn variable(&self) -> &'static str {
        "EXA_API_KEY"
    }

    fn request(&self, key: &Key, query: &str, max_results: u8) -> Request {
        let contents = json!({ "text": { "maxCharacters": SNIPPET_CHARS } });
        let asked = json!({ "query": query, "numResults": max_results, "contents": contents });
        Request::new(Method::Post, key.endpoint().unwrap_or(ENDPOINT))
            .header("x-api-key", key.value())
            .header("content-type", "application/json")
            .body(asked.to_string())
    }

    fn hits(&self, response: &Response) -> Result<Vec<Hit>, ToolFailure> {
        let answer: SearchAnswer = serde_json::from_slice(&response.in_utf8())
            .map_err(|error| upstream(format!("the answer of exa cannot be read: {error}")))?;
        let hits = (1..).zip(answer.results).map(|(position, page)| Hit {
            title: page.title.unwrap_or_default(),
            url: page.url,
            snippet: page.text.unwrap_or_default().chars().take(SNIPPET_CHARS).collect(),
            position,
        });
        Ok(hits.collect())
    }
}
