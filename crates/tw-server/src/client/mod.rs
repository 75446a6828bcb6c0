//! Commands that ask a running server, as any other program would.

pub(crate) mod approvals;
pub(crate) mod login;
pub(crate) mod mcp;
pub(crate) mod mcp_servers;
mod people;
mod problem;
mod profiles;
pub(crate) mod runs;
mod sse;
mod tail;
pub(crate) mod tools;
pub(crate) mod webhooks;

use std::{error::Error as _, time::Duration};

use anyhow::{Context, Result, bail};
use reqwest::{Method, RequestBuilder, Response, StatusCode, Url, header, redirect};
use serde_json::{Value, json};

use crate::{
    fail::{Hint, refusal},
    output,
};

const CONNECT: Duration = Duration::from_secs(10);
/// Longer than a server lets anybody wait for a run.
const ANSWER: Duration = Duration::from_secs(150);
/// A stream shows a sign of life every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);
/// What a server puts on one page at the most.
const PAGE_MAX: usize = 200;

/// The server of a first start.
const DEFAULT_URL: &str = "http://127.0.0.1:7420";

/// Which server, and as whom.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Server {
    /// The server [default: the profile's, else http://127.0.0.1:7420]
    #[arg(long, env = "TOOLWRIGHT_URL", global = true)]
    url: Option<String>,
    /// The API key [default: the profile's]; other users of the machine can see command lines, so prefer
    /// `toolwright login` or the environment
    #[arg(long, env = "TOOLWRIGHT_KEY", hide_env_values = true, global = true)]
    key: Option<String>,
    /// The profile with the server and key, as saved by `toolwright login` [default: default]
    #[arg(long, env = "TOOLWRIGHT_PROFILE", value_name = "NAME", global = true)]
    profile: Option<String>,
    /// Print the response as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// A connection to a server.
struct Client {
    http: reqwest::Client,
    base: Url,
    key: String,
}

impl Server {
    fn client(&self) -> Result<Client> {
        let profile = self.profile()?;
        let base = base_url(self.url.as_deref().or(profile.as_ref().map(|profile| &*profile.url)))?;
        let key = match (given(self.key.as_deref()), profile) {
            (Some(key), _) => key.to_owned(),
            // A key is for its own server. Somebody who names another server does not mean to show it the key.
            (None, Some(profile)) if base_url(Some(&profile.url)).is_ok_and(|url| url == base) => profile.key,
            (None, Some(profile)) => {
                let what = format!("there is no API key for {base}: the profile is for {}", profile.url);
                return Err(refusal(what, "give --key, or save it with `toolwright login --profile NAME`"));
            }
            (None, None) => {
                let hint = "run `toolwright login`, set TOOLWRIGHT_KEY or give --key; \
                    `toolwright keys create --role admin` makes a key on the server's machine";
                return Err(refusal("there is no API key", hint));
            }
        };
        Client::new(base, key)
    }

    /// The name of the profile that this command uses.
    fn profile_name(&self) -> &str {
        given(self.profile.as_deref()).unwrap_or(profiles::DEFAULT)
    }

    /// What stood behind, and where it says nothing what stood before it.
    pub(crate) fn over(self, before: &Self) -> Self {
        Self {
            url: self.url.or_else(|| before.url.clone()),
            key: self.key.or_else(|| before.key.clone()),
            profile: self.profile.or_else(|| before.profile.clone()),
            json: self.json || before.json,
        }
    }

    /// The profile that was asked for, or the default one where it is there and needed.
    fn profile(&self) -> Result<Option<profiles::Profile>> {
        let Some(name) = given(self.profile.as_deref()) else {
            let is_needed = self.url.is_none() || given(self.key.as_deref()).is_none();
            return if is_needed { profiles::default() } else { Ok(None) };
        };
        profiles::named(name).map(Some)
    }
}

