//! The top-level modules of a crate import each other in one direction only.
//!
//! Two modules that import each other are one module with two names: neither can be read, tested or moved
//! alone. The compiler takes such cycles, so this rule looks for them. It reads paths as text, `crate::…`
//! and `super::…`, in `use` lines and elsewhere. A name that the crate's root has from a module is an import of
//! that module; `*` would hide where names come from, so it is refused where the root is on either side of it.
//! Tests may import what they like, and the root, which sees every module anyway, is no module here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{
    Problem, Text,
    source::{code, is_test_file},
};

/// The files below the `src` folder of a crate.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) folder: String,
    pub(crate) files: Vec<Text>,
}

/// From a module to those it imports, each with the file and line of the first import.
type Imports = BTreeMap<String, BTreeMap<String, (String, usize)>>;

/// What a crate's root has from its modules: the module by the name.
type Exports = BTreeMap<String, String>;

pub(crate) fn check(crates: &[Sources]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for sources in crates {
        let modules = modules(sources);
        let exports = exports(sources, &modules, &mut problems);
        let imports = imports(sources, &modules, &exports, &mut problems);
        problems.extend(cycle(&imports).map(|cycle| told(&cycle, &imports)));
    }
    problems
}

fn told(cycle: &[String], imports: &Imports) -> Problem {
    let edge = |(from, to): (&String, &String)| imports[from][to].clone();
    let next = cycle.iter().cycle().skip(1);
    let places: Vec<(String, usize)> = cycle.iter().zip(next).map(edge).collect();
    let mut steps: Vec<String> =
        cycle.iter().zip(&places).map(|(module, (file, line))| format!("{module} ({file}:{line})")).collect();
    steps.push(cycle[0].clone());
    let text = format!("modules import each other: {}; break one of these edges", steps.join(" → "));
    Problem::new(places[0].0.clone(), places[0].1, text)
}

fn modules(sources: &Sources) -> BTreeSet<String> {
    let top = |(path, _): &Text| module_path(&sources.folder, path)?.into_iter().next();
    sources.files.iter().filter_map(top).collect()
}

/// What the root takes from its modules by `use`.
fn exports(sources: &Sources, modules: &BTreeSet<String>, problems: &mut Vec<Problem>) -> Exports {
    let mut exports = Exports::new();
    for (path, text) in sources.files.iter().filter(|(path, _)| is_root(&sources.folder, path)) {
        let code = code(text);
        for (index, _) in code.match_indices("use ").filter(|(index, _)| !follows_word(&code, *index)) {
            for Leaf { path: mut steps, alias } in leaves(&code[index + "use ".len()..]) {
                if steps.first().is_some_and(|first| matches!(*first, "crate" | "self")) {
                    steps.remove(0);
                }
                let Some(module) = steps.first().filter(|first| modules.contains(**first)) else { continue };
                let name = steps.iter().rev().find(|step| **step != "self").unwrap_or(module);
                if *name == "*" {
                    problems.push(Problem::new(path.as_str(), line(&code, index), starred()));
                }
                exports.insert(alias.unwrap_or(name).to_owned(), (*module).to_owned());
            }
        }
    }
    exports
}

fn imports(
    sources: &Sources,
    modules: &BTreeSet<String>,
    exports: &Exports,
    problems: &mut Vec<Problem>,
) -> Imports {
    let mut imports = Imports::new();
    for (path, text) in &sources.files {
        let Some(module) = module_path(&sources.folder, path) else { continue };
        let Some(own) = module.first().filter(|_| !is_test_file(path)) else { continue };
        for (line, named) in named_in_root(&code(text), module.len()) {
            if named == "*" {
                problems.push(Problem::new(path.as_str(), line, starred()));
            }
            let Some(from) = modules.get(&named).or_else(|| exports.get(&named)) else { continue };
            if from != own {
                let imported = imports.entry(own.clone()).or_default();
                imported.entry(from.clone()).or_insert_with(|| (path.clone(), line));
            }
        }
    }
    imports
}

fn starred() -> &'static str {
    "`*` hides which modules import each other: write the names"
}

