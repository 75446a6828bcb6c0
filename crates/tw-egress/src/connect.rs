//! Makes connections: the one host of the house where a socket is opened to somewhere else.
//!
//! Whatever asks for a connection (a first try, another one behind a connection that went stale) comes
//! through [`Connector`], literal addresses and names alike. The guard judges the very addresses that
//! are handed to the socket.

use std::{
    error, io,
    net::SocketAddr,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures::future::BoxFuture;
use http::{Uri, uri};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::rt::TokioIo;
use tokio::{net::TcpStream, time::timeout};
use tower::Service;

use crate::{
    address::Class,
    error::Obstacle,
    guard::{self, Host},
    policy::Policy,
    resolve::Lookups,
    stream::Stream,
};

/// Why no connection was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ConnectFailure {
    #[error("the address is refused")]
    Denied(Class),
    #[error("{0}")]
    Unreachable(Obstacle),
}

/// Dials, and shakes hands where the scheme asks for it, within one time limit.
#[derive(Clone, Debug)]
pub(crate) struct Connector {
    https: HttpsConnector<Dialer>,
    dialer: Dialer,
    tls: Arc<rustls::ClientConfig>,
    head_bytes: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Dialer {
    pub(crate) policy: Arc<Policy>,
    pub(crate) lookups: Lookups,
    pub(crate) within: Duration,
}

type BoxError = Box<dyn error::Error + Send + Sync>;

impl Connector {
    pub(crate) fn new(dialer: Dialer, tls: Arc<rustls::ClientConfig>, head_bytes: usize) -> Self {
        let https = HttpsConnector::from((dialer.clone(), Arc::clone(&tls)));
        Self { https, dialer, tls, head_bytes }
    }

    /// The same, with a lane of its own for look-ups.
    pub(crate) fn apart(&self) -> Self {
        let dialer = Dialer { lookups: self.dialer.lookups.apart(), ..self.dialer.clone() };
        Self::new(dialer, Arc::clone(&self.tls), self.head_bytes)
    }
}

impl Service<Uri> for Connector {
    // Around the handshake, where the words of the other side can be read.
    type Response = TokioIo<Stream<TokioIo<MaybeHttpsStream<TokioIo<TcpStream>>>>>;
    type Error = ConnectFailure;
    type Future = BoxFuture<'static, Result<Self::Response, ConnectFailure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = timeout(self.dialer.within, self.https.call(uri));
        let head_bytes = self.head_bytes;
        Box::pin(async move {
            let connected = connecting.await.map_err(|_| ConnectFailure::Unreachable(Obstacle::TimedOut))?;
            let connected = connected.map_err(|error| sorted(&error))?;
            Ok(TokioIo::new(Stream::new(TokioIo::new(connected), head_bytes)))
        })
    }
}

impl Service<Uri> for Dialer {
    type Response = TokioIo<TcpStream>;
    type Error = ConnectFailure;
    type Future = BoxFuture<'static, Result<Self::Response, ConnectFailure>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), ConnectFailure>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let dialer = self.clone();
        Box::pin(async move {
            let host = Host::read(uri.host().unwrap_or_default());
            let usual = if uri.scheme() == Some(&uri::Scheme::HTTPS) { 443 } else { 80 };
            dialer.dial(&host, uri.port_u16().unwrap_or(usual)).await.map(TokioIo::new)
        })
    }
}

impl Dialer {
    async fn dial(&self, host: &Host, port: u16) -> Result<TcpStream, ConnectFailure> {
        let addresses = match (host.known(), host) {
            (Some(known), _) => known,
            (None, Host::Name(name)) => self.lookups.find(name).await.map_err(ConnectFailure::Unreachable)?,
            (None, Host::Address(address)) => vec![*address],
        };
        let open = guard::choose(&self.policy, host, port, &addresses).map_err(ConnectFailure::Denied)?;
        self.connect(&open).await.map_err(ConnectFailure::Unreachable)
    }

    /// Tries one address after the other. Each has its share of the time, so that the first one cannot
    /// use up what the second needs.
    async fn connect(&self, addresses: &[SocketAddr]) -> Result<TcpStream, Obstacle> {
        let share = self.within / u32::try_from(addresses.len().max(1)).unwrap_or(u32::MAX);
        let mut obstacle = Obstacle::NoAddress;
        for address in addresses {
            match timeout(share, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => {
                    // Waiting to fill a packet helps nobody who waits for an answer.
                    let _ = stream.set_nodelay(true);
                    return Ok(stream);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    obstacle = Obstacle::Refused;
                }
                Ok(Err(_)) => obstacle = Obstacle::NoRoute,
                Err(_) => obstacle = Obstacle::TimedOut,
            }
        }
        Err(obstacle)
    }
}

/// What is not from the dialer is from the handshake, which wraps its errors in others.
fn sorted(error: &BoxError) -> ConnectFailure {
    if let Some(failure) = error.downcast_ref::<ConnectFailure>() {
        return *failure;
    }
    let mut cause: Option<&(dyn error::Error + 'static)> = Some(&**error);
    while let Some(error) = cause {
        if let Some(rustls::Error::InvalidCertificate(_)) = error.downcast_ref() {
            return ConnectFailure::Unreachable(Obstacle::Untrusted);
        }
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        cause = inner.map(|inner| inner as _).or_else(|| error.source());
    }
    ConnectFailure::Unreachable(Obstacle::Handshake)
}
