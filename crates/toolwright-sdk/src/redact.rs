//! Takes credentials out of what a service sends back.

mod escapes;
mod spellings;
#[cfg(test)]
mod tests;

use std::{fmt, ops::Range};

use aho_corasick::AhoCorasick;
use serde_json::{Map, Value};
use tw_model::{REDACTED, ToolFailure, ToolResult};
use zeroize::Zeroizing;

use escapes::{Decoded, Escapes};
use spellings::{Edge, Spelling};

/// What is shorter is a word that answers are full of; it is found only where it stands alone.
const LEN_MIN: usize = 4;

/// The credentials of one call, which are found however a service spells them.
///
/// As they are, in base64 at every alignment (so also behind a `Bearer ` that was encoded with them) and in
/// hexadecimal; each of these also with the escapes of JSON, HTML and URLs.
///
/// # Example
///
/// ```
/// use toolwright_sdk::Redactor;
///
/// let redactor = Redactor::new(["hunter2!"]);
/// assert_eq!(redactor.text("wrong key: hunter2%21".to_owned()), "wrong key: ***");
/// ```
#[derive(Default)]
pub struct Redactor {
    /// `None` where there is nothing to look for.
    finder: Option<AhoCorasick>,
    /// What reaches beyond a match, in the order of the finder's patterns.
    edges: Vec<Edge>,
    /// Secrets that a number may be.
    whole: Vec<Zeroizing<String>>,
    short: Vec<Zeroizing<String>>,
}

impl Redactor {
    #[must_use]
    pub fn new<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut spellings = Vec::new();
        let (mut whole, mut short) = (Vec::new(), Vec::new());
        for secret in secrets {
            match secret.chars().count() {
                0 => {}
                1..LEN_MIN => short.push(Zeroizing::new(secret.to_owned())),
                _ => {
                    whole.push(Zeroizing::new(secret.to_owned()));
                    spellings::of(secret, &mut spellings);
                }
            }
        }
        let patterns = spellings.iter().map(|Spelling { text, .. }| text.as_str());
        // Texts of some kilobytes do not come near what the library cannot count.
        let finder = AhoCorasick::new(patterns).ok().filter(|_| !spellings.is_empty());
        Self { finder, edges: spellings.iter().map(|spelling| spelling.edge).collect(), whole, short }
    }

    /// A text without the secrets.
    #[must_use]
    pub fn text(&self, text: String) -> String {
        if self.short.iter().any(|secret| text.trim() == secret.as_str()) {
            return REDACTED.to_owned();
        }
        self.within(text)
    }

    /// A value without the secrets, in its texts and in the names of its members. A number is one only as
    /// a whole.
    #[must_use]
    pub fn value(&self, value: Value) -> Value {
        if self.finder.is_none() && self.short.is_empty() {
            return value;
        }
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(members) => {
                let clean = |(name, member)| (self.within(name), self.value(member));
                Value::Object(members.into_iter().map(clean).collect::<Map<_, _>>())
            }
            Value::Number(number) => {
                let text = number.to_string();
                let is_secret = self.whole.iter().any(|secret| text == secret.as_str());
                if is_secret { Value::String(REDACTED.to_owned()) } else { Value::Number(number) }
            }
            plain => plain,
        }
    }

    /// What a tool ends with, without the secrets.
    pub fn outcome(&self, outcome: Result<ToolResult, ToolFailure>) -> Result<ToolResult, ToolFailure> {
        outcome.map(|result| self.result(result)).map_err(|failure| ToolFailure {
            code: failure.code,
            message: self.text(failure.message),
            said: failure.said.map(|said| Box::new(self.result(*said))),
        })
    }

    fn result(&self, ToolResult { data, summary, markdown }: ToolResult) -> ToolResult {
        ToolResult {
            data: self.value(data),
            summary: self.text(summary),
            markdown: markdown.map(|text| self.text(text)),
        }
    }

    fn within(&self, text: String) -> String {
        let Some(finder) = &self.finder else { return text };
        let mut found = Vec::new();
        if finder.is_match(&text) {
            self.find(finder, text.as_bytes(), |span| found.push(span));
        }
        for escapes in Escapes::ALL.iter().filter(|escapes| escapes.may_be_in(&text)) {
            // Where each byte comes from is asked only where something was found.
            if finder.is_match(&escapes.decode(&text)) {
                let Decoded { bytes, places } = escapes.decode_with_places(&text);
                self.find(finder, &bytes, |span| found.push(places[span.start]..places[span.end]));
            }
        }
        if found.is_empty() { text } else { without(&text, found) }
    }

    /// Everything that was found, also where one begins within another.
    fn find(&self, finder: &AhoCorasick, bytes: &[u8], mut told: impl FnMut(Range<usize>)) {
        let mut last: Option<Range<usize>> = None;
        for found in finder.find_overlapping_iter(bytes) {
            let span = self.edges[found.pattern().as_usize()].around(bytes, found.range());
            last = Some(match last.take() {
                Some(last) if span.start < last.end => last.start.min(span.start)..last.end.max(span.end),
                Some(last) => {
                    told(last);
                    span
                }
                None => span,
            });
        }
        last.into_iter().for_each(told);
    }
}

fn without(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.sort_by_key(|span| (span.start, span.end));
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        let (start, end) = (text.floor_char_boundary(span.start), text.ceil_char_boundary(span.end));
        if done <= start {
            clean.push_str(&text[done..start]);
            clean.push_str(REDACTED);
        }
        done = done.max(end);
    }
    clean.push_str(&text[done..]);
    clean
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").finish_non_exhaustive()
    }
}
