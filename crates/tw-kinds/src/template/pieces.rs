//! Takes a text apart into what is said and what is to be worked out.

use tw_model::Label;
use tw_schema::Violation;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextPart<'a> {
    Literal(&'a str),
    /// What stands between `{{` and `}}`.
    Code(&'a str),
    /// What stands behind `secret:`, a label or a label with a field.
    Secret(&'a str),
}

/// Whether `secret:<label>` means something in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SecretReferences {
    Secrets,
    None,
}

/// Whether the library has to render a text as a whole.
pub(crate) fn has_statements(text: &str) -> bool {
    text.contains("{%") || text.contains("{#")
}

/// The parts of a text without statements, in order.
pub(crate) fn split(text: &str, references: SecretReferences) -> Result<Vec<TextPart<'_>>, Violation> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((literal, behind)) = rest.split_once("{{") {
        push_literal(&mut parts, literal, references)?;
        let end = end_of_code(behind).ok_or_else(Violation::expression_unclosed)?;
        if parts.last().is_some_and(|last| matches!(last, TextPart::Secret(_))) || literal.ends_with(MARK) {
            return Err(Violation::secret_expression());
        }
        // `{{-` and `-}}` would trim the text around, which is nothing that a value needs.
        parts.push(TextPart::Code(behind[..end].trim_matches(['-', '+'])));
        rest = &behind[end + 2..];
    }
    push_literal(&mut parts, rest, references)?;
    Ok(parts)
}

/// Where the code ends: at the first `}}` that is in no quotes and closes no brace of its own.
fn end_of_code(code: &str) -> Option<usize> {
    let bytes = code.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while *bytes.get(at)? != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'}' if depth == 0 && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

const MARK: &str = "secret:";

fn push_literal<'a>(
    parts: &mut Vec<TextPart<'a>>,
    mut literal: &'a str,
    references: SecretReferences,
) -> Result<(), Violation> {
    while let Some((at, label)) = reference_in(literal, references) {
        label
            .parse::<Label>()
            .map_err(|error| Violation::secret_label(tw_exec::label_violation(&error).to_string()))?;
        if at > 0 {
            parts.push(TextPart::Literal(&literal[..at]));
        }
        parts.push(TextPart::Secret(label));
        literal = &literal[at + MARK.len() + label.len()..];
    }
    if !literal.is_empty() {
        parts.push(TextPart::Literal(literal));
    }
    Ok(())
}

/// The first reference of a text: where it begins, and its label.
fn reference_in(text: &str, references: SecretReferences) -> Option<(usize, &str)> {
    if references == SecretReferences::None {
        return None;
    }
    text.match_indices(MARK).find_map(|(at, mark)| {
        // `client_secret:x` is another word.
        if text[..at].ends_with(Label::takes) {
            return None;
        }
        let rest = &text[at + mark.len()..];
        let end = rest.find(|c| !Label::takes(c)).unwrap_or(rest.len());
        // A sentence may end behind a label, which itself ends with a letter or a digit.
        let label = rest[..end].trim_end_matches(['.', '_', '-']);
        (!label.is_empty()).then_some((at, label))
    })
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Expect) {
        let shown = match split(text, SecretReferences::Secrets) {
            Ok(parts) => parts.iter().map(|part| format!("{part:?} ")).collect(),
            Err(error) => format!("refused: {error}"),
        };
        expected.assert_eq(shown.trim_end());
    }

    #[test]
    fn text_is_taken_apart_where_expressions_begin_and_end() {
        check("", expect![""]);
        check("plain } }} text", expect![[r#"Literal("plain } }} text")"#]]);
        check("{{ input.a }}", expect![[r#"Code(" input.a ")"#]]);
        check("{{a}}{{b}}", expect![[r#"Code("a") Code("b")"#]]);
        check(
            "x {{ {'k': {'l': '}}'}} }} y",
            expect![[r#"Literal("x ") Code(" {'k': {'l': '}}'}} ") Literal(" y")"#]],
        );
        check(r#"{{ "\"}}" }}"#, expect![[r#"Code(" \"\\\"}}\" ")"#]]);
        check("{{- a -}}", expect![[r#"Code(" a ")"#]]);
        check("{{ a", expect!["refused: must close every `{{` with `}}`"]);
        check("{{ 'a }}", expect!["refused: must close every `{{` with `}}`"]);
    }

    #[test]
    fn reference_ends_where_its_label_ends() {
        check("secret:weather", expect![[r#"Secret("weather")"#]]);
        check(
            "Bearer secret:crm.token, for now",
            expect![[r#"Literal("Bearer ") Secret("crm.token") Literal(", for now")"#]],
        );
        check("the key is secret:crm.", expect![[r#"Literal("the key is ") Secret("crm") Literal(".")"#]]);
        check("secret:a:secret:b", expect![[r#"Secret("a") Literal(":") Secret("b")"#]]);
        check("client_secret:x", expect![[r#"Literal("client_secret:x")"#]]);
        check("a secret: well kept", expect![[r#"Literal("a secret: well kept")"#]]);
        check(
            "secret:-x",
            expect![
                "refused: must have a label after `secret:`, which must start and end with a letter or a digit"
            ],
        );
        check(
            "secret:{{ input.a }}",
            expect![
                "refused: must have fixed text after `secret:`, and a space between it and any expression"
            ],
        );
        check(
            "secret:a{{ input.a }}",
            expect![
                "refused: must have fixed text after `secret:`, and a space between it and any expression"
            ],
        );
    }
}
