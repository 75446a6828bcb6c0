//! The REST door: requests in, one call of the engine, answers out.
//!
//! A handler turns its request into what the engine understands, asks it once, and turns the answer
//! into JSON. It never touches the store, never decides who may do what, and never makes up a status:
//! `problem.rs` is the one place where an error becomes HTTP.
//!
//! Start with [`router`], then `routes/`; `auth.rs` says how a right becomes an argument of a handler,
//! `idempotent.rs` how a write is made once, and `calling.rs` how a call is read.

mod answer;
mod auth;
mod body;
mod book;
mod calling;
mod compress;
mod front;
mod idempotent;
mod listed;
mod members;
mod object;
mod pages;
mod peer;
mod problem;
mod query;
mod routes;
mod serve;

use std::{fmt, sync::Arc};

use tw_base::{Lanes, Turns};
use tw_engine::Engine;

pub use front::Hosts;
pub use pages::icon_path;
pub use peer::{AddressRange, NoAddressRange};
pub use routes::openapi;
pub use serve::serve;

/// What the door needs to know beside the engine.
#[derive(Clone)]
pub struct HttpSettings {
    /// Where people and programs reach this server, when that is not the address it listens on.
    pub public_url: Option<String>,
    pub allowed_hosts: Vec<String>,
    pub allowed_origins: Vec<String>,
    /// Whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<AddressRange>,
    /// Bytes of a request's body.
    pub body_limit: usize,
    /// Whether `/metrics` may be read without a key.
    pub metrics_public: bool,
    pub render_metrics: Arc<dyn Fn() -> String + Send + Sync>,
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("public_url", &self.public_url)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .field("body_limit", &self.body_limit)
            .finish_non_exhaustive()
    }
}

/// What every handler can get at.
#[derive(Clone, Debug)]
pub(crate) struct App {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<HttpSettings>,
    pub(crate) hosts: Arc<Hosts>,
    /// Where lists are put together.
    pub(crate) lists: Lanes,
    pub(crate) turns: Turns,
}

/// The whole door, ready to be served, with what other doors serve behind the same front.
pub fn router(engine: Engine, settings: HttpSettings, others: axum::Router) -> axum::Router {
    let hosts = Arc::new(Hosts::new(&settings));
    let (lists, turns) = (Lanes::for_processors(), Turns::default());
    let app = App { engine, settings: Arc::new(settings), hosts, lists, turns };
    let (router, _) = routes::routes().split_for_parts();
    front::wrap(
        router
            .layer(compress::layer())
            .merge(pages::routes())
            .merge(others.with_state(()))
            .fallback(pages::nowhere)
            .method_not_allowed_fallback(problem::no_such_method),
        &app,
    )
    .with_state(app)
}
