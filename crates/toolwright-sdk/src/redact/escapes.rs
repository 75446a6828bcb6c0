//! Undoes the escapes of JSON, of HTML and of URLs, and knows where each byte was.

use Escape::{Html, Json, Url};

/// Escapes that are undone, the outermost first.
pub(super) struct Escapes {
    steps: &'static [Escape],
    /// What a text has that has them.
    signs: &'static [&'static str],
}

#[derive(Clone, Copy)]
enum Escape {
    Json,
    Html,
    Url,
}

/// What a text says without its escapes.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    /// Where each byte began in the text, and where the text ended.
    pub(super) places: Vec<usize>,
}

/// The names that those who escape HTML write.
const NAMES: &[(&[u8], char)] =
    &[(b"&amp;", '&'), (b"&lt;", '<'), (b"&gt;", '>'), (b"&quot;", '"'), (b"&apos;", '\'')];
/// No number of a character is longer, with the sign and the semicolon around it.
const NUMBER_BYTES_MAX: usize = 12;

impl Escapes {
    /// Each alone, and what is met in one another: a page that shows JSON, JSON with a URL or with JSON in
    /// it, a URL with a URL in it.
    pub(super) const ALL: &[Self] = &[
        Self { steps: &[Json], signs: &["\\"] },
        Self { steps: &[Html], signs: &["&"] },
        Self { steps: &[Url], signs: &["%"] },
        Self { steps: &[Html, Json], signs: &["&", "\\"] },
        Self { steps: &[Json, Url], signs: &["\\", "%"] },
        Self { steps: &[Json, Json], signs: &["\\\\"] },
        Self { steps: &[Url, Url], signs: &["%25"] },
    ];

    pub(super) fn may_be_in(&self, text: &str) -> bool {
        self.signs.iter().all(|sign| text.contains(sign))
    }

    pub(super) fn decode(&self, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (index, step) in self.steps.iter().enumerate() {
            let mut decoded = Vec::with_capacity(text.len());
            let from = if index == 0 { text.as_bytes() } else { &bytes };
            step.each(from, |_, _, found| decoded.extend_from_slice(found));
            bytes = decoded;
        }
        bytes
    }

    pub(super) fn decode_with_places(&self, text: &str) -> Decoded {
        let mut done = Decoded { bytes: text.as_bytes().to_vec(), places: (0..=text.len()).collect() };
        for step in self.steps {
            let (mut bytes, mut places) = (Vec::new(), Vec::new());
            step.each(&done.bytes, |at, length, found| {
                bytes.extend_from_slice(found);
                if length == found.len() {
                    places.extend_from_slice(&done.places[at..at + length]);
                } else {
                    places.resize(bytes.len(), done.places[at]);
                }
            });
            places.push(text.len());
            done = Decoded { bytes, places };
        }
        done
    }
}

impl Escape {
    /// Tells what an escape stands for, and everything between escapes as it is; first where it begins and
    /// how long it is in the text.
    fn each(self, text: &[u8], mut told: impl FnMut(usize, usize, &[u8])) {
        let sign = match self {
            Json => b'\\',
            Html => b'&',
            Url => b'%',
        };
        let mut at = 0;
        while at < text.len() {
            let rest = &text[at..];
            let escape = match self {
                _ if rest[0] != sign => None,
                Json => json(rest),
                Html => html(rest),
                Url => url(rest),
            };
            let length = match escape {
                Some((Found::Char(found), length)) => {
                    told(at, length, found.encode_utf8(&mut [0; 4]).as_bytes());
                    length
                }
                Some((Found::Byte(found), length)) => {
                    told(at, length, &[found]);
                    length
                }
                None => {
                    let next = rest[1..].iter().position(|byte| *byte == sign);
                    let length = next.map_or(rest.len(), |next| next + 1);
                    told(at, length, &rest[..length]);
                    length
                }
            };
            at += length;
        }
    }
}

enum Found {
    Char(char),
    Byte(u8),
}

fn json(rest: &[u8]) -> Option<(Found, usize)> {
    let plain = match rest.get(1)? {
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let unit = |at: usize| number(rest.get(at..at + 4)?, 16);
            let first = unit(2)?;
            if let Some(found) = char::from_u32(first) {
                return Some((Found::Char(found), 6));
            }
            let second = unit(8).filter(|_| rest.get(6..8) == Some(b"\\u"))?;
            let pair = [u16::try_from(first).ok()?, u16::try_from(second).ok()?];
            let found = char::decode_utf16(pair).next()?.ok()?;
            return Some((Found::Char(found), 12));
        }
        _ => return None,
    };
    Some((Found::Char(plain), 2))
}

fn html(rest: &[u8]) -> Option<(Found, usize)> {
    if let Some((name, found)) = NAMES.iter().find(|(name, _)| rest.starts_with(name)) {
        return Some((Found::Char(*found), name.len()));
    }
    let digits = rest.strip_prefix(b"&#")?;
    let end = digits.iter().take(NUMBER_BYTES_MAX).position(|byte| *byte == b';')?;
    let found = match &digits[..end] {
        [b'x' | b'X', hex @ ..] => number(hex, 16),
        decimal => number(decimal, 10),
    };
    Some((Found::Char(char::from_u32(found?)?), end + 3))
}

fn url(rest: &[u8]) -> Option<(Found, usize)> {
    let byte = u8::try_from(number(rest.get(1..3)?, 16)?).ok()?;
    Some((Found::Byte(byte), 3))
}

fn number(digits: &[u8], radix: u32) -> Option<u32> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u32::from_str_radix(digits, radix).ok()
}
