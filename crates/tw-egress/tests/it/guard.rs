//! Nothing that is forbidden is ever connected.

use tokio::net::TcpListener;
use tw_egress::{Class, Egress, Error, Policy, Reach, Request};
use tw_test::Upstream;

use crate::{egress_to, limits, names::Names, policy};

/// Ways to write an address of this machine. `PORT` is where the listener that counts is.
const LOOPBACK: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://0x7f000001:PORT/",
    "http://0X7F.0.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://017700000001:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.0x0.1:PORT/",
    "http://00000177.0.0.00001:PORT/",
    "http:127.0.0.1:PORT/",
    "http:/127.0.0.1:PORT/",
    "http:\\\\127.0.0.1:PORT/",
    "http:////127.0.0.1:PORT/",
    "HTTP://127.0.0.1:PORT/",
    " http://127.0.0.1:PORT/ ",
    "ht\ntp://127.0.\t0.1:PORT/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://127%2e0%2e0%2e1:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://①②⑦.⓪.⓪.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://127.0.0.1\u{ad}:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://ｌｏｃａｌｈｏｓｔ:PORT/",
    "http://%6cocalhost:PORT/",
    "http://app.localhost:PORT/",
];

/// Other places that are not for everybody, and other ways to get to this machine.
const ELSEWHERE: &[&str] = &[
    "http://0.0.0.0:PORT/",
    "http://0:PORT/",
    "http://127.255.255.254:PORT/",
    "http://[::]:PORT/",
    "http://[::1]:PORT/",
    "http://[0000::0001]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::127.0.0.1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://[::1%lo]:PORT/",
    "http://[fe80::1%25eth0]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fd00::1]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[ff02::1]:PORT/",
    "http://10.0.0.1:PORT/",
    "http://172.16.0.1:PORT/",
    "http://192.168.0.1:PORT/",
    "http://100.64.0.1:PORT/",
    "http://192.0.2.1:PORT/",
    "http://198.18.0.1:PORT/",
    "http://224.0.0.1:PORT/",
    "http://240.0.0.1:PORT/",
    "http://255.255.255.255:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::ffff:169.254.169.254]/",
    "http://2852039166/",
    "http://user:password@127.0.0.1:PORT/",
    "http://example.com@127.0.0.1:PORT/",
    "http://example.com:80@localhost:PORT/",
    "http://example.com\\@127.0.0.1:PORT/",
    "http://127.0.0.1:PORT#@example.com/",
    "http://127.0.0.1:PORT?@example.com/",
    "http://inside.test:PORT/",
    "http://mixed.test:PORT/",
    "http://mapped.test:PORT/",
    "http://xn--bcher-kva.test:PORT/",
    "http://BÜCHER.test.:PORT/",
    "https://127.0.0.1:PORT/",
    "https://inside.test:PORT/",
    // Numbers that are no address, and letters that no host has.
    "http://127.0.0.1.1:PORT/",
    "http://256.0.0.1:PORT/",
    "http://0x100000000:PORT/",
    "http://127.0.0.1%00.example.com:PORT/",
    "http://127.0.0.1%0d%0a:PORT/",
];

fn names() -> Names {
    Names::default()
        .with("inside.test", &[&["127.0.0.1"]])
        .with("mixed.test", &[&["8.8.8.8", "127.0.0.1"]])
        .with("mapped.test", &[&["::ffff:127.0.0.1"]])
        .with("xn--bcher-kva.test", &[&["127.0.0.1"]])
        .with("example.com", &[&["127.0.0.1"]])
        .with("metadata.test", &[&["169.254.169.254"]])
}

#[tokio::test]
async fn forbidden_address_is_refused_in_every_spelling_and_never_connected() {
    let upstream = Upstream::start().await;
    let egress = Egress::builder(policy(&[])).resolver(names()).limits(limits()).build();

    for spelling in LOOPBACK.iter().chain(ELSEWHERE) {
        let url = spelling.replace("PORT", &upstream.port().to_string());
        let error = egress.send(Request::get(&url)).await.unwrap_err();
        assert!(matches!(error, Error::Denied { .. }), "{spelling}: {error:?}");
        assert!(error.to_string().contains("`egress.allow`"), "{error}");
        assert!(!error.is_retryable() && !error.effect_possible());
    }
    assert_eq!(upstream.connections(), 0);
}

/// Shows that the meter measures: the very spellings of above, once allowed, do arrive.
#[tokio::test]
async fn allowed_address_is_connected_in_every_spelling() {
    let upstream = Upstream::start().await;
    let egress = egress_to(&upstream);

    for spelling in LOOPBACK {
        let url = spelling.replace("PORT", &upstream.port().to_string());
        let response = egress.apart().send(Request::get(&url)).await;
        assert_eq!(response.unwrap_or_else(|error| panic!("{spelling}: {error}")).body, "hello");
    }
    assert_eq!(upstream.connections(), LOOPBACK.len());
}

#[tokio::test]
async fn refusal_names_the_kind_of_address_and_the_setting() {
    let egress = Egress::builder(policy(&[])).resolver(names()).limits(limits()).build();
    let table = [
        (
            "http://10.0.0.1:8080/a?key=secret",
            "`http://10.0.0.1:8080` resolves to a private address; an operator can allow it with `egress.allow`",
        ),
        (
            "https://inside.test/a",
            "`https://inside.test` resolves to a loopback address; an operator can allow it with `egress.allow`",
        ),
        (
            "http://metadata.test/",
            "`http://metadata.test` resolves to a cloud metadata address, which must not be called; `egress.allow` cannot change that",
        ),
        (
            "http://[::1%25lo]/",
            "the URL names an address that cannot be read; no entry of `egress.allow` can open it",
        ),
    ];
    for (url, expected) in table {
        assert_eq!(egress.send(Request::get(url)).await.unwrap_err().to_string(), expected);
    }
}

