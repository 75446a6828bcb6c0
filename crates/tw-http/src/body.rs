//! Request bodies: bounded, of one content type, strict JSON.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::{FromRequest, Request},
    http::{HeaderMap, header},
};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use tokio::runtime::Handle;
use tw_model::Code;
use tw_schema::Violation;

use crate::{
    App,
    members::{self, Body as Known},
    problem::Problem,
};

/// How long a body may take to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// A JSON body.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

/// A JSON body with its bytes, for those who compare requests by them.
#[derive(Debug)]
pub(crate) struct JsonBytes<T>(pub(crate) T, pub(crate) Bytes);

impl<T: Known> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let JsonBytes(value, _) = JsonBytes::from_request(request, app).await?;
        Ok(Self(value))
    }
}

impl<T: Known> FromRequest<App> for JsonBytes<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let (value, bytes) = read_json(request, app.settings.body_limit).await?;
        Ok(Self(value, bytes))
    }
}

/// Reads a JSON body of so many bytes at the most.
pub(crate) async fn read_json<T: Known>(request: Request, limit: usize) -> Result<(T, Bytes), Problem> {
    let (parts, body) = request.into_parts();
    if body.is_end_stream() {
        // A body that is left out is an empty one: `POST …/deny` needs nothing more.
        return Ok((members::read(b"{}")?, Bytes::new()));
    }
    require_json(&parts.headers)?;
    let bytes = read(&parts.headers, body, limit).await?;
    if bytes.is_empty() {
        return Ok((members::read(b"{}")?, bytes));
    }
    tw_schema::scan(&bytes).map_err(|fault| {
        let code = if fault.is_range() { Code::InvalidParams } else { Code::InvalidJson };
        Problem::new(code, format!("the body is not strict JSON: {fault}"))
    })?;
    // Without this an array of values would pass for the fields in their order.
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        let value = serde_json::from_slice(&bytes).unwrap_or_default();
        return Err(Problem::invalid("", Violation::typed(&["object"], &value)));
    }
    Ok((members::read(&bytes)?, bytes))
}

async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || {
        Problem::new(Code::PayloadTooLarge, format!("the body must have at most {limit} bytes"))
            .with("bytes", limit)
    };
    let announced =
        headers.get(header::CONTENT_LENGTH).and_then(|value| value.to_str().ok()?.parse::<usize>().ok());
    if announced.is_some_and(|length| limit < length) {
        return Err(too_large());
    }
    match tokio::time::timeout(PATIENCE, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_too_long(&error) => Err(too_large()),
        Ok(Err(_)) => {
            Err(Problem::new(Code::BadRequest, "the connection closed before the whole body arrived"))
        }
        Err(_) => Err(Problem::new(Code::BadRequest, "the body took too long to arrive")),
    }
}

/// Puts a body under a request that is listened to for a while after nobody wants it any more.
///
/// A client that is still sending when its request is refused would find the connection closed, and most
/// then report that instead of the refusal.
pub(crate) fn heard_out(request: Request) -> Request {
    // Who waits to be asked for its body has not sent any, and asking now would be wrong.
    if request.body().is_end_stream() || request.headers().contains_key(header::EXPECT) {
        return request;
    }
    request.map(|body| Body::new(HeardOut(Some(body))))
}

/// How much is listened to, and for how long, after a request has been refused.
const HEARD_OUT_BYTES: usize = 32 << 20;
const HEARD_OUT_FOR: Duration = Duration::from_secs(5);

struct HeardOut(Option<Body>);

impl hyper::body::Body for HeardOut {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<hyper::body::Frame<Bytes>, axum::Error>>> {
        let Some(body) = &mut self.0 else { return Poll::Ready(None) };
        let frame = Pin::new(body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None | Some(Err(_)))) {
            self.0 = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.0.as_ref().is_none_or(hyper::body::Body::is_end_stream)
    }

    fn size_hint(&self) -> hyper::body::SizeHint {
        self.0.as_ref().map(hyper::body::Body::size_hint).unwrap_or_default()
    }
}

impl Drop for HeardOut {
    fn drop(&mut self) {
        let Some(mut rest) = self.0.take().filter(|body| !body.is_end_stream()) else { return };
        // Without a runtime the program is about to end, and with it the connection.
        let Ok(runtime) = Handle::try_current() else { return };
        runtime.spawn(async move {
            let all = async {
                let mut heard = 0;
                while let Some(Ok(frame)) = rest.frame().await {
                    heard += frame.data_ref().map_or(0, Bytes::len);
                    if HEARD_OUT_BYTES < heard {
                        break;
                    }
                }
            };
            tokio::time::timeout(HEARD_OUT_FOR, all).await
        });
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
    let refused = |detail| Err(Problem::new(Code::UnsupportedMediaType, detail));
    let mut types = headers.get_all(header::CONTENT_TYPE).iter();
    let given = types.next().and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = given.split(';');
    let media_type = parts.next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") || types.next().is_some() {
        return refused("this route reads JSON: send one `Content-Type: application/json`");
    }
    let charsets = parts
        .filter_map(|part| part.trim().split_once('='))
        .filter(|(name, _)| name.eq_ignore_ascii_case("charset"));
    if !charsets
        .map(|(_, charset)| charset.trim_matches('"'))
        .all(|charset| charset.eq_ignore_ascii_case("utf-8"))
    {
        return refused("JSON is read as UTF-8 and nothing else: leave `charset` out");
    }
    let packed = headers
        .get_all(header::CONTENT_ENCODING)
        .iter()
        .any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity"));
    if packed {
        return refused("bodies must not be compressed: leave out `Content-Encoding`");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_another_alphabet_is_another_type() {
        let accepted = |text: &str| {
            let headers = HeaderMap::from_iter([(header::CONTENT_TYPE, text.parse().unwrap())]);
            require_json(&headers).is_ok()
        };
        assert!(accepted("application/json"));
        assert!(accepted("Application/JSON; Charset=\"UTF-8\""));
        assert!(!accepted("application/json; charset=utf-16"));
        assert!(!accepted("application/json-seq"));
    }
}
