//! How a secret can be written without any escapes.

use std::{fmt::Write as _, ops::Range};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD},
};
use zeroize::Zeroizing;

use super::LEN_MIN;

/// Fewer characters of an encoding are in any long text by chance.
const ENCODED_MIN: usize = 6;
/// Shorter lines of a secret are in any long text by chance.
const LINE_LEN_MIN: usize = 8;

/// A text to look for.
pub(super) struct Spelling {
    pub(super) text: Zeroizing<String>,
    pub(super) edge: Edge,
}

/// What belongs to a match besides what matched: characters of base64 that hold bits of the secret and of
/// its neighbour.
#[derive(Clone, Copy, Default)]
pub(super) struct Edge {
    before: bool,
    behind: bool,
    padded: bool,
}

impl Edge {
    pub(super) fn around(self, bytes: &[u8], found: Range<usize>) -> Range<usize> {
        let Range { mut start, mut end } = found;
        let is_digit = |at: Option<&u8>| {
            at.is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_'))
        };
        if self.before && start > 0 && is_digit(bytes.get(start - 1)) {
            start -= 1;
        }
        if self.behind && is_digit(bytes.get(end)) {
            end += 1;
        }
        if self.padded {
            end += bytes[end..].iter().take(2).take_while(|byte| **byte == b'=').count();
        }
        start..end
    }
}

pub(super) fn of(secret: &str, into: &mut Vec<Spelling>) {
    spell(secret, into);
    // A header of type `Basic` is read by the other side, which then knows the password.
    if let Some(pair) = pair_in(secret) {
        spell(&pair, into);
        spell_key_of(&pair, into);
    }
    // Whoever shows a file in one line, or as a list, leaves its lines as they are.
    for line in secret.lines().map(str::trim).filter(|line| *line != secret && is_telling(line)) {
        into.push(Spelling { text: line.to_owned().into(), edge: Edge::default() });
    }
}

fn pair_in(secret: &str) -> Option<Zeroizing<String>> {
    let bytes = Zeroizing::new(STANDARD_NO_PAD.decode(secret.trim_end_matches('=')).ok()?);
    let text = std::str::from_utf8(&bytes).ok()?;
    text.contains(':').then(|| Zeroizing::new(text.to_owned()))
}

/// The part of a pair that opens something: the password or, for services that take a key for the name and
/// want no password or any, the name.
fn spell_key_of(pair: &str, into: &mut Vec<Spelling>) {
    let Some((name, password)) = pair.split_once(':') else { return };
    let is_long = |text: &&str| LEN_MIN <= text.chars().count();
    if let Some(key) = [password, name].into_iter().find(is_long) {
        spell(key, into);
    }
}

/// Whether a line of a file says something of the file alone. What every such file begins and ends with does not.
fn is_telling(line: &str) -> bool {
    LINE_LEN_MIN <= line.chars().count() && !line.starts_with("-----")
}

fn spell(secret: &str, into: &mut Vec<Spelling>) {
    let mut plain = |text: String| into.push(Spelling { text: text.into(), edge: Edge::default() });
    plain(secret.to_owned());
    if secret.contains(' ') {
        // As a form has it. What else a form changes is undone as an escape of URLs.
        plain(secret.replace(' ', "+"));
    }
    let mut hex = String::new();
    secret.bytes().for_each(|byte| _ = write!(hex, "{byte:02x}"));
    plain(hex.to_uppercase());
    plain(hex);
    let padded = Edge { padded: true, ..Edge::default() };
    for whole in [STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)] {
        if ENCODED_MIN <= whole.len() {
            into.push(Spelling { text: whole.into(), edge: padded });
        }
    }
    for before in 0..3 {
        aligned(secret, before, into);
    }
}

/// The characters of base64 that a secret fills alone, where so many bytes more than a multiple of three
/// stand before it.
fn aligned(secret: &str, before: usize, into: &mut Vec<Spelling>) {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(secret.as_bytes());
    let (start, end) = ((before * 8).div_ceil(6), bytes.len() * 8 / 6);
    if end < start + ENCODED_MIN {
        return;
    }
    let behind = !bytes.len().is_multiple_of(3);
    let edge = Edge { before: before != 0, behind, padded: behind };
    for encoded in [STANDARD_NO_PAD.encode(&*bytes), URL_SAFE_NO_PAD.encode(&*bytes)] {
        into.push(Spelling { text: encoded[start..end].to_owned().into(), edge });
    }
}
