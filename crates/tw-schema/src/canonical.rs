//! The canonical text of a value, and its digest.
//!
//! Equal inputs must have equal digests, in any order of their keys: the digest binds an approval to its
//! input, finds the repeated calls of a loop, and is the key of the cache of pure tools. The form is
//! RFC 8785 with one exception. RFC 8785 treats every number as a float, so two neighbouring 64-bit ids
//! would have the same text; here an integer of up to 64 bits is written exactly.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Map, Number, Value};

use crate::Digest;

/// The first float that no longer fits in `u64`, which is two to the 64th.
const U64_END: f64 = 18_446_744_073_709_551_616.0;
/// The last float that still fits in `i64`, which is minus two to the 63rd.
const I64_FIRST: f64 = -9_223_372_036_854_775_808.0;

/// The canonical text of a value.
///
/// Keys are sorted by UTF-16 code units, there is no white space, and strings are not normalised:
/// two spellings of one accented letter are two values. `1.0` and `1e0` are `1`, and `-0.0` is `0`.
/// Every float with the value of a 64-bit integer has the text of that integer, also beyond two to the
/// 53rd.
///
/// # Example
///
/// ```
/// use serde_json::json;
///
/// assert_eq!(tw_schema::canonical(&json!({"b": 1.0, "a": [1e21, "é"]})), r#"{"a":[1e+21,"é"],"b":1}"#);
/// ```
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// The digest of the canonical text of a value.
#[must_use]
pub fn digest(value: &Value) -> Digest {
    Digest::of(canonical(value).as_bytes())
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(number) => write_number(number, out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index != 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => write_object(members, out),
    }
}

fn write_object(members: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<(&String, &Value)> = members.iter().collect();
    members.sort_unstable_by(|left, right| by_utf16(left.0, right.0));
    out.push('{');
    for (index, (key, value)) in members.into_iter().enumerate() {
        if index != 0 {
            out.push(',');
        }
        write_text(key, out);
        out.push(':');
        write_value(value, out);
    }
    out.push('}');
}

fn by_utf16(left: &str, right: &str) -> Ordering {
    if left.is_ascii() && right.is_ascii() {
        return left.cmp(right);
    }
    left.encode_utf16().cmp(right.encode_utf16())
}

fn write_text(text: &str, out: &mut String) {
    out.push('"');
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if 0x20 <= byte && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(&text[plain..at]);
        plain = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            0x08 => out.push_str("\\b"),
            b'\t' => out.push_str("\\t"),
            b'\n' => out.push_str("\\n"),
            0x0c => out.push_str("\\f"),
            b'\r' => out.push_str("\\r"),
            control => write!(out, "\\u{control:04x}").expect("writing to a string does not fail"),
        }
    }
    out.push_str(&text[plain..]);
    out.push('"');
}

fn write_number(number: &Number, out: &mut String) {
    let written = if let Some(integer) = number.as_u64() {
        write!(out, "{integer}")
    } else if let Some(integer) = number.as_i64() {
        write!(out, "{integer}")
    } else {
        let float = number.as_f64().expect("a number that is no integer is a float");
        if float.fract() == 0.0 && (0.0..U64_END).contains(&float) {
            // The ranges make both casts exact; minus zero lands here too and becomes `0`.
            write!(out, "{}", float as u64)
        } else if float.fract() == 0.0 && (I64_FIRST..0.0).contains(&float) {
            write!(out, "{}", float as i64)
        } else {
            write_float(float, out);
            Ok(())
        }
    };
    written.expect("writing to a string does not fail");
}

/// Writes a float as ECMAScript would turn it into a string.
fn write_float(float: f64, out: &mut String) {
    let (digits, point) = shortest(float);
    let count = i32::try_from(digits.len()).expect("a float has at most 17 digits");
    if float < 0.0 {
        out.push('-');
    }
    match point {
        _ if count <= point && point <= 21 => {
            out.push_str(&digits);
            out.extend(std::iter::repeat_n('0', (point - count) as usize));
        }
        1..=21 => {
            let (whole, fraction) = digits.split_at(point as usize);
            out.push_str(whole);
            out.push('.');
            out.push_str(fraction);
        }
        -5..=0 => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', -point as usize));
            out.push_str(&digits);
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            out.push_str(first);
            if !rest.is_empty() {
                out.push('.');
                out.push_str(rest);
            }
            let exponent = point - 1;
            let sign = if exponent < 0 { '-' } else { '+' };
            write!(out, "e{sign}{}", exponent.abs()).expect("writing to a string does not fail");
        }
    }
}

/// The shortest digits that read back as the same float, and behind how many of them the point
/// stands.
///
/// They are taken from the JSON writer, which like ECMAScript chooses the even one of two that are
/// equally near; Rust's own formatting does not. Only the layout differs.
fn shortest(float: f64) -> (String, i32) {
    let text = Value::from(float.abs()).to_string();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i32 = exponent.parse().expect("an exponent is an integer");
    let point = i32::try_from(whole.len()).expect("a float has few digits") + exponent;
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    let zeros = i32::try_from(digits.len() - significant.len()).expect("a float has few digits");
    (significant.trim_end_matches('0').to_owned(), point - zeros)
}

#[cfg(test)]
mod tests;
