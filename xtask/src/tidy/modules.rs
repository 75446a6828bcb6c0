//! The top-level modules of a crate import each other in one direction only.
//!
//! Two modules that import each other are one module with two names: neither can be read, tested or moved
//! alone. The compiler takes such cycles, so this rule looks for them. It reads paths as text, `crate::…`
//! and `super::…`, in `use` lines and elsewhere. Tests may import what they like, and the crate's root,
//! which sees every module anyway, is no module here.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Problem, Text};

/// Crates that still have a cycle. One that has none must leave this list.
pub(crate) const EXEMPT: &[&str] = &[];

/// A crate's name, and the files below its `src` folder.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) package: String,
    pub(crate) folder: String,
    pub(crate) files: Vec<Text>,
}

/// From a module to those it imports, each with the file and line of the first import.
type Imports = BTreeMap<String, BTreeMap<String, (String, usize)>>;

pub(crate) fn check(exempt: &[&str], crates: &[Sources]) -> Vec<Problem> {
    let mut problems = Vec::new();
    for sources in crates {
        let imports = imports(sources);
        let found = cycle(&imports);
        match (found, exempt.contains(&sources.package.as_str())) {
            (Some(cycle), false) => problems.push(told(&cycle, &imports)),
            (None, true) => {
                let text = format!("{} has no import cycle: remove it from `EXEMPT`", sources.package);
                problems.push(Problem::new("xtask/src/tidy/modules.rs", 1, text));
            }
            _ => {}
        }
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

fn imports(sources: &Sources) -> Imports {
    let modules: BTreeSet<String> = sources
        .files
        .iter()
        .filter_map(|(path, _)| module_path(&sources.folder, path)?.into_iter().next())
        .collect();
    let mut imports = Imports::new();
    for (path, text) in &sources.files {
        let Some(module) = module_path(&sources.folder, path) else { continue };
        let Some(own) = module.first().filter(|_| !is_test(&module)) else { continue };
        for (line, named) in paths(text, module.len()) {
            if named != *own && modules.contains(&named) {
                let imported = imports.entry(own.clone()).or_default();
                imported.entry(named).or_insert_with(|| (path.clone(), line));
            }
        }
    }
    imports
}

/// `["corridor", "execute"]` for `src/corridor/execute.rs`; nothing for the crate's root or another program.
fn module_path(folder: &str, path: &str) -> Option<Vec<String>> {
    let inner = path.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if matches!(inner, "lib" | "main") || inner.starts_with("bin/") {
        return None;
    }
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    Some(inner.split('/').map(str::to_owned).collect())
}

fn is_test(module: &[String]) -> bool {
    module.iter().any(|part| part == "tests" || part.ends_with("_tests"))
}

/// The first name below the crate's root of every path in a file, with its line. `depth` is how far below
/// the root the file's module is.
fn paths(text: &str, depth: usize) -> Vec<(usize, String)> {
    let code = without_comments(before_tests(text));
    let mut found = Vec::new();
    for start in ["crate", "super"] {
        for (index, _) in code.match_indices(start) {
            let before = code[..index].trim_end_matches(' ');
            // `$crate` is another crate, `pub(in crate::x)` a visibility, `super::super` is seen as a whole.
            let skipped = before.ends_with(['$', ':', '_']) || before.ends_with("(in");
            if skipped || code[..index].ends_with(|c: char| c.is_alphanumeric()) {
                continue;
            }
            let line = code[..index].matches('\n').count() + 1;
            let names = names_below_root(&code[index..], depth);
            found.extend(names.into_iter().map(|name| (line, name)));
        }
    }
    found.sort();
    found
}

/// The names directly below the root in a path that starts with `crate` or `super`, as seen from a module
/// that is `depth` below it. A group in braces gives several.
fn names_below_root(path: &str, depth: usize) -> Vec<String> {
    let (first, rest) = word(path.trim_start());
    let depth = match first {
        "crate" => 0,
        "super" if depth > 0 => depth - 1,
        _ if depth == 0 && !first.is_empty() => return vec![first.to_owned()],
        _ => return Vec::new(),
    };
    let Some(rest) = rest.trim_start().strip_prefix("::") else { return Vec::new() };
    match rest.trim_start().strip_prefix('{') {
        Some(group) => group_members(group).iter().flat_map(|member| below(member, depth)).collect(),
        None => below(rest, depth),
    }
}

/// As [`names_below_root`], behind the `crate::` or `super::` that was read already.
fn below(path: &str, depth: usize) -> Vec<String> {
    let (first, _) = word(path.trim_start());
    match first {
        "super" => names_below_root(path, depth),
        // A name in a module above, which is not the root.
        _ if depth > 0 => Vec::new(),
        "" | "self" => Vec::new(),
        name => vec![name.to_owned()],
    }
}

fn word(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    text.split_at(end)
}

/// The members of a group, up to its closing brace.
fn group_members(group: &str) -> Vec<&str> {
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

/// The tests of a file stand at its end.
fn before_tests(text: &str) -> &str {
    let end = text.find("#[cfg(test)]\nmod ").unwrap_or(text.len());
    &text[..end]
}

/// The text with comments blanked out; lines stay lines.
fn without_comments(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        // `//` in a string is part of an address; what stands behind one is no import.
        code.push_str(line.split("//").next().unwrap_or(line));
        code.push('\n');
    }
    code
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
    fn exempt_crate_without_a_cycle_leaves_the_list() {
        let problems = check(&["x"], &[sources(&[("a.rs", "")])]);
        assert_eq!(problems[0].text, "x has no import cycle: remove it from `EXEMPT`");
        let cyclic = sources(&[("a.rs", "use crate::b;"), ("b.rs", "use crate::a;")]);
        assert_eq!(check(&["x"], &[cyclic]), []);
    }

    fn sources(files: &[(&str, &str)]) -> Sources {
        let full = |(path, text): &(&str, &str)| (format!("crates/x/src/{path}"), (*text).to_owned());
        let files = files.iter().map(full).collect();
        Sources { package: "x".to_owned(), folder: "crates/x/src".to_owned(), files }
    }

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        check(&[], &[sources(files)]).iter().map(Problem::to_string).collect()
    }
}
