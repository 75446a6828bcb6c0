//! A definition of an operation.

use serde_json::{Map, Value, json};
use tw_schema::slug_from_name;

use super::{
    Draft,
    document::Document,
    schemas::{Direction, Schemas},
    styles::{Style, access},
};

/// The methods that tools can have, with what a call of each may do.
const METHODS: &[(&str, &str, &str)] = &[
    ("get", "GET", "read"),
    ("head", "HEAD", "read"),
    ("options", "OPTIONS", "read"),
    ("post", "POST", "write"),
    ("put", "PUT", "write"),
    ("patch", "PATCH", "write"),
    ("delete", "DELETE", "destructive"),
];
const NAME_CHARS_MAX: usize = 200;
const DESCRIPTION_CHARS_MAX: usize = 4_000;
const TAGS_MAX: usize = 10;
const TAG_CHARS_MAX: usize = 50;
const LABEL_CHARS_MAX: usize = 64;
const FORM: &str = "application/x-www-form-urlencoded";
/// Headers that the client sets itself; the specification says that parameters of these names count for nothing.
const OWN_HEADERS: &[&str] = &["accept", "content-type", "authorization"];

/// The schema of a body that the document does not describe.
static ANYTHING: Value = Value::Bool(true);

#[derive(Debug)]
pub(super) struct Operation<'a> {
    pub(super) method: &'static str,
    pub(super) path: &'a str,
    level: &'static str,
    item: &'a Value,
    described: &'a Value,
}

/// The request that a tool makes, while it is put together.
#[derive(Default)]
struct Request {
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// Path parameters with their templates.
    in_path: Vec<(String, String)>,
    query: Map<String, Value>,
    headers: Map<String, Value>,
    body: Option<Value>,
    notes: Vec<String>,
    credentials: Vec<(String, &'static str)>,
}

impl<'a> Operation<'a> {
    /// All operations, in the order of the document.
    pub(super) fn all(document: &Document<'a>) -> Vec<Self> {
        let paths = document.root["paths"].as_object().into_iter().flatten();
        let paths = paths.filter(|(path, _)| path.starts_with('/'));
        let of_path = |(path, item): (&'a String, &'a Value)| {
            let item = document.follow(item).unwrap_or(item);
            METHODS.iter().filter_map(move |&(name, method, level)| {
                let described = item.get(name).filter(|described| described.is_object())?;
                Some(Self { method, path, level, item, described })
            })
        };
        paths.flat_map(of_path).collect()
    }

    pub(super) fn id(&self) -> Option<&'a str> {
        self.described["operationId"].as_str()
    }

    /// What it is called where there is no room for more.
    pub(super) fn place(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    /// The definition of a tool, or why there can be none.
    pub(super) fn draft(&self, document: &Document<'a>, server: Option<&str>) -> Result<Draft, String> {
        let slug = self.slug()?;
        let mut request = Request::default();
        let url = self.url(document, server, &mut request)?;
        self.body(document, &mut request)?;
        self.security(document, &mut request)?;
        let output_schema = match self.output(document) {
            Ok(schema) => schema,
            Err(why) => {
                request.notes.push(format!("it has no output schema: {why}"));
                None
            }
        };
        let mut implementation =
            Map::from_iter([("url".to_owned(), json!(url)), ("method".to_owned(), json!(self.method))]);
        // Without a query the arguments that nobody has taken would go there.
        implementation.insert("query".to_owned(), Value::Object(request.query));
        if !request.headers.is_empty() {
            implementation.insert("headers".to_owned(), Value::Object(request.headers));
        }
        if let Some(body) = request.body {
            implementation.insert("body".to_owned(), body);
        }
        let mut input_schema = json!({
            "type": "object", "properties": request.properties, "additionalProperties": false,
        });
        if !request.required.is_empty() {
            input_schema["required"] = Value::Array(request.required);
        }
        let mut body = json!({
            "slug": slug, "name": self.name(&slug), "description": self.description(),
            "tags": self.tags(), "permission_level": self.level, "implementation_type": "http",
            "implementation": implementation, "input_schema": input_schema,
        });
        if let Some(schema) = output_schema {
            body["output_schema"] = schema;
        }
        Ok(Draft { slug, body, notes: request.notes, credentials: request.credentials })
    }

    fn slug(&self) -> Result<String, String> {
        let words = || {
            let path = self.path.replace(['{', '}'], "");
            format!("{} {}", self.method.to_ascii_lowercase(), path.replace('/', " "))
        };
        let named = self.id().and_then(slug_from_name).or_else(|| slug_from_name(&words()));
        named.ok_or_else(|| {
            "no slug can be made from its id, method and path; add an `operationId`".to_owned()
        })
    }

    fn text(&self, name: &str) -> Option<&'a str> {
        self.described[name].as_str().map(str::trim).filter(|text| !text.is_empty())
    }

