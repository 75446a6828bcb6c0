use bytes::Bytes;
use http::{HeaderMap, HeaderValue};

use super::*;

fn in_utf8(content_type: &str, body: &'static [u8]) -> Vec<u8> {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", HeaderValue::from_str(content_type).unwrap());
    let response = Response { status: 200, headers: Headers::of(&headers), body: Bytes::from_static(body) };
    response.in_utf8().into_owned()
}

#[test]
fn charset_of_a_content_type_is_found_in_every_spelling() {
    for kind in [
        "text/plain; charset=iso-8859-1",
        "text/plain;CHARSET=Latin1",
        "text/plain ; a=b; charset = \"windows-1252\" ; c=d",
        "text/html, charset='iso-8859-1'",
        "charset=iso-8859-1",
    ] {
        assert_eq!(Charset::named_in(kind), Charset::labelled("windows-1252"), "{kind}");
    }
    for kind in ["", "text/plain", "text/plain; x-charset=utf-16", "text/plain; charset=", "a; charset=b"] {
        assert_eq!(Charset::named_in(kind), None, "{kind}");
    }
}

#[test]
fn body_is_turned_into_utf8_from_what_its_type_names() {
    let table: &[(&str, &[u8], &str)] = &[
        ("text/plain; charset=iso-8859-1", b"caf\xe9", "café"),
        ("text/csv; charset=windows-1252", b"1;\x80", "1;€"),
        ("application/json; charset=utf-16le", b"[\x001\x00]\x00", "[1]"),
        ("application/json; charset=utf-16", b"\xfe\xff\x00[\x001\x00]", "[1]"),
        ("text/plain; charset=shift_jis", b"\x93\xfa", "日"),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
        ("text/plain; charset=utf-8", b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
        ("text/plain", b"\xef\xbb\xbfcaf\xc3\xa9", "café"),
    ];
    for (kind, body, expected) in table {
        assert_eq!(in_utf8(kind, body), expected.as_bytes(), "{kind}");
    }
}

#[test]
fn body_that_is_not_written_as_it_says_stays_as_it_came() {
    for kind in ["text/plain", "text/plain; charset=utf-8", "text/plain; charset=klingon"] {
        assert_eq!(in_utf8(kind, b"caf\xe9"), b"caf\xe9", "{kind}");
    }
    assert_eq!(in_utf8("text/plain; charset=utf-16", b"\x00\xd8\x00"), b"\x00\xd8\x00");
    assert_eq!(in_utf8("text/plain; charset=iso-2022-kr", b"abc"), b"abc");
}

#[test]
fn text_that_names_utf16_is_utf8() {
    let said = |label| Charset::labelled(label).unwrap().as_said_by_the_text();
    assert_eq!(said("utf-16"), Charset::default());
    assert_eq!(said("utf-16be"), Charset::default());
    assert_eq!(said("shift_jis"), Charset::labelled("shift_jis").unwrap());
}
