//! What an author writes: `implementation` of a tool of kind `http`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolwright_sdk::Redactor;
use tw_egress::{Method, Request};
use tw_exec::Lookup;
use tw_model::names_a_secret;
use tw_schema::{Fault, Violation};

use super::{call::Jq, fill::subscripts, literals::literals};
use crate::{
    faults::{Faults, below},
    headers,
    template::{Template, language::Cost, pieces::SecretReferences, text::Text},
    url_template::UrlTemplate,
};

pub(super) const PATH: &str = "/implementation";
const NAMES: &[&str] = &["input"];
const RETRIES_MAX: u64 = 5;
const MEMBERS: &[&str] =
    &["url", "method", "query", "headers", "body", "response", "retry", "idempotency_header"];

/// A call to a service, read and compiled once.
#[derive(Debug)]
pub struct HttpSpec {
    pub(super) url: UrlTemplate,
    pub(super) method: Method,
    pub(super) query: Option<Vec<(String, Template)>>,
    pub(super) headers: Vec<(String, Text)>,
    pub(super) body: Option<Template>,
    /// A filter of jq.
    pub(super) response: Option<String>,
    /// How often it is tried again.
    pub(super) retries: u32,
    pub(super) idempotency_header: Option<String>,
    labels: BTreeSet<String>,
    /// Arguments that have a place of their own.
    pub(super) taken: BTreeSet<String>,
    /// Secrets that stand in the definition itself.
    literals: Vec<String>,
    /// What it takes to fill it in.
    pub(super) cost: Cost,
}

impl HttpSpec {
    /// Reads an implementation with its secrets open, and tells everything that is wrong with it.
    pub fn read(implementation: &Value, jq: &dyn Jq) -> Result<Self, Vec<Fault>> {
        let mut reader = Reader::default();
        let Some(members) = reader.object(implementation, PATH) else { return reader.faults.told(None) };
        for name in members.keys().filter(|name| !MEMBERS.contains(&name.as_str())) {
            reader.faults.say(below(PATH, name), Violation::unknown_member());
        }
        let part = |name: &str| members.get(name).filter(|value| !value.is_null());
        let method = reader.method(part("method"));
        let url = reader.url(part("url"));
        let query = part("query").and_then(|query| reader.query(query));
        let headers = part("headers").and_then(|headers| reader.headers(headers)).unwrap_or_default();
        let idempotency_header =
            part("idempotency_header").and_then(|name| reader.idempotency_header(name, &headers));
        let body = part("body").and_then(|body| reader.template(body, &below(PATH, "body")));
        let response = part("response").and_then(|filter| reader.response(filter, jq));
        let retries = part("retry").map_or(0, |retry| reader.retries(retry));
        let spec = url.map(|url| Self {
            url,
            method,
            query,
            headers,
            // Forms send an empty object for nothing, and a service may refuse a GET that has a body.
            body: body.filter(|_| !(method.is_safe() && is_empty(part("body")))),
            response,
            retries,
            idempotency_header,
            labels: BTreeSet::new(),
            taken: ["url", "query", "headers"].into_iter().flat_map(|name| subscripts(part(name))).collect(),
            literals: literals(members),
            cost: Cost::default(),
        });
        reader.faults.told(spec).map(Self::looked_through)
    }

    /// The credentials that it refers to: what stands behind each `secret:`, a label or a label with a
    /// field, as in `crm.username`.
    #[must_use]
    pub fn labels(&self) -> &BTreeSet<String> {
        &self.labels
    }

    /// The host that it calls.
    #[must_use]
    pub fn host(&self) -> &str {
        self.url.host()
    }

    /// Everything that its expressions look up.
    pub(crate) fn lookups(&self) -> Vec<Lookup> {
        let mut found = Vec::new();
        let url = below(PATH, "url");
        found.extend(self.url.reads().into_iter().map(|name| Lookup { path: url.clone(), name }));
        self.query.iter().flatten().for_each(|(_, value)| value.lookups(&mut found));
        self.headers.iter().for_each(|(_, value)| value.lookups(&mut found));
        self.body.iter().for_each(|body| body.lookups(&mut found));
        found
    }

