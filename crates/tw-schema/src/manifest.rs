//! Translation of definitions from other dialects.
//!
//! Our users bring tools in five dialects. All of them are accepted on write and translated into the
//! canonical one, so no other module knows them. Unknown keys pass unchanged: the store of definitions
//! decides which keys it accepts.

mod parameters;
mod slug;

use serde_json::{Map, Value, json};

use crate::{
    Fault, Violation, canonical,
    fault::FirstFaults,
    fields::{self, parse_fields},
    pointer,
};
pub use slug::slug_from_name;

/// Other names of keys whose values need no change.
const ALIASES: &[(&str, &str)] = &[
    ("inputSchema", "input_schema"),
    ("outputSchema", "output_schema"),
    ("outputSchemaZod", "output_schema"),
    ("isAsync", "is_async"),
    ("isActive", "is_active"),
    ("permissionLevel", "permission_level"),
    ("permissionPolicy", "permission_policy"),
    ("requiredPermission", "required_permission"),
    ("tenantSlugs", "tenant_slugs"),
    ("outputSections", "output_sections"),
    ("formSpec", "form_spec"),
    ("viewSpec", "view_spec"),
    ("executionSpec", "execution_spec"),
    ("executionType", "execution_type"),
    ("toolType", "tool_type"),
    ("implementationType", "implementation_type"),
    ("implementation_config", "implementation"),
    ("implementationConfig", "implementation"),
    ("execution_config", "execution"),
    ("executionConfig", "execution"),
    ("timeout", "timeout_ms"),
    ("timeoutMs", "timeout_ms"),
    ("pendingTtlMs", "pending_ttl_ms"),
    ("artifactId", ARTIFACT_ID),
    ("artifactVersion", "artifact_version"),
];

/// What a tool names that runs an artifact, and by which its kind is known where nothing else says it.
const ARTIFACT_ID: &str = "artifact_id";

/// Members of `execution` that describe the request, and belong to `implementation`.
const CALLED: &[&str] =
    &["url", "method", "headers", "query", "body", "response", "retry", "idempotency_header"];

/// Members of `execution` that say how runs share the machine, by their other names.
const SHARED: &[(&str, &str)] = &[
    ("isPure", "is_pure"),
    ("concurrencyGroup", "concurrency_group"),
    ("maxConcurrency", "max_concurrency"),
    ("timeoutS", "timeout_s"),
];

/// As much as `timeout_ms` may say: a day.
const TIMEOUT_S_MAX: u64 = 24 * 60 * 60;

/// The `implementation_type` of each `execution_type`.
const EXECUTION_TYPES: &[(&str, &str)] =
    &[("gateway", "http"), ("external", "external"), ("space", "space"), ("internal", "internal")];

/// Translates a new definition into the canonical dialect: snake-case keys, JSON Schema under
/// `input_schema` and `output_schema`, one `implementation`.
///
/// Missing keys are derived: the slug from the name, the category from a dotted slug, and `visible` from
/// an `execution_type`. `fields` stay beside the schema that is made of them.
///
/// # Errors
///
/// All faults of the definition. A key that is given in two spellings with different values is a fault,
/// which names both.
pub fn canonical_manifest(body: &Value) -> Result<Value, Vec<Fault>> {
    read(body, Purpose::Create)
}

/// Translates a change of a definition into the canonical dialect. As [`canonical_manifest`], but no
/// key is derived: a new name does not make a new slug.
///
/// # Errors
///
/// As [`canonical_manifest`].
pub fn canonical_patch(body: &Value) -> Result<Value, Vec<Fault>> {
    read(body, Purpose::Change)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Create,
    Change,
}

