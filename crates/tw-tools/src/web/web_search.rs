//! `web_search`: finds pages on the web.
//!
//! Who is asked is a [`Provider`]. Which of them it is, and whose key pays for it, is settled in `search_key.rs`.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_sdk::{
    Code, Redactor, Reply, ToolContext, ToolFailure,
    egress::{Request, Response},
    failure_of, tool,
};
use url::Url;

use super::{brave::Brave, exa::Exa, outside::refused, search_key::Key, serper::Serper};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({ "query": "rust async runtime comparison", "max_results": 5 }))]
struct Input {
    /// What to look for, as one would type it into a search box.
    #[schemars(title = "Query", length(min = 1, max = 2_000), regex(pattern = r"\S"))]
    query: String,
    /// How many results to give at most.
    #[serde(default = "max_results_default")]
    #[schemars(title = "Results", range(min = 1, max = 20))]
    max_results: u8,
}

fn max_results_default() -> u8 {
    10
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// What was found, the best first.
    results: Vec<Hit>,
    /// Who was asked.
    #[schemars(title = "Provider")]
    provider: &'static str,
}

#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Hit {
    #[schemars(title = "Title")]
    pub(super) title: String,
    #[schemars(title = "URL")]
    pub(super) url: String,
    /// What the page says about it, in a few words.
    #[schemars(title = "Snippet")]
    pub(super) snippet: String,
    /// Its place in the order of the provider, from 1.
    #[schemars(title = "Position")]
    pub(super) position: u64,
}

/// Somebody who searches the web for us.
pub(super) trait Provider: fmt::Debug + Send + Sync {
    /// Its name in the output, and as the variant of a credential.
    fn name(&self) -> &'static str;

    /// The variable with the key of the whole installation.
    fn variable(&self) -> &'static str;

    fn request(&self, key: &Key, query: &str, max_results: u8) -> Request;

    /// Reads an answer that is a success.
    fn hits(&self, response: &Response) -> Result<Vec<Hit>, ToolFailure>;
}

/// Everybody who can be asked, in the order in which keys are looked for.
pub(super) const PROVIDERS: [&dyn Provider; 3] = [&Serper, &Exa, &Brave];

/// Searches the web and gives back titles, addresses and snippets.
///
/// Use it to find pages and for what may have changed lately. Read a page that it finds with
/// `web_fetch`, since a snippet is not the page; when the address is known, use `web_fetch` at once.
#[tool(
    slug = "web_search",
    name = "Web search",
    category = "web",
    icon = "search",
    version = "1.1.0",
    level = "read",
    timeout_ms = 30_000,
    tags = ["web", "search", "research", "news"],
    form = "web_search.form.json",
    texts = [("de", "web_search.de.json")],
    sections = [("results", "Results", "table")],
    aliases = ["webSearch", "web.searchCompany"],
    builtin,
    settings = ["api_key", "credentials_ref", "endpoint", "provider"]
)]
async fn web_search(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let (provider, key) = Key::find(&cx).await?;
    // Whoever was asked may repeat the key in what it says.
    let redactor = key.redactor();
    let found = search(&cx, provider, &key, &redactor, &input).await;
    let mut hits =
        found.map_err(|failure| ToolFailure { message: redactor.text(failure.message), ..failure })?;
    for hit in &mut hits {
        for text in [&mut hit.title, &mut hit.url, &mut hit.snippet] {
            *text = redactor.text(on_one_line(text));
        }
    }
    let (summary, markdown) = (in_words(&hits), in_markdown(&hits));
    Ok(Reply::new(Output { results: hits, provider: provider.name() }, summary).markdown(markdown))
}

async fn search(
    cx: &ToolContext,
    provider: &dyn Provider,
    key: &Key,
    redactor: &Redactor,
    input: &Input,
) -> Result<Vec<Hit>, ToolFailure> {
    let query = input.query.trim();
    if query.is_empty() || !(1..=20).contains(&input.max_results) {
        return Err(ToolFailure::invalid(
            "'query' must not be empty, and 'max_results' must be from 1 to 20",
        ));
    }
    let request = provider.request(key, query, input.max_results).timeout(cx.remaining());
    key.check_host(request.url())?;
    let response = cx.http()?.send(request).await.map_err(|error| match failure_of(&error) {
        // The address is not the caller's; whoever wrote it down reads this.
        wrong if wrong.code == Code::InvalidParams => ToolFailure::new(wrong.message),
        failure => failure,
    })?;
    if !response.is_success() {
        // Before the text is cut, or a cut through the key would leave its beginning.
        let said = redactor.text(String::from_utf8_lossy(&response.in_utf8()).into_owned());
        return Err(refused(response.status, &said));
    }
    let mut hits = provider.hits(&response)?;
    hits.truncate(input.max_results.into());
    Ok(hits)
}

fn in_words(hits: &[Hit]) -> String {
    match hits {
        [] => "nothing was found".to_owned(),
        [only] => format!("1 result: {}", only.title),
        [first, ..] => format!("{} results, first: {}", hits.len(), first.title),
    }
}

/// What strangers wrote, without line breaks and whatever else steers a screen.
fn on_one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn in_markdown(hits: &[Hit]) -> String {
    let lines = hits.iter().map(|hit| {
        let title = hit.title.replace(['[', ']'], " ");
        let title = link(&hit.url).map_or_else(|| title.clone(), |url| format!("[{title}]({url})"));
        format!("{}. {title}\n   {}", hit.position, hit.snippet)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// An address as the target of a link. Only pages are linked: `javascript:` would run where it is clicked.
fn link(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.as_str().replace('(', "%28").replace(')', "%29"))
}
