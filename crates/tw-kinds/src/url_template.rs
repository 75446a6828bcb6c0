//! URLs with expressions in them.
//!
//! What an expression yields is one part of a path segment or one value of the query, whatever
//! characters it has. Scheme, host and port are the author's alone.

use std::{borrow::Cow, collections::BTreeSet};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::Value;
use tw_model::ToolFailure;
use tw_schema::{Fault, Violation};
use url::Url;

use crate::template::{
    Context,
    language::Cost,
    pieces::{SecretReferences, has_statements},
    text::{Piece, missing, one},
};

/// All but the characters that mean nothing anywhere in a URL.
pub(crate) const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A URL that was read once, such as `https://api.example.com/v1/cities/{{ input.city }}`.
#[derive(Debug)]
pub struct UrlTemplate {
    at: String,
    /// Scheme, host and port, as the template has them.
    origin: String,
    host: String,
    /// Everything up to the path.
    base: String,
    segments: Vec<Vec<Piece>>,
    query: Vec<Parameter>,
}

#[derive(Debug)]
enum Parameter {
    /// As the author wrote it.
    Fixed(String),
    Value {
        name: String,
        value: Vec<Piece>,
    },
}

/// One name of a query with its text, neither of them encoded.
pub(crate) type Pair = (String, String);

impl UrlTemplate {
    /// Reads a template over some names; `path` is where it stands.
    pub fn read(text: &str, path: &str, names: &[&str]) -> Result<Self, Vec<Fault>> {
        read(text, path, names).map_err(|violation| vec![violation.at(path)])
    }

    /// The host that is called, whatever the input says.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Scheme, host and port, whatever the input says.
    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Fills it in. `more` follows what the template has in its query.
    pub(crate) fn render(&self, context: &Context, more: &[Pair]) -> Result<String, ToolFailure> {
        let mut url = self.base.clone();
        for segment in &self.segments {
            url.push('/');
            url.push_str(&self.segment(segment, context)?);
        }
        let mut parameters = Vec::new();
        for parameter in &self.query {
            match parameter {
                Parameter::Fixed(text) => parameters.push(text.clone()),
                Parameter::Value { name, value } => {
                    let texts = self.values(value, context)?;
                    parameters.extend(texts.iter().map(|text| format!("{name}={}", encoded(text))));
                }
            }
        }
        parameters.extend(more.iter().map(|(name, text)| format!("{}={}", encoded(name), encoded(text))));
        if !parameters.is_empty() {
            url.push('?');
            url.push_str(&parameters.join("&"));
        }
        // Nothing above lets an input get here. It is asked again because everything hangs on it.
        match Url::parse(&url) {
            Ok(read) if read.origin().ascii_serialization() == self.origin => Ok(url),
            _ => Err(ToolFailure::invalid(format!("`{}` must produce a URL on its own host", self.at))),
        }
    }

    fn segment(&self, pieces: &[Piece], context: &Context) -> Result<String, ToolFailure> {
        let mut segment = String::new();
        let mut is_fixed = true;
        for piece in pieces {
            match piece {
                Piece::Literal(text) => segment.push_str(text),
                Piece::Code(code) => {
                    let value = one(&self.at, code, context)?.unwrap_or_default();
                    let text = scalar(&value).ok_or_else(|| {
                        let source = code.source();
                        ToolFailure::invalid(match value {
                            Value::Null => return missing(&self.at, code),
                            _ => format!(
                                "`{source}` stands in a path, so it must be a text, a number or a boolean"
                            ),
                        })
                    })?;
                    segment.push_str(&encoded(&text));
                    is_fixed = false;
                }
                Piece::Secret(_) => {
                    segment.push_str(&encoded(&piece.text(&self.at, context)?));
                    is_fixed = false;
                }
            }
        }
        if is_fixed || !leads_elsewhere(&segment) {
            return Ok(segment);
        }
        let sources: Vec<_> = pieces.iter().filter_map(Piece::source).collect();
        Err(ToolFailure::invalid(format!(
            "`{}` is part of a path: it must not be empty, `.` or `..`",
            sources.join("`, `")
        )))
    }

    /// None where the value is absent or null, and one for each item of a list.
    fn values(&self, pieces: &[Piece], context: &Context) -> Result<Vec<String>, ToolFailure> {
        if let [Piece::Code(code)] = pieces {
            let value = one(&self.at, code, context)?.unwrap_or_default();
            return Ok(texts(&value));
        }
        let mut joined = String::new();
        for piece in pieces {
            joined.push_str(&piece.text(&self.at, context)?);
        }
        Ok(vec![joined])
    }

