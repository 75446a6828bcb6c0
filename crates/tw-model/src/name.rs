//! Names that people read: of tools, of people, of tenants, of keys.

/// How many bytes a name has at most.
pub const NAME_MAX: usize = 200;

/// Why a text cannot be a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("has 1 to {NAME_MAX} bytes")]
    Length,
    #[error("has no control characters, nor such as turn the direction of writing")]
    Control,
    #[error("has a character that can be seen")]
    Unseen,
}

/// Whether a text can be a name: it can be seen, and it shows what it says.
///
/// ```
/// use tw_model::{NameError, check_name};
///
/// assert_eq!(check_name("Zoë’s ROI 👩‍🔬"), Ok(()));
/// assert_eq!(check_name("\u{200b}\u{2060}"), Err(NameError::Unseen));
/// assert_eq!(check_name("invoice\u{202e}fdp"), Err(NameError::Control));
/// ```
pub fn check_name(text: &str) -> Result<(), NameError> {
    if text.trim().is_empty() || NAME_MAX < text.len() {
        Err(NameError::Length)
    } else if text.contains(misleads) {
        Err(NameError::Control)
    } else if text.chars().all(is_unseen) {
        Err(NameError::Unseen)
    } else {
        Ok(())
    }
}

/// Control characters, line ends, and what makes the text around it run the other way.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// What leaves no mark. Some of it is needed between letters, none of it is a name.
fn is_unseen(c: char) -> bool {
    c.is_whitespace()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_that_cannot_be_seen_is_none() {
        for text in
            ["", " ", "\u{a0}\u{3000}", "\u{200b}", " \u{feff}\u{2060} ", "\u{ad}", "\u{3164}", "\u{e0041}"]
        {
            assert!(check_name(text).is_err(), "{text:?}");
        }
        assert_eq!(check_name(&"x".repeat(NAME_MAX)), Ok(()));
        assert_eq!(check_name(&"x".repeat(NAME_MAX + 1)), Err(NameError::Length));
    }

    #[test]
    fn name_that_reads_otherwise_than_it_is_written_is_none() {
        for text in ["a\u{202e}b", "\u{2066}a\u{2069}", "a\u{200f}", "a\nb", "a\u{7}", "a\0", "a\u{2028}b"] {
            assert_eq!(check_name(text), Err(NameError::Control), "{text:?}");
        }
    }

    #[test]
    fn names_of_all_languages_are_names() {
        for text in ["ROI", "Ünal & Söhne", "計算機", "می\u{200c}خواهم", "חשבון", "👩\u{200d}🔬", "❤\u{fe0f}"]
        {
            assert_eq!(check_name(text), Ok(()), "{text:?}");
        }
    }
}
