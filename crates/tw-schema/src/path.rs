//! JSON pointers to places in a value.

use std::cmp::Ordering;

/// The pointer to a member or an item below a place.
pub(crate) fn join(path: &str, step: &str) -> String {
    format!("{path}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Orders pointers the way a person reads a document: a place before what it holds, and the tenth
/// item after the ninth.
pub(crate) fn by_place(left: &str, right: &str) -> Ordering {
    let step = |left: &str, right: &str| match (left.parse::<u64>(), right.parse::<u64>()) {
        (Ok(left), Ok(right)) => left.cmp(&right),
        _ => left.cmp(right),
    };
    let (mut lefts, mut rights) = (left.split('/'), right.split('/'));
    loop {
        match (lefts.next(), rights.next()) {
            (Some(left), Some(right)) => match step(left, right) {
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
    fn items_are_ordered_by_number_and_places_before_their_contents() {
        let mut paths = ["/b", "/a/10", "/a/9", "", "/a"];
        paths.sort_by(|left, right| by_place(left, right));
        assert_eq!(paths, ["", "/a", "/a/9", "/a/10", "/b"]);
    }
}
