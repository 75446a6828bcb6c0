//! What happens to every request before and after its handler: host check, request id, log line,
//! security headers, problems written out.

use std::{sync::Arc, time::Instant};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{self, Next},
    response::Response,
};
use tower_http::catch_panic::CatchPanicLayer;
use tracing::Instrument;
use tw_model::{Code, Trace};
use uuid::Uuid;

use crate::{App, HttpSettings, body, peer::ClientAddress, problem::Problem};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The id of a request, in its extensions and in its answer.
#[derive(Clone, Debug)]
pub(crate) struct RequestId(pub(crate) Arc<str>);

impl<S: Sync> axum::extract::FromRequestParts<S> for RequestId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut axum::http::request::Parts, _: &S) -> Result<Self, Problem> {
        let missing = || Problem::new(Code::Internal, "the request has no id");
        parts.extensions.get::<Self>().cloned().ok_or_else(missing)
    }
}

/// The names under which a machine reaches itself.
const LOOPBACK: [&str; 3] = ["127.0.0.1", "localhost", "[::1]"];

/// Which hosts are served here, and which pages may ask.
#[derive(Debug)]
pub struct Hosts {
    hosts: Vec<String>,
    origins: Vec<String>,
    public: Option<WebOrigin>,
}

impl Hosts {
    pub(crate) fn new(settings: &HttpSettings) -> Self {
        let public_url = settings.public_url.as_deref();
        let mut hosts = LOOPBACK.map(str::to_owned).to_vec();
        hosts.extend(public_url.and_then(host_of_url).map(|(_, host)| host.to_ascii_lowercase()));
        hosts.extend(settings.allowed_hosts.iter().map(|host| host.to_ascii_lowercase()));
        let origins = settings.allowed_origins.iter().map(|origin| origin.trim_end_matches('/').to_owned());
        Self { hosts, origins: origins.collect(), public: public_url.and_then(WebOrigin::of_url) }
    }

    /// A name with or without a port; a configured name without a port stands for every port.
    fn serves(&self, host: &str) -> bool {
        let host = host.to_ascii_lowercase();
        let name = without_port(&host);
        self.hosts.iter().any(|allowed| *allowed == host || allowed == name)
    }

    /// Whether a page may ask the hosts that a request names.
    fn takes_origin(&self, origin: &str, asked: &[&str]) -> bool {
        self.lists(origin) || WebOrigin::of_url(origin).is_some_and(|page| self.is_own(&page, asked))
    }

    /// Whether a page is of this server: of the address the request went to, or of the public one. Another
    /// port of the same machine is somebody else.
    fn is_own(&self, page: &WebOrigin, asked: &[&str]) -> bool {
        match &self.public {
            Some(public) if public == page => true,
            // What is public by TLS has no pages without it.
            Some(public) if public.name == page.name && public.scheme != page.scheme => false,
            _ => asked.iter().any(|host| WebOrigin::of_host(page.scheme, host).as_ref() == Some(page)),
        }
    }

    /// Whether a page of another server is one of those that the settings name.
    fn lists(&self, origin: &str) -> bool {
        self.origins.iter().any(|allowed| allowed.eq_ignore_ascii_case(origin))
    }

    /// The page of another server that asks, where it may.
    fn guest(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        headers
            .get(header::ORIGIN)
            .filter(|origin| origin.to_str().is_ok_and(|origin| self.lists(origin)))
            .cloned()
    }

    fn check(&self, headers: &HeaderMap, authority: Option<&str>) -> Result<(), Problem> {
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().map(|value| value.to_str().unwrap_or_default());
        if hosts.next().is_some() {
            return Err(Problem::new(Code::BadRequest, "there is more than one `Host` header"));
        }
        // Where the target names a host too, both have to be ours: who is asked must not depend on whom
        // of the two somebody between us and the caller believes.
        let asked: Vec<&str> = host.into_iter().chain(authority).collect();
        if asked.is_empty() || !asked.iter().all(|host| self.serves(host)) {
            let detail =
                "this host name is not allowed; the operator can add it to the setting `allowed_hosts`";
            return Err(Problem::new(Code::ForeignHost, detail));
        }
        for origin in headers.get_all(header::ORIGIN) {
            if !origin.to_str().is_ok_and(|origin| self.takes_origin(origin, &asked)) {
                let detail =
                    "this origin is not allowed; the operator can add it to the setting `allowed_origins`";
                return Err(Problem::new(Code::ForeignHost, detail));
            }
        }
        Ok(())
    }
}

