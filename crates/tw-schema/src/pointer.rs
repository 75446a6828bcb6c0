//! JSON pointers.

use std::cmp::Ordering;

/// The pointer to a member or an item of the value at `pointer`.
pub(crate) fn join(pointer: &str, token: &str) -> String {
    format!("{pointer}/{}", token.replace('~', "~0").replace('/', "~1"))
}

/// Orders pointers the way a person reads a document: a value before its members, and the tenth item
/// after the ninth.
pub(crate) fn document_order(left: &str, right: &str) -> Ordering {
    let by_token = |left: &str, right: &str| match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(right),
    };
    let (mut lefts, mut rights) = (left.split('/'), right.split('/'));
    loop {
        match (lefts.next(), rights.next()) {
            (Some(left), Some(right)) => match by_token(left, right) {
                Ordering::Equal => {}
                unequal => return unequal,
            },
            (left, right) => return left.is_some().cmp(&right.is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_slashes_and_tildes_are_escaped() {
        assert_eq!(join("/a", "b/c~d"), "/a/b~1c~0d");
    }

    #[test]
    fn items_are_ordered_by_number_and_values_before_their_members() {
        let mut paths = ["/b", "/a/10", "/a/9", "", "/a"];
        paths.sort_by(|left, right| document_order(left, right));
        assert_eq!(paths, ["", "/a", "/a/9", "/a/10", "/b"]);
    }
}
