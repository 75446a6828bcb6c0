//! What a page itself keeps from its readers.
//!
//! Only what stands at the element is read: a style sheet is not. What is hidden is left out because nobody
//! would see it, and because it is where a page puts what only an agent is to read.

use html5gum::StartTag;

use super::page::attribute;

/// Whether an element is not shown, with all that is within.
pub(super) fn is_hidden(tag: &StartTag<()>) -> bool {
    let of_no_use =
        || attribute(tag, "aria-hidden").is_some_and(|given| given.trim().eq_ignore_ascii_case("true"));
    attribute(tag, "hidden").is_some()
        || of_no_use()
        || attribute(tag, "style").is_some_and(|style| hides(&style))
}

fn hides(style: &str) -> bool {
    let style = without_comments(&style.to_ascii_lowercase());
    let is = |property: &str, hiding: &[&str]| {
        value(&style, property).is_some_and(|value| hiding.contains(&value))
    };
    is("display", &["none"]) || is("visibility", &["hidden", "collapse"])
}

/// What a property is set to: by the last that sets it, or the last that calls itself important.
fn value<'a>(style: &'a str, property: &str) -> Option<&'a str> {
    let set = style.split(';').filter_map(|part| part.split_once(':'));
    let set = set.filter(|(name, _)| name.trim() == property).map(|(_, value)| importance(value.trim()));
    set.reduce(|before, next| if before.1 && !next.1 { before } else { next }).map(|(value, _)| value)
}

fn importance(value: &str) -> (&str, bool) {
    match value.split_once('!') {
        Some((value, mark)) => (value.trim(), mark.trim() == "important"),
        None => (value, false),
    }
}

fn without_comments(style: &str) -> String {
    let mut parts = style.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").map_or("", |(_, behind)| behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_that_hide_are_told_from_those_that_do_not() {
        for style in [
            "display:none",
            "Display : NONE",
            "color:red; display:none;",
            "display:none !important",
            "display:none!important; display:block",
            "display:block; display:none",
            "display:/* x */none",
            "/* ; */ visibility: hidden",
            "visibility:collapse",
        ] {
            assert!(hides(style), "{style}");
        }
        for style in [
            "",
            "display",
            "display:block",
            "display:none; display:block",
            "x-display:none",
            "display:none-such",
            "visibility:visible",
            "overflow:hidden",
            "/* display:none */ color:red",
            "color:red /* display:none",
            "background:url(display:none)",
        ] {
            assert!(!hides(style), "{style}");
        }
    }
}
