//! The book and the reference of the API: pages of the app for people, Markdown for programs.

use std::{fmt::Write, sync::LazyLock};

use axum::{
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::Value;
use tw_model::Code;

use crate::{
    book, pages,
    problem::{Problem, Result},
};

/// The reference among the pages. Each operation has an address below it, by its name.
const REFERENCE: &str = "api";

/// Get the API reference as a web page.
#[utoipa::path(get, path = "/api/docs", operation_id = "get_docs", tag = "operations", security(()),
    responses((status = 200, description = "A page", body = String, content_type = "text/html")))]
pub(crate) async fn reference() -> Result<Response> {
    pages::document().await
}

/// The book's first page.
pub(crate) async fn first_page(headers: HeaderMap) -> Result<Response> {
    answer("", &headers).await
}

/// Any other page. Whoever names HTML gets the app, which shows it; everybody else the Markdown.
pub(crate) async fn page(
    headers: HeaderMap,
    path: std::result::Result<Path<String>, PathRejection>,
) -> Result<Response> {
    let Path(path) = path.map_err(|_| missing())?;
    answer(&path, &headers).await
}

/// Every page with its headings, for whoever shows a list of them or searches it.
pub(crate) async fn index() -> Response {
    super::json(StatusCode::OK, &*book::PAGES)
}

/// The same as Markdown, where programs look for it.
pub(crate) async fn list() -> Response {
    text("text/plain; charset=utf-8", book::list())
}

async fn answer(path: &str, headers: &HeaderMap) -> Result<Response> {
    let is_file = path.to_ascii_lowercase().ends_with(".md");
    let markdown = markdown_of(path);
    let mut response = if !is_file && pages::prefers_html(headers) {
        let mut document = pages::document().await?;
        if markdown.is_none() {
            *document.status_mut() = StatusCode::NOT_FOUND;
        }
        document
    } else {
        text("text/markdown; charset=utf-8", markdown.ok_or_else(missing)?)
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    Ok(response)
}

fn markdown_of(path: &str) -> Option<&'static str> {
    let is_reference = match path.split_once('/') {
        None => path == REFERENCE || path == "api.md",
        Some((folder, operation)) => {
            folder == REFERENCE && OPERATIONS.names.iter().any(|name| name == operation)
        }
    };
    if is_reference { Some(&OPERATIONS.text) } else { book::find(path).map(|page| page.text) }
}

/// What the description says of every operation, in a line each.
struct Operations {
    names: Vec<String>,
    text: String,
}

static OPERATIONS: LazyLock<Operations> = LazyLock::new(|| {
    let description = serde_json::to_value(super::openapi()).expect("a description is plain JSON");
    let mut names = Vec::new();
    let mut text = String::from(
        "# HTTP API\n\nEvery operation in a line. `/api/openapi.json` has parameters, bodies and answers.\n",
    );
    let mut groups: std::collections::BTreeMap<&str, Vec<String>> = std::collections::BTreeMap::new();
    for (path, item) in description["paths"].as_object().into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let word = |value: &'_ Value| value.as_str().unwrap_or_default().to_owned();
            names.push(word(&operation["operationId"]));
            let line = format!("- `{} {path}`: {}", method.to_uppercase(), word(&operation["summary"]));
            groups.entry(operation["tags"][0].as_str().unwrap_or("other")).or_default().push(line);
        }
    }
    for (group, lines) in groups {
        write!(text, "\n## {group}\n\n{}\n", lines.join("\n")).expect("a text grows");
    }
    Operations { names, text }
});

fn text(content_type: &'static str, text: impl IntoResponse) -> Response {
    ([(header::CONTENT_TYPE, content_type)], text).into_response()
}

fn missing() -> Problem {
    Problem::new(Code::NotFound, "there is no such page; `/llms.txt` lists them")
}
