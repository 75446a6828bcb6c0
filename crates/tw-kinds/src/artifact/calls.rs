//! The tools that a source names, as far as its text shows them.

use std::collections::BTreeSet;

const CALL: &str = "callTool";

/// What a source calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NamedCalls {
    /// By names that are written out, as in `ctx.callTool("weather.now", …)`.
    pub(crate) named: BTreeSet<String>,
    /// Whether it may call others too.
    pub(crate) others: bool,
}

impl NamedCalls {
    pub(crate) fn of(source: &str) -> Self {
        let mut calls = Self::default();
        let mut rest = source;
        while let Some(at) = next(rest) {
            rest = &rest[at + CALL.len()..];
            match literal(rest) {
                Some(name) => {
                    calls.named.insert(name.to_owned());
                }
                None => calls.others = true,
            }
        }
        calls
    }
}

/// Where the next call stands that is not in a comment.
fn next(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let call = from + text[from..].find(CALL)?;
        let comment = [("//", "\n"), ("/*", "*/")].into_iter().filter_map(|(start, end)| {
            let at = from + text[from..call].find(start)?;
            // A comment does not begin in an address.
            (!text[..at].ends_with(':')).then_some((at, start.len(), end))
        });
        match comment.min() {
            None => return Some(call),
            Some((at, opens, end)) => {
                let inside = at + opens;
                from = inside + text[inside..].find(end)? + end.len();
            }
        }
    }
}

/// The text in quotes that is the first argument, and all of it.
fn literal(behind: &str) -> Option<&str> {
    let inside = behind.trim_start().strip_prefix('(')?.trim_start();
    let quote = inside.chars().next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let (name, rest) = inside[1..].split_once(quote)?;
    let is_whole = rest.trim_start().starts_with([',', ')']);
    let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    (is_whole && is_name && !name.is_empty()).then_some(name)
}