    fn name(&self, slug: &str) -> String {
        cut(self.text("summary").and_then(|text| text.lines().next()).unwrap_or(slug), NAME_CHARS_MAX)
    }

    fn description(&self) -> String {
        let text = self.text("description").or_else(|| self.text("summary"));
        text.map_or_else(|| self.place(), |text| cut(text, DESCRIPTION_CHARS_MAX))
    }

    fn tags(&self) -> Vec<String> {
        let tags = self.described["tags"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let tags = tags.map(str::trim).filter(|tag| !tag.is_empty());
        tags.take(TAGS_MAX).map(|tag| cut(tag, TAG_CHARS_MAX)).collect()
    }

    /// The address with its parameters, which go into the request as well.
    fn url(
        &self,
        document: &Document<'a>,
        server: Option<&str>,
        request: &mut Request,
    ) -> Result<String, String> {
        for parameter in self.parameters(document)? {
            parameter_of(document, parameter, request)?;
        }
        let base = match server {
            Some(server) => server.to_owned(),
            None => self.server(document)?,
        };
        let mut url = literal(base.trim_end_matches('/'))?;
        let mut rest = self.path;
        while let Some((before, behind)) = rest.split_once('{') {
            let (name, after) = behind.split_once('}').ok_or("its path has a brace that is not closed")?;
            url += &literal(before)?;
            match request.in_path.iter().find(|(known, _)| known == name) {
                Some((_, value)) => url += value,
                None => {
                    request.take(name, json!({ "type": "string" }), true)?;
                    url += &expression(name)?;
                }
            }
            rest = after;
        }
        url += &literal(rest)?;
        Ok(url)
    }

    /// Parameters of the path and of the operation, which count before those of the path.
    fn parameters(&self, document: &Document<'a>) -> Result<Vec<&'a Value>, String> {
        let mut found: Vec<&Value> = Vec::new();
        for list in [&self.described["parameters"], &self.item["parameters"]] {
            for parameter in list.as_array().into_iter().flatten() {
                let parameter = document.follow(parameter)?;
                let is_same =
                    |other: &&Value| other["name"] == parameter["name"] && other["in"] == parameter["in"];
                if !found.iter().any(is_same) {
                    found.push(parameter);
                }
            }
        }
        Ok(found)
    }

    fn server(&self, document: &Document<'a>) -> Result<String, String> {
        let lists = [&self.described["servers"], &self.item["servers"], &document.root["servers"]];
        let server = lists.into_iter().find_map(|list| list.as_array()?.first());
        let Some(server) = server.filter(|server| server["url"].is_string()) else {
            return Err("the document names no server: send `server_url`".to_owned());
        };
        let mut url = server["url"].as_str().unwrap_or_default().to_owned();
        for (name, variable) in server["variables"].as_object().into_iter().flatten() {
            let value = variable["default"].as_str().unwrap_or_default();
            url = url.replace(&format!("{{{name}}}"), value);
        }
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(format!("the server `{url}` is no full address: send `server_url`"));
        }
        Ok(url)
    }

    fn body(&self, document: &Document<'a>, request: &mut Request) -> Result<(), String> {
        let Some(described) = self.described.get("requestBody") else { return Ok(()) };
        let described = document.follow(described)?;
        let is_required = described["required"] == true;
        let Some(content) = described["content"].as_object().filter(|content| !content.is_empty()) else {
            return Ok(());
        };
        let json = content.iter().find(|(kind, _)| is_json(kind));
        let form = || content.iter().find(|(kind, _)| bare(kind) == FORM);
        let (media, encoding) = match (json, form()) {
            (Some((_, media)), _) => (media, &Value::Null),
            (None, Some((_, media))) => (media, &media["encoding"]),
            (None, None) if is_required => {
                let kinds: Vec<_> = content.keys().map(|kind| format!("`{kind}`")).collect();
                return Err(format!("its body is {}, and tools send JSON or forms", kinds.join(", ")));
            }
            (None, None) => {
                request
                    .notes
                    .push("its optional body is left out: only JSON and forms can be sent".to_owned());
                return Ok(());
            }
        };
        let schema = media.get("schema").unwrap_or(&ANYTHING);
        let schema = Schemas::new(*document, Direction::Sent).resolved(schema)?;
        let is_empty = schema["properties"].as_object().is_some_and(Map::is_empty);
        if is_empty && !is_required && matches!(self.level, "read" | "destructive") {
            return Ok(());
        }
        if json.is_none() {
            request.headers.insert("Content-Type".to_owned(), json!(FORM));
        }
        request.send(schema, is_required, encoding)
    }

    /// The first way in of those that the document offers and tools can use.
    fn security(&self, document: &Document<'a>, request: &mut Request) -> Result<(), String> {
        let asked = self.described.get("security").or_else(|| document.root.get("security"));
        let mut passed_over = None;
        for way in asked.and_then(Value::as_array).into_iter().flatten() {
            match way_in(document, way) {
                Ok(keys) => {
                    request
                        .notes
                        .extend(passed_over.map(|why| format!("it uses another security scheme: {why}")));
                    keys.into_iter().for_each(|key| request.secure(key));
                    return Ok(());
                }
                Err(why) => _ = passed_over.get_or_insert(why),
            }
        }
        passed_over.map_or(Ok(()), Err)
    }

    /// The schema of what a call gives back where it succeeds.
    fn output(&self, document: &Document<'a>) -> Result<Option<Value>, String> {
        let Some(responses) = self.described["responses"].as_object() else { return Ok(None) };
        let mut statuses: Vec<_> = responses.keys().filter(|status| status.starts_with('2')).collect();
        statuses.sort_by_key(|status| status.to_ascii_uppercase());
        let Some(status) = statuses.first() else { return Ok(None) };
        let response = document.follow(&responses[status.as_str()])?;
        let content = response["content"].as_object().into_iter().flatten();
        let Some(schema) =
            content.filter(|(kind, _)| is_json(kind)).find_map(|(_, media)| media.get("schema"))
        else {
            return Ok(None);
        };
        Schemas::new(*document, Direction::Received).resolved(schema).map(Some)
    }
}

fn parameter_of<'a>(
    document: &Document<'a>,
    parameter: &'a Value,
    request: &mut Request,
) -> Result<(), String> {
    let name = parameter["name"].as_str().ok_or("a parameter has no name")?;
    let is_required = parameter["required"] == true;
    let content = parameter["content"].as_object().and_then(|content| content.values().next());
    let described = parameter.get("schema").or_else(|| content?.get("schema"));
    let mut schema = match described {
        Some(schema) => Schemas::new(*document, Direction::Sent).resolved(schema)?,
        None => json!({ "type": "string" }),
    };
    if let (Some(text), Some(members)) = (parameter["description"].as_str(), schema.as_object_mut()) {
        members.entry("description").or_insert_with(|| json!(cut(text.trim(), DESCRIPTION_CHARS_MAX)));
    }
    let place = parameter["in"].as_str();
    if place == Some("header") && OWN_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
        return Ok(());
    }
    let input = request.free(name, place.unwrap_or_default());
    let input = input.as_str();
    let usual = if place == Some("query") { "form" } else { "simple" };
    let written = match content {
        Some(_) => access(&[name])
            .map(|here| vec![(name.to_owned(), format!("{{{{ {here} | tojson if {here} is defined }}}}"))]),
        None => Style::of(parameter, usual).and_then(|style| {
            let written = style.written(name, input, &schema)?;
            schema = style.closed(schema.take());
            Ok(written)
        }),
    };
    let is_required = is_required || place == Some("path");
    let written = match (place, written) {
        (Some("path" | "query" | "header"), Ok(written)) => written,
        (Some("path" | "query" | "header"), Err(why)) if is_required => {
            return Err(format!("its parameter `{name}` cannot be sent: {why}"));
        }
        (Some("path" | "query" | "header"), Err(why)) => {
            request.notes.push(format!("it does not send `{name}`: {why}"));
            return Ok(());
        }
        _ if is_required => return Err(format!("it needs the cookie `{name}`, and tools send none")),
        _ => {
            request.notes.push(format!("it does not send the cookie `{name}`"));
            return Ok(());
        }
    };
    request.take(input, schema, is_required)?;
    for (name, value) in written {
        let known = match place {
            Some("path") => {
                request.in_path.push((name, value));
                None
            }
            Some("query") => request.query.insert(name.clone(), json!(value)).map(|_| name),
            _ => request.headers.insert(name.clone(), json!(value)).map(|_| name),
        };
        if let Some(name) = known {
            return Err(format!("two of its parameters are sent as `{name}`"));
        }
    }
    Ok(())
}

