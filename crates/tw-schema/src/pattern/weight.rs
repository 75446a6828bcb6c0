//! The cost of running a regular expression.

use std::{iter::Peekable, str::Chars};

/// What a class of letters counts for: those beyond ASCII are several bytes long.
const CLASS: u64 = 3;

/// Roughly how many places of an expression can be held against one place of a text: its letters and
/// classes, each as often as the repetitions around it say. The engine is linear in the text, and this is
/// the factor.
pub(crate) fn weight(pattern: &str) -> u64 {
    let mut groups = vec![Group::default()];
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let part = match c {
            '*' | '+' | '?' => continue,
            '(' => {
                groups.push(Group::default());
                continue;
            }
            ')' if 1 < groups.len() => groups.pop().map_or(1, Group::weight),
            '{' => match repetition(&mut rest) {
                Some(times) => {
                    let group = groups.last_mut().expect("the outermost group stays");
                    group.last = group.last.saturating_mul(times.max(1));
                    continue;
                }
                None => 1,
            },
            '[' => {
                skip_class(&mut rest);
                CLASS
            }
            '\\' => {
                skip_escape(&mut rest);
                CLASS
            }
            '.' => CLASS,
            _ => 1,
        };
        let group = groups.last_mut().expect("the outermost group stays");
        group.before = group.before.saturating_add(std::mem::replace(&mut group.last, part));
    }
    groups.into_iter().fold(0, |sum, group| sum.saturating_add(group.weight()))
}

#[derive(Default)]
struct Group {
    /// What stands before the last part.
    before: u64,
    last: u64,
}

impl Group {
    fn weight(self) -> u64 {
        self.before.saturating_add(self.last)
    }
}

/// The most that `{m}`, `{m,}` or `{m,n}` counts to. Anything else in braces stands for itself.
fn repetition(rest: &mut Peekable<Chars<'_>>) -> Option<u64> {
    let mut ahead = rest.clone();
    let inside: String = ahead.by_ref().take_while(|c| *c != '}').take(24).collect();
    let numbers = inside.split(',').filter(|number| !number.is_empty());
    let most = numbers.map(str::parse).collect::<Result<Vec<u64>, _>>().ok()?.into_iter().max()?;
    *rest = ahead;
    Some(most)
}

fn skip_class(rest: &mut Peekable<Chars<'_>>) {
    while let Some(c) = rest.next() {
        match c {
            ']' => return,
            '\\' => drop(rest.next()),
            _ => {}
        }
    }
}

/// Passes over what follows a backslash, with the braces of `\p{L}` and `\u{41}`.
fn skip_escape(rest: &mut Peekable<Chars<'_>>) {
    if rest.next().is_some_and(|c| matches!(c, 'p' | 'P' | 'u')) && rest.peek() == Some(&'{') {
        rest.by_ref().take_while(|c| *c != '}').for_each(drop);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weight_counts_parts_as_often_as_they_repeat() {
        for (pattern, expected) in [
            ("", 0),
            ("abc", 3),
            ("a{10}", 10),
            ("^[a-z]{3,8}$", 26),
            ("(ab{2,}){5}", 15),
            ("((a{10}b){10}){10}c", 1101),
            (r"\p{L}{4}\u{41}", 15),
            (r"[^\]{9}]{2}.", 9),
            ("a|b*(?:c)", 5),
            ("{x}", 3),
            ("(a{1000}){1000}", 1_000_000),
        ] {
            assert_eq!(weight(pattern), expected, "{pattern}");
        }
        let nested = "(".repeat(20) + "a" + &"{999}){999}".repeat(20);
        assert_eq!(weight(&nested), u64::MAX);
    }
}