fn read(body: &Value, purpose: Purpose) -> Result<Value, Vec<Fault>> {
    let Some(members) = body.as_object() else {
        return Err(vec![Violation::typed(&["object"], body).at("")]);
    };
    let mut reading = Reading::default();
    for (key, value) in members {
        reading.take(key, value, members);
    }
    reading.settle_execution();
    reading.settle_implementation("pending_ttl_ms");
    reading.settle_implementation("builtin_key");
    reading.refuse_unless(ARTIFACT_ID, |id| id.is_string(), |id| Violation::typed(&["string"], id));
    reading.refuse_unless("artifact_version", |number| whole(number).is_some(), |_| Violation::positive());
    reading.settle_implementation(ARTIFACT_ID);
    reading.settle_implementation("artifact_version");
    reading.settle_type();
    if purpose == Purpose::Create {
        reading.fill_in();
    }
    if reading.faults.count() == 0 { Ok(Value::Object(reading.out)) } else { Err(reading.faults.told()) }
}

#[derive(Default)]
struct Reading {
    out: Map<String, Value>,
    /// Under which spelling each key came.
    sources: Map<String, Value>,
    faults: FirstFaults,
}

impl Reading {
    fn say(&mut self, at: impl Into<String>, violation: Violation) {
        self.faults.say(at, violation);
    }

    fn take(&mut self, key: &str, value: &Value, body: &Map<String, Value>) {
        let canonical_key = ALIASES.iter().find(|(alias, _)| *alias == key).map_or(key, |(_, key)| *key);
        match canonical_key {
            "timeout_ms" => self.take_timeout(key, value),
            "fields" => self.take_fields(value),
            "parameters" | "paramSchema" | "param_schema" => {
                let required = ["requiredParams", "required_params"];
                let required = required.iter().find_map(|key| Some((*key, body.get(*key)?)));
                if let Some(schema) = parameters::schema(key, value, required, &mut self.faults) {
                    self.put("input_schema", key, schema);
                }
            }
            "requiredParams" | "required_params" => {
                let described = ["parameters", "paramSchema", "param_schema"];
                if !described.iter().any(|key| body.contains_key(*key)) {
                    self.say(pointer::join("", key), Violation::only_with(["paramSchema", "parameters"]));
                }
            }
            "schema" => {
                self.take_parts(key, value, &[("input", "input_schema"), ("output", "output_schema")])
            }
            "config_schema" | "configSchema" => {
                let parts = [("implementation", "implementation"), ("execution", "execution")];
                self.take_parts(key, value, &parts);
            }
            _ => self.put(canonical_key, key, value.clone()),
        }
    }

    /// Sets a key, unless it was set to something else under another name.
    fn put(&mut self, key: &str, source: &str, value: Value) {
        match self.out.get(key) {
            None => {
                self.out.insert(key.to_owned(), value);
                self.sources.insert(key.to_owned(), json!(source));
            }
            Some(other) if canonical(other) == canonical(&value) => {}
            Some(_) => {
                let other = self.source(key);
                self.say(source_pointer(source), Violation::contradiction(other, source));
            }
        }
    }

    fn source(&self, key: &str) -> String {
        self.sources.get(key).and_then(Value::as_str).unwrap_or(key).to_owned()
    }

    /// Takes an object apart whose members are keys of their own.
    fn take_parts(&mut self, key: &str, value: &Value, parts: &[(&str, &str)]) {
        let at = pointer::join("", key);
        let members = match value {
            Value::Null => return,
            Value::Object(members) => members,
            other => return self.say(at, Violation::typed(&["object"], other)),
        };
        let is_of_client = |name: &String| name.starts_with("x_");
        let given = members.iter().filter(|(name, value)| !value.is_null() && !is_of_client(name));
        for (name, value) in given {
            match parts.iter().find(|(part, _)| part == name) {
                Some((_, canonical_key)) => self.put(canonical_key, &format!("{key}.{name}"), value.clone()),
                None => self.say(pointer::join(&at, name), Violation::unknown_member()),
            }
        }
    }

    fn take_timeout(&mut self, key: &str, value: &Value) {
        let integer = whole(value);
        match integer {
            _ if value.is_null() => self.put("timeout_ms", key, Value::Null),
            Some(1..) => self.put("timeout_ms", key, json!(integer)),
            _ => self.say(pointer::join("", key), Violation::positive()),
        }
    }

