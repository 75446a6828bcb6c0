//! Regular expressions: which ones every client can compile, and how much one costs to run.
//!
//! JSON Schema means ECMA-262, and clients compile patterns with the `u` flag. The engine here also
//! accepts syntax of other dialects, such as `(?i)` and `\A`, so this module refuses it. Look-around
//! and back-references are refused by the engine itself.

mod weight;

use std::{iter::Peekable, str::Chars, sync::LazyLock};

use jsonschema::Validator;
use serde_json::{Value, json};

pub(crate) use weight::weight;

/// The validator's own reading of ECMA-262. It is wider than the `u` flag in what follows a backslash,
/// and looks neither at the age of a feature nor at the names of properties.
static ECMA: LazyLock<Validator> = LazyLock::new(|| {
    jsonschema::draft202012::options()
        .should_validate_formats(true)
        .build(&json!({ "format": "regex" }))
        .expect("one keyword is a schema")
});

/// Whether a pattern is one of ECMA-262 with the `u` flag, as engines of the last years have it.
pub(crate) fn is_readable(pattern: &str) -> bool {
    ECMA.is_valid(&Value::from(pattern)) && parts_are_readable(pattern)
}

/// What the grammar is wider in. The pattern is well formed otherwise.
fn parts_are_readable(pattern: &str) -> bool {
    let mut rest = pattern.chars().peekable();
    let mut in_class = false;
    while let Some(c) = rest.next() {
        let is_readable = match c {
            '\\' => escape_is_readable(&mut rest, in_class),
            // `(?i:…)` came with 2025 only.
            '(' if !in_class && rest.next_if_eq(&'?').is_some() => {
                rest.next().is_some_and(|c| matches!(c, ':' | '<' | '=' | '!'))
            }
            _ => true,
        };
        if !is_readable {
            return false;
        }
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => {}
        }
    }
    true
}

/// Reads what follows a backslash. Only what means something may be escaped.
fn escape_is_readable(rest: &mut Peekable<Chars<'_>>, in_class: bool) -> bool {
    let Some(c) = rest.next() else { return false };
    match c {
        'p' | 'P' => {
            let name: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
            is_property(&name)
        }
        '-' => in_class,
        c => c.is_ascii_alphanumeric() || r"^$\.*+?()[]{}|/".contains(c),
    }
}

/// Whether a property of letters goes by exactly this name: ours is found in any case and spelling.
fn is_property(name: &str) -> bool {
    match name.split_once('=') {
        None => is_among(name, CATEGORIES) || is_among(name, BINARY),
        Some(("General_Category" | "gc", value)) => is_among(value, CATEGORIES),
        Some(("Script" | "sc" | "Script_Extensions" | "scx", value)) => is_script(value),
        Some(_) => false,
    }
}

fn is_among(name: &str, names: &str) -> bool {
    names.split(' ').any(|each| each == name)
}

/// Whether the name of a script is written as it should be; that there is one, the engine sees.
fn is_script(name: &str) -> bool {
    let is_word = |word: &str| {
        let mut letters = word.chars();
        letters.next().is_some_and(|c| c.is_ascii_uppercase()) && letters.all(|c| c.is_ascii_lowercase())
    };
    name == "SignWriting" || name.split('_').all(is_word)
}

/// The values of `General_Category`.
const CATEGORIES: &str = "\
    L Letter LC Cased_Letter Lu Uppercase_Letter Ll Lowercase_Letter Lt \
    Titlecase_Letter Lm Modifier_Letter Lo Other_Letter M Mark Combining_Mark Mn Nonspacing_Mark Mc \
    Spacing_Mark Me Enclosing_Mark N Number Nd Decimal_Number digit Nl Letter_Number No Other_Number \
    P Punctuation punct Pc Connector_Punctuation Pd Dash_Punctuation Ps Open_Punctuation Pe \
    Close_Punctuation Pi Initial_Punctuation Pf Final_Punctuation Po Other_Punctuation S Symbol Sm \
    Math_Symbol Sc Currency_Symbol Sk Modifier_Symbol So Other_Symbol Z Separator Zs Space_Separator \
    Zl Line_Separator Zp Paragraph_Separator C Other Cc Control cntrl Cf Format Cs Surrogate Co \
    Private_Use Cn Unassigned";

/// Properties that a letter has or has not.
const BINARY: &str = "\
    Any ASCII Assigned ASCII_Hex_Digit AHex Alphabetic Alpha Bidi_Control Bidi_C Bidi_Mirrored Bidi_M \
    Case_Ignorable CI Cased Changes_When_Casefolded CWCF Changes_When_Casemapped CWCM Changes_When_Lowercased CWL \
    Changes_When_Titlecased CWT Changes_When_Uppercased CWU Dash Default_Ignorable_Code_Point DI \
    Deprecated Dep Diacritic Dia Emoji Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base \
    EBase Emoji_Presentation EPres Extended_Pictographic ExtPict Extender Ext Grapheme_Base Gr_Base \
    Grapheme_Extend Gr_Ext Hex_Digit Hex ID_Continue IDC ID_Start IDS Ideographic Ideo Join_Control \
    Join_C Logical_Order_Exception LOE Lowercase Lower Math Noncharacter_Code_Point NChar \
    Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS Quotation_Mark QMark Radical \
    Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Term \
    Unified_Ideograph UIdeo Uppercase Upper Variation_Selector VS White_Space space XID_Continue \
    XIDC XID_Start XIDS";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everyday_patterns_are_readable() {
        for pattern in [
            "",
            "^[a-z]+$",
            r"^[\w.%+\-]+@[\w.-]+\.\w{2,}$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^\p{L}[\p{Lu}\P{N}\p{Script=Greek}\p{sc=Latin}\p{gc=Nd}\p{Alphabetic} '-]{0,99}$",
            r"^\/api\/[^\/]+$",
            "(?<year>[0-9]{4})(?:x|y)",
            r"\u00e4\u{1F600}\x41\cA\t\0",
            r"[(?i)]\(\?i\)",
            r"a+?b*?c{2,3}?",
            r"\bword\b",
        ] {
            assert!(is_readable(pattern), "{pattern}");
        }
    }

    #[test]
    fn patterns_of_other_dialects_are_not() {
        for pattern in [
            "(?i)^abc$",
            "(?i:abc)",
            "(?x) a b",
            "(?P<n>x)",
            "(?s-u:.)",
            "(?>a)",
            r"\Aabc\z",
            r"abc\Z",
            r"\h+\R",
            r"\Q.\E",
            r"\x{41}",
            r"\<word\>",
            r"\b{start}word",
            r"a\@b",
            r"\-",
            r"\_",
            r"a\ b",
            "a++",
            "a{2}{3}",
            "a{,3}",
            "{",
            "a]",
            "[[:alpha:]]",
            r"\pL",
            r"\p{Greek}",
            r"\p{letter}",
            r"\p{sc=greek}",
            r"\p{^L}",
            r"\p{Block=Arrows}",
            r"[\w-z]",
            "(",
            "*",
        ] {
            assert!(!is_readable(pattern), "{pattern}");
        }
    }
}
