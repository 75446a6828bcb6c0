//! Only `tw-identity` makes a caller.
//!
//! A `Caller` is who was found behind credentials, and every right hangs on it. The crate that looks at credentials is
//! not the one that has the type, so the compiler cannot keep others from making one; this rule does. Tests may make
//! callers. What else may change about one on its way has a method in `tw-model/src/call.rs`.

use super::{
    Problem, Text,
    source::{code, is_test_file},
};

/// Where callers are made, where their type is, and what is there for tests alone.
const MAY: &[&str] = &[
    "crates/tw-identity/",
    "crates/tw-model/src/call.rs",
    "crates/tw-model/src/lib.rs",
    "crates/tw-test/",
    "crates/tw-it/",
];

/// What making one takes. Another name for the type would hide it.
const MAKING: &[&str] = &["Caller::new", "CallerParts", "Caller as ", "= Caller;"];

pub(crate) fn check(files: &[Text]) -> Vec<Problem> {
    let rust = files.iter().filter(|(path, _)| path.ends_with(".rs") && !path.starts_with("xtask/"));
    let mut problems = Vec::new();
    for (path, text) in rust.filter(|(path, _)| !may_make(path)) {
        for (index, line) in code(text).lines().enumerate() {
            if let Some(making) = MAKING.iter().find(|making| line.contains(**making)) {
                let text = format!(
                    "`{}` is for tw-identity, which looks at credentials: ask `Identity` for a caller",
                    making.trim_matches([' ', '=', ';'])
                );
                problems.push(Problem::new(path.as_str(), index + 1, text));
            }
        }
    }
    problems
}

fn may_make(path: &str) -> bool {
    MAY.iter().any(|start| path.starts_with(start)) || is_test_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caller_made_elsewhere_is_told_with_its_line() {
        let told = |what| {
            format!(
                "crates/tw-http/src/auth.rs:2: `{what}` is for tw-identity, which looks at credentials: ask `Identity` for a caller"
            )
        };
        let path = "crates/tw-http/src/auth.rs";
        assert_eq!(found(path, "\nlet caller = Caller::new(parts);"), [told("Caller::new")]);
        assert_eq!(found(path, "\nuse tw_model::{CallerParts, Code};"), [told("CallerParts")]);
        assert_eq!(found(path, "\nuse tw_model::Caller as Who;"), [told("Caller as")]);
    }

    #[test]
    fn identity_and_tests_may_make_callers() {
        let text = "let caller = Caller::new(CallerParts { role, ..parts });";
        for path in [
            "crates/tw-identity/src/callers.rs",
            "crates/tw-engine/tests/it/runs.rs",
            "crates/a/src/b_tests.rs",
        ] {
            assert_eq!(found(path, text), [""; 0]);
        }
        assert_eq!(
            found(
                "crates/tw-http/src/auth.rs",
                &format!("#[cfg(test)]\nmod tests {{ fn a() {{ {text} }} }}")
            ),
            [""; 0]
        );
    }

    #[test]
    fn what_takes_a_caller_is_left_alone() {
        let text = "fn a(caller: &Caller) -> Caller { caller.clone().via(channel, None) }\n// Caller::new";
        assert_eq!(found("crates/tw-http/src/auth.rs", text), [""; 0]);
    }

    fn found(path: &str, text: &str) -> Vec<String> {
        check(&[(path.to_owned(), text.to_owned())]).iter().map(Problem::to_string).collect()
    }
}
