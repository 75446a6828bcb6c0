//! Names in a list of the input.

use std::collections::BTreeSet;

use toolwright_sdk::ToolFailure;

const NAME_CHARS_MAX: usize = 200;

/// Reads the names of a list: without outer spaces, none empty, none twice (ignoring case).
///
/// `what` is what one entry is called, for the message.
pub(crate) fn unique<'a>(
    what: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Result<Vec<String>, ToolFailure> {
    let mut seen = BTreeSet::new();
    let mut read = Vec::new();
    for name in names {
        let name = name.trim();
        if name.is_empty() {
            return Err(ToolFailure::invalid(format!("every {what} needs a name")));
        }
        if NAME_CHARS_MAX < name.chars().count() {
            let message = format!("the name of a {what} has more than {NAME_CHARS_MAX} characters");
            return Err(ToolFailure::invalid(message));
        }
        if !seen.insert(name.to_lowercase()) {
            return Err(ToolFailure::invalid(format!("'{name}' is the name of more than one {what}")));
        }
        read.push(name.to_owned());
    }
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_their_outer_spaces_and_keep_their_order() {
        assert_eq!(unique("step", [" b ", "A"]), Ok(vec!["b".to_owned(), "A".to_owned()]));
    }

    #[test]
    fn empty_long_and_repeated_names_are_refused() {
        let refused = |names: &[&str]| unique("step", names.iter().copied()).unwrap_err().message;
        assert_eq!(refused(&["a", " "]), "every step needs a name");
        assert_eq!(refused(&["Sort", "sort "]), "'sort' is the name of more than one step");
        assert_eq!(refused(&[&"x".repeat(201)]), "the name of a step has more than 200 characters");
    }
}
