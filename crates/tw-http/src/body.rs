//! Request bodies: bounded, of one content type, strict JSON.

use std::time::Duration;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use serde::de::DeserializeOwned;
use tw_model::Code;

use crate::{App, problem::Problem};

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// A JSON body with its bytes, for those who compare requests by them.
#[derive(Debug)]
pub(crate) struct JsonBytes<T>(pub(crate) T, pub(crate) Bytes);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let JsonBytes(value, _) = JsonBytes::from_request(request, app).await?;
        Ok(Self(value))
    }
}

impl<T: DeserializeOwned> FromRequest<App> for JsonBytes<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = read(&parts.headers, body, app.settings.body_limit).await?;
        if bytes.is_empty() {
            // A body that is left out is an empty one: `POST …/deny` needs nothing more.
            return Ok(Self(parse(b"{}")?, bytes));
        }
        require_json(&parts.headers)?;
        tw_schema::scan(&bytes).map_err(|fault| {
            let code = if fault.is_range() { Code::InvalidParams } else { Code::InvalidJson };
            Problem::new(code, format!("the body is not strict JSON: {fault}"))
        })?;
        Ok(Self(parse(&bytes)?, bytes))
    }
}

async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::new(Code::PayloadTooLarge, format!("the body is over {limit} bytes"));
    let announced = headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| limit < length) {
        return Err(too_large());
    }
    match tokio::time::timeout(PATIENCE, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(too_large()),
        Ok(Err(_)) => Err(Problem::new(Code::BadRequest, "the body broke off")),
        Err(_) => Err(Problem::new(Code::BadRequest, "the body took too long to arrive")),
    }
}

fn is_too_long(error: &axum::Error) -> bool {
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        source = error.source();
    }
    false
}

fn require_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "this route reads JSON: send `Content-Type: application/json`";
    Err(Problem::new(Code::UnsupportedMediaType, detail))
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let path = if path == "." { String::new() } else { format!("/{}", path.replace('.', "/")) };
        let message = error.into_inner().to_string();
        // Where in the text it happened helps nobody who did not write the text by hand.
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        Problem::invalid(path, message)
    })
}
