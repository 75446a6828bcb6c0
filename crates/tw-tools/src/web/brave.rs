//! Brave, which searches an index of its own.

use serde::Deserialize;
use toolwright_sdk::{
    ToolFailure,
    egress::{Method, Request, Response},
};
use url::Url;

use super::{
    outside::upstream,
    search_key::Key,
    web_search::{Hit, Provider},
};

const ENDPOINT: &str = "https://api.search.brave.com/res/v1/web/search";

#[derive(Debug)]
pub(super) struct Brave;

#[derive(Debug, Deserialize)]
struct SearchAnswer {
    /// Not there where nothing was found.
    #[serde(default)]
    web: Pages,
}

#[derive(Debug, Default, Deserialize)]
struct Pages {
    #[serde(default)]
    results: Vec<Page>,
}

#[derive(Debug, Deserialize)]
struct Page {
    #[serde(default)]
    title: String,
    url: String,
    #[serde(default)]
    description: String,
}

impl Provider for Brave {
    fn name(&self) -> &'static str {
        "brave"
    }

    fn variable(&self) -> &'static str {
        "BRAVE_API_KEY"
    }

    fn request(&self, key: &Key, query: &str, max_results: u8) -> Request {
        let endpoint = key.endpoint().unwrap_or(ENDPOINT);
        // What is no address is refused where it is asked, as it stands.
        let url = Url::parse(endpoint).map_or_else(
            |_| endpoint.to_owned(),
            |mut url| {
                url.query_pairs_mut().append_pair("q", query).append_pair("count", &max_results.to_string());
                url.to_string()
            },
        );
        Request::new(Method::Get, url)
            .header("x-subscription-token", key.value())
            .header("accept", "application/json")
    }

    fn hits(&self, response: &Response) -> Result<Vec<Hit>, ToolFailure> {
        let answer: SearchAnswer = serde_json::from_slice(&response.in_utf8())
            .map_err(|error| upstream(format!("the answer of brave cannot be read: {error}")))?;
        let hits = (1..).zip(answer.web.results).map(|(position, page)| Hit {
            title: plain(&page.title),
            url: page.url,
            snippet: plain(&page.description),
            position,
        });
        Ok(hits.collect())
    }
}

/// A text without the marks that Brave puts around what was looked for.
fn plain(text: &str) -> String {
    const ESCAPES: [(&str, &str); 5] =
        [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#x27;", "'"), ("&amp;", "&")];
    let text = text.replace("<strong>", "").replace("</strong>", "");
    ESCAPES.iter().fold(text, |text, (escape, letter)| text.replace(escape, letter))
}