/// Where a page or a server is. The names of this machine count as one.
#[derive(Debug, PartialEq, Eq)]
struct WebOrigin {
    scheme: Scheme,
    name: String,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

impl WebOrigin {
    fn of_url(url: &str) -> Option<Self> {
        host_of_url(url).and_then(|(scheme, host)| Self::of_host(scheme, host))
    }

    fn of_host(scheme: Scheme, host: &str) -> Option<Self> {
        let host = host.to_ascii_lowercase();
        let name = without_port(&host);
        let port = match (host[name.len()..].trim_start_matches(':'), scheme) {
            ("", Scheme::Http) => 80,
            ("", Scheme::Https) => 443,
            (port, _) => port.parse().ok()?,
        };
        let name = if LOOPBACK.contains(&name) { "localhost" } else { name };
        Some(Self { scheme, name: name.to_owned(), port })
    }
}

fn host_of_url(url: &str) -> Option<(Scheme, &str)> {
    let http = url.strip_prefix("http://").map(|rest| (Scheme::Http, rest));
    let (scheme, rest) = http.or_else(|| Some((Scheme::Https, url.strip_prefix("https://")?)))?;
    let host = rest.split(['/', '?', '#']).next()?;
    (!host.is_empty() && !host.contains('@')).then_some((scheme, host))
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.is_empty() => {
            // `[::1]:80` has brackets around what holds colons of its own.
            if name.contains(':') && !name.ends_with(']') { host } else { name }
        }
        _ => host,
    }
}

/// Puts the front around the routes.
pub(crate) fn wrap(router: Router<App>, app: &App) -> Router<App> {
    router
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            axum::response::IntoResponse::into_response(Problem::new(
                Code::Internal,
                "internal server error; find it in the server's log by `request_id`",
            ))
        }))
        .layer(middleware::from_fn_with_state(app.clone(), front))
}

async fn front(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    request.extensions_mut().insert(RequestId(Arc::clone(&id)));
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
    let part_of = trace(request.headers());
    let trace = request.headers().get("traceparent").filter(|_| part_of.is_some()).cloned();
    let span = tracing::info_span!(
        "request",
        request_id = %id,
        %method,
        path,
        tenant = tracing::field::Empty,
        trace_id = part_of.as_ref().map(Trace::id),
    );
    let request = body::heard_out(request);
    let exempt = matches!(path.as_str(), "/healthz" | "/readyz");
    let checked = if exempt {
        Ok(())
    } else {
        app.hosts.check(request.headers(), request.uri().authority().map(http::uri::Authority::as_str))
    };
    let guest = app.hosts.guest(request.headers());
    let mut response = match checked {
        Ok(()) if guest.is_some() && is_preflight(&request) => preflight(request.headers()),
        Ok(()) if exempt => next.run(request).instrument(span.clone()).await,
        Ok(()) => in_turn(&app, request, next).instrument(span.clone()).await,
        Err(problem) => axum::response::IntoResponse::into_response(problem),
    };
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let kept = response.headers_mut().remove(header::ALLOW);
        response = problem.document(&id);
        response.headers_mut().extend(kept.map(|allow| (header::ALLOW, allow)));
    }
    finish(&mut response, &id, trace, &path);
    if let Some(origin) = guest {
        welcome(&mut response, origin);
    }
    let (status, took) = (response.status().as_u16(), began.elapsed());
    metrics::counter!(
        "toolwright_http_requests_total",
        "route" => route.unwrap_or_else(|| "none".to_owned()),
        "status" => status.to_string()
    )
    .increment(1);
    span.in_scope(|| {
        tracing::debug!(status, took_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX), "answered")
    });
    response
}

/// Who has shown who they are waits for the turn of their tenant, where that is known; a stranger for that of the
/// address.
async fn in_turn(app: &App, mut request: Request, next: Next) -> Response {
    let ClientAddress(address) = ClientAddress::of(request.extensions(), request.headers(), app);
    let turn = app.turns.begin_from(address);
    request.extensions_mut().insert(turn.clone());
    let has_credentials =
        [header::AUTHORIZATION, header::COOKIE].iter().any(|name| request.headers().contains_key(name));
    let work = async {
        if !has_credentials {
            turn.take_as_stranger().await;
        }
        next.run(request).await
    };
    turn.hold(work).await
}

