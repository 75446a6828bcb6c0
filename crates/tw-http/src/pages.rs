//! The web app. Its files are part of the program; whatever page is asked for, the browser gets the one
//! document, and the app in it reads the address.

use std::borrow::Cow;

use axum::{
    Router,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Response},
    routing::get,
};
use rust_embed::{EmbeddedFile, RustEmbed};
use tower_http::compression::CompressionLayer;
use tw_model::Code;
use uuid::Uuid;

use crate::{
    App,
    problem::{self, Problem, Result},
};

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
struct Files;

/// What the document has where the nonce of its answer belongs.
const NONCE: &str = "__STYLE_NONCE__";
/// Where the app's pages are. Below each of them the app itself knows what there is.
const PAGES: &[&str] = &["/tools", "/runs", "/approvals", "/admin"];

/// What programs ask for. Nothing below these is a page, whoever asks.
const NO_PAGES: &[&str] = &["api", "assets", "healthz", "icons", "mcp", "metrics", "readyz", ".well-known"];

pub(crate) fn routes() -> Router<App> {
    let mut router = Router::new()
        .route("/", get(document))
        .route("/sign-in", get(document))
        .route("/mcp-servers/callback", get(document))
        .route("/assets/{file}", get(asset))
        .route("/icons/{file}", get(icon))
        .route("/theme.js", get(async |headers: HeaderMap| file("theme.js", "no-cache", &headers)))
        .route(
            "/favicon.svg",
            get(async |headers: HeaderMap| file("favicon.svg", "max-age=86400", &headers)),
        );
    for page in PAGES {
        router = router.route(page, get(document)).route(&format!("{page}/{{*rest}}"), get(document));
    }
    router.layer(CompressionLayer::new())
}

/// The answer where no route is. Who looks for a page gets the app, which says in its own words that there is
/// none.
pub(crate) async fn nowhere(method: Method, uri: Uri, headers: HeaderMap) -> Result<Response> {
    let first = uri.path().split('/').nth(1).unwrap_or_default();
    let reads = method == Method::GET || method == Method::HEAD;
    if !reads || NO_PAGES.contains(&first) || !prefers_html(&headers) {
        return Err(problem::no_such_path());
    }
    let mut response = document().await?;
    *response.status_mut() = StatusCode::NOT_FOUND;
    Ok(response)
}

/// Whether the caller names HTML, and nothing before it that programs read. One that takes anything is a program.
pub(crate) fn prefers_html(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let (mut html, mut other) = (0.0, 0.0);
    for range in accepts.flat_map(|value| value.split(',')) {
        let mut parts = range.split(';').map(str::trim);
        let name = parts.next().unwrap_or_default().to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        match name.as_str() {
            "text/html" => html = weight.max(html),
            "application/json" | "application/problem+json" | "text/markdown" | "text/plain" => {
                other = weight.max(other);
            }
            _ => {}
        }
    }
    0.0 < html && other <= html
}

pub(crate) async fn document() -> Result<Response> {
    let EmbeddedFile { data, .. } = find("index.html")?;
    let text = str::from_utf8(&data).map_err(|_| Problem::new(Code::Internal, "the app is not text"))?;
    let nonce = Uuid::new_v4().simple().to_string();
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; \
         font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    let policy = HeaderValue::from_str(&policy).expect("a nonce is made of hexadecimal digits");
    let html = [(header::CONTENT_TYPE, "text/html; charset=utf-8"), (header::CACHE_CONTROL, "no-store")];
    let mut response = (html, text.replace(NONCE, &nonce)).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

async fn asset(
    headers: HeaderMap,
    name: std::result::Result<Path<String>, PathRejection>,
) -> Result<Response> {
    let Path(name) = name.map_err(|_| missing())?;
    // The name has the hash of what is in it.
    file(&format!("assets/{name}"), "public, max-age=31536000, immutable", &headers)
}

async fn icon(
    headers: HeaderMap,
    name: std::result::Result<Path<String>, PathRejection>,
) -> Result<Response> {
    let Path(name) = name.map_err(|_| missing())?;
    file(&format!("icons/{name}"), "public, max-age=86400", &headers)
}

/// Where the picture of an icon is, for who shows tools outside the app.
#[must_use]
pub fn icon_path(name: &str) -> Option<String> {
    let file = format!("icons/{name}.svg");
    find(&file).ok().map(|_| format!("/{file}"))
}

fn find(name: &str) -> Result<EmbeddedFile> {
    // In a debug build the name is a path on the disk.
    let is_name = !name.contains("..") && !name.contains('\\');
    is_name.then(|| Files::get(name)).flatten().ok_or_else(missing)
}

/// A file, as it was compressed when the app was built where there is that and the caller takes it: smaller than what
/// can be made of it while somebody waits.
fn file(name: &str, keep: &'static str, headers: &HeaderMap) -> Result<Response> {
    let compressed = takes_brotli(headers).then(|| find(&format!("{name}.br")).ok()).flatten();
    let is_compressed = compressed.is_some();
    let EmbeddedFile { data, .. } = compressed.map_or_else(|| find(name), Ok)?;
    let data = match data {
        Cow::Borrowed(bytes) => bytes.into_response(),
        Cow::Owned(bytes) => bytes.into_response(),
    };
    let headers = [(header::CONTENT_TYPE, content_type(name)), (header::CACHE_CONTROL, keep)];
    let mut response = (headers, data).into_response();
    if is_compressed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("br"));
        response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    }
    Ok(response)
}

fn takes_brotli(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    accepts.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_brotli = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("br"));
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
        is_brotli && 0.0 < weight
    })
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "woff2" => "font/woff2",
        "json" => "application/json",
        _ => "application/octet-stream",
    }
}

fn missing() -> Problem {
    Problem::new(Code::NotFound, "there is no such file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_names_html_prefers_it() {
        for (accept, prefers) in [
            ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", true),
            ("Text/HTML; q=0.5", true),
            ("text/html;q=0.5, application/json", false),
            ("text/markdown, text/html;q=0.9, */*;q=0.1", false),
            ("text/html;q=0", false),
            ("application/json", false),
            ("*/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(prefers_html(&headers), prefers, "{accept}");
        }
        assert!(!prefers_html(&HeaderMap::new()));
    }

    #[test]
    fn only_who_takes_brotli_gets_it() {
        for (accept, takes) in [
            ("gzip, deflate, br, zstd", true),
            ("BR;q=0.5", true),
            ("br;q=0", false),
            ("gzip", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static(accept))]);
            assert_eq!(takes_brotli(&headers), takes, "{accept}");
        }
        assert!(!takes_brotli(&HeaderMap::new()));
    }
}