    fn take_fields(&mut self, value: &Value) {
        if value.is_null() {
            return self.put("fields", "fields", Value::Null);
        }
        let schema = parse_fields(value).and_then(|fields| Ok((fields::schema_of_sound(&fields)?, fields)));
        match schema {
            Ok((schema, fields)) => {
                self.put("fields", "fields", json!(fields));
                self.put("input_schema", "fields", schema);
            }
            Err(faults) => {
                for fault in faults {
                    self.faults.push(fault.below("/fields"));
                }
            }
        }
    }

    /// Sorts the members of `execution` into what is called and how. One dialect uses the word for the
    /// one, another for the other.
    fn settle_execution(&mut self) {
        let Some(Value::Object(given)) = self.out.get("execution").cloned() else { return };
        let source = self.source("execution");
        let (mut shared, mut called) = (Map::new(), Map::new());
        for (name, mut value) in given {
            if CALLED.contains(&name.as_str()) {
                called.insert(name, value);
                continue;
            }
            let known =
                SHARED.iter().find(|(alias, _)| *alias == name).map_or(name.as_str(), |(_, key)| *key);
            if known == "timeout_s" && !value.is_null() {
                match whole(&value) {
                    Some(seconds @ 1..=TIMEOUT_S_MAX) => value = json!(seconds),
                    _ => {
                        let at = format!("{}/{name}", source_pointer(&source));
                        self.say(at, Violation::range(1, TIMEOUT_S_MAX));
                        continue;
                    }
                }
            }
            match shared.get(known) {
                Some(other) if *other != value => {
                    let at = format!("{}/{name}", source_pointer(&source));
                    let alias =
                        SHARED.iter().find(|(_, key)| *key == known).map_or(known, |(alias, _)| *alias);
                    self.say(at, Violation::contradiction(alias, known));
                }
                _ => _ = shared.insert(known.to_owned(), value),
            }
        }
        if called.is_empty() || !shared.is_empty() {
            self.out.insert("execution".to_owned(), Value::Object(shared));
        } else {
            self.out.shift_remove("execution");
        }
        if !called.is_empty() {
            self.join_implementation(&source, called);
        }
    }

    /// How long an answer is taken may stand beside how long a call may take, and which built-in or artifact runs
    /// beside the kind. All of it belongs to `implementation`.
    fn settle_implementation(&mut self, key: &str) {
        let source = self.source(key);
        let Some(value) = self.out.shift_remove(key).filter(|value| !value.is_null()) else { return };
        match self.out.get("implementation").and_then(|implementation| implementation.get(key)) {
            Some(other) if canonical(other) != canonical(&value) => {
                let other = self.source("implementation");
                let violation = Violation::contradiction(format!("{other}.{key}"), source.as_str());
                self.say(source_pointer(&source), violation);
            }
            _ => self.join_implementation(&source, Map::from_iter([(key.to_owned(), value)])),
        }
    }

    /// Refuses a key where it stands. Once it is part of `implementation` it would be told there.
    fn refuse_unless(&mut self, key: &str, is_one: fn(&Value) -> bool, wrong: fn(&Value) -> Violation) {
        let Some(value) = self.out.get(key).filter(|value| !value.is_null() && !is_one(value)) else {
            return;
        };
        let violation = wrong(value);
        let source = self.source(key);
        self.out.shift_remove(key);
        self.say(source_pointer(&source), violation);
    }

    fn join_implementation(&mut self, source: &str, called: Map<String, Value>) {
        let target = self.source("implementation");
        let at = source_pointer(source);
        match self.out.get_mut("implementation") {
            None | Some(Value::Null) => {
                self.put_over("implementation", source, Value::Object(called));
            }
            Some(Value::Object(members)) => {
                let mut differing = Vec::new();
                for (name, value) in called {
                    match members.get(&name) {
                        Some(other) if canonical(other) != canonical(&value) => differing.push(name),
                        Some(_) => {}
                        None => _ = members.insert(name, value),
                    }
                }
                for name in differing {
                    let (this, other) = (format!("{target}.{name}"), format!("{source}.{name}"));
                    self.say(pointer::join(&at, &name), Violation::contradiction(this, other));
                }
            }
            // Not an object: whoever stores it will say so.
            Some(_) => {}
        }
    }

