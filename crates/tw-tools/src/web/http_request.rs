//! `http_request`: one request to any service, and its answer as it came.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolwright_sdk::{
    Reply, ToolContext, ToolFailure,
    egress::{self, Headers, Request, Response},
    failure_of, tool,
};
use url::Url;

use super::outside::{content_type, is_json};

const BODY_BYTES_MAX: usize = 10 << 20;
/// What is read on the thread that serves others. It takes less than a millisecond.
const INLINE_BYTES_MAX: usize = 256 << 10;

#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
#[schemars(inline)]
enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = serde_json::json!({ "url": "https://api.example.com/orders", "query": { "page": 2 } }))]
#[schemars(example = serde_json::json!({
    "url": "https://api.example.com/orders", "method": "POST",
    "headers": { "x-request-source": "desk" }, "body": { "item": "A-17", "count": 2 },
}))]
struct Input {
    /// The address, with `http://` or `https://`.
    #[schemars(title = "URL", length(min = 1, max = 8_000), example = &"https://api.example.com/orders")]
    url: String,
    #[schemars(description = "The HTTP method.", title = "Method")]
    #[serde(default)]
    method: Method,
    /// Headers to send, by name.
    #[serde(default)]
    #[schemars(title = "Headers", extend("maxProperties" = 50))]
    headers: BTreeMap<String, String>,
    /// What to add to the query of the URL, by name.
    #[serde(default)]
    #[schemars(title = "Query", extend("maxProperties" = 100))]
    query: BTreeMap<String, Scalar>,
    /// What to send: a text goes as it stands, anything else as JSON.
    #[serde(default)]
    #[schemars(title = "Body")]
    #[schemars(extend("type" = ["object", "array", "string", "number", "boolean", "null"]))]
    body: Value,
}

/// What can stand in a query.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum Scalar {
    Text(String),
    Number(serde_json::Number),
    Truth(bool),
}

#[derive(Debug, Serialize, JsonSchema)]
struct Output {
    /// The HTTP status, also when it is no success.
    #[schemars(title = "Status")]
    status: u16,
    /// The headers by their names in lower case; those that came several times are joined by `, `.
    #[schemars(title = "Headers")]
    headers: BTreeMap<String, String>,
    /// The body: as JSON where it is JSON, else as text; null where it is empty or no text.
    #[schemars(title = "Body")]
    body: Value,
    /// How large the body is.
    #[schemars(title = "Size", extend("x-unit" = "bytes"))]
    bytes: usize,
}

/// Sends one HTTP request and gives back status, headers and body, whatever the status is.
///
/// Use it for APIs. It can change things at the other side. A redirect is not followed: the answer
/// has its `location`. To read a page use `web_fetch`, to find one `web_search`; a service that is
/// called often deserves a tool of its own, where its credentials are kept out of the input.
#[tool(
    slug = "http_request",
    name = "HTTP request",
    category = "web",
    icon = "globe",
    version = "1.0.0",
    level = "write",
    timeout_ms = 30_000,
    tags = ["http", "api", "rest", "request"],
    form = "http_request.form.json",
    texts = [("de", "http_request.de.json")],
    builtin
)]
async fn http_request(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
    let client = cx.http()?;
    let request = request(input)?.timeout(cx.remaining());
    let response = client.send(request).await.map_err(|error| failure_of(&error))?;
    let summary = format!("HTTP {}, {} bytes", response.status, response.body.len());
    let output = match response.body.len() {
        ..=INLINE_BYTES_MAX => output(&response),
        _ => cx.heavy(move || output(&response)).await?,
    };
    Ok(Reply::new(output, summary))
}

fn request(input: Input) -> Result<Request, ToolFailure> {
    let url = with_query(input.url, &input.query)?;
    let typed = input.headers.keys().any(|name| name.eq_ignore_ascii_case("content-type"));
    let (content_type, body) = match input.body {
        Value::Null => (None, String::new()),
        Value::String(text) => (Some("text/plain; charset=utf-8"), text),
        value => (Some("application/json"), value.to_string()),
    };
    let mut request = Request::new(input.method.into(), url).body(body).body_max(BODY_BYTES_MAX);
    if let Some(content_type) = content_type.filter(|_| !typed) {
        request = request.header("content-type", content_type);
    }
    Ok(input.headers.into_iter().fold(request, |request, (name, value)| request.header(name, value)))
}

fn with_query(url: String, query: &BTreeMap<String, Scalar>) -> Result<String, ToolFailure> {
    // As it was written where nothing is added: the client judges what the caller gave.
    if query.is_empty() {
        return Ok(url);
    }
    let mut url =
        Url::parse(&url).map_err(|error| ToolFailure::invalid(format!("the URL cannot be used: {error}")))?;
    if url.cannot_be_a_base() {
        return Err(ToolFailure::invalid("the URL cannot be used: it takes no query"));
    }
    let pairs = query.iter().map(|(name, value)| (name, value.to_string()));
    url.query_pairs_mut().extend_pairs(pairs);
    Ok(url.into())
}

impl std::fmt::Display for Scalar {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(number) => number.fmt(f),
            Self::Truth(truth) => truth.fmt(f),
        }
    }
}

fn output(response: &Response) -> Output {
    Output {
        status: response.status,
        headers: joined(&response.headers),
        body: read(response),
        bytes: response.body.len(),
    }
}

fn joined(headers: &Headers) -> BTreeMap<String, String> {
    let mut joined = BTreeMap::<String, String>::new();
    for (name, value) in headers.iter() {
        match joined.get_mut(name) {
            Some(values) => {
                values.push_str(", ");
                values.push_str(value);
            }
            None => drop(joined.insert(name.to_owned(), value.to_owned())),
        }
    }
    joined
}

fn read(response: &Response) -> Value {
    let body = response.in_utf8();
    let kind = content_type(&response.headers);
    // `0123` or `1e5` in a text is a text; only where somebody says so, or nobody says anything, may it be a
    // number.
    let may_be_json =
        is_json(&kind) || kind.is_empty() || matches!(body.trim_ascii_start(), [b'{' | b'[', ..]);
    if let Some(value) = serde_json::from_slice(&body).ok().filter(|_| may_be_json) {
        return value;
    }
    match std::str::from_utf8(&body) {
        Ok("") | Err(_) => Value::Null,
        Ok(text) if text.contains('\0') => Value::Null,
        Ok(text) => text.into(),
    }
}

impl From<Method> for egress::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::Get,
            Method::Head => Self::Head,
            Method::Post => Self::Post,
            Method::Put => Self::Put,
            Method::Patch => Self::Patch,
            Method::Delete => Self::Delete,
            Method::Options => Self::Options,
        }
    }
}
