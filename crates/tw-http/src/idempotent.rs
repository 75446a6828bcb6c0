//! `Idempotency-Key`: the same request again gets the same answer.

use std::sync::Arc;

use axum::{
    extract::FromRequestParts,
    http::{Method, request::Parts},
    response::{IntoResponse, Response},
};
use tracing::Instrument;
use tw_engine::{Engine, IdempotencyKey, Once};
use tw_identity::rights::{Permit, Right};
use tw_model::{Caller, Code};
use tw_schema::Digest;

use crate::{
    App,
    answer::JsonAnswer,
    auth::Allowed,
    front::RequestId,
    problem::{Problem, Result},
};

pub(crate) const KEY_LEN_MAX: usize = 255;

/// Longer than any path that names something, however it is escaped. The path is part of an index, and Postgres
/// refuses entries of more than some 2,700 bytes there.
const PATH_LEN_MAX: usize = 1000;

/// The key of a request, if it has one.
///
/// It counts for the request's method and path: elsewhere the same text is another key. It is bound to the query
/// and the body: with others it is refused.
#[derive(Debug)]
pub(crate) struct Key(Option<Sent>);

#[derive(Debug)]
struct Sent {
    key: String,
    route: String,
    query: String,
}

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
            Problem::new(Code::BadRequest, "`Idempotency-Key` must have 1 to 255 visible ASCII characters")
        })?;
        Ok(Self(Some(Sent {
            key: key.to_owned(),
            route: route(&parts.method, parts.uri.path()),
            query: parts.uri.query().unwrap_or_default().to_owned(),
        })))
    }
}

impl Key {
    /// The key, bound to the query and to the body's bytes.
    pub(crate) fn of(&self, body: &[u8]) -> Option<IdempotencyKey> {
        self.bound(|| *Digest::of(body).as_bytes())
    }

    /// The same for a body with a secret in it, which is remembered by a keyed hash.
    pub(crate) fn of_secret(&self, engine: &Engine, body: &[u8]) -> Option<IdempotencyKey> {
        self.bound(|| engine.blinded(body))
    }

    fn bound(&self, body: impl FnOnce() -> [u8; 32]) -> Option<IdempotencyKey> {
        let sent = self.0.as_ref()?;
        let bound = [sent.query.as_bytes(), &body()].concat();
        Some(IdempotencyKey {
            key: sent.key.clone(),
            route: sent.route.clone(),
            body_hash: *Digest::of(&bound).as_bytes(),
        })
    }
}

/// The method and the path, where a key counts.
///
/// What is named right after the noun, as in `/api/tools/{tool}/…`, is a slug or an id and the same in any case. What
/// follows can be a version, and `1.0.0-RC` is another one than `1.0.0-rc`.
fn route(method: &Method, path: &str) -> String {
    if PATH_LEN_MAX < path.len() {
        return format!("{method} {}", Digest::of(path.as_bytes()));
    }
    let named = path.match_indices('/').nth(3).map_or(path.len(), |(at, _)| at);
    let (thing, rest) = path.split_at(named);
    format!("{method} {}{rest}", thing.to_ascii_lowercase())
}

/// A write by a caller who holds the right `R`, made once under its key.
///
/// Stands before the body in a handler, like [`Allowed`]: the right is checked before anything else.
#[derive(Debug)]
pub(crate) struct Write<R> {
    pub(crate) app: App,
    pub(crate) permit: Permit<R>,
    pub(crate) request_id: Arc<str>,
    key: Key,
}

impl<R: Right> FromRequestParts<App> for Write<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self> {
        let Allowed(permit) = <Allowed<R> as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        let RequestId(request_id) = RequestId::from_request_parts(parts, app).await?;
        let key = Key::from_request_parts(parts, app).await?;
        Ok(Self::new(app.clone(), permit, request_id, key))
    }
}

impl<R: Right> Write<R> {
    pub(crate) fn new(app: App, permit: Permit<R>, request_id: Arc<str>, key: Key) -> Self {
        Self { app, permit, request_id, key }
    }

    /// Makes the write, or answers as the first time. `body` is what was sent.
    pub(crate) async fn once<F>(self, body: &[u8], make: impl FnOnce(Self) -> F) -> Result<Response>
    where
        F: Future<Output = Result<JsonAnswer>> + Send + 'static,
    {
        let key = self.key.of(body);
        self.under(key, make).await
    }

