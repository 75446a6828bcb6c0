//! Credentials: who is asking, and the right they need, as arguments of a handler.

use axum::{
    extract::{FromRequestParts, OptionalFromRequestParts},
    http::{HeaderMap, HeaderValue, Method, header, request::Parts},
};
use tw_base::{Error, Turn};
use tw_identity::{
    Freshness,
    rights::{Permit, Right},
};
use tw_model::{BearerError, Caller, Channel, Code};

use crate::{App, front, listed::ListPlace, problem::Problem};

/// The name of the cookie that holds a browser's login.
pub(crate) const COOKIE: &str = "toolwright_login";

/// Where a page says which tenant it shows.
const TENANT: &str = "x-toolwright-tenant";

/// A caller who holds the right `R`. Stands before the body in a handler, so that a stranger's bytes
/// are never read.
#[derive(Debug)]
pub(crate) struct Allowed<R>(pub(crate) Permit<R>);

/// A caller who holds the right `R` and asks for a list. A list can be long and its filter dear, so a tenant gets few of
/// them at once, and the place is kept until the page is written.
#[derive(Debug)]
pub(crate) struct AllowedList<R>(pub(crate) Permit<R>, pub(crate) ListPlace);

impl<R: Right> FromRequestParts<App> for Allowed<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let caller = caller(parts, app, Freshness::Now).await?;
        let is_agent = caller.principal.is_agent();
        Ok(Self(Permit::check(caller).map_err(|error| refused::<R>(error, is_agent))?))
    }
}

/// The refusal of a caller who lacks the right `R`. It names the permission where having it would help.
pub(crate) fn refused<R: Right>(error: Error, is_agent: bool) -> Problem {
    let is_lacking = matches!(error, Error::NotPermitted { .. }) && !is_agent;
    let problem = Problem::from(error);
    match R::ANY_OF.first() {
        Some(permission) if is_lacking => {
            problem.with("reason", "permission").with("permission", *permission)
        }
        _ => problem,
    }
}

impl<R: Right> FromRequestParts<App> for AllowedList<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Allowed(permit) = <Allowed<R> as FromRequestParts<App>>::from_request_parts(parts, app).await?;
        let place = app.lists.enter(permit.caller().tenant).await;
        Ok(Self(permit, ListPlace::new(place, &parts.headers)))
    }
}

impl<R: Right> OptionalFromRequestParts<App> for Allowed<R> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Option<Self>, Problem> {
        match <Self as FromRequestParts<App>>::from_request_parts(parts, app).await {
            Ok(allowed) => Ok(Some(allowed)),
            Err(problem) if problem.code() == Code::Unauthenticated => Ok(None),
            Err(problem) => Err(problem),
        }
    }
}

/// Who is asking.
pub(crate) async fn caller(parts: &Parts, app: &App, freshness: Freshness) -> Result<Caller, Problem> {
    let (identity, turn) = (app.engine.identity(), parts.extensions.get::<Turn>());
    let caller = match bearer(&parts.headers)? {
        Some(key) => {
            wait_unless(identity.knows_key(key), turn).await;
            identity.by_key(key, freshness).await?
        }
        None => {
            let token = cookie(&parts.headers).ok_or_else(no_credentials)?;
            refuse_forgery(parts)?;
            wait_unless(identity.knows_login(token), turn).await;
            let caller = identity.by_login(token, freshness).await?;
            refuse_other_tenant(parts, &caller)?;
            caller
        }
    };
    if let Some(turn) = turn {
        turn.take_as(caller.tenant).await;
    }
    let caller = caller.via(Channel::Rest, front::trace(&parts.headers));
    tracing::Span::current().record("tenant", tracing::field::display(&caller.tenant_slug));
    Ok(caller)
}

/// What nobody here knows is looked for in the database, and a stranger can send as much of it as it likes.
async fn wait_unless(is_known: bool, turn: Option<&Turn>) {
    if let Some(turn) = turn.filter(|_| !is_known) {
        turn.take_as_stranger().await;
    }
}

/// Who switches the tenant in one tab has another open in which the old one is written large. What is done there
/// must not land in the new one, so a page may say whom it believes to speak for.
fn refuse_other_tenant(parts: &Parts, caller: &Caller) -> Result<(), Problem> {
    let believed = parts.headers.get(TENANT).map(|value| value.to_str().unwrap_or_default());
    if believed.is_none_or(|slug| slug == caller.tenant_slug.as_str()) {
        return Ok(());
    }
    let why = format!("you are signed in to the tenant `{}` by now; load the page again", caller.tenant_slug);
    Err(Problem::new(Code::OtherTenant, why))
}

fn no_credentials() -> Problem {
    Problem::new(Code::Unauthenticated, "send `Authorization: Bearer <API key>`, or sign in")
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Problem> {
    let values = headers.get_all(header::AUTHORIZATION).iter().map(HeaderValue::as_bytes);
    tw_model::bearer(values).map_err(|error| match error {
        BearerError::Doubled => Problem::new(Code::BadRequest, error.to_string()),
        BearerError::NoBearer => no_credentials(),
    })
}

/// The login's token, if the browser sent one.
pub(crate) fn cookie(headers: &HeaderMap) -> Option<&str> {
    let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    cookies
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(name, value)| (name == COOKIE).then_some(value))
}

/// A browser sends its cookie whoever asks it to. It also says who asked, and pages of others may not.
///
/// The `Origin` header has been held against the hosts served here before, so what is left are requests
/// that a browser marks as coming from elsewhere.
pub(crate) fn refuse_forgery(parts: &Parts) -> Result<(), Problem> {
    if matches!(parts.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let site = parts.headers.get("sec-fetch-site").map(|value| value.as_bytes());
    match site {
        None | Some(b"same-origin" | b"none") => Ok(()),
        Some(_) => Err(Problem::new(Code::CsrfRejected, "a page of another site asked for this")),
    }
}
