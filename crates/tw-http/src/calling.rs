//! Requests that call a tool: right, name, key and body, in this order.
//!
//! Such a request counts against the rate limits also when it is refused here, before the engine sees the call.

use axum::{
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Request},
};
use tw_identity::{
    Freshness,
    rights::{Permit, Right},
};

use crate::{
    App, auth,
    body::JsonBytes,
    idempotent::Key,
    members::Body,
    problem::{Problem, Result},
    query::ToolName,
};

/// The body of a request that calls a tool.
pub(crate) trait CallBody: Body + Send + Sync {
    type Right: Right;
    /// What memory says of a caller is enough where the log refuses the start of a run if it is no longer true.
    const FRESHNESS: Freshness = Freshness::Now;

    /// Checks what the type alone does not.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// A request that calls a tool, by a caller who holds the right that it needs.
#[derive(Debug)]
pub(crate) struct Calling<T: CallBody> {
    pub(crate) permit: Permit<T::Right>,
    pub(crate) tool: String,
    pub(crate) key: Key,
    pub(crate) body: T,
    pub(crate) bytes: Bytes,
}

impl<T: CallBody> FromRequest<App> for Calling<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self> {
        let (mut parts, body) = request.into_parts();
        let caller = auth::caller(&parts, app, T::FRESHNESS).await?;
        // A name that cannot be read is told of after the right is checked.
        let name = ToolName::from_request_parts(&mut parts, app).await.map(|ToolName(name)| name);
        let shown = name.as_deref().unwrap_or_default().to_owned();
        let permit = match Permit::<T::Right>::check(caller.clone()) {
            Ok(permit) => permit,
            Err(error) => {
                let error = app.engine.refuse(&caller, &shown, error).await;
                return Err(auth::refused::<T::Right>(error, caller.principal.is_agent()));
            }
        };
        let read = async {
            let (tool, key) = (name?, Key::from_request_parts(&mut parts, app).await?);
            let request = Request::from_parts(parts, body);
            let JsonBytes(body, bytes) = JsonBytes::<T>::from_request(request, app).await?;
            body.check()?;
            Ok((tool, key, body, bytes))
        };
        let (tool, key, body, bytes) = match read.await {
            Ok(read) => read,
            Err(problem) => {
                app.engine.count_refused(&caller, &shown).await?;
                return Err(problem);
            }
        };
        Ok(Self { permit, tool, key, body, bytes })
    }
}