    fn pieces(&self) -> impl Iterator<Item = &Piece> {
        let values = self.query.iter().filter_map(|parameter| match parameter {
            Parameter::Fixed(_) => None,
            Parameter::Value { value, .. } => Some(value),
        });
        self.segments.iter().chain(values).flatten()
    }

    pub(crate) fn labels(&self, into: &mut BTreeSet<String>) {
        into.extend(self.pieces().filter_map(|piece| match piece {
            Piece::Secret(label) => Some(label.clone()),
            _ => None,
        }));
    }

    /// Names in the query with what is written out for them, which is all of the value or a part of it. Beside a
    /// reference to a secret nothing else is one.
    pub(crate) fn written_out(&self) -> impl Iterator<Item = Pair> {
        self.query.iter().filter_map(|parameter| {
            let (name, text) = match parameter {
                Parameter::Fixed(text) => url::form_urlencoded::parse(text.as_bytes()).into_owned().next()?,
                Parameter::Value { name, value } => {
                    (percent_decode_str(name).decode_utf8_lossy().into_owned(), literals_in(value)?)
                }
            };
            (!text.is_empty()).then_some((name, text))
        })
    }

    /// What its expressions look up, such as `input.city`.
    pub(crate) fn reads(&self) -> BTreeSet<String> {
        let codes = self.pieces().filter_map(|piece| match piece {
            Piece::Code(code) => Some(code.reads()),
            _ => None,
        });
        codes.flatten().cloned().collect()
    }

    pub(crate) fn cost(&self) -> Cost {
        self.pieces().map(Piece::cost).fold(Cost::default(), Cost::and)
    }
}

fn literals_in(pieces: &[Piece]) -> Option<String> {
    let mut literals = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(text) => literals.push_str(text),
            Piece::Code(_) => {}
            Piece::Secret(_) => return None,
        }
    }
    Some(literals)
}

/// The texts that a value of a query is: none for null, one for each item of a list.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Null => Vec::new(),
        Value::Array(items) => items.iter().filter(|item| !item.is_null()).map(text).collect(),
        other => vec![text(other)],
    }
}

fn text(value: &Value) -> String {
    scalar(value).unwrap_or_else(|| value.to_string())
}

/// A value that is one word.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn encoded(text: &str) -> Cow<'_, str> {
    utf8_percent_encode(text, ENCODED).into()
}

/// Whether a segment is none of its own: an empty one may be dropped, and dots are steps. A reader of URLs
/// takes `%2e` for a dot here, so an author's `%2e` beside a caller's `.` would be one too.
fn leads_elsewhere(segment: &str) -> bool {
    matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "" | "." | "..")
}

fn read(text: &str, at: &str, names: &[&str]) -> Result<UrlTemplate, Violation> {
    if has_statements(text) {
        return Err(Violation::url_statements());
    }
    let mut pieces = Piece::read_all(text, names, SecretReferences::Secrets)?;
    let is_alone = pieces.len() == 1;
    let Some(Piece::Literal(head)) = pieces.first_mut() else {
        return Err(if text.is_empty() { Violation::required() } else { Violation::url_host() });
    };
    let base = base(head, is_alone)?;
    head.drain(..base.len());
    let site = Url::parse(&base).map_err(|error| Violation::url(error.to_string()))?;
    let Some(host) = site.host_str() else { return Err(Violation::url("it has no host")) };
    if !site.username().is_empty() || site.password().is_some() {
        return Err(Violation::url_user());
    }
    let odd = |c: char| c == '\\' || c.is_ascii_control();
    if pieces.iter().any(|piece| matches!(piece, Piece::Literal(text) if text.contains(odd))) {
        return Err(Violation::url_character());
    }
    let (pieces, fragment) = cut(pieces, '#');
    if fragment.is_some() {
        return Err(Violation::url_fragment());
    }
    let (path, query) = cut(pieces, '?');
    let (_, path) = cut(path, '/');
    let parameters = divide(query.unwrap_or_default(), '&').into_iter().filter(|each| !each.is_empty());
    Ok(UrlTemplate {
        at: at.to_owned(),
        origin: site.origin().ascii_serialization(),
        host: host.to_owned(),
        base,
        segments: divide(path.unwrap_or_default(), '/'),
        query: parameters.map(parameter).collect::<Result<_, _>>()?,
    })
}

