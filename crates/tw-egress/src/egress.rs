//! The client: reads the URL, asks the guard, sends, and hands out the answer.

use std::{fmt, sync::Arc};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{self, Client},
    rt::{TokioExecutor, TokioTimer},
};
use rustls::{RootCertStore, crypto::ring, pki_types::CertificateDer};
use tokio::time::{Instant, timeout_at};

use crate::{
    address::Class,
    answer::{Bounds, OpenResponse, Response},
    connect::{Connector, Dialer},
    error::{Error, Site},
    failure,
    guard::{self, Host},
    limits::RequestLimits,
    line::Line,
    policy::Policy,
    request::Request,
    resolve::{Lookups, Resolve, System},
    target::ParsedUrl,
};

/// The client for everything outside. Cheap to clone; clones share their connections.
///
/// It keeps no cookies, sends no referrer, follows no redirect, and does not look at the proxies of
/// the environment: a proxy would connect in our place, behind the guard's back. A future that is
/// dropped takes its request with it.
#[derive(Clone)]
pub struct Egress {
    client: Client<Connector, Full<Bytes>>,
    connector: Connector,
    policy: Arc<Policy>,
    limits: RequestLimits,
    trace: Option<Arc<str>>,
    observer: Option<Arc<dyn Observe>>,
    about: Option<Arc<str>>,
}

/// What an [`Egress`] is made of, where it is not the usual.
#[derive(Debug)]
pub struct Builder {
    policy: Policy,
    limits: RequestLimits,
    resolver: Arc<dyn Resolve>,
    trusted: Vec<Vec<u8>>,
    observer: Option<Arc<dyn Observe>>,
}

impl Egress {
    /// A client with the usual limits, the system's resolver and the system's certificates.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self::builder(policy).build()
    }

    #[must_use]
    pub fn builder(policy: Policy) -> Builder {
        Builder {
            policy,
            limits: RequestLimits::default(),
            resolver: Arc::new(System),
            trusted: Vec::new(),
            observer: None,
        }
    }

    /// The same rules, with connections and look-ups of its own.
    ///
    /// For each tenant: what a site still has to say on a connection is then heard by the tenant that
    /// opened it, and by nobody else; and slow names of one tenant hold up that tenant alone.
    #[must_use]
    pub fn apart(&self) -> Self {
        let connector = self.connector.apart();
        Self { client: client(connector.clone(), &self.limits), connector, ..self.clone() }
    }

    /// The same client, which tells others what its requests are part of: a `traceparent`, unless a request has
    /// one of its own.
    #[must_use]
    pub fn traced(self, parent: &str) -> Self {
        Self { trace: Some(parent.into()), ..self }
    }

    /// The same client, whose requests are about this, such as a language model, for whoever observes them.
    #[must_use]
    pub fn about(self, what: &str) -> Self {
        Self { about: Some(what.into()), ..self }
    }

    /// Refuses what can be refused without asking a name server or sending anything, such as when a
    /// tool is saved. What passes is checked again, and fully, when it is called.
    pub fn check(&self, url: &str) -> Result<(), Error> {
        self.read(url).map(drop)
    }

    /// Whether an operator wrote down the host and port of a URL, or a range that its address is in. What a host's name
    /// resolves to is not asked.
    #[must_use]
    pub fn lists(&self, url: &str) -> bool {
        ParsedUrl::read(url).is_ok_and(|target| {
            let name = match &target.host {
                Host::Address(_) => None,
                Host::Name(name) => Some(name.as_str()),
            };
            self.policy.lists(name, &target.host.known().unwrap_or_default(), target.port)
        })
    }

    /// Sends a request and reads the whole answer.
    pub async fn send(&self, request: Request) -> Result<Response, Error> {
        self.open(request).await?.read().await
    }

    /// Sends a request and returns once the head of the answer is there.
    pub async fn open(&self, request: Request) -> Result<OpenResponse, Error> {
        let (Some(observer), Some(parent)) = (&self.observer, &self.trace) else {
            return self.open_unseen(request).await;
        };
        let (method, site) = (request.method.as_str(), Site::in_text(&request.url).to_string());
        let began = Instant::now();
        let opened = self.open_unseen(request).await;
        observer.exchanged(&Exchange {
            parent,
            method,
            site: &site,
            about: self.about.as_deref(),
            took: began.elapsed(),
            outcome: opened.as_ref().map(|answer| answer.status),
        });
        opened
    }

    async fn open_unseen(&self, request: Request) -> Result<OpenResponse, Error> {
        let target = self.read(&request.url)?;
        let after = request.time(&self.limits);
        let bounds = Bounds {
            site: target.site.clone(),
            method: request.method,
            after,
            end: Instant::now() + after,
            body_max: request.answer_max(&self.limits),
        };
        let mut wire = request.into_wire(&target)?;
        if let Some(parent) = self.trace.as_deref().and_then(|parent| parent.parse().ok()) {
            wire.headers_mut().entry("traceparent").or_insert(parent);
        }
        let mut sent = exchange(&self.client, wire.clone(), &bounds).await?;
        if bounds.method.is_safe() && sent.as_ref().is_err_and(failure::is_stale) {
            // Through a client of its own: the other connections that were kept may be as stale.
            sent = exchange(&client(self.connector.clone(), &self.limits), wire, &bounds).await?;
        }
        let (answer, line) =
            sent.map_err(|error| failure::of_exchange(&error, &target.site, &self.limits))?;
        let (head, body) = answer.into_parts();
        OpenResponse::new(head, body, bounds, line)
    }

    fn read(&self, url: &str) -> Result<ParsedUrl, Error> {
        let target = ParsedUrl::read(url)?;
        if let Some(known) = target.host.known() {
            let denied = |class: Class| Error::Denied { site: target.site.clone(), class };
            guard::choose(&self.policy, &target.host, target.port, &known).map_err(denied)?;
        }
        // Last, so that `http://public.example@127.0.0.1` is refused for where it leads.
        if target.names_somebody {
            return Err(Error::BadUrl { why: "it carries a user name; credentials go into a header" });
        }
        Ok(target)
    }
}

