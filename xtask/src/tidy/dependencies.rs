//! What other people's crates may be: of these licences, from crates.io, none of those, and some of them once.
//!
//! The rules are those of `deny.toml`. `cargo deny` knows them better, with all platforms and all features, but takes
//! minutes to install, so it runs in `make soak`; this rule takes part of a second and runs always. It reads the two
//! lists of `deny.toml` as they are laid out there.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use super::Problem;

pub(crate) const RULES: &str = "deny.toml";
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

#[derive(Debug, Default)]
struct Rules<'a> {
    licences: BTreeSet<&'a str>,
    banned: BTreeSet<&'a str>,
    once: BTreeSet<&'a str>,
}

/// Holds what `cargo metadata` prints against what `deny.toml` says.
pub(crate) fn check(rules: &str, metadata: &str) -> Result<Vec<Problem>> {
    let rules = read(rules);
    let metadata: Value = serde_json::from_str(metadata).context("read what cargo metadata printed")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut problems = Vec::new();
    if rules.licences.is_empty() || rules.banned.is_empty() || rules.once.is_empty() {
        problems.push(problem("the lists of licences and of crates cannot be read".to_owned()));
    }
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for package in packages {
        let text = |member: &str| package[member].as_str().unwrap_or_default();
        let (name, version, source) = (text("name"), text("version"), text("source"));
        // A crate of the house has no source.
        if package["source"].is_null() {
            continue;
        }
        versions.entry(name).or_default().push(version);
        if source != SOURCE {
            problems.push(problem(format!("{name} {version} is not from crates.io but from {source}")));
        }
        if rules.banned.contains(name) {
            problems.push(problem(format!("{name} is refused: see `cargo tree -i {name}`")));
        }
        if !fits(text("license"), &rules.licences) {
            let licence = text("license");
            problems
                .push(problem(format!("the licence of {name} {version} is not on the list: `{licence}`")));
        }
    }
    for (name, versions) in versions.iter().filter(|(name, all)| rules.once.contains(**name) && 1 < all.len())
    {
        let versions = versions.join(" and ");
        problems.push(problem(format!(
            "{name} must be in the build in one version, not {versions}: see `cargo tree -i {name}`"
        )));
    }
    Ok(problems)
}

fn problem(text: String) -> Problem {
    Problem::new(RULES, 1, text)
}

fn read(text: &str) -> Rules<'_> {
    let mut rules = Rules::default();
    let mut in_licences = false;
    for line in text.lines().map(str::trim) {
        let quoted = line.split('"').nth(1);
        match (line, quoted) {
            ("allow = [", _) => in_licences = true,
            ("]", _) => in_licences = false,
            (_, Some(licence)) if in_licences => {
                rules.licences.insert(licence);
            }
            (_, Some(name)) if line.starts_with("{ crate = ") => {
                let once = line.contains("deny-multiple-versions = true");
                let list = if once { &mut rules.once } else { &mut rules.banned };
                list.insert(name);
            }
            _ => {}
        }
    }
    rules
}

/// Whether a licence expression can be met by licences on the list. `/` is the old word for `OR`.
fn fits(expression: &str, list: &BTreeSet<&str>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    !words.is_empty() && any_fits(&mut rest, list) && rest.is_empty()
}

fn any_fits(words: &mut &[&str], list: &BTreeSet<&str>) -> bool {
    let mut fits = all_fit(words, list);
    while let Some((&"OR", rest)) = words.split_first() {
        *words = rest;
        fits |= all_fit(words, list);
    }
    fits
}

fn all_fit(words: &mut &[&str], list: &BTreeSet<&str>) -> bool {
    let mut fits = one_fits(words, list);
    while let Some((&"AND", rest)) = words.split_first() {
        *words = rest;
        fits &= one_fits(words, list);
    }
    fits
}

fn one_fits(words: &mut &[&str], list: &BTreeSet<&str>) -> bool {
    let Some((first, rest)) = words.split_first() else { return false };
    *words = rest;
    if *first == "(" {
        let fits = any_fits(words, list);
        *words = words.strip_prefix(&[")"]).unwrap_or(words);
        return fits;
    }
    match words {
        // A licence with an exception is another licence.
        ["WITH", _, rest @ ..] => {
            *words = rest;
            false
        }
        _ => list.contains(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = r#"
[licenses]
allow = [
    "MIT",
    "Unicode-3.0",
]
[bans]
deny = [
    { crate = "openssl-sys", reason = "needs the system's library" },
    { crate = "hyper", deny-multiple-versions = true },
]
"#;

    #[test]
    fn crates_that_fit_have_no_problem() {
        let packages = [("hyper", "1.0.0", "MIT"), ("small", "1.0.0", "MIT"), ("small", "2.0.0", "(MIT)")];
        assert_eq!(found(&packages), [""; 0]);
    }

    #[test]
    fn banned_doubled_and_badly_licensed_crates_are_told() {
        let packages =
            [("openssl-sys", "0.9.0", "MIT"), ("hyper", "0.14.0", "MIT"), ("hyper", "1.0.0", "GPL-3.0")];
        assert_eq!(
            found(&packages),
            [
                "deny.toml:1: openssl-sys is refused: see `cargo tree -i openssl-sys`",
                "deny.toml:1: the licence of hyper 1.0.0 is not on the list: `GPL-3.0`",
                "deny.toml:1: hyper must be in the build in one version, not 0.14.0 and 1.0.0: see `cargo tree -i hyper`",
            ]
        );
    }

    #[test]
    fn crate_from_elsewhere_is_told() {
        let metadata = r#"{ "packages": [
            { "name": "own", "version": "0.1.0", "source": null, "license": null },
            { "name": "far", "version": "1.0.0", "source": "git+https://a.example/far", "license": "MIT" }
        ] }"#;
        let texts: Vec<_> = check(RULES, metadata).unwrap().into_iter().map(|problem| problem.text).collect();
        assert_eq!(texts, ["far 1.0.0 is not from crates.io but from git+https://a.example/far"]);
    }

    #[test]
    fn rules_that_cannot_be_read_do_not_pass() {
        assert_eq!(check("", r#"{ "packages": [] }"#).unwrap().len(), 1);
    }

    #[test]
    fn licence_expression_is_met_by_the_list() {
        let list = BTreeSet::from(["MIT", "Unicode-3.0"]);
        for good in ["MIT", "GPL-2.0-only OR MIT", "Apache-2.0/MIT", "(GPL-2.0 OR MIT) AND Unicode-3.0"] {
            assert!(fits(good, &list), "{good}");
        }
        for bad in
            ["", "GPL-2.0", "MIT AND GPL-2.0", "MIT WITH some-exception", "(MIT OR GPL-2.0) AND BSD-3-Clause"]
        {
            assert!(!fits(bad, &list), "{bad}");
        }
        assert!(fits("Apache-2.0 WITH LLVM-exception OR MIT", &list));
    }

    fn found(packages: &[(&str, &str, &str)]) -> Vec<String> {
        let package = |(name, version, license): &(&str, &str, &str)| serde_json::json!({ "name": name, "version": version, "license": license, "source": SOURCE });
        let packages: Vec<Value> = packages.iter().map(package).collect();
        let metadata = serde_json::json!({ "packages": packages }).to_string();
        check(RULES, &metadata).unwrap().iter().map(Problem::to_string).collect()
    }
}