/// Scheme, host and port: what is before the path.
fn base(head: &str, is_alone: bool) -> Result<String, Violation> {
    let scheme = ["https://", "http://"]
        .into_iter()
        .find(|scheme| head.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
    let Some(scheme) = scheme else { return Err(Violation::url_scheme()) };
    match head[scheme.len()..].find(['/', '?', '#', '\\']) {
        Some(end) => Ok(head[..scheme.len() + end].to_owned()),
        None if is_alone => Ok(head.to_owned()),
        None => Err(Violation::url_host()),
    }
}

fn parameter(pieces: Vec<Piece>) -> Result<Parameter, Violation> {
    if let [Piece::Literal(text)] = &*pieces {
        return Ok(Parameter::Fixed(text.clone()));
    }
    let (name, value) = cut(pieces, '=');
    let (Ok([Piece::Literal(name)]), Some(value)) = (<[Piece; 1]>::try_from(name), value) else {
        return Err(Violation::url_query());
    };
    // An author's literal is encoded where it needs to be, so it is taken back to what it means.
    let plain = |piece| match piece {
        Piece::Literal(text) => {
            Piece::Literal(percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned())
        }
        other => other,
    };
    Ok(Parameter::Value { name, value: value.into_iter().map(plain).collect() })
}

/// Cuts at the first of a character that is not in an expression, where it may mean something else.
fn cut(pieces: Vec<Piece>, at: char) -> (Vec<Piece>, Option<Vec<Piece>>) {
    let mut before = Vec::new();
    let mut pieces = pieces.into_iter();
    while let Some(piece) = pieces.next() {
        let Piece::Literal(text) = &piece else {
            before.push(piece);
            continue;
        };
        let Some((left, right)) = text.split_once(at) else {
            before.push(piece);
            continue;
        };
        let literal = |text: &str| (!text.is_empty()).then(|| Piece::Literal(text.to_owned()));
        before.extend(literal(left));
        return (before, Some(literal(right).into_iter().chain(pieces).collect()));
    }
    (before, None)
}

fn divide(pieces: Vec<Piece>, at: char) -> Vec<Vec<Piece>> {
    let mut parts = Vec::new();
    let mut rest = Some(pieces);
    while let Some(pieces) = rest {
        let (part, more) = cut(pieces, at);
        parts.push(part);
        rest = more;
    }
    parts
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn render(template: &str, input: &Value) -> Result<String, ToolFailure> {
        let template = UrlTemplate::read(template, "/url", &["input"]).unwrap();
        template.render(&Context::of_input(input), &[])
    }

    #[track_caller]
    fn check(template: &str, input: Value, expected: Expect) {
        expected.assert_eq(&match render(template, &input) {
            Ok(url) => url,
            Err(failure) => format!("{}: {}", failure.code, failure.message),
        });
    }

    const CITY: &str = "https://api.example.com/v1/cities/{{ input.x }}/now";

    #[test]
    fn path_argument_is_one_segment_whatever_it_holds() {
        for (argument, segment) in [
            ("Berlin", "Berlin"),
            ("a/b", "a%2Fb"),
            ("../admin", "..%2Fadmin"),
            ("%2e%2e", "%252e%252e"),
            ("..%2f", "..%252f"),
            ("?x=1", "%3Fx%3D1"),
            ("#f", "%23f"),
            ("@evil.test", "%40evil.test"),
            ("\\\\evil.test", "%5C%5Cevil.test"),
            ("\r\nHost: evil", "%0D%0AHost%3A%20evil"),
            ("\t. ", "%09.%20"),
            ("...", "..."),
            ("São Paulo", "S%C3%A3o%20Paulo"),
            ("{{ input.y }}", "%7B%7B%20input.y%20%7D%7D"),
        ] {
            let url = render(CITY, &json!({ "x": argument })).unwrap();
            assert_eq!(url, format!("https://api.example.com/v1/cities/{segment}/now"));
        }
        check(CITY, json!({ "x": 7 }), expect!["https://api.example.com/v1/cities/7/now"]);
        check(CITY, json!({ "x": true }), expect!["https://api.example.com/v1/cities/true/now"]);
    }

    #[test]
    fn path_argument_that_is_no_segment_is_refused() {
        for x in [json!("."), json!(".."), json!("")] {
            check(
                CITY,
                json!({ "x": x }),
                expect!["INVALID_PARAMS: `input.x` is part of a path: it must not be empty, `.` or `..`"],
            );
        }
        check(CITY, json!({}), expect!["INVALID_PARAMS: `input.x` has no value, but `/url` requires one"]);
        check(
            CITY,
            json!({ "x": null }),
            expect!["INVALID_PARAMS: `input.x` has no value, but `/url` requires one"],
        );
        check(
            CITY,
            json!({ "x": [1] }),
            expect![
                "INVALID_PARAMS: `input.x` stands in a path, so it must be a text, a number or a boolean"
            ],
        );
        let dots = "INVALID_PARAMS: `input.x` is part of a path: it must not be empty, `.` or `..`";
        for template in [
            "https://h.test/a/.{{ input.x }}",
            "https://h.test/a/%2e{{ input.x }}/b",
            "https://h.test/{{ input.x }}%2E",
        ] {
            let failure = render(template, &json!({ "x": "." })).unwrap_err();
            assert_eq!(format!("{}: {failure}", failure.code), dots, "{template}");
        }
        check(
            "https://h.test/{{ input.x }}{{ input.y }}",
            json!({ "x": ".", "y": "." }),
            expect![
                "INVALID_PARAMS: `input.x`, `input.y` is part of a path: it must not be empty, `.` or `..`"
            ],
        );
    }

    #[test]
    fn query_argument_is_one_value() {
        let template = "https://h.test?fixed=a%20b&q={{ input.q }}&both=<{{ input.q }}>";
        check(
            template,
            json!({ "q": "a&b=c#d/é +" }),
            expect![
                "https://h.test/?fixed=a%20b&q=a%26b%3Dc%23d%2F%C3%A9%20%2B&both=%3Ca%26b%3Dc%23d%2F%C3%A9%20%2B%3E"
            ],
        );
        check("https://h.test/?q={{ input.q }}", json!({}), expect!["https://h.test/"]);
        check("https://h.test/?q={{ input.q }}", json!({ "q": null }), expect!["https://h.test/"]);
        check(
            "https://h.test/?q={{ input.q }}",
            json!({ "q": [1, "b"] }),
            expect!["https://h.test/?q=1&q=b"],
        );
        check(
            "https://h.test/?q=x{{ input.q }}",
            json!({}),
            expect!["INVALID_PARAMS: `input.q` has no value, but `/url` requires one"],
        );
    }

    #[test]
    fn expression_may_hold_what_divides_a_url() {
        check(
            "https://h.test/{{ input['a/b?c#d'] }}/{{ input.n / 2 }}",
            json!({ "a/b?c#d": "x", "n": 3 }),
            expect!["https://h.test/x/1.5"],
        );
    }

    #[test]
    fn template_whose_host_is_not_fixed_is_refused() {
        for wrong in [
            "{{ input.url }}",
            "https://{{ input.host }}/a",
            "https://api.{{ input.host }}/a",
            "https://api.example.com{{ input.path }}",
            "https://api.example.com:{{ input.port }}/",
            "{{ input.scheme }}://api.example.com/",
            "https://secret:token@api.example.com/",
            "https://user@api.example.com/{{ input.a }}",
            "https:///a",
            "ftp://api.example.com/",
            "file:///etc/passwd",
            "//api.example.com/",
            "api.example.com",
            "",
            "https://api.example.com\\@evil.test/",
            "https://api.example.com/\\{{ input.a }}",
            "https://api.example.com/{{ input.a",
            "https://api.example.com/{{ other.a }}",
            "https://api.example.com/a#{{ input.a }}",
            "https://api.example.com/?{{ input.a }}=1",
            "https://api.example.com/{% if input.a %}a{% endif %}",
            "https://api.example.com:99999/",
        ] {
            assert!(UrlTemplate::read(wrong, "/url", &["input"]).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_argument_leaves_its_segment(x in ".{0,40}", y in ".{0,40}") {
            let template = UrlTemplate::read("https://h.test:8443/a/{{ input.x }}/b?k={{ input.y }}", "/url", &["input"]).unwrap();
            if let Ok(url) = template.render(&Context::of_input(&json!({ "x": x, "y": y })), &[]) {
                let url = Url::parse(&url).unwrap();
                prop_assert_eq!(url.origin().ascii_serialization(), "https://h.test:8443");
                let segments: Vec<_> = url.path_segments().unwrap().collect();
                prop_assert_eq!(segments.len(), 3);
                prop_assert_eq!(percent_decode_str(segments[1]).decode_utf8().unwrap(), x);
                let pairs: Vec<_> = url.query_pairs().collect();
                prop_assert_eq!(&pairs, &[("k".into(), y.into())]);
                prop_assert_eq!(url.fragment(), None);
            }
        }
    }
}
