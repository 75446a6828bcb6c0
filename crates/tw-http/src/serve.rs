//! Serving: HTTP/1.1 with limits on how slow and how large a request's head may be.

use std::{io, sync::Arc, time::Duration};

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
    service::TowerToHyperService,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
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

/// How many connections at the most are told that there are too many, and for how long each is listened to.
const TURNED_AWAY_MAX: usize = 64;
const TURNED_AWAY_FOR: Duration = Duration::from_secs(1);
const TURNED_AWAY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\n\
    Content-Type: text/plain\r\nContent-Length: 43\r\n\r\nthis server has too many open connections.\n";

/// Serves until `stop` fires and the open connections have ended, or have had time to. Of more connections at once
/// than `connections_max`, those that come last are turned away with 503.
pub async fn serve(
    listener: TcpListener,
    router: axum::Router,
    connections_max: usize,
    stop: CancellationToken,
) -> io::Result<()> {
    let free = Arc::new(Semaphore::new(connections_max.min(Semaphore::MAX_PERMITS)));
    let turned_away = Arc::new(Semaphore::new(TURNED_AWAY_MAX));
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
        let Ok(place) = Arc::clone(&free).try_acquire_owned() else {
            metrics::counter!("toolwright_connections_refused_total").increment(1);
            // Beyond these a connection is closed without a word.
            if let Ok(place) = Arc::clone(&turned_away).try_acquire_owned() {
                tokio::spawn(turn_away(stream, place));
            }
            continue;
        };
        // Answers are small; waiting for more to send would only delay them.
        let _ = stream.set_nodelay(true);
        #[cfg(target_os = "linux")]
        let _ = socket2::SockRef::from(&stream).set_tcp_user_timeout(Some(UNHEARD_MOST));
        let service = Extension(Peer(peer.ip())).layer(router.clone());
        let service = TowerToHyperService::new(service);
        let connection = connections.watch(http.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            let _place = place;
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

/// Says that there are too many connections. What the client sends is read for a moment: closed with bytes unread, the
/// connection would be reset, and the client would not see the answer.
async fn turn_away(mut stream: TcpStream, _place: OwnedSemaphorePermit) {
    let answer = async {
        stream.write_all(TURNED_AWAY).await?;
        stream.shutdown().await?;
        let mut unread = [0; 4096];
        while 0 < stream.read(&mut unread).await? {}
        io::Result::Ok(())
    };
    // Whether it was heard makes no difference to us.
    let _ = tokio::time::timeout(TURNED_AWAY_FOR, answer).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connection_too_many_is_turned_away_and_the_next_is_served_when_one_ends() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = axum::Router::new().route("/", axum::routing::get(async || "served"));
        let stop = CancellationToken::new();
        let served = tokio::spawn(serve(listener, router, 1, stop.clone()));
        let mut first = TcpStream::connect(address).await.unwrap();
        assert!(ask(&mut first).await.ends_with("served"));

        let mut second = TcpStream::connect(address).await.unwrap();
        let refused = ask(&mut second).await;
        assert!(refused.starts_with("HTTP/1.1 503 ") && refused.ends_with("connections.\n"), "{refused}");

        drop(first);
        let mut again = String::new();
        while !again.ends_with("served") {
            again = ask(&mut TcpStream::connect(address).await.unwrap()).await;
        }
        stop.cancel();
        served.await.unwrap().unwrap();
    }

    async fn ask(stream: &mut TcpStream) -> String {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        let mut answer = Vec::new();
        while !answer.ends_with(b"served") {
            match stream.read_buf(&mut answer).await {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
        }
        String::from_utf8(answer).unwrap()
    }
}