/// What a browser asks before it lets a page of another server ask.
fn is_preflight(request: &Request) -> bool {
    request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(headers: &HeaderMap) -> Response {
    let mut response = axum::response::IntoResponse::into_response(StatusCode::NO_CONTENT);
    let asked = headers.get(header::ACCESS_CONTROL_REQUEST_HEADERS).cloned();
    let answer = response.headers_mut();
    answer.insert(
        header::ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static("GET, POST, PUT, PATCH, DELETE"),
    );
    answer.extend(asked.map(|asked| (header::ACCESS_CONTROL_ALLOW_HEADERS, asked)));
    answer.insert(header::ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    response
}

/// Lets a page of another server read the answer. It brings a key of its own: cookies are not for it.
fn welcome(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let readable = "ETag, Location, Retry-After, RateLimit, RateLimit-Policy, X-Request-Id";
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(readable));
}

fn request_id(headers: &HeaderMap) -> Arc<str> {
    let given = headers.get(&REQUEST_ID).and_then(|value| value.to_str().ok());
    let fit = |id: &&str| {
        (8..=64).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    given.filter(fit).map_or_else(|| Uuid::now_v7().to_string().into(), Arc::from)
}

/// What a request is part of; a header that says nothing counts as not sent.
pub(crate) fn trace(headers: &HeaderMap) -> Option<Trace> {
    headers.get("traceparent")?.to_str().ok()?.parse().ok()
}

fn finish(response: &mut Response, id: &str, trace: Option<HeaderValue>, path: &str) {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // What is for documents and for whoever asks about a request means nothing to the parts of a page, and every byte of a
    // first load counts.
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("text/javascript") || kind.starts_with("text/css") {
        return;
    }
    headers.extend(HeaderValue::from_str(id).map(|id| (REQUEST_ID, id)));
    if let Some(trace) = trace {
        headers.insert("traceparent", trace);
    }
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(
        "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ));
    if path.starts_with("/api/") {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hosts() -> Hosts {
        Hosts {
            hosts: ["127.0.0.1", "localhost", "[::1]", "tools.example.com"].map(str::to_owned).to_vec(),
            origins: vec!["https://app.example.org".to_owned()],
            public: WebOrigin::of_url("https://tools.example.com"),
        }
    }

    #[test]
    fn names_of_this_server_are_served_on_any_port() {
        for host in ["127.0.0.1", "localhost:7420", "LOCALHOST", "[::1]:80", "tools.example.com"] {
            assert!(hosts().serves(host), "{host}");
        }
        for host in
            ["evil.example", "127.0.0.1.evil.example", "localhost.", "tools.example.com.evil", "", "::1"]
        {
            assert!(!hosts().serves(host), "{host}");
        }
    }

    #[test]
    fn only_pages_of_this_server_and_listed_ones_may_ask() {
        for (origin, host) in [
            ("http://localhost:7420", "localhost:7420"),
            ("http://localhost:7420", "127.0.0.1:7420"),
            ("http://[::1]", "[::1]:80"),
            ("https://tools.example.com", "tools.example.com"),
            ("https://tools.example.com", "TOOLS.example.com:443"),
            ("https://tools.example.com", "127.0.0.1:7420"),
            ("https://tools.example.com:8443", "tools.example.com:8443"),
            ("https://app.example.org", "localhost:7420"),
        ] {
            assert!(hosts().takes_origin(origin, &[host]), "{origin} at {host}");
        }
        for (origin, host) in [
            ("http://localhost:9999", "localhost:7420"),
            ("http://localhost", "localhost:7420"),
            ("http://localhost:7420", "localhost"),
            ("http://localhost:99999", "localhost:99999"),
            ("http://tools.example.com", "tools.example.com"),
            ("https://tools.example.com:8443", "tools.example.com"),
            ("null", "localhost"),
            ("http://evil.example", "localhost"),
            ("https://app.example.org.evil", "localhost"),
            ("file://", "localhost"),
            ("http://u@localhost", "localhost"),
        ] {
            assert!(!hosts().takes_origin(origin, &[host]), "{origin} at {host}");
        }
    }
}
