//! `Idempotency-Key`: the same request again gets the same answer.

use axum::{
    extract::FromRequestParts,
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use tw_engine::{IdempotencyKey, Once};
use tw_model::{Caller, Code};

use crate::{
    App,
    problem::{Problem, Result},
};

/// The header's value, if it was sent.
#[derive(Debug)]
pub(crate) struct Key(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for Key {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        let Some(value) = parts.headers.get("idempotency-key") else { return Ok(Self(None)) };
        let key = value.to_str().ok().filter(|key| (1..=255).contains(&key.len()));
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
pub(crate) struct Answered<T> {
    pub(crate) status: StatusCode,
    pub(crate) body: T,
    /// The answer without its one-time secret, where it has one.
    pub(crate) kept: Option<T>,
}

/// Makes a write once under its key, or answers as the first time.
pub(crate) async fn once<T: Serialize>(
    app: &App,
    caller: &Caller,
    key: Option<IdempotencyKey>,
    make: impl Future<Output = Result<Answered<T>>>,
) -> Result<Response> {
    let Some(key) = key else {
        let made = make.await?;
        return Ok((made.status, axum::Json(made.body)).into_response());
    };
    match app.engine.once(caller, &key).await? {
        Once::Again { status, body } => {
            let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
            Ok((status, [(header::CONTENT_TYPE, "application/json")], body).into_response())
        }
        Once::Make => match make.await {
            Ok(made) => {
                let kept = serde_json::to_string(made.kept.as_ref().unwrap_or(&made.body));
                let kept = kept.expect("answers are plain JSON");
                app.engine.keep(caller, &key, made.status.as_u16(), &kept).await?;
                Ok((made.status, axum::Json(made.body)).into_response())
            }
            Err(problem) => {
                app.engine.release(caller, &key).await?;
                Err(problem)
            }
        },
    }
}
