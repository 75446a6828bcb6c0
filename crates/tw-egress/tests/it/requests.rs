//! What is sent, and what is not.

use std::{env, process::Stdio};

use tokio::process::Command;
use tw_egress::{Error, Method, Request};
use tw_test::Upstream;

use crate::egress_to;

#[tokio::test]
async fn request_arrives_as_it_was_made() {
    let upstream = Upstream::start().await;
    let request = Request::new(Method::Post, upstream.url("/a/b%2Fc?q=1&r=%20#fragment"))
        .header("X-Key", "grün")
        .header("Accept", "application/json")
        .body("{}");
    egress_to(&upstream).send(request).await.unwrap();

    let asked = upstream.requests().remove(0);
    assert_eq!((asked.method.as_str(), asked.path.as_str()), ("POST", "/a/b%2Fc?q=1&r=%20"));
    assert_eq!(asked.body, b"{}");
    assert_eq!(asked.header("x-key"), Some("grün"));
    assert_eq!(asked.header("host"), Some(upstream.host_and_port().as_str()));
    assert_eq!(asked.header("accept-encoding"), Some("gzip"));
    assert_eq!(asked.header("content-length"), Some("2"));
    assert!(asked.header("user-agent").unwrap().starts_with("toolwright/"));
    for absent in ["cookie", "referer", "authorization", "proxy-authorization", "expect"] {
        assert_eq!(asked.header(absent), None, "{absent}");
    }
}

/// RFC 9110, section 8.6. Servers that are strict about it answer with 411.
#[tokio::test]
async fn request_that_could_have_a_body_says_that_it_has_none() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for method in Method::ALL {
        egress.send(Request::new(*method, upstream.url("/cookies"))).await.unwrap();
        let expected = matches!(method, Method::Post | Method::Put | Method::Patch).then_some("0");
        let asked = upstream.requests().pop().unwrap();
        assert_eq!(asked.header("content-length"), expected, "{method:?}");
        assert_eq!(asked.header("transfer-encoding"), None, "{method:?}");
    }
}

#[tokio::test]
async fn caller_may_name_its_own_agent() {
    let upstream = Upstream::start().await;
    let request = Request::get(upstream.url("/")).header("User-Agent", "mine");
    egress_to(&upstream).send(request).await.unwrap();
    let head = &upstream.requests()[0].head;
    assert_eq!(head.to_lowercase().matches("user-agent: mine").count(), 1, "{head}");
    assert_eq!(head.to_lowercase().matches("user-agent").count(), 1, "{head}");
}

#[tokio::test]
async fn every_method_is_sent_by_its_name() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    for method in Method::ALL {
        assert_eq!(method.as_str().parse(), Ok(*method));
        // An answer to HEAD has no body, so it goes where none is sent.
        egress.send(Request::new(*method, upstream.url("/cookies"))).await.unwrap();
        assert_eq!(upstream.requests().last().unwrap().method, method.as_str());
    }
    for other in ["CONNECT", "TRACE", "get", "GET ", "G\r\nET", ""] {
        assert!(matches!(other.parse::<Method>(), Err(Error::BadRequest { .. })), "{other:?}");
    }
}

#[tokio::test]
async fn header_that_would_change_the_request_is_refused_before_sending() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let table = [
        ("x-a", "b\r\nx-c: d"),
        ("x-a", "b\nx-c: d"),
        ("x-a", "b\rc"),
        ("x-a", "b\0c"),
        ("x-a\r\nx-b", "c"),
        ("x a", "b"),
        ("", "b"),
        ("Host", "evil.test"),
        ("content-length", "0"),
        ("Transfer-Encoding", "chunked"),
        ("connection", "upgrade"),
        ("Upgrade", "h2c"),
        ("te", "trailers"),
        ("trailer", "x-a"),
        ("expect", "100-continue"),
        ("keep-alive", "timeout=1"),
        ("proxy-authorization", "Basic x"),
        ("Accept-Encoding", "br"),
    ];
    for (name, value) in table {
        let request = Request::get(upstream.url("/")).header(name, value);
        let error = egress.send(request).await.unwrap_err();
        assert!(matches!(error, Error::BadRequest { .. }), "{name:?}: {error:?}");
        assert!(value.len() < 5 || !error.to_string().contains(value), "{error}");
    }
    assert_eq!(upstream.connections(), 0);
}

#[tokio::test]
async fn secrets_show_in_no_error_and_in_no_debug() {
    const SECRET: &str = "hunter2";
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);
    let paths = ["/hang", "/reset", "/bad-chunk", "/big-header", "/no-http", "/huge", "/brotli"];
    let sites = paths.map(|path| upstream.url(path)).into_iter().chain([
        "http://10.0.0.1/".to_owned(),
        "https://user:hunter2@example.com/".to_owned(),
        "ftp://user:hunter2@example.com/".to_owned(),
        "http://user:hunter2@[::1%25lo]/".to_owned(),
        format!("https://{}/", upstream.host_and_port()),
    ]);
    for url in sites {
        let request = Request::get(format!("{url}/{SECRET}?key={SECRET}#{SECRET}"))
            .header("authorization", format!("Bearer {SECRET}"))
            .header("x-key", SECRET)
            .body(SECRET)
            .timeout(crate::SOON);
        assert!(!format!("{request:?}").contains(SECRET), "{request:?}");
        // The path was made longer, so some of these are ordinary answers now; those have no error.
        if let Err(error) = egress.send(request).await {
            assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
        }
        let request = Request::get(format!("{url}?key={SECRET}")).header("x", SECRET).timeout(crate::SOON);
        let error = egress.send(request).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(SECRET), "{error:?}");
    }

    let echo = Request::get(upstream.url("/echo")).header("x-key", SECRET);
    let response = egress.send(echo).await.unwrap();
    assert!(!format!("{response:?} {egress:?}").contains(SECRET));
}

#[tokio::test]
async fn plain_request_is_answered() {
    let upstream = Upstream::start().await;
    assert_eq!(egress_to(&upstream).send(Request::get(upstream.url("/"))).await.unwrap().body, "hello");
}

/// The environment belongs to the whole process, so a process of its own gets it: this program again,
/// with the test above.
#[tokio::test]
async fn proxies_of_the_environment_are_ignored() {
    let proxy = Upstream::start().await;
    let mut child = Command::new(env::current_exe().unwrap());
    for name in ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"] {
        child.env(name, proxy.url(""));
    }
    child.env_remove("NO_PROXY").env_remove("no_proxy").stdout(Stdio::piped());
    let output = child.args(["requests::plain_request_is_answered", "--exact"]).output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    assert_eq!(proxy.connections(), 0);
}
