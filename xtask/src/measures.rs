//! The figures of the house that grow unseen: which crate is the largest, and which type has the most methods.

use std::{collections::BTreeMap, path::Path};

use anyhow::Result;

use crate::tidy::{
    Text, crates,
    source::{code, is_test_file},
};

/// How many of each are printed.
const SHOWN: usize = 5;

/// What a type has: its methods, and the files they are in.
#[derive(Debug, Default, PartialEq, Eq)]
struct Methods {
    count: usize,
    files: usize,
}

pub(crate) fn run(root: &Path) -> Result<()> {
    let (mut lines, mut methods) = (Vec::new(), Vec::new());
    for sources in crates(root)? {
        let name = sources.folder.trim_start_matches("crates/").trim_end_matches("/src").to_owned();
        let own: Vec<Text> = sources.files.into_iter().filter(|(path, _)| !is_test_file(path)).collect();
        lines.push((own.iter().map(|(_, text)| code_lines(text)).sum::<usize>(), name.clone()));
        methods.extend(methods_by_type(&own).into_iter().map(|(of, has)| (has, format!("{name}: {of}"))));
    }
    lines.sort_by(|one, other| other.cmp(one));
    methods.sort_by_key(|(has, name)| (std::cmp::Reverse(has.count), name.clone()));
    println!("largest crates, in lines without tests, comments and blank ones");
    for (count, name) in lines.iter().take(SHOWN) {
        println!("  {count:6}  {name}");
    }
    println!("largest types by methods");
    for (Methods { count, files }, name) in methods.iter().take(SHOWN) {
        println!("  {count:6}  {name}, in {files} files");
    }
    Ok(())
}

fn code_lines(text: &str) -> usize {
    code(text).lines().filter(|line| !line.trim().is_empty()).count()
}

/// The methods of every type of a crate, those of traits left out.
fn methods_by_type(files: &[Text]) -> BTreeMap<String, Methods> {
    let mut by_type: BTreeMap<String, Methods> = BTreeMap::new();
    for (_, text) in files {
        let mut of_file: BTreeMap<String, usize> = BTreeMap::new();
        let code = code(text);
        let mut rest = code.as_str();
        while let Some(block) = next_impl(&mut rest) {
            let Some(of) = type_of(block.head) else { continue };
            *of_file.entry(of).or_default() += functions(block.body);
        }
        for (of, count) in of_file.into_iter().filter(|(_, count)| 0 < *count) {
            let methods = by_type.entry(of).or_default();
            methods.count += count;
            methods.files += 1;
        }
    }
    by_type
}

struct Block<'a> {
    head: &'a str,
    body: &'a str,
}

/// The next `impl` at the start of a line, which is left behind.
fn next_impl<'a>(rest: &mut &'a str) -> Option<Block<'a>> {
    let start = if rest.starts_with("impl") { 0 } else { rest.find("\nimpl")? + 1 };
    let block = &rest[start + "impl".len()..];
    let open = block.find('{')?;
    let mut depth = 0_usize;
    let end = block[open..].find(|letter| {
        depth = match letter {
            '{' => depth + 1,
            '}' => depth - 1,
            _ => depth,
        };
        depth == 0
    });
    let end = end.map_or(block.len(), |end| open + end);
    *rest = &block[end..];
    Some(Block { head: &block[..open], body: &block[open..end] })
}

/// The type that a block is about; nothing where it implements a trait.
fn type_of(head: &str) -> Option<String> {
    let mut depth = 0_i32;
    let behind_generics = match head.strip_prefix('<') {
        None => head,
        Some(generics) => {
            let end = generics.find(|letter| {
                depth += i32::from(letter == '<') - i32::from(letter == '>');
                depth < 0
            })?;
            &generics[end + 1..]
        }
    };
    let words: Vec<&str> = behind_generics.split_whitespace().collect();
    let name = words.first()?.split(['<', '{']).next()?.rsplit("::").next()?;
    (!words.contains(&"for")).then(|| name.to_owned())
}

/// The functions directly in a block.
fn functions(body: &str) -> usize {
    let is_function = |line: &&str| {
        let depth = line.len() - line.trim_start().len();
        depth == 4 && line.split_whitespace().any(|word| word == "fn")
    };
    body.lines().filter(is_function).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_are_counted_over_files_and_without_traits() {
        let one = "impl Engine {\n    pub fn a() {\n        fn inner() {}\n    }\n    async fn b() { c() }\n}\n\
                   impl fmt::Display for Engine {\n    fn fmt() {}\n}\n#[cfg(test)]\nimpl Engine {\n    fn d() {}\n}";
        let other = "impl<'a, T: Into<U>> crate::Engine<'a> where T: A {\n    pub(crate) const fn e() {}\n}\nimpl Other {}";
        let files = [one, other].map(|text| ("a.rs".to_owned(), text.to_owned()));
        let expected = BTreeMap::from([("Engine".to_owned(), Methods { count: 3, files: 2 })]);
        assert_eq!(methods_by_type(&files), expected);
    }

    #[test]
    fn lines_without_code_do_not_count() {
        assert_eq!(code_lines("// a\n\nfn b() {\n    c(); // d\n}\n#[cfg(test)]\nmod tests {\n}\n"), 3);
    }
}
