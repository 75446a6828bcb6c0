//! Errors as HTTP: RFC 9457 problem documents. The one place where an error gets a status.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tw_engine::Error;
use tw_model::Code;
use tw_schema::Fault;

/// A problem, before the request's id is known. [`crate::front`] writes it out.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: Code,
    detail: String,
    errors: Vec<Fault>,
    retry_after_s: Option<u64>,
    /// The limit that was reached: its name, and how many calls it lets through in a minute.
    limit: Option<(&'static str, u32)>,
}

/// The document on the wire.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// Where the code is explained.
    r#type: String,
    title: &'static str,
    status: u16,
    /// What went wrong with this request, and what to do about it.
    detail: String,
    /// A stable word for programs, in upper snake case.
    #[schema(value_type = String)]
    code: Code,
    request_id: String,
    /// What does not fit, each with a JSON pointer to its place.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    errors: Vec<Fault>,
}

pub(crate) type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into(), errors: Vec::new(), retry_after_s: None, limit: None }
    }

    /// One thing in the request that does not fit, at its place.
    pub(crate) fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::faulty(vec![Fault { path: path.into(), message: message.into() }])
    }

    /// Everything in the request that does not fit; the first is told in words too.
    pub(crate) fn faulty(errors: Vec<Fault>) -> Self {
        let detail = errors.first().map_or_else(String::new, |fault| {
            let place = fault.path.trim_start_matches('/');
            if place.is_empty() { fault.message.clone() } else { format!("`{place}` {}", fault.message) }
        });
        Self { errors, ..Self::new(Code::InvalidParams, detail) }
    }

    #[cfg(test)]
    pub(crate) fn paths(&self) -> Vec<&str> {
        self.errors.iter().map(|fault| fault.path.as_str()).collect()
    }

    /// The same under another code.
    pub(crate) fn recoded(self, code: Code) -> Self {
        Self { code, ..self }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    pub(crate) fn document(self, request_id: &str) -> Response {
        let errors = self.errors.into_iter().map(|fault| Fault {
            path: shortened(fault.path, PATH_SHOWN_MAX),
            message: shortened(fault.message, MESSAGE_SHOWN_MAX),
        });
        let document = ProblemDocument {
            r#type: format!("/docs/errors/{}", self.code),
            title: self.code.title(),
            status: self.code.status(),
            detail: shortened(self.detail, DETAIL_SHOWN_MAX),
            code: self.code,
            request_id: request_id.to_owned(),
            errors: errors.collect(),
        };
        let body = serde_json::to_vec(&document).expect("a problem is plain JSON");
        let status = StatusCode::from_u16(document.status).expect("every code has a status that HTTP knows");
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let (Code::RateLimited, Some(seconds)) = (document.code, self.retry_after_s) {
            let value = |text: String| HeaderValue::from_str(&text).expect("a number and plain letters");
            let name = self.limit.map_or("requests", |(name, _)| name);
            headers.insert("ratelimit", value(format!("\"{name}\";r=0;t={seconds}")));
            if let Some((name, per_minute)) = self.limit {
                headers.insert("ratelimit-policy", value(format!("\"{name}\";q={per_minute};w=60")));
            }
        }
        if document.code == Code::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"toolwright\""));
        }
        response
    }
}

/// How much of what was sent is repeated to whoever sent it.
const DETAIL_SHOWN_MAX: usize = 600;
const PATH_SHOWN_MAX: usize = 300;
const MESSAGE_SHOWN_MAX: usize = 300;

/// The beginning of a text that is too long to be repeated.
fn shortened(mut text: String, max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let code = error.code();
        let retry_after_s = error.retry_after().map(in_whole_seconds);
        if 500 <= code.status() && !matches!(error, Error::ShuttingDown) {
            tracing::error!(error = &error as &dyn std::error::Error, "a request failed");
        }
        let detail = error.to_string();
        let limit = match error {
            Error::OverLimit { limit, per_minute, .. } => Some((limit, per_minute.get())),
            _ => None,
        };
        let errors = match error {
            Error::InvalidParams { faults, .. } => faults,
            Error::Refused(refusal) => refusal.faults,
            Error::MissingParam { param } => {
                vec![Fault { path: format!("/{param}"), message: "is required".to_owned() }]
            }
            Error::Unauthenticated { .. }
            | Error::NotPermitted { .. }
            | Error::ToolNotFound { .. }
            | Error::NotFound { .. }
            | Error::SessionNotFound
            | Error::ToolDisabled { .. }
            | Error::UnknownKind { .. }
            | Error::VersionWithdrawn { .. }
            | Error::ToolNotPublished { .. }
            | Error::Conflict { .. }
            | Error::CredentialMissing { .. }
            | Error::AlreadyDecided { .. }
            | Error::Superseded
            | Error::IdempotencyMismatch
            | Error::IdempotencyInFlight
            | Error::Expired { .. }
            | Error::Stale { .. }
            | Error::RateLimited { .. }
            | Error::OverLimit { .. }
            | Error::ShuttingDown
            | Error::Unwell { .. }
            | Error::Store { .. }
            | Error::Record { .. } => Vec::new(),
        };
        Self { code, detail, errors, retry_after_s, limit }
    }
}

/// Rounded up: who comes back after this long must not be sent away again.
fn in_whole_seconds(span: std::time::Duration) -> u64 {
    (span.as_secs() + u64::from(0 < span.subsec_nanos())).max(1)
}

pub(crate) fn no_such_path() -> Problem {
    Problem::new(Code::NotFound, "there is nothing at this path; `/api/docs` lists what there is")
}

pub(crate) async fn no_such_method() -> Problem {
    Problem::new(
        Code::MethodNotAllowed,
        "this path does not take that method; the `Allow` header lists those it takes",
    )
}
