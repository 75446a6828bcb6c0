//! `web_fetch` against a server that does what it is told.

use std::{
    env, fs,
    io::Write as _,
    process::{Command, Stdio},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::{Value, json};
use toolwright_sdk::{Code, ToolFailure};
use tw_test::Upstream;

use crate::{house::Hut, run};

async fn fetch(upstream: &Upstream, input: Value) -> Result<Value, ToolFailure> {
    Ok(run("web_fetch", Hut::near(&[upstream]).context(), input).await?.data)
}

fn answer(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {content_type}\r\ncontent-length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

const PAGE: &str = "<!doctype html><title>Bread</title><nav>Home</nav><main><h1>Bread</h1>\
                    <p>Flour and <a href='/water'>water</a>.</main>";

#[tokio::test]
async fn page_comes_as_markdown_as_text_or_as_it_is() {
    let upstream = Upstream::start().await;
    let url = upstream.url("/bread");
    upstream.script([
        answer("text/html; charset=utf-8", PAGE),
        answer("text/html", PAGE),
        answer("text/html", PAGE),
    ]);
    let given = fetch(&upstream, json!({ "url": url })).await.unwrap();
    let content = format!("# Bread\n\nFlour and [water]({}).", upstream.url("/water"));
    assert_eq!(
        given,
        json!({
            "url": url, "title": "Bread", "content": content, "content_type": "text/html", "truncated": false,
        })
    );
    let given = fetch(&upstream, json!({ "url": url, "format": "text" })).await.unwrap();
    assert_eq!(given["content"], "Bread\n\nFlour and water.");
    let given = fetch(&upstream, json!({ "url": url, "format": "html" })).await.unwrap();
    assert_eq!((&given["content"], &given["title"]), (&json!(PAGE), &json!("Bread")));
}

#[tokio::test]
async fn what_is_no_page_comes_as_it_is_if_it_is_text() {
    let upstream = Upstream::start().await;
    let url = upstream.url("/");
    for (kind, body) in [("text/plain", "<b>a</b>"), ("application/json", "{}"), ("text/csv", "a;b")] {
        upstream.script([answer(kind, body)]);
        let given = fetch(&upstream, json!({ "url": url })).await.unwrap();
        assert_eq!((&given["content"], &given["content_type"]), (&json!(body), &json!(kind)));
        assert_eq!(given["title"], json!(null));
    }
    for (kind, body) in [("image/png", "PNG"), ("application/pdf", "%PDF"), ("text/plain", "a\0b")] {
        upstream.script([answer(kind, body)]);
        let failure = fetch(&upstream, json!({ "url": url })).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError);
        assert_eq!(failure.message, format!("there is no text at this address: it is '{kind}'"));
    }
}

#[tokio::test]
async fn page_is_read_in_the_letters_it_is_written_in() {
    let upstream = Upstream::start().await;
    let german = b"<p>Gr\xfc\xdfe \x80".to_vec();
    let meta = [b"<meta charset='windows-1252'>".to_vec(), german.clone()].concat();
    let old_meta =
        b"<meta http-equiv=content-type content=\"text/html; charset=shift_jis\"><p>\x93\xfa".to_vec();
    for (kind, body, expected) in [
        ("text/html; charset=ISO-8859-1", german.clone(), "Grüße €"),
        ("text/html", meta, "Grüße €"),
        ("text/html", old_meta, "日"),
        ("text/html; charset=nonsense", "<p>ä".as_bytes().to_vec(), "ä"),
        ("text/plain; charset=\"utf-8\"", "\u{feff}ä".as_bytes().to_vec(), "ä"),
        ("text/html", german, "Gr\u{fffd}\u{fffd}e \u{fffd}"),
    ] {
        upstream.script([answer(kind, body)]);
        let given = fetch(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
        assert_eq!(given["content"], expected, "{kind}");
    }
}

#[tokio::test]
async fn letters_are_named_by_a_meta_tag_and_by_nothing_else() {
    let upstream = Upstream::start().await;
    for (page, expected) in [
        ("<title>How charset=utf-16 works</title><p>grüße", "grüße"),
        ("<script charset=\"shift_jis\" src=/x></script><p>grüße", "grüße"),
        ("<meta charset=utf-16><p>grüße", "grüße"),
    ] {
        upstream.script([answer("text/html", page)]);
        let given = fetch(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
        assert_eq!(given["content"], expected, "{page}");
    }
    let refusal = b"HTTP/1.1 404 No\r\ncontent-type: text/plain; charset=iso-8859-1\r\n\
        content-length: 4\r\n\r\ncaf\xe9";
    upstream.script([refusal.to_vec()]);
    let failure = fetch(&upstream, json!({ "url": upstream.url("/") })).await.unwrap_err();
    assert_eq!(failure.message, "HTTP 404: café");
}

/// Memory belongs to the whole process, so a process of its own is looked at: this program again, with this
/// test.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn packed_page_costs_no_more_memory_than_the_limit_and_a_little() {
    const ALONE: &str = "TOOLWRIGHT_TEST_ALONE";
    if env::var_os(ALONE).is_none() {
        let name = "web_fetch::packed_page_costs_no_more_memory_than_the_limit_and_a_little";
        let mut child = Command::new(env::current_exe().unwrap());
        child.env(ALONE, "1").args([name, "--exact"]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = child.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let upstream = Upstream::start().await;
    let bomb = bomb();
    upstream.script([answer("text/plain", "warm"), bomb]);
    fetch(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
    fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = peak();
    let given = fetch(&upstream, json!({ "url": upstream.url("/") })).await.unwrap();
    assert_eq!((&given["truncated"], given["content"].as_str().unwrap().len()), (&json!(true), 50_000));
    let grown = peak() - before;
    assert!(grown <= (5 << 20) + (8 << 20), "{} KiB", grown >> 10);
}

/// 64 MiB of text in one piece of 64 KiB.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    (0..64).for_each(|_| encoder.write_all(&[b'x'; 1 << 20]).unwrap());
    let body = encoder.finish().unwrap();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat()
}

/// The highest mark of the resident set since it was last reset.
fn peak() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
}

#[tokio::test]
async fn long_page_is_cut_and_says_so() {
    let upstream = Upstream::start().await;
    let url = upstream.url("/");
    upstream.script([answer("text/html", "<p>äöü"), answer("text/html", "<p>äöü")]);
    let given = fetch(&upstream, json!({ "url": url, "max_chars": 2 })).await.unwrap();
    assert_eq!((&given["content"], &given["truncated"]), (&json!("äö"), &json!(true)));
    let given = fetch(&upstream, json!({ "url": url, "max_chars": 3 })).await.unwrap();
    assert_eq!((&given["content"], &given["truncated"]), (&json!("äöü"), &json!(false)));

    // It never ends; what is over the limit is left where it is.
    let given = fetch(&upstream, json!({ "url": upstream.url("/endless") })).await.unwrap();
    assert_eq!(given["truncated"], true);
    assert_eq!(given["content"].as_str().unwrap().len(), 50_000);
    for path in ["/huge", "/gzip-bomb"] {
        let failure = fetch(&upstream, json!({ "url": upstream.url(path) })).await.unwrap_err();
        assert_eq!(failure.message, "there is no text at this address: it is of no known type", "{path}");
    }
}

#[tokio::test]
async fn redirects_are_followed_up_to_five() {
    let upstream = Upstream::start().await;
    let to = |place: &str| {
        format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n").into_bytes()
    };
    upstream.script([
        to("b"),
        to("/c/d"),
        to("../e?f"),
        to(&upstream.url("/g")),
        to("#h"),
        answer("text/html", "x"),
    ]);
    let given = fetch(&upstream, json!({ "url": upstream.url("/a") })).await.unwrap();
    assert_eq!(given["url"], upstream.url("/g#h"));
    let paths: Vec<_> = upstream.requests().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, ["/a", "/b", "/c/d", "/e?f", "/g", "/g"]);

    upstream.script((0..6).map(|_| to("/a")));
    let failure = fetch(&upstream, json!({ "url": upstream.url("/a") })).await.unwrap_err();
    assert_eq!(failure.code, Code::UpstreamError);
    assert_eq!(failure.message, "the page redirects more than 5 times");
}

#[tokio::test]
async fn every_hop_is_judged() {
    let (upstream, shut) = (Upstream::start().await, Upstream::start().await);
    let via = |place: &str| json!({ "url": upstream.url(&format!("/redirect?to={place}")) });
    for place in [shut.url("/"), "http://169.254.169.254/latest".to_owned(), "http://[::1]/".to_owned()] {
        let failure = fetch(&upstream, via(&place)).await.unwrap_err();
        assert_eq!(failure.code, Code::EgressDenied, "{place}: {failure}");
    }
    assert_eq!(shut.connections(), 0);
    for place in ["file:///etc/passwd", "ftp://example.com/", "http://a:b@example.com/"] {
        let failure = fetch(&upstream, via(place)).await.unwrap_err();
        assert_eq!(failure.code, Code::UpstreamError, "{place}: {failure}");
    }
    for url in ["file:///etc/passwd", "example.com", ""] {
        assert_eq!(fetch(&upstream, json!({ "url": url })).await.unwrap_err().code, Code::InvalidParams);
    }
    assert_eq!(fetch(&upstream, json!({ "url": shut.url("/") })).await.unwrap_err().code, Code::EgressDenied);
}

#[tokio::test]
async fn page_that_is_not_there_is_a_failure() {
    let upstream = Upstream::start().await;
    let failure = fetch(&upstream, json!({ "url": upstream.url("/status/404") })).await.unwrap_err();
    assert_eq!((failure.code, failure.message.as_str()), (Code::UpstreamError, "HTTP 404: so"));
}
