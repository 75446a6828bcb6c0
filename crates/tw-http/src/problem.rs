//! Errors as HTTP: RFC 9457 problem documents. The one place where an error gets a status.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use serde_json::{Map, Value};
use tw_base::Error;
use tw_model::Code;
use tw_schema::{Fault, FaultCode, Violation};

/// A problem, before the request's id is known. [`crate::front`] writes it out.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    code: Code,
    detail: String,
    params: Map<String, Value>,
    /// What the code brings beside the members of every problem. Few do.
    members: Option<Box<Map<String, Value>>>,
    errors: Vec<Fault>,
    retry_after_s: Option<u64>,
    /// The limit that was reached: its name, and how many calls it lets through in a minute.
    limit: Option<(&'static str, u32)>,
}

/// An error, as a problem document (RFC 9457).
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemDocument {
    /// The path of the page that explains the code.
    r#type: String,
    title: &'static str,
    status: u16,
    /// What went wrong with this request, and what to do about it.
    detail: String,
    /// The stable error code, in upper snake case.
    #[schema(value_type = String, pattern = "^[A-Z][A-Z0-9_]*$")]
    code: Code,
    /// The values in `detail`, for texts in other languages. `reason` distinguishes errors that share a code.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    params: Map<String, Value>,
    request_id: String,
    /// The invalid values, each with a JSON Pointer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    errors: Vec<FaultDocument>,
    #[serde(flatten)]
    #[schema(ignore)]
    members: Option<Box<Map<String, Value>>>,
}

/// An invalid value.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[schema(as = Fault)]
pub(crate) struct FaultDocument {
    /// A JSON Pointer to the value; for a missing property, where it should be.
    path: String,
    /// The stable code of the fault, in lower snake case; `docs/faults.md` lists them.
    #[schema(value_type = String, pattern = "^[a-z][a-z0-9_]*$")]
    code: FaultCode,
    /// The values in `message`.
    #[schema(value_type = Object)]
    params: Map<String, Value>,
    /// The explanation for people.
    message: String,
}

impl From<Fault> for FaultDocument {
    fn from(fault: Fault) -> Self {
        Self {
            path: shortened(fault.path, PATH_SHOWN_MAX),
            code: fault.code,
            params: fault.params,
            message: shortened(fault.message, MESSAGE_SHOWN_MAX),
        }
    }
}

pub(crate) type Result<T> = std::result::Result<T, Problem>;

impl Problem {
    pub(crate) fn new(code: Code, detail: impl Into<String>) -> Self {
        let (params, errors) = (Map::new(), Vec::new());
        Self { code, detail: detail.into(), params, members: None, errors, retry_after_s: None, limit: None }
    }

    /// The same with a value that stands in its text.
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.params.insert(name.to_owned(), value.into());
        self
    }

    /// One thing in the request that does not fit, at its place.
    pub(crate) fn invalid(path: impl Into<String>, violation: Violation) -> Self {
        Self::faulty(vec![violation.at(path)])
    }

    /// Everything in the request that does not fit; the first is told in words too.
    pub(crate) fn faulty(errors: Vec<Fault>) -> Self {
        Error::refused(errors).into()
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
        let errors = self.errors.into_iter().map(FaultDocument::from);
        let document = ProblemDocument {
            r#type: format!("/docs/errors/{}", self.code),
            title: self.code.title(),
            status: self.code.status(),
            detail: shortened(self.detail, DETAIL_SHOWN_MAX),
            code: self.code,
            params: self.params,
            request_id: request_id.to_owned(),
            errors: errors.collect(),
            members: self.members,
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
        let mut params = error.params();
        params.extend(retry_after_s.map(|seconds| ("retry_after_s".to_owned(), seconds.into())));
        let (members, errors) = (error.members().map(Box::new), error.faults().to_vec());
        Self { code, detail, params, members, errors, retry_after_s, limit }
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