    /// The same for a body with a secret in it: a plain digest of a weak one would be as good as the secret.
    pub(crate) async fn once_with_secret<F>(
        self,
        body: &[u8],
        make: impl FnOnce(Self) -> F,
    ) -> Result<Response>
    where
        F: Future<Output = Result<JsonAnswer>> + Send + 'static,
    {
        let key = self.key.of_secret(&self.app.engine, body);
        self.under(key, make).await
    }

    async fn under<F>(self, key: Option<IdempotencyKey>, make: impl FnOnce(Self) -> F) -> Result<Response>
    where
        F: Future<Output = Result<JsonAnswer>> + Send + 'static,
    {
        let Some(key) = key else { return make(self).await.map(IntoResponse::into_response) };
        let (app, caller) = (self.app.clone(), self.permit.caller().clone());
        let make = make(self);
        // A caller who hangs up ends its request, and must not leave a key behind that nobody closes.
        let made = async move { make_once(&app, &caller, &key, make).await };
        let made = tokio::spawn(made.in_current_span()).await;
        let made = made
            .unwrap_or_else(|_| Err(Problem::new(Code::Internal, "the server failed to do its own work")));
        made.map(IntoResponse::into_response)
    }
}

async fn make_once(
    app: &App,
    caller: &Caller,
    key: &IdempotencyKey,
    make: impl Future<Output = Result<JsonAnswer>>,
) -> Result<JsonAnswer> {
    match app.engine.once(caller, key).await? {
        Once::Again(answer) => Ok(JsonAnswer::from_stored(&answer)),
        Once::Make(claimed) => match make.await {
            Ok(made) => {
                app.engine.keep(claimed, made.to_stored()).await;
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
    use axum::http::Request;

    use super::*;

    #[tokio::test]
    async fn key_counts_for_a_method_and_a_path_and_is_bound_to_query_and_body() {
        let first = key("POST", "/api/tools/a.b/version?new_version=2.0.0", b"{}").await;
        let again = key("POST", "/api/tools/A.b/version?new_version=2.0.0", b"{}").await;
        assert_eq!((&again.route, again.body_hash), (&first.route, first.body_hash));
        for (method, target) in [
            ("PUT", "/api/tools/a.b/version?new_version=2.0.0"),
            ("POST", "/api/tools/a.c/version?new_version=2.0.0"),
            ("POST", "/api/tools/a.b/publish?new_version=2.0.0"),
        ] {
            assert_ne!(key(method, target, b"{}").await.route, first.route, "{method} {target}");
        }
        for (target, body) in [
            ("/api/tools/a.b/version?new_version=3.0.0", "{}"),
            ("/api/tools/a.b/version", "{}"),
            ("/api/tools/a.b/version?new_version=2.0.0", "{ }"),
        ] {
            let other = key("POST", target, body.as_bytes()).await;
            assert_eq!(other.route, first.route);
            assert_ne!(other.body_hash, first.body_hash, "{target} {body}");
        }
    }

    #[test]
    fn slugs_and_ids_are_the_same_in_any_case_and_versions_are_not() {
        let withdraw =
            |version| route(&Method::POST, &format!("/api/tools/Mine/versions/{version}/withdraw"));
        assert_eq!(withdraw("1.0.0-RC"), "POST /api/tools/mine/versions/1.0.0-RC/withdraw");
        assert_ne!(withdraw("1.0.0-RC"), withdraw("1.0.0-rc"));
        assert_eq!(route(&Method::POST, "/api/sessions"), "POST /api/sessions");
    }

    #[test]
    fn long_path_fits_an_index_and_is_told_from_another() {
        let long = |last| route(&Method::PATCH, &format!("/api/tools/{}{last}", "x".repeat(20_000)));
        assert!(long('a').len() < PATH_LEN_MAX);
        assert_ne!(long('a'), long('b'));
    }

    async fn key(method: &str, target: &str, body: &[u8]) -> IdempotencyKey {
        let request = Request::builder().method(method).uri(target).header("idempotency-key", "k");
        let (mut parts, ()) = request.body(()).unwrap().into_parts();
        Key::from_request_parts(&mut parts, &()).await.unwrap().of(body).unwrap()
    }
}