/// What is sent of a security scheme.
struct Key {
    label: String,
    kind: &'static str,
    name: String,
    value: String,
    is_header: bool,
}

/// All that one way in asks for; an empty one asks for nothing.
fn way_in(document: &Document<'_>, way: &Value) -> Result<Vec<Key>, String> {
    let names = way.as_object().into_iter().flatten().map(|(name, _)| name);
    names
        .map(|name| {
            let schemes = &document.root["components"]["securitySchemes"];
            let scheme = schemes.get(name);
            let scheme = scheme.ok_or_else(|| format!("the security scheme `{name}` is not described"))?;
            Key::of(name, document.follow(scheme)?)
        })
        .collect()
}

impl Key {
    fn of(name: &str, scheme: &Value) -> Result<Self, String> {
        let label = label(name);
        let secret = format!("secret:{label}");
        let word = |name: &str| scheme[name].as_str().unwrap_or_default().to_ascii_lowercase();
        let (kind, value) = match (scheme["type"].as_str(), word("in").as_str(), word("scheme").as_str()) {
            (Some("apiKey"), "header" | "query", _) => ("api_key", secret),
            (Some("http"), _, "bearer") => ("bearer", format!("Bearer {secret}")),
            (Some("http"), _, "basic") => ("basic", format!("Basic {secret}")),
            (Some("oauth2" | "openIdConnect"), ..) => ("bearer", format!("Bearer {secret}")),
            _ => return Err(format!("tools cannot use the security scheme `{name}`")),
        };
        let is_api_key = scheme["type"] == "apiKey";
        let place = if is_api_key { scheme["name"].as_str() } else { Some("Authorization") };
        let place = place.ok_or_else(|| format!("`{name}` has no name"))?.to_owned();
        Ok(Self { label, kind, name: place, value, is_header: !is_api_key || word("in") == "header" })
    }
}

