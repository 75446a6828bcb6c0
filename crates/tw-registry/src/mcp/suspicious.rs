//! Texts of a remote tool that may not be what a person sees.
//!
//! A model reads every character of a description; a person reads what a page shows of it. What only one of the two can
//! see is flagged, and a person decides.

use serde::Serialize;

use crate::remote::RemoteDefinition;

/// How many are told about one tool.
const TOLD_MAX: usize = 20;
/// Names, hashes and keys of schemas are shorter.
const ENCODED_RUN_MIN: usize = 80;
/// Tags by which instructions are hidden in what looks like prose.
const TAGS: &[&str] =
    &["<important", "<system", "<instruction", "<hidden", "<secret", "<!--", "[inst]", "<|"];
/// What a description has no reason to say to a model.
const ORDERS: &[&str] = &[
    "ignore previous instructions",
    "ignore all previous",
    "disregard previous",
    "do not tell the user",
    "don't tell the user",
    "do not mention this",
    "without telling the user",
];

/// Something about a text that a person should look at before a model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Suspicion {
    /// Where it is in the remote definition.
    pub path: String,
    pub code: &'static str,
    pub message: String,
}

/// What is suspicious about a tool, in the order of the places.
#[must_use]
pub fn suspicions(tool: &RemoteDefinition) -> Vec<Suspicion> {
    let mut found = Vec::new();
    for (path, text) in tool.texts() {
        for (code, message) in of_text(&text) {
            found.push(Suspicion { path: path.clone(), code, message });
        }
    }
    found.truncate(TOLD_MAX);
    found
}

fn of_text(text: &str) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let mut say = |code, message: String| found.push((code, message));
    if let Some(c) = text.chars().find(|c| is_invisible(*c)) {
        say("invisible_characters", format!("contains invisible characters, such as U+{:04X}", u32::from(c)));
    }
    if let Some(c) = text.chars().find(|c| turns_text(*c)) {
        say("direction_marks", format!("contains text direction marks, such as U+{:04X}", u32::from(c)));
    }
    if text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t')) {
        say("control_characters", "holds control characters".to_owned());
    }
    let lower = text.to_lowercase();
    if let Some(tag) = TAGS.iter().find(|tag| lower.contains(**tag)) {
        say("hidden_tags", format!("contains `{tag}`, which a page may hide"));
    }
    if let Some(order) = ORDERS.iter().find(|order| lower.contains(**order)) {
        say("orders", format!("tells the model \"{order}\""));
    }
    if longest_encoded_run(text) >= ENCODED_RUN_MIN {
        say("encoded_text", format!("holds {ENCODED_RUN_MIN} or more characters in a row that look encoded"));
    }
    found
}

/// Characters without a width, and the tags of Unicode, by which ASCII is written invisibly.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{00AD}' | '\u{034F}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{180E}'
        | '\u{200B}'..='\u{200D}' | '\u{2060}'..='\u{2064}' | '\u{3164}' | '\u{FE00}'..='\u{FE0E}' | '\u{FEFF}'
        | '\u{FFA0}' | '\u{E0000}'..='\u{E01EF}')
}

fn turns_text(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

fn longest_encoded_run(text: &str) -> usize {
    let is_encoded = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=' | '-' | '_');
    text.split(|c| !is_encoded(c)).map(str::len).max().unwrap_or(0)
}
