//! Strings: finding their end, and resolving their escapes.

use std::borrow::Cow;

use super::{JsonFault, JsonFaultKind, Scanner};

/// Whether a string holds an escape. One without is its own text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    Some,
}

impl Scanner<'_> {
    /// Passes over a string, from its opening quote to just behind its closing one.
    pub(super) fn string(&mut self) -> Result<Escapes, JsonFault> {
        self.at += 1;
        let mut escapes = Escapes::None;
        loop {
            self.at += plain_length(&self.bytes[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escapes);
                }
                Some(b'\\') => {
                    escapes = Escapes::Some;
                    self.escape()?;
                }
                Some(0) => return Err(JsonFault::new(self.at, JsonFaultKind::NulInString)),
                Some(_) => return Err(JsonFault::syntax(self.at, "control characters to be escaped")),
                None => return Err(JsonFault::new(self.at, JsonFaultKind::UnexpectedEnd)),
            }
        }
    }

    fn escape(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(())
            }
            Some(b'u') => {
                self.at += 1;
                self.unit_escape(start)
            }
            _ => Err(self.unexpected("an escape")),
        }
    }

    fn unit_escape(&mut self, start: usize) -> Result<(), JsonFault> {
        let lone = || JsonFault::new(start, JsonFaultKind::LoneSurrogate);
        match self.four_hex()? {
            0 => Err(JsonFault::new(start, JsonFaultKind::NulInString)),
            0xDC00..=0xDFFF => Err(lone()),
            0xD800..=0xDBFF => {
                if !self.bytes[self.at..].starts_with(b"\\u") {
                    return Err(lone());
                }
                self.at += 2;
                match self.four_hex()? {
                    0xDC00..=0xDFFF => Ok(()),
                    _ => Err(lone()),
                }
            }
            _ => Ok(()),
        }
    }

    fn four_hex(&mut self) -> Result<u16, JsonFault> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(self.unexpected("four hexadecimal digits"));
            };
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }
}

/// How many bytes from here on mean only themselves: no quote, no backslash, no control character.
fn plain_length(bytes: &[u8]) -> usize {
    // Eight bytes at a time. Each test leaves the high bit set in the bytes it finds; it may also
    // set it in a byte above a found one, never in one below, and only the lowest is used.
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word & HIGH;
    let mut length = 0;
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word);
        let quote = below(word ^ (ONES * u64::from(b'"')), 1);
        let backslash = below(word ^ (ONES * u64::from(b'\\')), 1);
        let found = quote | backslash | below(word, 0x20);
        if found != 0 {
            return length + (found.trailing_zeros() / 8) as usize;
        }
        length += 8;
    }
    length + rest.iter().take_while(|byte| 0x20 <= **byte && !matches!(byte, b'"' | b'\\')).count()
}

/// The text that the inside of a string stands for. The scanner has found it well formed.
pub(super) fn resolve(inside: &str, escapes: Escapes) -> Cow<'_, str> {
    if escapes == Escapes::None {
        return Cow::Borrowed(inside);
    }
    let mut out = String::with_capacity(inside.len());
    let mut rest = inside;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let (resolved, length) = resolve_escape(&rest[at..]);
        out.push(resolved);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The character an escape stands for, and how many bytes the escape takes.
fn resolve_escape(escape: &str) -> (char, usize) {
    let unit = |at: usize| u32::from_str_radix(&escape[at..at + 4], 16).expect("the scanner saw four digits");
    match escape.as_bytes()[1] {
        b'b' => ('\u{8}', 2),
        b'f' => ('\u{c}', 2),
        b'n' => ('\n', 2),
        b'r' => ('\r', 2),
        b't' => ('\t', 2),
        b'u' => match unit(2) {
            high @ 0xD800..=0xDBFF => {
                let scalar = 0x1_0000 + ((high - 0xD800) << 10) + (unit(8) - 0xDC00);
                (char::from_u32(scalar).expect("the scanner saw a whole surrogate pair"), 12)
            }
            scalar => (char::from_u32(scalar).expect("the scanner saw no lone surrogate"), 6),
        },
        itself => (char::from(itself), 2),
    }
}
