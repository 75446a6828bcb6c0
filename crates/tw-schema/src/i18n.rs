//! Translations of what people read: `x-i18n` in a schema, `i18n` elsewhere in a definition.
//!
//! Both are objects of languages, and a language has the same texts under the same names as what is
//! translated. A text without a translation is shown as it is written.

use serde_json::{Map, Value};

use crate::{
    Fault, TEXT_BYTES_MAX, Violation,
    fault::FirstFaults,
    pointer,
    subschemas::{self, TRANSLATIONS},
};

/// The labels of an `enum`, one for each of its values.
const LABELS: &str = "x-enum-labels";
/// More languages than any product has; each is carried wherever the definition is read.
const LANGUAGES_MAX: usize = 50;

/// How many bytes a translated text may have: as many as what it translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    min: usize,
    max: usize,
}

impl Bound {
    /// For a text that may be empty.
    #[must_use]
    pub const fn at_most(max: usize) -> Self {
        Self { min: 0, max }
    }

    /// For a text that must say something.
    #[must_use]
    pub const fn needed(max: usize) -> Self {
        Self { min: 1, max }
    }

    fn check(self, text: &str) -> Result<(), Violation> {
        let says = if self.min == 0 { text.len() } else { text.trim().len() };
        match (self.min <= says && text.len() <= self.max, self.min) {
            (true, _) => Ok(()),
            (false, 0) => Err(Violation::max_bytes(self.max)),
            (false, min) => Err(Violation::byte_length(min, self.max)),
        }
    }
}

/// All faults of an `i18n`: an object of languages, each with some of these texts.
#[must_use]
pub fn check_translations(translations: &Value, texts: &[(&str, Bound)]) -> Vec<Fault> {
    let mut faults = FirstFaults::default();
    each_language(translations, "", &mut faults, |language, at, faults| {
        for (name, said) in language {
            let at = pointer::join(at, name);
            match texts.iter().find(|(known, _)| known == name) {
                None => faults.say(at, Violation::unknown_member()),
                Some((_, bound)) => check_text(said, *bound, at, faults),
            }
        }
    });
    faults.told()
}

/// All faults of the translations in a schema, which must be one that compiles.
///
/// A node may have its `title`, `description` and `x-unit` translated, and the labels of its `enum`.
#[must_use]
pub fn check_schema_translations(schema: &Value) -> Vec<Fault> {
    let mut faults = FirstFaults::default();
    subschemas::each(schema, "", &mut |node, path| {
        let Some(translations) = node.get(TRANSLATIONS) else { return };
        let choices = node.get("enum").and_then(Value::as_array).map(Vec::len);
        each_language(
            translations,
            &pointer::join(path, TRANSLATIONS),
            &mut faults,
            |language, at, faults| {
                for (name, said) in language {
                    let at = pointer::join(at, name);
                    match name.as_str() {
                        "title" | "description" | "x-unit" => {
                            check_text(said, Bound::at_most(TEXT_BYTES_MAX), at, faults);
                        }
                        LABELS => check_labels(said, choices, at, faults),
                        _ => faults.say(at, Violation::unknown_member()),
                    }
                }
            },
        );
    });
    faults.told()
}

fn each_language(
    translations: &Value,
    at: &str,
    faults: &mut FirstFaults,
    mut check: impl FnMut(&Map<String, Value>, &str, &mut FirstFaults),
) {
    let Some(languages) = translations.as_object() else {
        return faults.say(at, Violation::typed(&["object"], translations));
    };
    if LANGUAGES_MAX < languages.len() {
        return faults.say(at, Violation::max_properties(LANGUAGES_MAX));
    }
    for (tag, said) in languages {
        let at = pointer::join(at, tag);
        match said {
            _ if !is_language(tag) => faults.say(at, Violation::language()),
            Value::Object(language) => check(language, &at, faults),
            other => faults.say(at, Violation::typed(&["object"], other)),
        }
    }
}

fn check_text(said: &Value, bound: Bound, at: String, faults: &mut FirstFaults) {
    let fits = match said {
        Value::String(text) => bound.check(text),
        other => Err(Violation::typed(&["string"], other)),
    };
    if let Err(violation) = fits {
        faults.say(at, violation);
    }
}

fn check_labels(said: &Value, choices: Option<usize>, at: String, faults: &mut FirstFaults) {
    let Some(labels) = said.as_array() else {
        return faults.say(at, Violation::typed(&["array"], said));
    };
    let choices = choices.unwrap_or_default();
    if labels.len() != choices {
        return faults.say(at, Violation::item_count(choices, choices));
    }
    for (index, label) in labels.iter().enumerate().filter(|(_, label)| !label.is_null()) {
        check_text(label, Bound::at_most(TEXT_BYTES_MAX), format!("{at}/{index}"), faults);
    }
}