/// The names from the root down to a file's module; nothing for the root itself or another program.
fn module_path(folder: &str, path: &str) -> Option<Vec<String>> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if is_root(folder, path) || inner.starts_with("bin/") {
        return None;
    }
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    Some(inner.split('/').map(str::to_owned).collect())
}

fn is_root(folder: &str, path: &str) -> bool {
    matches!(path.strip_prefix(folder), Some("/lib.rs" | "/main.rs"))
}

/// The names that a file reads in the crate's root, with the lines. `depth` is how far below the root the
/// file's module is.
fn named_in_root(code: &str, depth: usize) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for start in ["crate", "super"] {
        for (index, _) in code.match_indices(start) {
            // `$crate` is another crate, `pub(in crate::x)` a visibility, `super::super` is seen as a whole.
            let before = code[..index].trim_end_matches(' ');
            if before.ends_with(['$', ':']) || before.ends_with("(in") || follows_word(code, index) {
                continue;
            }
            let names = leaves(&code[index..]).into_iter().filter_map(|leaf| in_root(&leaf.path, depth));
            found.extend(names.map(|name| (line(code, index), name)));
        }
    }
    found.sort();
    found
}

/// The name directly below the root in a path that a module `depth` below it writes.
fn in_root(path: &[&str], depth: usize) -> Option<String> {
    let ups = path.iter().take_while(|step| **step == "super").count();
    let name = match path.first() {
        Some(&"crate") => path.get(1),
        _ if ups == depth => path.get(ups),
        // A name in a module above, which is not the root.
        _ => None,
    };
    name.filter(|name| **name != "self").map(|name| (*name).to_owned())
}

/// One path of a `use`, or a path in code.
#[derive(Debug)]
struct Leaf<'a> {
    path: Vec<&'a str>,
    alias: Option<&'a str>,
}

/// The paths at the start of a text; a group in braces gives several.
fn leaves(text: &str) -> Vec<Leaf<'_>> {
    let text = text.trim_start();
    if let Some(group) = text.strip_prefix('{') {
        return members(group).into_iter().flat_map(leaves).collect();
    }
    let (first, rest) = step(text);
    if first.is_empty() {
        return Vec::new();
    }
    if let Some(behind) = rest.trim_start().strip_prefix("::") {
        let mut below = leaves(behind);
        if !below.is_empty() {
            below.iter_mut().for_each(|leaf| leaf.path.insert(0, first));
            return below;
        }
    }
    let alias = rest.trim_start().strip_prefix("as ").map(|rest| step(rest.trim_start()).0);
    vec![Leaf { path: vec![first], alias }]
}

/// The word at the start of a text, or its `*`, and what follows.
fn step(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at(if text.starts_with('*') { 1 } else { end })
}

/// The members of a group, up to its closing brace.
fn members(group: &str) -> Vec<&str> {
    let (mut members, mut depth, mut start) = (Vec::new(), 0, 0);
    for (index, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                members.push(&group[start..index]);
                start = index + 1;
                if letter == '}' {
                    return members;
                }
            }
            _ => {}
        }
    }
    members
}