#[tokio::test]
async fn only_http_and_https_are_called() {
    let egress = Egress::new(Policy::new(Reach::Any, [""; 0]).unwrap());
    for url in [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1:70/_x",
        "ws://127.0.0.1/",
        "unix:/run/docker.sock",
        "data:text/plain,x",
        "javascript:alert(1)",
        "/relative",
        "127.0.0.1",
        "",
        "http://",
        "http:///",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:0/",
        "http://user@127.0.0.1/",
    ] {
        let error = egress.send(Request::get(url)).await.unwrap_err();
        assert!(matches!(error, Error::BadUrl { .. }), "{url}: {error:?}");
        assert_eq!(egress.check(url), Err(error));
    }
}

#[tokio::test]
async fn name_is_asked_for_once_and_connected_as_checked() {
    let allowed = Upstream::start_on("127.0.0.2:0").await;
    let forbidden = Upstream::start_on(&format!("127.0.0.1:{}", allowed.port())).await;
    let names = Names::default().with("rebind.test", &[&["127.0.0.2"], &["127.0.0.1"]]);
    let egress =
        Egress::builder(policy(&[&allowed.host_and_port()])).resolver(names.clone()).limits(limits()).build();
    let url = format!("http://rebind.test:{}/", allowed.port());

    assert_eq!(egress.send(Request::get(&url)).await.unwrap().body, "hello");
    assert_eq!((names.lookups(), allowed.connections()), (1, 1));

    // The name means something else by now; a connection that is made anew sees it.
    let error = egress.apart().send(Request::get(&url)).await.unwrap_err();
    assert!(matches!(error, Error::Denied { class: Class::Loopback, .. }), "{error:?}");
    assert_eq!((names.lookups(), forbidden.connections()), (2, 0));
}

#[tokio::test]
async fn listed_host_is_open_on_its_port_alone() {
    let upstream = Upstream::start().await;
    let other = Upstream::start().await;
    let entry = format!("inside.test:{}", upstream.port());
    let egress = Egress::builder(policy(&[&entry])).resolver(names()).limits(limits()).build();

    let ask = async |host: &str, port| egress.send(Request::get(format!("http://{host}:{port}/"))).await;
    assert_eq!(ask("INSIDE.test.", upstream.port()).await.unwrap().body, "hello");
    for (host, port) in [("inside.test", other.port()), ("127.0.0.1", upstream.port())] {
        let error = ask(host, port).await.unwrap_err();
        assert!(matches!(error, Error::Denied { .. }), "{host}: {error:?}");
    }
    assert_eq!((upstream.connections(), other.connections()), (1, 0));
}

#[tokio::test]
async fn listed_range_opens_and_metadata_stays_shut() {
    let upstream = Upstream::start().await;
    for allow in [&["127.0.0.0/8"][..], &["0.0.0.0/0", "::/0", "169.254.169.254:80"]] {
        let egress = Egress::builder(policy(allow)).resolver(names()).limits(limits()).build();
        assert_eq!(egress.send(Request::get(upstream.url("/"))).await.unwrap().body, "hello");
        for url in ["http://169.254.169.254/", "http://[fd00:ec2::254]/", "http://metadata.test/"] {
            let error = egress.send(Request::get(url)).await.unwrap_err();
            assert!(matches!(error, Error::Denied { class: Class::Metadata, .. }), "{url}: {error:?}");
        }
    }
}

#[tokio::test]
async fn any_opens_all_but_metadata() {
    let upstream = Upstream::start().await;
    let egress = Egress::builder(Policy::new(Reach::Any, [""; 0]).unwrap()).limits(limits()).build();
    assert_eq!(egress.send(Request::get(upstream.url("/"))).await.unwrap().body, "hello");
    let error = egress.send(Request::get("http://[64:ff9b::a9fe:a9fe]/")).await.unwrap_err();
    assert!(matches!(error, Error::Denied { class: Class::Metadata, .. }), "{error:?}");
}

#[tokio::test]
async fn redirect_is_an_answer_and_is_not_followed() {
    let upstream = Upstream::start().await;
    let inside = Upstream::start().await;
    let egress = egress_to(&upstream);
    let targets =
        [inside.url("/"), upstream.url("/"), "http://169.254.169.254/".into(), "file:///etc/passwd".into()];
    for to in targets {
        let response = egress.send(Request::get(upstream.url(&format!("/redirect?to={to}")))).await.unwrap();
        assert_eq!((response.status, response.headers.get("Location")), (302, Some(to.as_str())));
    }
    assert_eq!((inside.connections(), upstream.requests().len()), (0, 4));
}

/// Whether somebody listens on a port inside is nobody's business outside.
#[tokio::test]
async fn open_and_closed_ports_inside_are_refused_alike() {
    let open = Upstream::start().await;
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let egress = Egress::builder(policy(&[])).resolver(names()).limits(limits()).build();
    let refusal = async |port: u16| {
        let error = egress.send(Request::get(format!("http://inside.test:{port}/"))).await.unwrap_err();
        error.to_string().replace(&port.to_string(), "PORT")
    };
    assert_eq!(refusal(open.port()).await, refusal(closed.port()).await);
    assert_eq!(open.connections(), 0);
}