impl Builder {
    #[must_use]
    pub fn limits(mut self, limits: RequestLimits) -> Self {
        self.limits = limits;
        self
    }

    #[must_use]
    pub fn resolver(mut self, resolver: impl Resolve) -> Self {
        self.resolver = Arc::new(resolver);
        self
    }

    /// Trusts one more authority, given as a certificate in DER.
    #[must_use]
    pub fn trust(mut self, authority: impl Into<Vec<u8>>) -> Self {
        self.trusted.push(authority.into());
        self
    }

    /// Names one who hears of every request that is part of a trace.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn Observe>) -> Self {
        self.observer = Some(observer);
        self
    }

    #[must_use]
    pub fn build(self) -> Egress {
        let policy = Arc::new(self.policy);
        let lookups = Lookups::new(self.resolver);
        let dialer = Dialer { policy: Arc::clone(&policy), lookups, within: self.limits.connect };
        let tls = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring speaks every version of TLS that is safe")
            .with_root_certificates(roots(self.trusted))
            .with_no_client_auth();
        let connector = Connector::new(dialer, Arc::new(tls), self.limits.head_max());
        Egress {
            client: client(connector.clone(), &self.limits),
            connector,
            policy,
            limits: self.limits,
            trace: None,
            observer: self.observer,
            about: None,
        }
    }
}

/// A request that was made, and what came of it.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// The `traceparent` that it is part of.
    pub parent: &'a str,
    pub method: &'static str,
    /// Scheme, host and port. What is behind them can hold a key.
    pub site: &'a str,
    pub about: Option<&'a str>,
    /// Until the head of the answer was there.
    pub took: std::time::Duration,
    pub outcome: Result<u16, &'a Error>,
}

/// Somebody who hears of requests.
pub trait Observe: Send + Sync + fmt::Debug {
    fn exchanged(&self, exchange: &Exchange<'_>);
}

type Arrived = (http::Response<Incoming>, Line);

/// Sends a request once and waits for the head of its answer.
async fn exchange(
    client: &Client<Connector, Full<Bytes>>,
    mut wire: http::Request<Full<Bytes>>,
    bounds: &Bounds,
) -> Result<Result<Arrived, legacy::Error>, Error> {
    let line = Line::of(&mut wire);
    let answer = timeout_at(bounds.end, client.request(wire)).await.map_err(|_| bounds.late())?;
    Ok(answer.map(|answer| (answer, line)))
}

fn client(connector: Connector, limits: &RequestLimits) -> Client<Connector, Full<Bytes>> {
    Client::builder(TokioExecutor::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(limits.idle)
        .pool_max_idle_per_host(limits.idle_per_host)
        .http1_max_buf_size(limits.head_max())
        .http1_max_headers(limits.headers)
        .build(connector)
}

/// The authorities of the system. A slim image may have none; then those of Mozilla stand in.
fn roots(more: Vec<Vec<u8>>) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if roots.is_empty() {
        tracing::warn!("this system has no CA certificates; using the built-in ones");
        roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let (_, unreadable) = roots.add_parsable_certificates(more.into_iter().map(CertificateDer::from));
    if unreadable > 0 {
        tracing::warn!(unreadable, "some certificates of authorities cannot be read and are left out");
    }
    roots
}

impl fmt::Debug for Egress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Egress").field("policy", &self.policy).field("limits", &self.limits).finish()
    }
}