fn follows_word(code: &str, index: usize) -> bool {
    code[..index].ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn line(code: &str, index: usize) -> usize {
    code[..index].matches('\n').count() + 1
}

/// The shortest way from a module back to itself, from the first module in the alphabet that has one.
fn cycle(imports: &Imports) -> Option<Vec<String>> {
    let mut cycles: Vec<Vec<String>> = imports.keys().filter_map(|start| way_back(imports, start)).collect();
    cycles.sort_by_key(Vec::len);
    cycles.into_iter().next()
}

fn way_back(imports: &Imports, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(module) = queue.pop_front() {
        for next in imports.get(module).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut way = vec![module.to_owned()];
                while way.last().is_some_and(|last| last != start) {
                    way.push(came_from[way[way.len() - 1].as_str()].to_owned());
                }
                way.reverse();
                return Some(way);
            }
            if !came_from.contains_key(next.as_str()) {
                came_from.insert(next, module);
                queue.push_back(next);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_in_one_direction_have_no_problem() {
        let files = [
            ("lib.rs", "mod a; mod b; use crate::a::A;"),
            ("a.rs", "use crate::b::B;\nuse crate::Root;"),
            ("b.rs", "use crate::Root;\nuse std::a::A;\n// see crate::a::A\npub(in crate::a) fn b() {}"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn cycle_of_two_is_told_with_both_places() {
        let files = [("a.rs", "\nuse crate::b::B;"), ("b/c.rs", "fn f() { crate::a::go() }"), ("b.rs", "")];
        assert_eq!(
            found(&files),
            ["crates/x/src/a.rs:2: modules import each other: a (crates/x/src/a.rs:2) → \
              b (crates/x/src/b/c.rs:1) → a; break one of these edges"]
        );
    }

    #[test]
    fn longer_cycle_is_found_through_groups_and_super() {
        let files = [
            ("a/mod.rs", "use crate::{\n    Root,\n    b::{One, Two},\n};"),
            ("b.rs", "use super::c::C;"),
            ("c/inner.rs", "use super::super::a::A;"),
            ("c.rs", ""),
        ];
        assert!(found(&files)[0].contains("a (crates/x/src/a/mod.rs:1) → b"), "{:?}", found(&files));
    }

    #[test]
    fn name_in_a_module_above_is_not_one_below_the_root() {
        let files = [
            ("a.rs", "use crate::b;"),
            ("b/inner.rs", "use super::a::Own;\nuse super::{a, super::c::C};"),
            ("c.rs", ""),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn tests_may_import_what_they_like() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "pub struct B;\n#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}"),
            ("b/tests.rs", "use crate::a::A;"),
            ("b_tests.rs", "use crate::a::A;"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn tests_in_the_middle_of_a_file_hide_nothing_behind_them() {
        let files = [
            ("a.rs", "use crate::b::B;"),
            ("b.rs", "#[cfg(test)]\nmod tests;\n\nuse crate::a::A;"),
            ("b/tests.rs", ""),
        ];
        assert!(found(&files)[0].contains("b (crates/x/src/b.rs:4) → a"), "{:?}", found(&files));
    }

    #[test]
    fn name_of_the_root_counts_for_the_module_that_it_comes_from() {
        for root in [
            "mod a;\nmod b;\npub use a::A;\npub use b::B;",
            "pub use crate::{a::{A, Other}, b::B};",
            "use self::a::inner::{self as A};\npub(crate) use b::Thing as B;",
        ] {
            let files = [
                ("lib.rs", root),
                ("a.rs", "use super::B;"),
                ("b.rs", "use std::fmt;\nuse crate::{Code, A};"),
            ];
            assert_eq!(
                found(&files),
                ["crates/x/src/a.rs:1: modules import each other: a (crates/x/src/a.rs:1) → \
                  b (crates/x/src/b.rs:2) → a; break one of these edges"],
                "{root}"
            );
        }
    }

    #[test]
    fn name_that_the_root_has_from_another_crate_is_no_import() {
        let files = [
            ("lib.rs", "pub use other::a::A;\npub use b::B;\npub struct Root;"),
            ("a.rs", "use crate::{B, Root};"),
            ("b.rs", "use crate::{A, Root};"),
        ];
        assert_eq!(found(&files), [""; 0]);
    }

    #[test]
    fn star_at_the_root_is_refused() {
        let told = "`*` hides which modules import each other: write the names";
        let files = [
            ("lib.rs", "\npub use a::*;"),
            ("a.rs", ""),
            ("b.rs", "use crate::*;"),
            ("c/d.rs", "use super::*;"),
        ];
        assert_eq!(
            found(&files),
            [format!("crates/x/src/lib.rs:2: {told}"), format!("crates/x/src/b.rs:1: {told}")]
        );
    }

    fn sources(files: &[(&str, &str)]) -> Sources {
        let full = |(path, text): &(&str, &str)| (format!("crates/x/src/{path}"), (*text).to_owned());
        let files = files.iter().map(full).collect();
        Sources { folder: "crates/x/src".to_owned(), files }
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&[sources(files)]).iter().map(Problem::to_string).collect()
    }
}
