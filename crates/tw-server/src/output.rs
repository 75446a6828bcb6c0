//! What is printed, and what is kept from a terminal.
//!
//! Names, texts and outputs come from tools and strangers, and a terminal obeys what it reads. Whatever
//! is meant for people goes through [`clean`] or [`cell`]; JSON has its own way to write such characters.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
};

use anyhow::Result;
use comfy_table::{Table, presets};
use serde::Serialize;
use serde_json::Value;

use crate::fail::Unread;

/// How much of a text a table shows.
const CELL_MAX: usize = 60;

/// Prints a line, or several, for a person or a program.
pub(crate) fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let written = writeln!(out, "{text}").and_then(|()| out.flush());
    written.map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Unread.into(),
        _ => anyhow::Error::new(error).context("cannot write the output"),
    })
}

/// Prints beside the output, where a program that reads the output does not see it.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", clean(text));
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl Serialize) -> Result<()> {
    say(&escaped(&serde_json::to_string_pretty(value)?))
}

/// Prints a value as JSON in one line.
pub(crate) fn json_line(value: &impl Serialize) -> Result<()> {
    say(&escaped(&serde_json::to_string(value)?))
}

/// JSON in which every character that a terminal could obey is written as an escape. The value is the
/// same: outside strings, JSON has no such characters but line ends.
fn escaped(json: &str) -> String {
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && is_hostile(c) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                let _ = write!(text, "\\u{unit:04x}");
            }
        } else {
            text.push(c);
        }
    }
    text
}

/// A text without the characters that move the cursor, change colours or reorder what is read.
pub(crate) fn clean(text: &str) -> String {
    text.chars().filter(|c| matches!(c, '\n' | '\t') || !is_hostile(*c)).collect()
}

/// As [`clean`], in one line of a moderate length.
pub(crate) fn cell(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = clean(&line);
    match line.char_indices().nth(CELL_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Control characters of both sets, and those that change the direction of writing.
fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

/// Prints rows under their titles.
pub(crate) fn table(titles: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(titles.iter().map(|title| title.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|text| cell(text)));
    }
    let lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    // Every column begins with the same space.
    let lines: Vec<&str> = lines.iter().map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    say(&lines.join("\n"))
}

/// Prints names and values, one pair a line; a pair without a value is left out.
pub(crate) fn pairs(pairs: &[(&str, String)]) -> Result<()> {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let next_line = format!("\n{:width$}  ", "");
    let shown = pairs.iter().filter(|(_, value)| !value.is_empty());
    let lines: Vec<String> = shown
        .map(|(name, value)| format!("{name:width$}  {}", clean(value).replace('\n', &next_line)))
        .collect();
    say(&lines.join("\n"))
}

/// A value as a person reads it: a text as it is, nothing for null, the rest as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => escaped(&other.to_string()),
    }
}

/// A value over several lines: a text as it is, the rest as indented JSON.
pub(crate) fn block(value: &Value) -> String {
    match value {
        Value::String(text) => clean(text),
        other => escaped(&serde_json::to_string_pretty(other).unwrap_or_default()),
    }
}

/// A moment to the second.
pub(crate) fn moment(text: &str) -> String {
    match text.split_once('T') {
        Some((day, time)) => {
            let second = time.find(['.', 'Z', '+']).map_or(time, |end| &time[..end]);
            format!("{day} {second}")
        }
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_a_terminal_obeys_reaches_a_person() {
        assert_eq!(clean("\u{1b}[31mred\u{1b}[0m \u{9b}2J\u{7}\r\n\ttab"), "[31mred[0m 2J\n\ttab");
        assert_eq!(clean("in\u{202e}vert\u{2066}ed"), "inverted");
        assert_eq!(clean("Grüße, 世界 👋"), "Grüße, 世界 👋");
    }

    #[test]
    fn cell_is_one_short_line() {
        assert_eq!(cell(" a\nb\u{1b}]0;title\u{7}  c "), "a b]0;title c");
        assert_eq!(cell(&"x".repeat(100)).chars().count(), CELL_MAX + 1);
    }

    #[test]
    fn json_keeps_its_value_and_shows_no_control_character() {
        let value = json!({ "text": "\u{1b}[2J\u{9b}31m\u{7f}\u{202e} Grüße" });
        let text = escaped(&serde_json::to_string_pretty(&value).unwrap());
        assert!(!text.chars().any(|c| c != '\n' && is_hostile(c)), "{text:?}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
    }

    #[test]
    fn moment_ends_with_its_second() {
        assert_eq!(moment("2026-11-15T09:40:11.123456Z"), "2026-11-15 09:40:11");
        assert_eq!(moment(""), "");
    }
}