/// Whether a text is a language tag of BCP 47 in its usual spelling: a language, perhaps a script, perhaps a region.
pub(crate) fn is_language(tag: &str) -> bool {
    let lower = |part: &str| part.bytes().all(|b| b.is_ascii_lowercase());
    let upper = |part: &str| part.bytes().all(|b| b.is_ascii_uppercase());
    let is_script = |part: &str| part.len() == 4 && upper(&part[..1]) && lower(&part[1..]);
    let is_region = |part: &str| {
        (part.len() == 2 && upper(part)) || (part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    if !tag.is_ascii() {
        return false;
    }
    let mut parts = tag.split('-').peekable();
    let language = parts.next().is_some_and(|part| (2..=3).contains(&part.len()) && lower(part));
    parts.next_if(|part| is_script(part));
    parts.next_if(|part| is_region(part));
    language && parts.next().is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(faults: Vec<Fault>) -> Vec<String> {
        faults.into_iter().map(|fault| format!("{} {}", fault.path, fault.message)).collect()
    }

    #[test]
    fn language_is_a_short_tag_in_its_usual_spelling() {
        for tag in ["de", "de-AT", "gsw", "zh-Hant", "zh-Hant-TW", "es-419"] {
            assert!(is_language(tag), "{tag}");
        }
        for tag in
            ["", "d", "DE", "de-at", "de_AT", "german", "de-AT-x", "x-de", "de-", "dé", "zh-hant", "de-1901"]
        {
            assert!(!is_language(tag), "{tag}");
        }
    }

    #[test]
    fn translation_has_the_texts_of_what_it_translates_and_their_bounds() {
        let texts = [("name", Bound::needed(8)), ("help", Bound::at_most(4))];
        assert_eq!(
            check_translations(&json!({ "de": { "name": "Stadt", "help": "" }, "fr": {} }), &texts),
            []
        );
        let wrong = json!({
            "de": { "name": " ", "help": "länger", "colour": "rot" }, "de-AT": { "name": 7 }, "deutsch": {}, "fr": null,
        });
        assert_eq!(
            told(check_translations(&wrong, &texts)),
            [
                "/de/colour is not a known member",
                "/de/help must have at most 4 bytes",
                "/de/name must have 1 to 8 bytes",
                "/de-AT/name must be a string, not a number",
                "/deutsch must be a language tag such as `de` or `de-AT`",
                "/fr must be an object, not null",
            ]
        );
        assert_eq!(told(check_translations(&json!([]), &texts)), [" must be an object, not an array"]);
    }

    #[test]
    fn every_node_of_a_schema_may_be_translated() {
        let unit = json!({ "enum": ["m", "km"], "x-i18n": { "de": { "x-enum-labels": ["Meter", null] } } });
        let schema = json!({
            "properties": { "unit": unit, "x-i18n": { "type": "string", "x-i18n": { "de": { "title": "Texte" } } } },
            "$defs": { "a": { "oneOf": [{ "const": 1, "x-i18n": { "de": { "title": "Eins" } } }] } },
            "x-i18n": { "de": { "title": "Weg", "description": "Wie weit.", "x-unit": "Meilen" } },
            "default": { "x-i18n": 7 },
        });
        assert_eq!(check_schema_translations(&schema), []);
    }

    #[test]
    fn fault_in_a_translation_of_a_schema_is_told_at_its_place() {
        let schema = json!({
            "properties": {
                "a/b": { "x-i18n": { "de": { "titel": "A" } } },
                "c": { "enum": [1, 2], "x-i18n": { "de": { "x-enum-labels": ["Eins"] }, "fr": { "x-enum-labels": [1, "deux"] } } },
                "d": { "x-i18n": { "de": { "x-enum-labels": ["Eins"] } } },
            },
            "items": { "x-i18n": "de" },
        });
        assert_eq!(
            told(check_schema_translations(&schema)),
            [
                "/items/x-i18n must be an object, not a string",
                "/properties/a~1b/x-i18n/de/titel is not a known member",
                "/properties/c/x-i18n/de/x-enum-labels must be a list of 2 to 2 items",
                "/properties/c/x-i18n/fr/x-enum-labels/0 must be a string, not a number",
                "/properties/d/x-i18n/de/x-enum-labels must be a list of 0 to 0 items",
            ]
        );
    }
}
