use std::time::Instant;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD},
};
use serde_json::json;

use super::*;

const SECRET: &str = "pa/ss+\"wörd\" <1>";

fn escaped(text: &str, each: impl Fn(char) -> String) -> String {
    text.chars().map(each).collect()
}

fn units(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect()
}

fn percent(text: &str, is_plain: fn(&u8) -> bool) -> String {
    let each = |byte: u8| {
        if is_plain(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
    };
    text.bytes().map(each).collect()
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn secret_is_found_in_every_spelling() {
    let quoted = json!(SECRET).to_string();
    let quoted = &quoted[1..quoted.len() - 1];
    let html = SECRET.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let spellings = [
        SECRET.to_owned(),
        quoted.to_owned(),
        quoted.replace('/', "\\/"),
        quoted.replace('ö', "\\u00f6"),
        quoted.replace('ö', "\\u00F6").replace('<', "\\u003c").replace('>', "\\u003E"),
        escaped(SECRET, units),
        STANDARD.encode(SECRET),
        URL_SAFE.encode(SECRET),
        URL_SAFE_NO_PAD.encode(SECRET),
        percent(&STANDARD.encode(SECRET), u8::is_ascii_alphanumeric),
        STANDARD.encode(SECRET).replace('/', "\\/"),
        hex(SECRET),
        hex(SECRET).to_uppercase(),
        percent(SECRET, u8::is_ascii_alphanumeric),
        percent(SECRET, u8::is_ascii_alphanumeric).to_lowercase(),
        percent(SECRET, |_| false),
        percent(SECRET, |byte| byte.is_ascii_alphanumeric() || *byte == b' ').replace(' ', "+"),
        html.replace('"', "&quot;"),
        html.replace('"', "&#34;"),
        html.replace('"', "&#x22;").replace('/', "&#x2F;"),
        escaped(SECRET, |c| format!("&#{};", u32::from(c))),
        html.replace('"', "\\&quot;"),
        percent(&percent(SECRET, u8::is_ascii_alphanumeric), u8::is_ascii_alphanumeric),
        quoted.replace('\\', "\\\\").replace('"', "\\\""),
        percent(SECRET, |byte| *byte == b'/').replace('/', "\\/"),
    ];
    let redactor = Redactor::new([SECRET]);
    for spelling in spellings {
        assert_eq!(redactor.text(format!("<{spelling}>")), "<***>", "{spelling}");
        assert_eq!(redactor.text(format!("{spelling} and {spelling}")), "*** and ***", "{spelling}");
    }
    let clean = redactor.value(json!({ "a": [format!("Bearer {SECRET}")], (SECRET): 1 }));
    assert_eq!(clean, json!({ "a": ["Bearer ***"], "***": 1 }));
}

#[test]
fn secret_is_found_in_base64_with_whatever_stands_around_it() {
    for secret in ["k-12345", "canary-3f9a", "ünïcode", SECRET] {
        let redactor = Redactor::new([secret]);
        for before in ["", "a", "ab", "abc", "Bearer ", "user:", "Basic x:"] {
            for behind in ["", "b", "\n", "; more", "}}}"] {
                for engine in [&STANDARD, &URL_SAFE] {
                    let echoed = engine.encode(format!("{before}{secret}{behind}"));
                    let clean = redactor.text(echoed.clone());
                    assert!(clean.contains("***"), "{before}{secret}{behind}: {clean}");
                    let left = clean.len() - 3;
                    assert!(left <= (before.len() + behind.len()) * 4 / 3 + 4, "{echoed}: {clean}");
                }
            }
        }
    }
}

#[test]
fn short_secret_is_found_within_a_text_from_four_characters_on() {
    let redactor = Redactor::new(["k-123", "abcd", "xyz", ""]);
    assert_eq!(redactor.text("key k-123, abcd, xyz".to_owned()), "key ***, ***, xyz");
    assert_eq!(redactor.text(" xyz\n".to_owned()), "***");
    let clean = redactor.value(json!({ "xyz": "xyz", "b": "xyzw", "c": ["xyz"] }));
    assert_eq!(clean, json!({ "xyz": "***", "b": "xyzw", "c": ["***"] }));
    assert_eq!(redactor.text(format!("{} {}", STANDARD.encode("k-123"), hex("abcd"))), "*** ***");
}

#[test]
fn little_evidence_is_none() {
    // Of `abcd` within something longer, base64 has four characters alone.
    let redactor = Redactor::new(["abcd"]);
    let text = "FiY2 YmNk JjZG hYmN & 100% \\ %zz \\u12 &#; &#x; &#99999999999;";
    assert_eq!(redactor.text(text.to_owned()), text);
}

#[test]
fn password_behind_a_basic_header_is_found_too() {
    let redactor = Redactor::new([STANDARD.encode("user:hunter2!").as_str()]);
    assert_eq!(redactor.text("user:hunter2! and hunter2! for user".to_owned()), "*** and *** for user");
}

#[test]
fn name_that_is_the_key_of_a_basic_header_is_found() {
    for password in ["", "X", "abc"] {
        let pair = format!("sk_live_canary_22:{password}");
        let redactor = Redactor::new([STANDARD.encode(&pair).as_str()]);
        assert_eq!(redactor.text("no such key: sk_live_canary_22".to_owned()), "no such key: ***");
        assert_eq!(redactor.text(format!("you sent {}", hex("sk_live_canary_22"))), "you sent ***");
    }
    // Beside a password a name is a name, and answers are full of it.
    let redactor = Redactor::new([STANDARD.encode("user:hunter2!").as_str()]);
    assert_eq!(redactor.text("user".to_owned()), "user");
}

#[test]
fn file_is_found_by_its_lines() {
    let file =
        "-----BEGIN PRIVATE KEY-----\nMIIcanary0001\r\n  MIIcanary0002\nend=\n-----END PRIVATE KEY-----\n";
    let redactor = Redactor::new([file]);
    assert_eq!(redactor.text(format!("<{file}>")), "<***>");
    let in_one_line = file.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = redactor.text(in_one_line);
    assert_eq!(shown, "-----BEGIN PRIVATE KEY----- *** *** end= -----END PRIVATE KEY-----");
    let lines: Vec<_> = file.lines().collect();
    let shown = redactor.value(json!(lines)).to_string();
    assert!(!shown.contains("canary") && shown.contains("BEGIN PRIVATE KEY"), "{shown}");
}

#[test]
fn number_is_a_secret_only_as_a_whole() {
    let redactor = Redactor::new(["8675309", "abc", "-12.5", "77"]);
    let value = json!([8675309, 18675309, 86753090, 8.675309e6, -12.5, 77, "8675309", "no 8675309"]);
    let clean = json!(["***", 18675309, 86753090, 8675309.0, "***", 77, "***", "no ***"]);
    assert_eq!(redactor.value(value), clean);
}

#[test]
fn no_part_is_left_where_secrets_are_within_another_or_overlap() {
    let redactor = Redactor::new(["secret-1", "secret-1-and-more", "more-abcdef"]);
    assert_eq!(redactor.text("secret-1-and-more secret-1".to_owned()), "*** ***");
    assert_eq!(redactor.text("secret-1-and-more-abcdef".to_owned()), "***");
}

#[test]
fn nothing_to_look_for_changes_nothing() {
    let redactor = Redactor::default();
    assert_eq!(redactor.text("a%20b\\n".to_owned()), "a%20b\\n");
    assert_eq!(redactor.value(json!({ "a": 1 })), json!({ "a": 1 }));
}

#[test]
fn large_answer_full_of_escapes_and_of_the_secret_takes_little_time() {
    let redactor = Redactor::new(["aaaa", SECRET, "Bearer-canary"]);
    let started = Instant::now();
    for piece in ["aaaa", "&amp;%20\\n", "\\u0061", "x y z ", "YWFh"] {
        let _ = redactor.text(piece.repeat((1 << 20) / piece.len()));
    }
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
