//! What the scanner accepts, and what it says about the rest.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::Map;

use super::*;

/// Scans a text and shows the fault, if any.
#[track_caller]
fn check(text: impl AsRef<[u8]>, expected: Expect) {
    let shown = scan(text.as_ref()).map_or_else(|fault| fault.to_string(), |()| "ok".to_owned());
    expected.assert_eq(&shown);
}

#[track_caller]
fn accepts(text: impl AsRef<[u8]>) {
    let text = text.as_ref();
    let shown = String::from_utf8_lossy(&text[..text.len().min(60)]);
    assert_eq!(scan(text), Ok(()), "{shown}");
    assert!(serde_json::from_slice::<Value>(text).is_ok(), "serde_json refuses {shown}");
}

#[track_caller]
fn refuses(text: impl AsRef<[u8]>) {
    let text = text.as_ref();
    assert!(scan(text).is_err(), "{}", String::from_utf8_lossy(text));
}

#[test]
fn every_form_of_the_grammar_is_accepted() {
    for text in [
        "null",
        " true ",
        "false",
        "0",
        "-0",
        "-1",
        "12",
        "0.5",
        "1.25e10",
        "1E+2",
        "1e-2",
        "\"\"",
        "[]",
        "{}",
        "[1,[2,[]],{}]",
        "\r\n\t {\"a\" : [ 1 , 2 ] , \"b\" : null }\n",
        r#""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#,
        "\"é😀\u{2028}\u{7f}\"",
        "{\"\":1}",
    ] {
        accepts(text);
    }
}

#[test]
fn what_is_not_json_is_refused() {
    for text in [
        "nul",
        "nulll",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "+1",
        "01",
        "-01",
        "1.",
        ".5",
        "1e",
        "1e+",
        "-",
        "--1",
        "0x10",
        "1_000",
        "'a'",
        "\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u+123\"",
        "[",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "]",
        "{",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "{\"a\":1,}",
        "{a:1}",
        "{1:1}",
        "{\"a\" 1}",
        "{,}",
        "[}",
        "{]",
        "// note\n1",
        "1 // note",
        "[1]]",
        "1 2",
        "\u{a0}1",
        "\u{b}1",
        "\"\t\"",
        "\"\n\"",
        "\"\u{1f}\"",
    ] {
        refuses(text);
    }
}

#[test]
fn faults_say_what_and_where() {
    check("", expect!["no JSON value at byte 0"]);
    check(" \n\t", expect!["no JSON value at byte 0"]);
    check("\u{feff}{}", expect!["byte order mark at byte 0"]);
    check(b"\"a\xff\"", expect!["invalid UTF-8 at byte 2"]);
    check(b"\"\xed\xa0\x80\"", expect!["invalid UTF-8 at byte 1"]);
    check("{\"a\": tru", expect!["unexpected end of the text at byte 9"]);
    check("{\"a\": nope}", expect!["expected a value at byte 6"]);
    check("{\"a\": 1 \"b\"", expect!["expected `,` or `}` at byte 8"]);
    check("[1 2]", expect!["expected `,` or `]` at byte 3"]);
    check("{\"a\" 1}", expect!["expected `:` at byte 5"]);
    check("{\"a\": 1, }", expect!["expected a key at byte 9"]);
    check("{a}", expect!["expected a key or `}` at byte 1"]);
    check("[01]", expect!["expected no leading zero at byte 1"]);
    check("\"\\q\"", expect!["expected an escape at byte 2"]);
    check("\"a\nb\"", expect!["expected control characters to be escaped at byte 2"]);
    check("{} {}", expect!["text after the end of the value at byte 3"]);
    check("{\"a\": 1, \"b\": 2, \"a\": 3}", expect!["duplicate key `a` at byte 17"]);
}