impl Client {
    fn new(base: Url, key: String) -> Result<Self> {
        let mut http = reqwest::Client::builder()
            .user_agent(concat!("toolwright/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT)
            // The key is for this server and no other.
            .redirect(redirect::Policy::none());
        if is_this_machine(&base) {
            http = http.no_proxy();
        }
        let http = http.build().context("cannot prepare the HTTP client")?;
        Ok(Self { http, base, key })
    }
}

/// A value that is there and not blank.
fn given(value: Option<&str>) -> Option<&str> {
    value.map(str::trim).filter(|value| !value.is_empty())
}

fn base_url(url: Option<&str>) -> Result<Url> {
    let url = given(url).unwrap_or(DEFAULT_URL);
    let base = Url::parse(url).with_context(|| format!("`{url}` is not an address"));
    let base = base.hint("--url or TOOLWRIGHT_URL must be an address such as http://127.0.0.1:7420")?;
    if !matches!(base.scheme(), "http" | "https") {
        bail!("the server's address must start with http:// or https://, not {}:", base.scheme());
    }
    Ok(base)
}

fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

impl Client {
    /// An address below `/api`. Every word stays one step of the path, whatever is in it.
    fn url(&self, path: &[&str], query: &[(&str, Option<String>)]) -> Result<Url> {
        let mut url = self.base.clone();
        if let Some(odd) = path.iter().find(|word| matches!(**word, "" | "." | "..")) {
            bail!("`{odd}` is neither a name nor an id");
        }
        let mut steps = url.path_segments_mut().map_err(|()| anyhow::anyhow!("the address has no path"))?;
        steps.pop_if_empty().push("api").extend(path);
        drop(steps);
        let given: Vec<_> =
            query.iter().filter_map(|(name, value)| Some((*name, value.as_deref()?))).collect();
        if !given.is_empty() {
            url.query_pairs_mut().extend_pairs(given);
        }
        Ok(url)
    }

    fn request(&self, method: Method, url: Url) -> RequestBuilder {
        self.http.request(method, url).bearer_auth(&self.key).header(header::ACCEPT, "application/json")
    }

    async fn get(&self, path: &[&str], query: &[(&str, Option<String>)]) -> Result<Value> {
        let request = self.request(Method::GET, self.url(path, query)?).timeout(ANSWER);
        self.answer(request).await
    }

    /// A list to its end, or to as many items as are wanted.
    async fn list(
        &self,
        path: &[&str],
        query: &[(&str, Option<String>)],
        wanted: Option<usize>,
    ) -> Result<Value> {
        let wanted = wanted.unwrap_or(usize::MAX);
        let mut items: Vec<Value> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let limit = PAGE_MAX.min(wanted - items.len());
            let mut query = query.to_vec();
            query.extend([("limit", Some(limit.to_string())), ("cursor", cursor.take())]);
            let mut page = self.get(path, &query).await?;
            let Some(Value::Array(found)) = page.get_mut("items").map(Value::take) else {
                bail!("the server answered without a list");
            };
            let last = found.is_empty();
            items.extend(found);
            cursor = page["next_cursor"].as_str().map(str::to_owned);
            if last || cursor.is_none() || wanted <= items.len() {
                return Ok(json!({ "items": items, "next_cursor": cursor, "total": page["total"] }));
            }
        }
    }

    async fn post(&self, path: &[&str], body: String, idempotency_key: Option<&str>) -> Result<Value> {
        let mut request = self.with_body(Method::POST, self.url(path, &[])?, body);
        if let Some(key) = idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        self.answer(request).await
    }

    /// As [`Client::post`], with a query and nothing to say in the body.
    async fn post_query(&self, path: &[&str], query: &[(&str, Option<String>)]) -> Result<Value> {
        self.answer(self.with_body(Method::POST, self.url(path, query)?, "{}".to_owned())).await
    }

    /// Changes something. With the mark of what was read, only as long as it is still that.
    async fn patch(&self, path: &[&str], body: String, read: Option<&str>) -> Result<Value> {
        let mut request = self.with_body(Method::PATCH, self.url(path, &[])?, body);
        if let Some(mark) = read {
            request = request.header(header::IF_MATCH, mark);
        }
        self.answer(request).await
    }

    async fn delete(&self, path: &[&str]) -> Result<()> {
        let request = self.request(Method::DELETE, self.url(path, &[])?).timeout(ANSWER);
        self.send(request).await.map(drop)
    }

    fn with_body(&self, method: Method, url: Url, body: String) -> RequestBuilder {
        let request = self.request(method, url).timeout(ANSWER);
        request.header(header::CONTENT_TYPE, "application/json").body(body)
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Value> {
        let response = self.send(request).await?;
        let body = response.bytes().await.context("the connection closed in the middle of the answer")?;
        serde_json::from_slice(&body).context("the server answered with something that is not JSON")
    }

    /// Sends, and turns a refusal into an error.
    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        if status.is_redirection() {
            bail!(
                "the server at {} answered with a redirect ({status}), which is not followed: set the final address",
                self.base
            );
        }
        let asked = response.url().path_segments().and_then(|mut steps| steps.rfind(|step| is_id(step)));
        let asked = asked.map(str::to_owned);
        let body = response.bytes().await.unwrap_or_default();
        let mut problem = problem::Problem::of(status, &body);
        if let Some(id) = asked {
            problem.name_missing(&id);
        }
        Err(match status {
            StatusCode::UNAUTHORIZED => refusal(
                problem,
                "check --key, TOOLWRIGHT_KEY or the profile; `toolwright login` saves another key",
            ),
            _ => problem.into(),
        })
    }

    fn unreachable(&self, error: &reqwest::Error) -> anyhow::Error {
        let mut cause = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            cause = error.to_string();
            source = error.source();
        }
        if error.is_timeout() {
            cause = "it did not answer in time".to_owned();
        }
        refusal(
            format!("cannot reach the server at {}: {cause}", self.base),
            "start it with `toolwright serve`, or name another with --url, TOOLWRIGHT_URL or --profile",
        )
    }
}

