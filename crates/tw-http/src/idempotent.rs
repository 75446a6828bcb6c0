//! `Idempotency-Key`: the same request again gets the same answer.

use std::collections::BTreeMap;

use axum::{
    extract::FromRequestParts,
    http::{HeaderName, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tracing::Instrument;
use tw_engine::{IdempotencyKey, Once};
use tw_model::{Caller, Code};

use crate::{
    App,
    problem::{Problem, Result},
};

pub(crate) const KEY_LEN_MAX: usize = 255;

/// The header's value, if it was sent.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let mut values = parts.headers.get_all("idempotency-key").iter();
        let Some(value) = values.next() else { return Ok(Self(None)) };
        if values.next().is_some() {
            return Err(Problem::new(Code::BadRequest, "there is more than one `Idempotency-Key` header"));
        }
        let key = value.to_str().ok().filter(|key| (1..=KEY_LEN_MAX).contains(&key.len()));
        let key = key.ok_or_else(|| {
            Problem::new(Code::BadRequest, "`Idempotency-Key` has 1 to 255 visible ASCII characters")
        })?;
        Ok(Self(Some(key.to_owned())))
    }
}

impl Key {
    /// The key in the scope of a route, bound to the body's bytes.
    pub(crate) fn of(self, route: &str, body: &[u8]) -> Option<IdempotencyKey> {
        self.0.map(|key| IdempotencyKey {
            key,
            route: route.to_owned(),
            body_hash: *tw_schema::Digest::of(body).as_bytes(),
        })
    }
}

/// An answer, and what of it is kept for a replay.
pub(crate) struct Answered {
    status: StatusCode,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: String,
    /// The body without its one-time secret, where it has one.
    kept: Option<String>,
}

impl Answered {
    pub(crate) fn json(status: StatusCode, body: &impl Serialize) -> Self {
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

    /// What is stored: a line with the headers, then the body.
    fn to_stored(&self) -> String {
        let headers =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap_or_default()));
        let headers: BTreeMap<_, _> = headers.collect();
        format!("{}\n{}", text(&headers), self.kept.as_deref().unwrap_or(&self.body))
    }

    fn from_stored(status: u16, stored: &str) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        let (headers, body) = stored.split_once('\n').unwrap_or(("", stored));
        let headers: BTreeMap<String, String> = serde_json::from_str(headers).unwrap_or_default();
        let headers =
            headers.into_iter().filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
        Self { status, headers: headers.collect(), body: body.to_owned(), kept: None }
    }
}

fn text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("answers are plain JSON")
}

impl IntoResponse for Answered {
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

/// Makes a write once under its key, or answers as the first time.
pub(crate) async fn once(
    app: App,
    caller: Caller,
    key: Option<IdempotencyKey>,
    make: impl Future<Output = Result<Answered>> + Send + 'static,
) -> Result<Response> {
    let Some(key) = key else { return make.await.map(IntoResponse::into_response) };
    // A caller who hangs up ends its request, and must not leave a key behind that nobody closes.
    let made = async move { make_once(&app, &caller, &key, make).await };
    let made = tokio::spawn(made.in_current_span()).await;
    let made =
        made.unwrap_or_else(|_| Err(Problem::new(Code::Internal, "the server failed to do its own work")));
    made.map(IntoResponse::into_response)
}

async fn make_once(
    app: &App,
    caller: &Caller,
    key: &IdempotencyKey,
    make: impl Future<Output = Result<Answered>>,
) -> Result<Answered> {
    match app.engine.once(caller, key).await? {
        Once::Again { status, body } => Ok(Answered::from_stored(status, &body)),
        Once::Make(claimed) => match make.await {
            Ok(made) => {
                app.engine.keep(claimed, made.status.as_u16(), made.to_stored()).await;
                Ok(made)
            }
            Err(problem) => {
                app.engine.release(claimed).await;
                Err(problem)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answer_is_stored_with_its_headers_and_without_its_secret() {
        let made =
            Answered::json(StatusCode::CREATED, &"the secret").keeping(&"***").with(header::ETAG, "\"1-2\"");
        let again = Answered::from_stored(201, &made.to_stored());
        assert_eq!((again.status, &*again.body), (StatusCode::CREATED, "\"***\""));
        assert_eq!(again.headers, made.headers);
        let nothing = Answered::from_stored(204, &Answered::empty(StatusCode::NO_CONTENT).to_stored());
        assert_eq!((nothing.status, &*nothing.body), (StatusCode::NO_CONTENT, ""));
    }
}
