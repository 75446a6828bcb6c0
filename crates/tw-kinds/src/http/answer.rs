//! Makes data, or a failure, of what a service answered.

use serde_json::Value;
use toolwright_sdk::Redactor;
use tw_egress::{Error, Response};
use tw_model::{Code, ToolFailure};

use super::fill::is_json;

/// How much of an answer that is no success a failure shows.
const SHOWN_CHARS: usize = 500;

/// The data of an answer, without secrets.
pub(super) fn data(response: &Response, redactor: &Redactor) -> Result<Value, ToolFailure> {
    if !response.is_success() {
        return Err(refused(response, redactor));
    }
    let body = response.in_utf8();
    if body.trim_ascii().is_empty() {
        return Ok(Value::Null);
    }
    let kind = response.headers.get("content-type").unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if is_json(&kind) {
        let value = serde_json::from_slice(&body).map_err(|error| {
            upstream(format!("the service claims to send JSON, but the body is not JSON: {error}"))
        })?;
        return Ok(redactor.value(value));
    }
    // `0123` or `1e5` in a text is a text; only where nobody says what it is may it be a number.
    let looks_like_json = kind.is_empty() || matches!(body.trim_ascii_start(), [b'{' | b'[', ..]);
    if let Some(value) = serde_json::from_slice(&body).ok().filter(|_| looks_like_json) {
        return Ok(redactor.value(value));
    }
    match std::str::from_utf8(&body) {
        Ok(text) if !text.contains('\0') => Ok(Value::String(redactor.text(text.to_owned()))),
        _ => Err(upstream(format!(
            "the service answered with {} bytes that are not text{}",
            response.body.len(),
            if kind.is_empty() { String::new() } else { format!(", of type `{kind}`") }
        ))),
    }
}

/// Secrets are taken out before the text is cut, or a cut through one would leave its beginning.
fn refused(response: &Response, redactor: &Redactor) -> ToolFailure {
    let text = redactor.text(String::from_utf8_lossy(&response.in_utf8()).into_owned());
    let shown: String = text.trim().chars().take(SHOWN_CHARS).collect();
    let status = response.status;
    let words = if shown.is_empty() { meaning(status) } else { &shown };
    upstream(format!("HTTP {status}: {words}"))
}

/// What a status says where the service says nothing.
fn meaning(status: u16) -> &'static str {
    match status {
        300 => "the service has several answers and chooses none",
        301 | 302 | 303 | 307 | 308 => {
            "the service redirects, and redirects are not followed; use the final URL"
        }
        304 => "not modified: the request has conditional headers, so the service sent no content",
        305 | 306 => "the service requires a proxy, which is not supported",
        _ => "",
    }
}

fn upstream(message: String) -> ToolFailure {
    ToolFailure::with_code(Code::UpstreamError, message)
}

/// What a call says about the service itself. `None` where it says nothing.
pub(super) fn is_well(sent: &Result<Response, Error>) -> Option<bool> {
    match sent {
        Ok(response) => Some(response.status < 500),
        Err(Error::Unreachable { .. } | Error::Timeout { .. } | Error::Interrupted { .. })
        | Err(Error::BadResponse { .. }) => Some(false),
        Err(Error::Denied { .. } | Error::BadUrl { .. } | Error::BadRequest { .. })
        | Err(Error::TooLarge { .. }) => None,
    }
}

/// What a person who watches reads.
pub(super) fn summary(host: &str, response: &Response) -> String {
    format!("HTTP {} from {host}, {}", response.status, size(response.body.len()))
}

fn size(bytes: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one digit behind the point is shown")]
    let shown = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", shown / 1e3),
        _ => format!("{:.1} MB", shown / 1e6),
    }
}
