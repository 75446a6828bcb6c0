//! One value, one text.

use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::strict;

#[track_caller]
fn check(value: Value, expected: Expect) {
    expected.assert_eq(&canonical(&value));
}

#[track_caller]
fn text_of(json: &str) -> String {
    canonical(&serde_json::from_str(json).unwrap())
}

#[test]
fn members_are_sorted_and_white_space_is_gone() {
    check(
        json!({ "b": [1, 2, { "d": null, "c": true }], "a": {} }),
        expect![[r#"{"a":{},"b":[1,2,{"c":true,"d":null}]}"#]],
    );
    check(json!([]), expect!["[]"]);
    check(json!({ "1": 1, "10": 2, "2": 3, "": 4 }), expect![[r#"{"":4,"1":1,"10":2,"2":3}"#]]);
}

#[test]
fn keys_are_sorted_by_utf16_code_units_and_not_by_bytes() {
    // As bytes or characters U+FB33 comes before U+1F600; as UTF-16 it comes after.
    let value =
        json!({ "\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7 });
    let sorted =
        "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\"\u{1f600}\":5,\"\u{fb33}\":3}";
    assert_eq!(canonical(&value), sorted);
}

#[test]
fn strings_are_escaped_only_where_they_must_be() {
    let value = json!("\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}\u{8}\t\u{c}\r\u{0}");
    assert_eq!(canonical(&value), "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\\b\\t\\f\\r\\u0000\"");
}

#[test]
fn accents_are_not_normalised() {
    assert_ne!(digest(&json!("\u{e9}")), digest(&json!("e\u{301}")));
}

#[test]
fn equal_numbers_have_one_text() {
    for (texts, expected) in [
        (vec!["1", "1.0", "1e0", "10e-1", "0.1e1", "1.000"], "1"),
        (vec!["0", "0.0", "-0", "-0.0", "0e10", "-0e-10"], "0"),
        (vec!["-5", "-5.0", "-50e-1"], "-5"),
        (vec!["1e3", "1000", "1000.0"], "1000"),
        (vec!["9007199254740992", "9007199254740992.0", "9007199254740992e0"], "9007199254740992"),
        (vec!["1e19", "10000000000000000000", "10000000000000000000.0"], "10000000000000000000"),
        (vec!["9223372036854775808", "9223372036854775808.0"], "9223372036854775808"),
        (
            vec!["-9223372036854775808", "-9223372036854775808.0", "-9.223372036854775808e18"],
            "-9223372036854775808",
        ),
        (vec!["1e20", "100000000000000000000.0"], "100000000000000000000"),
        (vec!["0.1", "1e-1", "10e-2"], "0.1"),
    ] {
        for text in texts {
            assert_eq!(text_of(text), expected, "{text}");
        }
    }
}

#[test]
fn neighbouring_integers_stay_apart() {
    let texts = ["9007199254740992", "9007199254740993", "18446744073709551614", "18446744073709551615"];
    for text in texts {
        assert_eq!(text_of(text), text);
    }
    assert_eq!(text_of("-9223372036854775807"), "-9223372036854775807");
    // As a float this is two to the 64th, which is no longer within 64 bits.
    assert_eq!(text_of("18446744073709551616.0"), "18446744073709552000");
}

#[test]
fn floats_are_written_as_ecmascript_writes_them() {
    for (bits, expected) in [
        (0x0000_0000_0000_0001_u64, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ] {
        assert_eq!(canonical(&json!(f64::from_bits(bits))), expected, "{bits:x}");
    }
}

#[test]
fn digest_is_that_of_the_canonical_text() {
    let value = json!({ "b": 1.0, "a": "x" });
    assert_eq!(digest(&value), Digest::of(br#"{"a":"x","b":1}"#));
    assert_eq!(digest(&value), digest(&json!({ "a": "x", "b": 1 })));
    assert_ne!(digest(&json!({ "a": null })), digest(&json!({})));
}

proptest! {
    #[test]
    fn canonical_text_reads_back_as_itself(value in strict::tests::any_value()) {
        let text = canonical(&value);
        let again: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(canonical(&again), text);
    }

    #[test]
    fn float_and_integer_of_one_value_have_one_text(integer in any::<i64>(), shift in 0..63) {
        let float = (integer >> shift) as f64;
        let exact = float as i128;
        if let Ok(whole) = i64::try_from(exact) {
            prop_assert_eq!(canonical(&json!(float)), canonical(&json!(whole)));
        }
    }

    #[test]
    fn float_reads_back_as_the_same_float(float in any::<f64>()) {
        prop_assert_eq!(canonical(&json!(float)).parse::<f64>().unwrap(), float);
    }
}
