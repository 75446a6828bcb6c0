//! TLS, with an authority made for this test: `authority.der` signed `upstream.der` for
//! `upstream.test`, until the year 2126.

use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};
use tokio_rustls::TlsAcceptor;
use tw_egress::{Egress, Error, Obstacle, Request};
use tw_test::Upstream;

use crate::{SOON, limits, names::Names, policy};

const AUTHORITY: &[u8] = include_bytes!("tls/authority.der");
const CERTIFICATE: &[u8] = include_bytes!("tls/upstream.der");
const KEY: &[u8] = include_bytes!("tls/upstream.key.der");

#[tokio::test]
async fn site_with_a_certificate_of_a_trusted_authority_is_called() {
    let port = serve().await;
    let egress = to(port, "upstream.test").trust(AUTHORITY).build();
    let response = egress.send(Request::get(format!("https://upstream.test:{port}/"))).await.unwrap();
    assert_eq!(response.body, "hello");
}

#[tokio::test]
async fn certificate_of_a_stranger_or_for_another_name_is_refused() {
    let port = serve().await;
    let strangers = to(port, "upstream.test").build();
    let other_name = to(port, "other.test").trust(AUTHORITY).build();
    for (egress, host) in [(strangers, "upstream.test"), (other_name, "other.test")] {
        let error = egress.send(Request::get(format!("https://{host}:{port}/"))).await.unwrap_err();
        assert!(matches!(error, Error::Unreachable { why: Obstacle::Untrusted, .. }), "{host}: {error:?}");
        assert!(!error.is_retryable() && !error.effect_possible());
    }
}

#[tokio::test]
async fn site_without_tls_is_not_called_over_https() {
    let upstream = Upstream::start().await;
    let egress =
        crate::builder_to(&upstream).limits(tw_egress::RequestLimits { connect: SOON, ..limits() }).build();
    let error = egress.send(Request::get(upstream.url("/").replace("http:", "https:"))).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { why: Obstacle::TimedOut, .. }), "{error:?}");
}

fn to(port: u16, name: &str) -> tw_egress::Builder {
    let names = Names::default().with(name, &[&["127.0.0.1"]]);
    Egress::builder(policy(&[&format!("{name}:{port}")])).resolver(names).limits(limits())
}

/// Answers every request with `hello`.
async fn serve() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(KEY));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(CERTIFICATE)], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").await;
            let _ = stream.shutdown().await;
        }
    });
    port
}