#[test]
fn equal_keys_are_found_however_they_are_spelled() {
    check(r#"{"a":1,"\u0061":2}"#, expect!["duplicate key `a` at byte 7"]);
    check(r#"{"\ud83d\ude00":1,"😀":2}"#, expect!["duplicate key `😀` at byte 18"]);
    refuses(r#"{"\n\t\"\\\/\b\f\r":1,"\u000a\u0009\u0022\u005c/\u0008\u000C\u000d":2}"#);
    check(r#"{"":1,"":2}"#, expect!["duplicate key `` at byte 6"]);
    refuses(r#"{"a":{"b":1,"b":2}}"#);
    refuses(r#"[{"a":{},"a":{}}]"#);
    accepts(r#"{"a":{"a":{"a":1}},"b":{"a":1}}"#);
    accepts(r#"[{"a":1},{"a":1}]"#);
    accepts(r#"{"a":1,"A":2,"a ":3}"#);
    // Two spellings of one accented letter are two keys: nothing is normalised.
    accepts("{\"\u{e9}\":1,\"e\u{301}\":2}");
}

#[test]
fn long_key_is_cut_in_the_fault() {
    let key = "k".repeat(10_000);
    let fault = scan(format!("{{\"{key}\":1,\"{key}\":2}}").as_bytes()).unwrap_err();
    assert_eq!(fault.kind, JsonFaultKind::DuplicateKey { key: "k".repeat(80) });
}

#[test]
fn duplicate_is_found_in_a_large_object_and_after_a_closed_one() {
    let members = |count: usize| (0..count).map(|n| format!("\"k{n}\":{n}")).collect::<Vec<_>>().join(",");
    for count in [15, 16, 17, 18, 100, 100_000] {
        accepts(format!("{{{}}}", members(count)));
        refuses(format!("{{{},\"k0\":0}}", members(count)));
        refuses(format!("{{{},\"\\u006b{}\":0}}", members(count), count - 1));
        refuses(format!("{{\"x\":{{{}}},\"x\":0}}", members(count)));
        accepts(format!("{{\"k0\":{{{0}}},\"k1\":{{{0}}}}}", members(count)));
    }
}

#[test]
fn depth_is_refused_where_the_reader_would_refuse_it() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        accepts(nested(DEPTH_MAX));
        assert!(serde_json::from_str::<Value>(&nested(DEPTH_MAX + 1)).is_err(), "the reader goes deeper now");
        let fault = scan(nested(DEPTH_MAX + 1).as_bytes()).unwrap_err();
        assert_eq!(fault.kind, JsonFaultKind::TooDeep { max: DEPTH_MAX });
    }
}

#[test]
fn endless_nesting_is_refused_at_the_first_level_too_deep() {
    for count in [10_000, 1_000_000] {
        let fault = scan("[".repeat(count).as_bytes()).unwrap_err();
        assert_eq!((fault.offset, fault.kind), (DEPTH_MAX, JsonFaultKind::TooDeep { max: DEPTH_MAX }));
        refuses("{\"a\":".repeat(count));
        refuses("]".repeat(count));
    }
}

#[test]
fn surrogates_come_in_pairs() {
    accepts(r#""\uD83D\uDE00""#);
    for text in [
        r#""\ud83d""#,
        r#""\ude00""#,
        r#""\ud83d\ud83d""#,
        r#""\ud83dx""#,
        r#""\ud83d\n""#,
        r#"{"\ud83d":1}"#,
    ] {
        assert_eq!(scan(text.as_bytes()).unwrap_err().kind, JsonFaultKind::LoneSurrogate, "{text}");
    }
}

#[test]
fn nul_is_refused_in_every_spelling() {
    for text in ["\"a\\u0000b\"", "\"a\u{0}b\"", "{\"\\u0000\":1}", "{\"\u{0}\":1}"] {
        assert_eq!(scan(text.as_bytes()).unwrap_err().kind, JsonFaultKind::NulInString, "{text:?}");
    }
    // Outside of a string it is no more than a stray byte.
    check("\u{0}", expect!["expected a value at byte 0"]);
}

#[test]
fn numbers_that_cannot_be_kept_are_out_of_range() {
    for text in [
        "18446744073709551615",
        "-9223372036854775808",
        "9223372036854775808",
        "1e308",
        "1.7976931348623157e308",
        "-1.7976931348623157e308",
        "1e-400",
        "0e999999999999",
        "-0e99999999999999999999",
        "18446744073709551616.0",
        "100000000000000000000000e-3",
    ] {
        accepts(text);
    }
    let digits = "9".repeat(400);
    for text in [
        "18446744073709551616",
        "-9223372036854775809",
        "99999999999999999999",
        "1e309",
        "1e999",
        "-1e999",
        "1e99999999999999999999",
        &digits,
        &format!("-{digits}"),
        &format!("{digits}.5"),
        "1.7976931348623159e308",
    ] {
        let fault = scan(format!("[{text}]").as_bytes()).unwrap_err();
        assert_eq!((fault.offset, fault.is_range()), (1, true), "{text}");
    }
    assert!(!scan(b"[1,]").unwrap_err().is_range());
    accepts(format!("0.{}", "1".repeat(400)));
    accepts(format!("{}.5", "1".repeat(308)));
}

#[test]
fn parse_gives_the_value_in_the_order_of_the_text() {
    let value = parse(br#"{"b":1,"a":[1.5,"x"]}"#).unwrap();
    assert_eq!(value.to_string(), r#"{"b":1,"a":[1.5,"x"]}"#);
    assert!(parse(br#"{"a":1,"a":2}"#).is_err());
}

/// Values of every shape, small enough to be made by the thousand.
pub(crate) fn any_value() -> impl Strategy<Value = Value> {
    let text = prop_oneof!["[a-c]{0,3}", "\\PC{0,12}", "[\"\\\\\n\t\u{1}\u{7f}é😀]{0,20}"];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::vec((text.clone(), inner), 0..24)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Texts that are nearly JSON, which random bytes never are.
fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"a\"",
        "\"\\u0061\"",
        "\"b\"",
        "\"\\ud83d",
        "\\ude00\"",
        "\"",
        "\\",
        "1",
        "-",
        "0",
        ".5",
        "e9",
        "E+400",
        "true",
        "null",
        "false",
        " ",
        "\n",
        "é",
        "\u{0}",
        "18446744073709551616",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..24)
        .prop_map(|pieces| pieces.concat().into_bytes())
}

proptest! {
    #[test]
    fn whatever_is_written_by_the_writer_is_accepted(value in any_value()) {
        let text = serde_json::to_vec(&value).unwrap();
        prop_assert_eq!(scan(&text), Ok(()));
        prop_assert_eq!(scan(&serde_json::to_vec_pretty(&value).unwrap()), Ok(()));
        prop_assert_eq!(parse(&text).unwrap(), value);
    }

    #[test]
    fn whatever_is_accepted_is_accepted_by_the_reader(
        bytes in prop_oneof![prop::collection::vec(any::<u8>(), 0..32), nearly_json()],
    ) {
        if scan(&bytes).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&bytes).is_ok());
        }
    }

    #[test]
    fn damaged_text_is_accepted_only_if_the_reader_accepts_it(
        value in any_value(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut text = serde_json::to_vec(&value).unwrap();
        let at = at.index(text.len());
        text[at] = byte;
        if scan(&text).is_ok() {
            prop_assert!(serde_json::from_slice::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn strings_of_any_length_end_where_the_reader_ends_them(before in "[a-z]{0,20}", inside in "\\PC{0,40}") {
        let text = serde_json::to_string(&[&before, &inside]).unwrap();
        prop_assert_eq!(scan(text.as_bytes()), Ok(()));
        prop_assert!(scan(&text.as_bytes()[..text.len() - 2]).is_err());
    }
}