/// `toolwright me`.
pub(crate) async fn me(server: &Server) -> Result<()> {
    let client = server.client()?;
    let me = client.get(&["me"], &[]).await?;
    if server.json {
        return output::json(&me);
    }
    let mut pairs = vec![("server", client.base.to_string())];
    pairs.extend(who(&me));
    pairs.push(("permissions", words(&me["permissions"])));
    output::pairs(&pairs)
}

/// Whom a key stands for, in names.
fn who(me: &Value) -> Vec<(&'static str, String)> {
    let principal = &me["principal"];
    let agent = field(principal, "agent");
    vec![
        ("tenant", format!("{} ({})", field(&me["tenant"], "name"), field(&me["tenant"], "slug"))),
        ("key", field(principal, "display_name")),
        ("agent", agent),
        ("roles", words(&me["roles"])),
    ]
}

/// Whether a step of a path is an id, a UUID.
fn is_id(step: &str) -> bool {
    step.len() == 36 && step.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// A value in one line: lists with commas, objects as name and value.
fn words(value: &Value) -> String {
    match value {
        Value::Array(items) => items.iter().map(words).collect::<Vec<_>>().join(", "),
        Value::Object(fields) => {
            let fields = fields.iter().filter(|(_, value)| !value.is_null());
            fields.map(|(name, value)| format!("{name} {}", words(value))).collect::<Vec<_>>().join(", ")
        }
        other => output::plain(other),
    }
}

/// A field of an object, as a person reads it.
fn field(value: &Value, name: &str) -> String {
    output::plain(&value[name])
}

fn items(list: &Value) -> impl Iterator<Item = &Value> {
    list["items"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(url: &str) -> Client {
        Client::new(base_url(Some(url)).unwrap(), "k".to_owned()).unwrap()
    }

    #[test]
    fn word_stays_one_step_of_the_path() {
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = client("http://127.0.0.1:7420");
        let url = |word: &str| client.url(&["tools", word], &[]).map(|url| url.to_string());
        assert_eq!(url("roi-calculator").unwrap(), "http://127.0.0.1:7420/api/tools/roi-calculator");
        assert_eq!(url("../me?a=b#c").unwrap(), "http://127.0.0.1:7420/api/tools/..%2Fme%3Fa=b%23c");
        assert!(url("..").is_err() && url("").is_err());
    }

    #[test]
    fn server_may_be_below_a_path() {
        rustls::crypto::ring::default_provider().install_default().ok();
        let query = [("q", Some("a b".to_owned())), ("category", None)];
        let url = client("https://example.com/tw/").url(&["tools"], &query).unwrap();
        assert_eq!(url.as_str(), "https://example.com/tw/api/tools?q=a+b");
    }

    #[test]
    fn this_machine_is_never_asked_through_a_proxy() {
        for (url, own) in [
            ("http://127.0.0.1:7420", true),
            ("http://localhost", true),
            ("http://[::1]:7420", true),
            ("https://tools.example.com", false),
            ("http://127.0.0.1.example.com", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), own, "{url}");
        }
    }
}
