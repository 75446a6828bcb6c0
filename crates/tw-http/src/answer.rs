//! Answers in JSON that can be kept and given again.

use std::collections::BTreeMap;

use axum::{
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// An answer, and what of it is kept for a replay.
#[derive(Debug)]
pub(crate) struct JsonAnswer {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
    /// The body without its one-time secret, where it has one.
    kept: Option<String>,
}

impl JsonAnswer {
    pub(crate) fn new(status: StatusCode, body: &impl Serialize) -> Self {
        Self { body: text(body), ..Self::empty(status) }
    }

    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, headers: Vec::new(), body: String::new(), kept: None }
    }

    pub(crate) fn with(mut self, name: HeaderName, value: &str) -> Self {
        let value = HeaderValue::from_str(value).expect("paths, ids and ETags are what a header takes");
        self.headers.push((name, value));
        self
    }

    /// Keeps another body than the one that is answered now.
    pub(crate) fn keeping(self, body: &impl Serialize) -> Self {
        Self { kept: Some(text(body)), ..self }
    }

    /// What is stored: a line with the status and the headers, then the body.
    pub(crate) fn to_stored(&self) -> String {
        let headers =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()));
        let headers: BTreeMap<_, _> = headers.collect();
        format!("{} {}\n{}", self.status.as_u16(), text(&headers), self.kept.as_deref().unwrap_or(&self.body))
    }

    pub(crate) fn from_stored(stored: &str) -> Self {
        let (line, body) = stored.split_once('\n').unwrap_or((stored, ""));
        let (status, headers) = line.split_once(' ').unwrap_or((line, ""));
        let status = status.parse().unwrap_or(StatusCode::OK);
        let headers: BTreeMap<String, String> = serde_json::from_str(headers).unwrap_or_default();
        let headers =
            headers.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
        Self { status, headers: headers.collect(), body: body.to_owned(), kept: None }
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("answers are plain JSON")
}

impl IntoResponse for JsonAnswer {
    fn into_response(self) -> Response {
        let typed = (!self.body.is_empty())
            .then(|| (header::CONTENT_TYPE, HeaderValue::from_static("application/json")));
        let mut response = (self.status, self.body).into_response();
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_TYPE);
        headers.extend(self.headers.into_iter().chain(typed));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_stored_with_its_headers_and_without_its_secret() {
        let made =
            JsonAnswer::new(StatusCode::CREATED, &"the secret").keeping(&"***").with(header::ETAG, "\"1-2\"");
        let again = JsonAnswer::from_stored(&made.to_stored());
        assert_eq!((again.status, &*again.body), (StatusCode::CREATED, "\"***\""));
        assert_eq!(again.headers, made.headers);
        let nothing = JsonAnswer::from_stored(&JsonAnswer::empty(StatusCode::NO_CONTENT).to_stored());
        assert_eq!((nothing.status, &*nothing.body), (StatusCode::NO_CONTENT, ""));
    }
}