    fn put_over(&mut self, key: &str, source: &str, value: Value) {
        self.out.insert(key.to_owned(), value);
        self.sources.insert(key.to_owned(), json!(source));
    }

    /// Settles which kind of tool it is, by whichever word was used.
    fn settle_type(&mut self) {
        let is_unsaid = |value: Option<&Value>| value.is_none_or(Value::is_null);
        if is_unsaid(self.out.get("execution_type")) {
            self.out.shift_remove("execution_type");
        }
        if let Some(given) = self.out.get("execution_type").cloned() {
            let source = self.source("execution_type");
            let known = EXECUTION_TYPES.iter().find(|(name, _)| given == *name);
            match known {
                None => {
                    let known = EXECUTION_TYPES.iter().map(|(name, _)| *name);
                    self.say(source_pointer(&source), Violation::words(known));
                }
                Some((name, kind)) => match self.out.get("implementation_type") {
                    Some(other) if !other.is_null() && other != kind => {
                        let key = self.source("implementation_type");
                        let violation = Violation::kind_mismatch(*name, *kind, key, other.clone());
                        self.say(source_pointer(&source), violation);
                    }
                    _ => self.put_over("implementation_type", &source, json!(kind)),
                },
            }
        }
        // A kind inside the configuration counts where nothing better is said.
        if let Some(Value::Object(members)) = self.out.get_mut("implementation")
            && members.get("type").is_some_and(Value::is_string)
            && let Some(kind) = members.shift_remove("type")
            && is_unsaid(self.out.get("implementation_type"))
        {
            self.put_over("implementation_type", "implementation.type", kind);
        }
    }

    /// Derives the keys that a new definition leaves out.
    fn fill_in(&mut self) {
        let text =
            |out: &Map<String, Value>, key: &str| out.get(key).and_then(Value::as_str).map(str::to_owned);
        if self.out.get("slug").is_none_or(Value::is_null)
            && let Some(name) = text(&self.out, "name")
        {
            match slug_from_name(&name) {
                Some(slug) => _ = self.out.insert("slug".to_owned(), json!(slug)),
                None => self.say("/slug", Violation::slug_unmakeable()),
            }
        }
        let is_unsaid = |key: &str| self.out.get(key).is_none_or(Value::is_null);
        let implementation = self.out.get("implementation");
        if ["implementation_type", "execution_spec"].into_iter().all(is_unsaid)
            && implementation.is_some_and(|members| members.get(ARTIFACT_ID).is_some_and(|id| !id.is_null()))
        {
            self.out.insert("implementation_type".to_owned(), json!("artifact"));
        }
        if self.out.get("category").is_none_or(Value::is_null)
            && let Some((category, _)) =
                text(&self.out, "slug").as_deref().and_then(|slug| slug.rsplit_once('.'))
        {
            self.out.insert("category".to_owned(), json!(category));
        }
        // Only the dialect that says `execution_type` knows spaces. In the others `visible` stays unset.
        if let Some(kind) = text(&self.out, "execution_type")
            && self.out.get("visible").is_none_or(Value::is_null)
        {
            self.out.insert("visible".to_owned(), json!(kind != "internal"));
        }
    }
}

/// A positive whole number. `30000.0` is the same number to JSON, and to those whose languages know one
/// kind only.
fn whole(value: &Value) -> Option<u64> {
    let whole = |float: &f64| float.fract() == 0.0 && (1.0..9_007_199_254_740_992.0).contains(float);
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|float| float as u64))
}

/// The JSON pointer to a source such as `schema.input` in the body.
fn source_pointer(source: &str) -> String {
    source.split('.').fold(String::new(), |at, token| pointer::join(&at, token))
}

#[cfg(test)]
mod tests;
