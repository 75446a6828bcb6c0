//! Coercion between texts, numbers and booleans.

use serde_json::Value;

use crate::{
    outline::{Cases, Types},
    strict,
};

/// Texts longer than this are no number that anyone wrote.
const NUMBER_BYTES_MAX: usize = 400;

/// The number or boolean that a text stands for, if that is what is wanted.
pub(super) fn from_text(text: &str, allowed: Types) -> Option<Value> {
    let text = text.trim();
    if allowed.meets(Types::BOOLEAN) {
        for (word, value) in [("true", true), ("false", false)] {
            if text.eq_ignore_ascii_case(word) {
                return Some(Value::Bool(value));
            }
        }
    }
    if !allowed.meets(Types::INTEGER | Types::FRACTION) || NUMBER_BYTES_MAX < text.len() {
        return None;
    }
    let value = strict::parse(text.as_bytes()).ok()?;
    (value.is_number() && allowed.meets(Types::of_value(&value))).then_some(value)
}

/// The text of a number or a boolean, if nothing but a text is wanted.
pub(super) fn to_text(value: &Value, allowed: Types) -> Option<Value> {
    (allowed.without(Types::NULL) == Types::STRING).then(|| Value::String(value.to_string()))
}

/// The one entry that a text is but for its case, when it is none exactly.
///
/// Several lists hold at one place when `allOf` lays one over another; the entry is in all of them.
pub(super) fn entry_but_for_case<'a>(text: &str, lists: &[&'a Cases]) -> Option<&'a str> {
    let lower = text.to_lowercase();
    let lists: Vec<&'a Vec<String>> = lists.iter().map(|list| list.get(&lower)).collect::<Option<_>>()?;
    let (first, others) = lists.split_first()?;
    let mut in_all = first.iter().filter(|entry| others.iter().all(|list| list.contains(entry)));
    match (in_all.next(), in_all.next()) {
        (Some(only), None) if only != text => Some(only),
        _ => None,
    }
}