    /// Knows what its parts refer to and read.
    fn looked_through(mut self) -> Self {
        let mut labels = BTreeSet::new();
        self.url.labels(&mut labels);
        self.query.iter().flatten().for_each(|(_, value)| value.labels(&mut labels));
        self.headers.iter().for_each(|(_, value)| value.labels(&mut labels));
        self.body.iter().for_each(|body| body.labels(&mut labels));
        let mut reads = self.url.reads();
        self.query.iter().flatten().for_each(|(_, value)| value.reads(&mut reads));
        self.headers.iter().for_each(|(_, value)| value.reads(&mut reads));
        let argument = |read: &String| read.strip_prefix("input.")?.split('.').next().map(ToOwned::to_owned);
        self.taken.extend(reads.iter().filter_map(argument));
        let secrets = self.url.written_out().filter(|(name, _)| names_a_secret(name));
        self.literals.extend(secrets.map(|(_, secret)| secret));
        let parts = self.query.iter().flatten().map(|(_, value)| value.cost());
        let parts = parts.chain(self.headers.iter().map(|(_, value)| value.cost()));
        let parts = parts.chain(self.body.iter().map(Template::cost));
        let cost = parts.fold(self.url.cost(), Cost::and);
        Self { labels, cost, ..self }
    }

    pub(super) fn redactor<'a>(&'a self, opened: impl Iterator<Item = &'a str>) -> Redactor {
        Redactor::new(opened.chain(self.literals.iter().map(String::as_str)))
    }
}

fn is_empty(body: Option<&Value>) -> bool {
    body.and_then(Value::as_object).is_some_and(Map::is_empty)
}

#[derive(Default)]
struct Reader {
    faults: Faults,
}

impl Reader {
    fn object<'a>(&mut self, value: &'a Value, at: &str) -> Option<&'a Map<String, Value>> {
        let members = value.as_object();
        if members.is_none() {
            self.faults.say(at, Violation::typed(&["object"], value));
        }
        members
    }

    fn text<'a>(&mut self, value: &'a Value, at: &str) -> Option<&'a str> {
        let text = value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            let violation =
                if value.is_string() { Violation::not_empty() } else { Violation::typed(&["string"], value) };
            self.faults.say(at, violation);
        }
        text
    }

    fn url(&mut self, value: Option<&Value>) -> Option<UrlTemplate> {
        let at = below(PATH, "url");
        let Some(value) = value else {
            self.faults.say(at, Violation::required());
            return None;
        };
        let text = self.text(value, &at)?;
        self.faults.take(UrlTemplate::read(text, &at, NAMES))
    }

    fn method(&mut self, value: Option<&Value>) -> Method {
        let Some(value) = value else { return Method::Get };
        let method = value.as_str().and_then(|text| text.to_ascii_uppercase().parse().ok());
        method.unwrap_or_else(|| {
            let known = Violation::words(Method::ALL.iter().map(|method| method.as_str()));
            self.faults.say(below(PATH, "method"), known);
            Method::Get
        })
    }

    fn template(&mut self, value: &Value, at: &str) -> Option<Template> {
        self.faults.take(Template::read_with(value, at, NAMES, SecretReferences::Secrets))
    }

    fn query(&mut self, value: &Value) -> Option<Vec<(String, Template)>> {
        let at = below(PATH, "query");
        let mut query = Vec::new();
        for (name, value) in self.object(value, &at)? {
            let at = below(&at, name);
            self.fixed_name(name, &at);
            query.extend(self.template(value, &at).map(|value| (name.clone(), value)));
        }
        Some(query)
    }

    fn headers(&mut self, value: &Value) -> Option<Vec<(String, Text)>> {
        headers::read(value, &below(PATH, "headers"), NAMES, Request::check_header, &mut self.faults)
    }

    fn idempotency_header(&mut self, value: &Value, headers: &[(String, Text)]) -> Option<String> {
        let at = below(PATH, "idempotency_header");
        let name = self.text(value, &at)?;
        headers::check_name(name, &at, Request::check_header, &mut self.faults);
        if headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)) {
            self.faults.say(at, Violation::header_twice(name));
        }
        Some(name.to_owned())
    }

    fn fixed_name(&mut self, name: &str, at: &str) {
        if name.contains("{{") || name.contains("{%") {
            self.faults.say(at, Violation::fixed_name());
        }
    }

    fn response(&mut self, value: &Value, jq: &dyn Jq) -> Option<String> {
        let at = below(PATH, "response");
        let filter = self.text(value, &at)?;
        if let Err(why) = jq.check(filter) {
            self.faults.say(at, Violation::jq(why));
        }
        Some(filter.to_owned())
    }

    fn retries(&mut self, value: &Value) -> u32 {
        let at = below(PATH, "retry");
        let Some(members) = self.object(value, &at) else { return 0 };
        for name in members.keys().filter(|name| *name != "max") {
            self.faults.say(below(&at, name), Violation::unknown_member());
        }
        let max = members.get("max").and_then(Value::as_u64).filter(|max| *max <= RETRIES_MAX);
        let max = max.and_then(|max| u32::try_from(max).ok());
        max.unwrap_or_else(|| {
            self.faults.say(below(&at, "max"), Violation::range(0, RETRIES_MAX));
            0
        })
    }
}
