//! Decisions are numbered from 0001, without a gap and without a double.

use super::Problem;

pub(crate) const FOLDER: &str = "docs/adr";

/// The names arrive sorted, so their numbers should simply count up.
pub(crate) fn check(names: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut next = 1;
    for name in names.iter().filter(|name| !matches!(name.as_str(), "README.md" | "template.md")) {
        let file = format!("{FOLDER}/{name}");
        match number(name) {
            None => problems.push(Problem::new(
                file,
                1,
                "the file of a decision must be named NNNN-some-words.md",
            )),
            Some(number) if number == next => next += 1,
            Some(number) => {
                problems.push(Problem::new(
                    file,
                    1,
                    format!("the number must be {next:04}, not {number:04}"),
                ));
                next = number + 1;
            }
        }
    }
    problems
}

fn number(name: &str) -> Option<u32> {
    let (digits, words) = name.strip_suffix(".md")?.split_once('-')?;
    let shaped = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit()) && !words.is_empty();
    if shaped { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_up_has_no_problem() {
        assert_eq!(found("0001-one-corridor.md 0002-two-databases.md README.md"), [""; 0]);
        assert_eq!(found(""), [""; 0]);
    }

    #[test]
    fn gap_and_double_are_told_once_each() {
        assert_eq!(
            found("0001-a.md 0003-b.md 0004-c.md"),
            ["docs/adr/0003-b.md:1: the number must be 0002, not 0003"]
        );
        assert_eq!(
            found("0001-a.md 0001-b.md 0002-c.md"),
            ["docs/adr/0001-b.md:1: the number must be 0002, not 0001"]
        );
    }

    #[test]
    fn other_names_are_refused() {
        assert_eq!(found("0001-a.md 2-b.md notes.md").len(), 2);
    }

    fn found(names: &str) -> Vec<String> {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        check(&names).iter().map(Problem::to_string).collect()
    }
}