impl Request {
    /// The name of an input for a parameter: its own, or with its place where another has that.
    fn free(&self, name: &str, place: &str) -> String {
        match self.properties.contains_key(name) {
            true => format!("{name}_{place}"),
            false => name.to_owned(),
        }
    }

    fn take(&mut self, name: &str, schema: Value, is_required: bool) -> Result<(), String> {
        if self.properties.insert(name.to_owned(), schema).is_some() {
            return Err(format!("two of its parameters are called `{name}`"));
        }
        if is_required {
            self.required.push(json!(name));
        }
        Ok(())
    }

    /// The members of an object become inputs of their own; anything else is one input. `encoding` says how members of
    /// a form are written.
    fn send(&mut self, schema: Value, is_required: bool, encoding: &Value) -> Result<(), String> {
        let is_plain = |schema: &Value| {
            let known = [
                "type",
                "properties",
                "required",
                "title",
                "description",
                "examples",
                "default",
                "deprecated",
            ];
            schema["type"] == "object"
                && schema.as_object().is_some_and(|members| {
                    members.iter().all(|(name, value)| {
                        known.contains(&name.as_str())
                            || name == "additionalProperties" && *value == Value::Bool(false)
                    })
                })
        };
        let own = schema["properties"].as_object().filter(|_| is_plain(&schema));
        if let Some(own) = own.filter(|own| own.keys().all(|name| !self.properties.contains_key(name))) {
            let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
            let mut body = Map::new();
            for (name, schema) in own {
                let is_required = is_required && required.iter().any(|required| required == name);
                let encoding = &encoding[name];
                if encoding.get("style").or_else(|| encoding.get("explode")).is_none() {
                    self.take(name, schema.clone(), is_required)?;
                    body.insert(name.clone(), json!(expression(name)?));
                    continue;
                }
                let style = Style::of(encoding, "form")?;
                match style.written(name, name, schema) {
                    Ok(written) => {
                        self.take(name, style.closed(schema.clone()), is_required)?;
                        body.extend(written.into_iter().map(|(name, value)| (name, json!(value))));
                    }
                    Err(why) if is_required => {
                        return Err(format!("`{name}` of its body cannot be sent: {why}"));
                    }
                    Err(why) => self.notes.push(format!("it does not send `{name}`: {why}")),
                }
            }
            self.body = Some(Value::Object(body));
            return Ok(());
        }
        let name = if self.properties.contains_key("body") { "request_body" } else { "body" };
        self.take(name, schema, is_required)?;
        self.body = Some(json!(expression(name)?));
        Ok(())
    }

    fn secure(&mut self, key: Key) {
        let place = if key.is_header { &mut self.headers } else { &mut self.query };
        place.insert(key.name, json!(key.value));
        self.credentials.push((key.label, key.kind));
    }
}

/// A label for the credential of a security scheme.
fn label(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let label: String = name.chars().map(|c| if fits(c) { c } else { '-' }).take(LABEL_CHARS_MAX).collect();
    let label = label.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    if label.is_empty() { "credential".to_owned() } else { label.to_owned() }
}

/// A text of the document, which must not be read as a template.
fn literal(text: &str) -> Result<String, String> {
    if ["{{", "{%", "{#", "}}"].iter().any(|mark| text.contains(mark)) || text.contains(['{', '}']) {
        return Err(format!("`{text}` must not have braces other than those of path parameters"));
    }
    Ok(text.to_owned())
}

fn expression(name: &str) -> Result<String, String> {
    Ok(format!("{{{{ {} }}}}", access(&[name])?))
}

/// A media type without its parameters.
fn bare(kind: &str) -> String {
    kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn is_json(kind: &str) -> bool {
    let kind = bare(kind);
    kind == "application/json" || kind.ends_with("+json") || kind == "*/*"
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars - 1).chain(['…']).collect(),
    }
}
