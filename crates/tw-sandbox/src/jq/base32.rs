//! `@base32` and `@base32d`, which jaq has not.

use jaq_core::native::{Fun, bome, run, v};
use jaq_json::{Error, Val};

use super::Data;

const DIGITS: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

pub(super) fn funs() -> impl Iterator<Item = Fun<Data>> {
    let encoding: Fun<Data> = run(("encode_base32", v(0), |cv| bome(text(&cv.1).map(encoded))));
    let decoding: Fun<Data> = run(("decode_base32", v(0), |cv| {
        let decoded = text(&cv.1).and_then(|bytes| {
            decoded(bytes).ok_or_else(|| Error::str(format_args!("{} is not valid base32", cv.1)))
        });
        bome(decoded)
    }));
    [encoding, decoding].into_iter()
}

fn text(value: &Val) -> Result<&[u8], Error> {
    match value {
        Val::TStr(bytes) => Ok(bytes),
        other => Err(Error::typ(other.clone(), "string")),
    }
}

fn encoded(bytes: &[u8]) -> Val {
    let mut text = Vec::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let mut bits = [0; 8];
        bits[3..3 + chunk.len()].copy_from_slice(chunk);
        let bits = u64::from_be_bytes(bits);
        let digits = (chunk.len() * 8).div_ceil(5);
        text.extend((0..digits).map(|place| DIGITS[usize::from((bits >> (35 - 5 * place)) as u8 & 31)]));
        text.resize(text.len() + 8 - digits, b'=');
    }
    Val::utf8_str(text)
}

fn decoded(text: &[u8]) -> Option<Val> {
    let digits = text.trim_ascii_end();
    let end = digits.iter().rposition(|digit| *digit != b'=').map_or(0, |last| last + 1);
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::with_capacity(end * 5 / 8));
    for digit in &digits[..end] {
        let value = DIGITS.iter().position(|known| known == digit)?;
        bits = bits << 5 | u32::try_from(value).ok()?;
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
    }
    Some(Val::utf8_str(String::from_utf8_lossy(&bytes).into_owned()))
}
