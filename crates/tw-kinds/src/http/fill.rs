//! Makes a request of what an author wrote and what a caller sent.

use std::time::Duration;

use serde_json::{Map, Value};
use tw_egress::{Method, Request};
use tw_model::ToolFailure;

use super::spec::HttpSpec;
use crate::{
    template::{Context, text::Text},
    url_template::{Pair, scalar, texts},
};

/// How large an answer may be, unpacked.
const ANSWER_BYTES_MAX: usize = 10 << 20;
const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// A request that can be sent as often as need be.
pub(super) struct Filled {
    method: Method,
    url: String,
    headers: Vec<Pair>,
    body: Option<String>,
}

impl Filled {
    pub(super) fn request(&self, timeout: Duration) -> Request {
        let mut request = Request::new(self.method, self.url.clone());
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        if let Some(body) = &self.body {
            request = request.body(body.clone());
        }
        request.timeout(timeout).body_max(ANSWER_BYTES_MAX)
    }
}

impl HttpSpec {
    pub(super) fn fill(
        &self,
        context: &Context,
        input: &Value,
        idempotency_key: &str,
    ) -> Result<Filled, ToolFailure> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            headers.extend(header(name, value, context)?.map(|value| (name.clone(), value)));
        }
        if let Some(name) = &self.idempotency_header {
            headers.push((name.clone(), sendable(name, idempotency_key.to_owned())?));
        }
        let (query, body) = self.arguments(context, input)?;
        let body = body.map(|body| written(&body, &mut headers));
        if !has(&headers, "accept") {
            headers.push(("accept".to_owned(), format!("{JSON}, */*;q=0.8")));
        }
        Ok(Filled { method: self.method, url: self.url.render(context, &query)?, headers, body })
    }

    /// What goes into the query and into the body. Where the author says neither, the input goes into the
    /// one that the method is made for, without what the URL and the headers have taken. A method that is
    /// made for a body has one beside a query as well, of what the query has not taken either.
    fn arguments(&self, context: &Context, input: &Value) -> Result<(Vec<Pair>, Option<Value>), ToolFailure> {
        let has_body = self.is_for_a_body();
        if self.query.is_none() && self.body.is_none() && !has_body {
            let rest = self.left_of(input);
            return Ok((rest.iter().flat_map(|(name, value)| pairs(name, value)).collect(), None));
        }
        let mut query = Vec::new();
        for (name, value) in self.query.iter().flatten() {
            query.extend(pairs(name, &value.render_if_there(context)?.unwrap_or_default()));
        }
        let body = match &self.body {
            Some(body) => body.render_if_there(context)?,
            None => has_body.then(|| Value::Object(self.left_of(input))),
        };
        Ok((query, body))
    }

    fn is_for_a_body(&self) -> bool {
        matches!(self.method, Method::Post | Method::Put | Method::Patch)
    }

    /// Whether there is a body where the input has something for it.
    pub(super) fn sends_a_body(&self) -> bool {
        self.body.is_some() || self.is_for_a_body()
    }

    fn left_of(&self, input: &Value) -> Map<String, Value> {
        let members = input.as_object().into_iter().flatten();
        let left = members.filter(|(name, _)| !self.taken.contains(name.as_str()));
        left.map(|(name, value)| (name.clone(), value.clone())).collect()
    }
}

/// The arguments that are read as `input["name"]`, which the language does not tell of what an expression reads.
pub(super) fn subscripts(part: Option<&Value>) -> Vec<String> {
    match part {
        Some(Value::String(text)) => {
            text.match_indices("input").filter_map(|(at, _)| subscript(text, at)).collect()
        }
        Some(Value::Array(items)) => items.iter().flat_map(|item| subscripts(Some(item))).collect(),
        Some(Value::Object(members)) => {
            members.values().flat_map(|member| subscripts(Some(member))).collect()
        }
        _ => Vec::new(),
    }
}

/// The name behind an `input` that begins at a place.
fn subscript(text: &str, at: usize) -> Option<String> {
    let is_within = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    if text[..at].ends_with(is_within) {
        return None;
    }
    let rest = text[at..].strip_prefix("input")?.trim_start().strip_prefix('[')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(name, _)| name.to_owned())
}

fn pairs(name: &str, value: &Value) -> Vec<Pair> {
    texts(value).into_iter().map(|text| (name.to_owned(), text)).collect()
}

/// The value of a header; `None` where it is absent or null.
fn header(name: &str, value: &Text, context: &Context) -> Result<Option<String>, ToolFailure> {
    match value.value(context)? {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            let text = scalar(&value).ok_or_else(|| {
                let at = value_place(name);
                ToolFailure::invalid(format!("{at} must be a text, a number or a boolean"))
            })?;
            sendable(name, text).map(Some)
        }
    }
}

fn value_place(name: &str) -> String {
    format!("the value of the header `{name}`")
}

/// A line break would start a header, or a request, of the caller's own.
fn sendable(name: &str, value: String) -> Result<String, ToolFailure> {
    if Request::check_header(name, &value).is_err() {
        let at = value_place(name);
        return Err(ToolFailure::invalid(format!(
            "{at} must not have a line break or another control character"
        )));
    }
    Ok(value)
}

fn has(headers: &[Pair], name: &str) -> bool {
    headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name))
}

/// A body as its content type has it: a form, a text as it is, or JSON, which is also what is meant where the
/// author names no type.
fn written(body: &Value, headers: &mut Vec<Pair>) -> String {
    let kind = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let Some((_, kind)) = kind else {
        headers.push(("content-type".to_owned(), JSON.to_owned()));
        return body.to_string();
    };
    let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match body {
        Value::Object(members) if kind == FORM => {
            let pairs = members.iter().flat_map(|(name, value)| pairs(name, value));
            url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
        }
        Value::String(text) if !is_json(&kind) => text.clone(),
        other => other.to_string(),
    }
}

/// Whether a content type, without its parameters and in lower case, means JSON.
pub(super) fn is_json(kind: &str) -> bool {
    kind == JSON || kind == "text/json" || kind.ends_with("+json")
}
