//! The strict check of every JSON text, before it is parsed.
//!
//! If one parser keeps the first of two equal keys and another the last, or one rounds a long integer,
//! the policy sees one value and the tool another. Such a text is refused here, so all later parsers
//! read the same value.

mod keys;
mod number;
mod text;

use std::fmt;

use serde_json::Value;

use keys::Keys;

/// How deep arrays and objects may be nested.
///
/// `serde_json` refuses the 128th level, and a text that [`scan`] accepts must never fail later.
pub const DEPTH_MAX: usize = 127;

/// How much of a key a fault repeats. A fault is read by a person and kept in a log.
const KEY_SHOWN_MAX: usize = 80;

/// The first fault of a JSON text, and its byte offset.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonFault {
    pub offset: usize,
    pub kind: JsonFaultKind,
}

/// The ways in which a text is not strict JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JsonFaultKind {
    /// The text is empty or only white space.
    Empty,
    /// The text begins with a byte order mark.
    Bom,
    BadUtf8,
    Syntax {
        expected: &'static str,
    },
    /// The text stops in the middle of a value.
    UnexpectedEnd,
    /// Two keys of one object are equal once their escapes are resolved.
    DuplicateKey {
        key: String,
    },
    TooDeep {
        max: usize,
    },
    /// An escape for one half of a surrogate pair without the other half.
    LoneSurrogate,
    /// PostgreSQL stores no such text, so no store takes it.
    NulInString,
    /// An integer beyond `u64::MAX` or `i64::MIN`, or a float that would become infinite.
    NumberOutOfRange,
    /// More text after the value.
    TrailingData,
}

impl JsonFault {
    fn new(offset: usize, kind: JsonFaultKind) -> Self {
        Self { offset, kind }
    }

    fn syntax(offset: usize, expected: &'static str) -> Self {
        Self::new(offset, JsonFaultKind::Syntax { expected })
    }

    /// Whether the text is JSON, but a number in it is too large to be kept exactly.
    ///
    /// A door answers such a text like an invalid value, not like malformed JSON.
    #[must_use]
    pub fn is_range(&self) -> bool {
        self.kind == JsonFaultKind::NumberOutOfRange
    }
}

impl fmt::Display for JsonFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("no JSON value"),
            Self::Bom => f.write_str("byte order mark"),
            Self::BadUtf8 => f.write_str("invalid UTF-8"),
            Self::Syntax { expected } => write!(f, "expected {expected}"),
            Self::UnexpectedEnd => f.write_str("unexpected end of the text"),
            Self::DuplicateKey { key } => write!(f, "duplicate key `{key}`"),
            Self::TooDeep { max } => write!(f, "nested more than {max} levels deep"),
            Self::LoneSurrogate => f.write_str("lone surrogate in a string"),
            Self::NulInString => f.write_str("NUL in a string"),
            Self::NumberOutOfRange => f.write_str("number out of range"),
            Self::TrailingData => f.write_str("text after the end of the value"),
        }
    }
}

/// Checks a whole JSON text in one pass without building anything.
///
/// Time is linear in the length of the text, there is no recursion, and memory is bounded by the
/// keys of the objects that are open at one moment.
///
/// # Errors
///
/// The first fault in the order of the text, except that invalid UTF-8 is found before all else.
///
/// # Example
///
/// ```
/// assert!(tw_schema::scan(br#"{"a": 1, "b": [true, null]}"#).is_ok());
///
/// let fault = tw_schema::scan(br#"{"a": 1, "\u0061": 2}"#).unwrap_err();
/// assert_eq!(fault.to_string(), "duplicate key `a` at byte 9");
/// ```
pub fn scan(bytes: &[u8]) -> Result<(), JsonFault> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(JsonFault::new(0, JsonFaultKind::Bom));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| JsonFault::new(error.valid_up_to(), JsonFaultKind::BadUtf8))?;
    let mut scanner = Scanner { text, bytes, at: 0, open: Vec::new(), keys: Keys::default() };
    scanner.skip_space();
    if scanner.at == bytes.len() {
        return Err(JsonFault::new(0, JsonFaultKind::Empty));
    }
    scanner.run()
}

