//! Serving: HTTP/1.1 with limits on how slow and how large a request's head may be.

use std::{io, time::Duration};

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::Layer;

use crate::peer::Peer;

/// How long the head of a request may take to arrive.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
const HEADERS_MAX: usize = 100;
/// How much the head of a request may be, all of it: proxies take no more either.
const HEAD_BYTES_MAX: usize = 32 << 10;
/// How long what was sent may stay unheard of before the other side is taken to be gone. Without it the system goes
/// on trying for a quarter of an hour, and a worker that lost its network would keep its calls for as long.
#[cfg(target_os = "linux")]
const UNHEARD_MOST: Duration = Duration::from_secs(30);
/// How long open connections get to end after the stop.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves until `stop` fires and the open connections have ended, or have had time to.
pub async fn serve(listener: TcpListener, router: axum::Router, stop: CancellationToken) -> io::Result<()> {
    let connections = GracefulShutdown::new();
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_PATIENCE);
    http.max_headers(HEADERS_MAX).max_header_size(HEAD_BYTES_MAX).max_buf_size(64 << 10);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: give those in use a moment to be closed.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = stop.cancelled() => break,
        };
        // Answers are small; waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNHEARD_MOST));
        let service = Extension(Peer(peer.ip())).layer(router.clone());
        let service = TowerToHyperService::new(service);
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GOODBYE, connections.shutdown()).await.is_err() {
        tracing::info!("connections that stayed open were cut");
    }
    Ok(())
}
