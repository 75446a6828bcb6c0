//! Rust sources as the rules read them: the code alone, without comments, texts and tests.
//!
//! What is left out is blanked, so that lines stay lines.

use std::iter;

/// The code of a file, without what `#[cfg(test)]` stands before, wherever that is.
pub(crate) fn code(text: &str) -> String {
    let mut code = without_words(text);
    let test = "#[cfg(test)]";
    while let Some(start) = code.find(test) {
        let end = start + test.len() + item_len(&code[start + test.len()..]);
        let blank: String = blanked(&code[start..end]).collect();
        code.replace_range(start..end, &blank);
    }
    code
}

/// Whether a file of a crate is there for tests alone, by its path.
pub(crate) fn is_test_file(path: &str) -> bool {
    let is_test = |part: &str| part == "tests" || part.ends_with("_tests");
    path.trim_end_matches(".rs").split('/').any(is_test)
}

/// The length of an item with the attributes before it: up to its closing brace, or to its semicolon.
fn item_len(text: &str) -> usize {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices() {
        match letter {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && letter == '}' {
                    return index + 1;
                }
            }
            ';' if depth == 0 => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// The text with comments, strings and characters blanked out: a brace in one of them is no brace of the code.
fn without_words(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(len) = raw_string_len(rest).filter(|_| !code.ends_with(is_word)) {
            len
        } else if letter == '"' {
            quoted_len(rest, '"')
        } else if letter == '\'' && is_character(rest) {
            quoted_len(rest, '\'')
        } else {
            code.push(letter);
            rest = &rest[letter.len_utf8()..];
            continue;
        };
        code.extend(blanked(&rest[..len]));
        rest = &rest[len..];
    }
    code
}

fn blanked(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' })
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// The length of a string or character, from its opening quote to its closing one.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (index, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            letter if letter == quote => return index + 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of `r"…"` or `r#"…"#`, with a `b` or `c` before it that is code like any other word.
fn raw_string_len(text: &str) -> Option<usize> {
    let hashes = text.strip_prefix('r')?.bytes().take_while(|byte| *byte == b'#').count();
    let inner = text[1 + hashes..].strip_prefix('"')?;
    let end: String = iter::once('"').chain(iter::repeat_n('#', hashes)).collect();
    Some(inner.find(&end).map_or(text.len(), |found| 1 + hashes + 1 + found + end.len()))
}

/// Whether a quote begins a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut letters = text.chars().skip(1);
    let (first, second) = (letters.next(), letters.next());
    first == Some('\\') || second == Some('\'')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_texts_are_no_code() {
        let text = "a(\"// { \\\" \", r#\"\"}\"#, b'{', '\\'', '}') // b\n/* c\n */ d::<'x, 'y>()";
        let words: Vec<_> = code(text).split_whitespace().map(str::to_owned).collect();
        assert_eq!(words.join(" "), "a( , , b , , ) d::<'x, 'y>()");
        assert_eq!(code(text).lines().count(), text.lines().count());
    }

    #[test]
    fn tests_are_no_code_wherever_they_stand() {
        for tests in [
            "#[cfg(test)]\nmod tests;",
            "#[cfg(test)]\n#[path = \"x_tests.rs\"]\nmod tests;",
            "#[cfg(test)]\nmod tests {\n    fn a() { b(\"}\") }\n}",
            "#[cfg(test)]\npub fn a(b: [u8; 2]) { c() }",
        ] {
            let read = code(&format!("before();\n{tests}\nafter();"));
            assert_eq!(read.split_whitespace().collect::<Vec<_>>(), ["before();", "after();"], "{tests}");
        }
    }

    #[test]
    fn test_file_is_known_by_its_path() {
        for path in ["crates/a/tests/it/b.rs", "crates/a/src/b/tests.rs", "crates/a/src/b_tests.rs"] {
            assert!(is_test_file(path), "{path}");
        }
        assert!(!is_test_file("crates/a/src/test_cases.rs"));
    }
}