/// Checks a text as [`scan`] does and then reads it.
///
/// # Errors
///
/// As [`scan`].
pub fn parse(bytes: &[u8]) -> Result<Value, JsonFault> {
    scan(bytes)?;
    // The property tests hold the two readers together; should they ever part, the caller sees a
    // refusal and not a panic.
    serde_json::from_slice(bytes)
        .map_err(|error| JsonFault::syntax(error.column().min(bytes.len()), "a JSON value"))
}

/// An array or object that is open at the current byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Array,
    Object,
}

/// The tokens that the grammar allows next.
enum Expect {
    Value,
    /// Right after `[`.
    ValueOrEnd,
    /// Right after `{`.
    KeyOrEnd,
    Key,
    /// Right after a value: a separator or an end, by the frame.
    Separator,
}

struct Scanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    open: Vec<Frame>,
    keys: Keys<'a>,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), JsonFault> {
        let mut expect = Expect::Value;
        loop {
            self.skip_space();
            expect = match expect {
                Expect::Value => self.value()?,
                Expect::ValueOrEnd if self.peek() == Some(b']') => self.close(),
                Expect::ValueOrEnd => self.value()?,
                Expect::KeyOrEnd if self.peek() == Some(b'}') => self.close(),
                Expect::KeyOrEnd => self.key("a key or `}`")?,
                Expect::Key => self.key("a key")?,
                Expect::Separator => match self.open.last() {
                    None if self.at == self.bytes.len() => return Ok(()),
                    None => return Err(JsonFault::new(self.at, JsonFaultKind::TrailingData)),
                    Some(Frame::Array) => self.separator(b']', "`,` or `]`", Expect::Value)?,
                    Some(Frame::Object) => self.separator(b'}', "`,` or `}`", Expect::Key)?,
                },
            };
        }
    }

    fn value(&mut self) -> Result<Expect, JsonFault> {
        match self.peek() {
            Some(b'{') => return self.open(Frame::Object),
            Some(b'[') => return self.open(Frame::Array),
            Some(b'"') => {
                self.string()?;
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            _ => return Err(self.unexpected("a value")),
        }
        Ok(Expect::Separator)
    }

    fn open(&mut self, frame: Frame) -> Result<Expect, JsonFault> {
        if self.open.len() == DEPTH_MAX {
            return Err(JsonFault::new(self.at, JsonFaultKind::TooDeep { max: DEPTH_MAX }));
        }
        self.at += 1;
        self.open.push(frame);
        Ok(match frame {
            Frame::Array => Expect::ValueOrEnd,
            Frame::Object => {
                self.keys.open();
                Expect::KeyOrEnd
            }
        })
    }

    fn close(&mut self) -> Expect {
        self.at += 1;
        if self.open.pop() == Some(Frame::Object) {
            self.keys.close();
        }
        Expect::Separator
    }

    fn separator(&mut self, end: u8, expected: &'static str, next: Expect) -> Result<Expect, JsonFault> {
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(next)
            }
            Some(found) if found == end => Ok(self.close()),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn key(&mut self, expected: &'static str) -> Result<Expect, JsonFault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected(expected));
        }
        let start = self.at;
        let key = self.string()?;
        let key = text::resolve(&self.text[start + 1..self.at - 1], key);
        if let Some(twice) = self.keys.insert(key) {
            let key = twice.chars().take(KEY_SHOWN_MAX).collect();
            return Err(JsonFault::new(start, JsonFaultKind::DuplicateKey { key }));
        }
        self.skip_space();
        if self.peek() != Some(b':') {
            return Err(self.unexpected("`:`"));
        }
        self.at += 1;
        Ok(Expect::Value)
    }

    fn word(&mut self, word: &'static str) -> Result<(), JsonFault> {
        let wanted = word.as_bytes();
        if self.bytes[self.at..].starts_with(wanted) {
            self.at += wanted.len();
            return Ok(());
        }
        if wanted.starts_with(&self.bytes[self.at..]) {
            return Err(JsonFault::new(self.bytes.len(), JsonFaultKind::UnexpectedEnd));
        }
        Err(JsonFault::syntax(self.at, "a value"))
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn unexpected(&self, expected: &'static str) -> JsonFault {
        match self.peek() {
            None => JsonFault::new(self.at, JsonFaultKind::UnexpectedEnd),
            Some(_) => JsonFault::syntax(self.at, expected),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
