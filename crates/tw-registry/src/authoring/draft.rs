//! What somebody sends about a tool, read with every fault at once.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tw_base::{drop_of_client, is_of_client, name_violation, read_value};
use tw_exec::{Kinds, Written, slug_violation};
use tw_model::{
    Definition, Execution, Implementation, Layer, Level, NAME_MAX, OutputSection, Permission, Policy, Role,
    Slug, Switches, TenantSlug, ToolDef, ToolStatus, check_name, left_redacted, with_kept_secrets,
};
use tw_schema::{
    Bound, Fault, Schema, Violation, canonical, check_form_spec, check_schema_translations, check_sections,
    check_translations, check_view_spec, input_warnings,
};

const DESCRIPTION_MAX: usize = 20_000;
/// More would be no limit.
const CONCURRENCY_MAX: u32 = 10_000;
const WORD_MAX: usize = 100;
const LIST_MAX: usize = 50;
/// How many properties that are not known are named.
const UNKNOWN_TOLD: usize = 10;
const TIMEOUT_MS_MAX: u64 = 24 * 60 * 60 * 1000;

/// Whether a text is too short or too long for a category or a tag.
pub(super) fn is_no_word(text: &str) -> bool {
    text.is_empty() || WORD_MAX < text.len()
}

/// A body without a client's own members and what it only repeats of the input. Whoever saves what they read, changed in one of the
/// two ways to say it, means that one.
pub(super) fn without_echoes(body: &Value, schema: &Value, fields: Option<&Value>) -> Value {
    let mut body = without_own(body);
    let Some(members) = body.as_object_mut() else { return body };
    let same_fields = match (members.get("fields"), fields) {
        (Some(sent), Some(shown)) => canonical(sent) == canonical(shown),
        (Some(sent), None) => sent.is_null(),
        (None, _) => return body,
    };
    if same_fields {
        members.shift_remove("fields");
        return body;
    }
    for key in ["input_schema", "inputSchema"] {
        if members.get(key).is_some_and(|sent| canonical(sent) == canonical(schema)) {
            members.shift_remove(key);
        }
    }
    body
}

/// Objects of a definition whose members are known, and whose readers do not say which are not.
const KNOWN_MEMBERS: &[(&str, &[&str])] = &[
    ("implementation", &[]),
    ("implementation", &["retry"]),
    ("execution_spec", &[]),
    ("execution_spec", &["steps", "*"]),
    ("executionSpec", &[]),
    ("executionSpec", &["steps", "*"]),
];
/// Members of fields, forms and views that hold whatever their author wants.
const FREE: &[&str] = &["default", "value", "equals", "config", "in"];

/// A body without a client's own members below its top.
pub(super) fn without_own(body: &Value) -> Value {
    let mut body = body.clone();
    for &(name, steps) in KNOWN_MEMBERS {
        body.get_mut(name).into_iter().for_each(|part| drop_of_client(part, steps));
    }
    for name in ["fields", "form_spec", "formSpec", "view_spec", "viewSpec"] {
        body.get_mut(name).into_iter().for_each(drop_everywhere);
    }
    body
}

fn drop_everywhere(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !is_of_client(name));
            let inside = members.iter_mut().filter(|(name, _)| !FREE.contains(&name.as_str()));
            inside.for_each(|(_, member)| drop_everywhere(member));
        }
        Value::Array(items) => items.iter_mut().for_each(drop_everywhere),
        _ => {}
    }
}

/// A body, taken apart key by key. What is left at the end is not known.
pub(super) struct Sent {
    members: Map<String, Value>,
    /// What an older system says about a clone. Only a new tool keeps it.
    builtin_template_id: Option<Value>,
    pub(super) faults: Vec<Fault>,
}

impl Sent {
    pub(super) fn new(members: Map<String, Value>) -> Self {
        Self { members, builtin_template_id: None, faults: Vec::new() }
    }

    pub(super) fn say(&mut self, path: impl Into<String>, violation: Violation) {
        self.faults.push(violation.at(path));
    }

    /// A key that is there, be it `null`.
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Option<Option<T>> {
        let value = self.members.remove(key)?;
        match read_value(&format!("/{key}"), value) {
            Ok(value) => Some(value),
            Err(fault) => {
                self.faults.push(fault);
                None
            }
        }
    }

    /// What consists of named parts is not given by an array of them in their order.
    fn refuse_unnamed(&mut self, key: &str, is_unnamed: fn(&Value) -> bool) {
        if self.members.get(key).is_some_and(is_unnamed) {
            self.members.shift_remove(key);
            self.say(format!("/{key}"), Violation::named_parts());
        }
    }

    /// One word of several.
    pub(super) fn take_word<T: Copy>(
        &mut self,
        key: &str,
        words: &[T],
        name: fn(T) -> &'static str,
    ) -> Option<Option<T>> {
        let text = self.take::<String>(key)?;
        let Some(text) = text else { return Some(None) };
        let found = words.iter().copied().find(|word| name(*word) == text);
        if found.is_none() {
            self.say(format!("/{key}"), Violation::words(words.iter().map(|word| name(*word))));
        }
        found.map(Some)
    }

    fn text(&mut self, key: &str, into: &mut String, default: Option<&str>, max: usize) {
        match self.take::<String>(key) {
            None => {}
            Some(None) => match default {
                Some(default) => default.clone_into(into),
                None => self.say(format!("/{key}"), Violation::not_null()),
            },
            Some(Some(text)) => {
                if text.trim().is_empty() || max < text.len() || text.contains('\0') {
                    self.say(format!("/{key}"), Violation::byte_length(1, max));
                }
                *into = text;
            }
        }
    }

    fn flag(&mut self, key: &str, into: &mut bool, default: bool) {
        if let Some(flag) = self.take::<bool>(key) {
            *into = flag.unwrap_or(default);
        }
    }

    fn words(&mut self, key: &str, into: &mut Vec<String>) {
        if let Some(words) = self.take::<Vec<String>>(key) {
            let words = words.unwrap_or_default();
            if LIST_MAX < words.len() {
                self.say(format!("/{key}"), Violation::tags(LIST_MAX, WORD_MAX));
            }
            let wrong = |word: &String| is_no_word(word) || word.contains('\0');
            if let Some(index) = words.iter().position(wrong) {
                self.say(format!("/{key}/{index}"), Violation::byte_length(1, WORD_MAX));
            }
            *into = words;
        }
    }

    /// The keys that nobody can set, as far as they say what is so already.
    pub(super) fn drop_read_only(&mut self, layer: Layer) {
        self.builtin_template_id = self.members.remove("builtin_template_id").filter(|id| !id.is_null());
        for key in ToolDef::READ_ONLY {
            self.members.remove(*key);
        }
        let of_program = layer != Layer::TenantCustom;
        if self.members.remove("is_system").is_some_and(|value| value == Value::Bool(true)) && !of_program {
            self.say("/is_system", Violation::program_only());
        }
        let scope = self.members.remove("scope").filter(|scope| !scope.is_null());
        let of_layer = if layer == Layer::TenantCustom { "tenant" } else { "global" };
        if scope.is_some_and(|scope| scope != of_layer) {
            self.say("/scope", Violation::constant(of_layer));
        }
        if let Some(Some(kind)) = self.take_word("kind", Layer::ALL, Layer::as_str)
            && (kind == Layer::TenantCustom) != (layer == Layer::TenantCustom)
        {
            self.say("/kind", Violation::kind_fixed(layer.as_str()));
        }
    }

    /// A permission that no role has would shut the tool for everybody. What is stored already may be sent back.
    fn refuse_unknown_permission(&mut self, new: Option<&Permission>, before: Option<&Permission>) {
        let known = Role::Admin.permissions();
        let Some(new) = new.filter(|new| Some(*new) != before && !known.has(new.as_str())) else { return };
        let mut known: Vec<_> = known.iter().map(Permission::as_str).collect();
        // A long list is cut where it is shown, so what may have been meant stands first.
        let alike = |name: &str| name.bytes().zip(new.as_str().bytes()).take_while(|(a, b)| a == b).count();
        known.sort_by_key(|name| std::cmp::Reverse(alike(name)));
        self.say("/required_permission", Violation::words(known));
    }

    /// Whether there is such a tenant is told to nobody, so a list is held against the form of a slug only.
    fn refuse_impossible_tenants(&mut self, slugs: &[String], before: &[String]) {
        for (index, slug) in slugs.iter().enumerate().filter(|(_, slug)| !before.contains(slug)) {
            if let Err(error) = slug.parse::<TenantSlug>() {
                self.say(format!("/tenant_slugs/{index}"), Violation::tenant_slug(error.to_string()));
            }
        }
    }

    pub(super) fn refuse_unknown(&mut self) {
        let mut unknown = std::mem::take(&mut self.members);
        // A client's own members are taken and not kept.
        unknown.retain(|name, _| !is_of_client(name));
        for key in unknown.keys().take(UNKNOWN_TOLD) {
            let shown: String = key.chars().take(WORD_MAX).collect();
            self.say(
                format!("/{}", shown.replace('~', "~0").replace('/', "~1")),
                Violation::unknown_member(),
            );
        }
        if UNKNOWN_TOLD < unknown.len() {
            let more = unknown.len() - UNKNOWN_TOLD;
            self.say("", Violation::unknown_members(more));
        }
    }

    pub(super) fn rename(&mut self, definition: &mut Definition) {
        let Some(name) = self.take::<String>("name") else { return };
        let Some(name) = name else { return self.say("/name", Violation::not_null()) };
        if let Err(error) = check_name(&name) {
            self.say("/name", name_violation(&error));
        }
        definition.name = name;
    }

    /// Lays what was sent over a definition.
    pub(super) fn onto(&mut self, definition: &mut Definition) {
        let before = definition.clone();
        let fresh = Definition::default();
        let is_new = before == fresh;
        if is_new {
            definition.builtin_template_id = self.builtin_template_id.take();
        }
        self.rename(definition);
        self.text("description", &mut definition.description, None, DESCRIPTION_MAX);
        if let Some(translations) = self.take::<Value>("i18n") {
            definition.authored.i18n = translations;
        }
        self.text("category", &mut definition.category, Some(&fresh.category), WORD_MAX);
        self.text("icon", &mut definition.icon, Some(&fresh.icon), WORD_MAX);
        if let Some(level) = self.take_word("permission_level", Level::ALL, Level::as_str) {
            definition.permission_level = level;
        }
        if let Some(permission) = self.take::<String>("required_permission") {
            match permission.as_deref().map(str::parse::<Permission>).transpose() {
                Ok(permission) => {
                    self.refuse_unknown_permission(permission.as_ref(), before.required_permission.as_ref());
                    definition.required_permission = permission;
                }
                Err(error) => self.say("/required_permission", Violation::permission(error.to_string())),
            }
        }
        let fields = self.members.remove("fields");
        if let Some(schema) = self.members.remove("input_schema") {
            if schema.is_null() {
                self.say("/input_schema", Violation::not_null());
            }
            definition.input_schema = schema;
            // Fields stay beside the schema that was made of them, and of no other.
            if definition.input_schema != before.input_schema {
                definition.authored.fields = None;
            }
        }
        if let Some(fields) = fields {
            definition.authored.fields = Some(fields).filter(|fields| !fields.is_null());
        }
        if let Some(schema) = self.take::<Value>("output_schema") {
            if let Some(other) = schema.as_ref().filter(|schema| !schema.is_object()) {
                self.say("/output_schema", Violation::typed(&["object"], other));
            }
            definition.output_schema = schema;
        }
        self.refuse_unnamed("output_sections", |sections| {
            sections.as_array().is_some_and(|sections| sections.iter().any(Value::is_array))
        });
        if let Some(sections) = self.take::<Vec<OutputSection>>("output_sections") {
            definition.output_sections = sections.unwrap_or_default();
        }
        self.flag("collaborative", &mut definition.collaborative, false);
        if let Some(visible) = self.take::<bool>("visible") {
            definition.visible = visible;
        }
        self.flag("is_async", &mut definition.is_async, false);
        if let Some(timeout) = self.take::<u64>("timeout_ms") {
            // Sent back as it was shown, it says nothing new.
            if is_new || timeout != Some(before.limit_ms()) {
                definition.timeout_ms = timeout.unwrap_or(fresh.timeout_ms);
                definition.says_default_timeout = timeout == Some(fresh.timeout_ms);
            }
        }
        self.refuse_unnamed("execution", Value::is_array);
        if let Some(execution) = self.take::<Execution>("execution") {
            definition.execution = execution.unwrap_or_default();
        }
        let kind = self.take::<String>("implementation_type");
        if let Some(kind) = &kind {
            if kind.is_none() {
                self.say("/implementation_type", Violation::not_null());
            }
            definition.implementation_type = kind.clone().unwrap_or_default();
        }
        // Another kind would do something else with the secrets that are stored.
        let keeps_secrets = definition.implementation_type == before.implementation_type;
        let authored = &mut definition.authored;
        if let Some(implementation) = self.take::<Value>("implementation") {
            let new = implementation.unwrap_or_else(|| Value::Object(Map::new()));
            authored.implementation =
                if keeps_secrets { with_kept_secrets(new, &before.authored.implementation) } else { new };
        }
        for (key, place) in [
            ("execution_spec", &mut authored.execution_spec),
            ("form_spec", &mut authored.form_spec),
            ("view_spec", &mut authored.view_spec),
        ] {
            if let Some(spec) = self.members.remove(key) {
                if !matches!(spec, Value::Null | Value::Object(_)) {
                    self.faults.push(Violation::typed(&["object"], &spec).at(format!("/{key}")));
                }
                *place = Some(spec).filter(|spec| !spec.is_null());
            }
        }
        if let (Some(new), Some(old), true) =
            (&mut authored.execution_spec, &before.authored.execution_spec, keeps_secrets)
        {
            *new = with_kept_secrets(std::mem::take(new), old);
        }
        // What is to be executed says of what kind it is.
        let of_spec = authored.execution_spec.as_ref().and_then(|spec| spec["kind"].as_str());
        if let (None | Some(None), Some(of_spec)) = (kind, of_spec)
            && is_open(&definition.implementation_type)
        {
            of_spec.clone_into(&mut definition.implementation_type);
        }
        let mut aliases = std::mem::take(&mut authored.aliases);
        self.words("aliases", &mut aliases);
        definition.authored.aliases = aliases;
    }

    /// Lays what was sent over the switches. What a body cannot do, routes do.
    pub(super) fn switch(&mut self, switches: &mut Switches) {
        if let Some(enabled) = self.take::<bool>("enabled") {
            switches.enabled = enabled;
        }
        self.flag("is_active", &mut switches.is_active, true);
        if let Some(policy) = self.take_word("permission_policy", Policy::ALL, Policy::as_str) {
            switches.permission_policy = policy;
        }
        let before = switches.tenant_slugs.clone();
        self.words("tenant_slugs", &mut switches.tenant_slugs);
        self.refuse_impossible_tenants(&switches.tenant_slugs, &before);
        self.words("tags", &mut switches.tags);
        let Some(Some(wanted)) = self.take_word("status", ToolStatus::ALL, ToolStatus::as_str) else {
            return;
        };
        let allowed = match (switches.status, wanted) {
            (now, wanted) if now == wanted => true,
            (_, ToolStatus::Published) => {
                self.say("/status", Violation::status_publish());
                return;
            }
            (_, ToolStatus::Disabled)
            | (ToolStatus::Published, ToolStatus::Deprecated)
            | (ToolStatus::Disabled, ToolStatus::Draft) => true,
            _ => false,
        };
        if allowed {
            switches.status = wanted;
        } else {
            self.say("/status", Violation::status_change(switches.status.as_str(), wanted.as_str()));
        }
    }
}

/// Everything that is wrong with a definition.
pub(super) fn check(slug: &Slug, definition: &Definition, kinds: &dyn Kinds) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut say = |path: &str, violation: Violation| faults.push(violation.at(path));
    if definition.name.is_empty() {
        say("/name", Violation::required());
    }
    if definition.description.is_empty() {
        say("/description", Violation::required());
    }
    if !(1..=TIMEOUT_MS_MAX).contains(&definition.timeout_ms) {
        say("/timeout_ms", Violation::range(1, TIMEOUT_MS_MAX));
    }
    let execution = &definition.execution;
    if execution.max_concurrency.is_some_and(|most| !(1..=CONCURRENCY_MAX).contains(&most)) {
        say("/execution/max_concurrency", Violation::range(1, CONCURRENCY_MAX));
    }
    if execution.is_pure && matches!(definition.permission_level, Some(Level::Write | Level::Destructive)) {
        say("/execution/is_pure", Violation::pure_writes());
    }
    if execution.timeout_s == Some(0) {
        say("/execution/timeout_s", Violation::minimum(1));
    }
    if execution.concurrency_group.is_empty() || WORD_MAX < execution.concurrency_group.len() {
        say("/execution/concurrency_group", Violation::byte_length(1, WORD_MAX));
    }
    for alias in &definition.authored.aliases {
        match alias.parse::<Slug>() {
            Err(error) => {
                say("/aliases", Violation::alias(alias.as_str(), slug_violation(&error).to_string()));
            }
            Ok(alias) if alias.key() == slug.key() => say("/aliases", Violation::alias_own()),
            Ok(_) => {}
        }
    }
    if let Some(translations) = &definition.authored.i18n {
        faults.extend(translation_faults(translations, DESCRIPTION_MAX));
    }
    check_schemas(definition, &mut faults);
    check_kind(definition, kinds, &mut faults);
    faults
}

/// What is wrong with the translations of a tool's name and description.
pub(super) fn translation_faults(translations: &Value, description_max: usize) -> Vec<Fault> {
    let texts = [("name", Bound::needed(NAME_MAX)), ("description", Bound::needed(description_max))];
    let mut faults: Vec<_> = check_translations(translations, &texts);
    let names = translations.as_object().into_iter().flatten();
    for (language, name) in names.filter_map(|(language, said)| Some((language, said.get("name")?.as_str()?)))
    {
        let path = format!("/{language}/name");
        if let Err(error) = check_name(name)
            && !faults.iter().any(|fault| fault.path == path)
        {
            faults.push(name_violation(&error).at(path));
        }
    }
    faults.into_iter().map(|fault| fault.below("/i18n")).collect()
}

/// What is allowed in a definition and yet serves its author badly.
pub(super) fn warnings(definition: &Definition) -> Vec<Fault> {
    let input = input_warnings(&definition.input_schema).into_iter();
    input.map(|warning| warning.below("/input_schema")).collect()
}

fn check_schemas(definition: &Definition, faults: &mut Vec<Fault>) {
    let input = &definition.input_schema;
    if input.is_null() {
        faults.push(Violation::required().at("/input_schema"));
    } else if input.get("type").is_none_or(|kind| kind != "object") {
        faults.push(Violation::schema_object().at("/input_schema"));
    } else if let Err(fault) = Schema::compile(input) {
        faults.push(fault.fault().below("/input_schema"));
    }
    let output = definition.output_schema.as_ref();
    if let Some(Err(fault)) = output.map(Schema::compile) {
        faults.push(fault.fault().below("/output_schema"));
    }
    if !faults.is_empty() {
        return;
    }
    let authored = &definition.authored;
    let mut held = |place: &str, found: Vec<Fault>| {
        faults.extend(found.into_iter().map(|fault| fault.below(place)));
    };
    held("/input_schema", check_schema_translations(input));
    if let Some(output) = output {
        held("/output_schema", check_schema_translations(output));
    }
    if let Some(spec) = &authored.form_spec {
        held("/form_spec", check_form_spec(spec, input));
    }
    if let Some(spec) = &authored.view_spec {
        held("/view_spec", check_view_spec(spec, output));
    }
    if !definition.output_sections.is_empty() {
        let sections = serde_json::to_value(&definition.output_sections).unwrap_or_default();
        held("/output_sections", check_sections(&sections, output));
    }
}

/// What is wrong with what would run, all at once.
fn check_kind(definition: &Definition, kinds: &dyn Kinds, faults: &mut Vec<Fault>) {
    let mut say = |path: &str, violation: Violation| faults.push(violation.at(path));
    let authored = &definition.authored;
    let kind = definition.implementation_type.as_str();
    let known = Implementation::parse(kind);
    let here = || Implementation::AUTHORED.iter().map(|kind| kind.type_name()).collect::<Vec<_>>();
    match kind {
        "" => say("/implementation_type", Violation::required()),
        _ if known.is_some() => {}
        kind if Implementation::PLANNED.contains(&kind) => {
            say("/implementation_type", Violation::kind_later(kind, here()))
        }
        _ => say("/implementation_type", Violation::words(kind_words())),
    }
    if !authored.implementation.is_object() && !authored.implementation.is_null() {
        say("/implementation", Violation::typed(&["object"], &authored.implementation));
        return;
    }
    let parts = [
        ("implementation", Some(&authored.implementation)),
        ("execution_spec", authored.execution_spec.as_ref()),
    ];
    for (name, part) in parts {
        if let Some(at) = part.and_then(left_redacted) {
            say(&format!("/{name}{at}"), Violation::redacted());
        }
    }
    let Some(kind) = known else { return };
    if let Err(found) = kinds.read(written(kind, definition, true)) {
        faults.extend(found);
    }
}

/// Whether nobody has said yet of which kind a tool is.
fn is_open(kind: &str) -> bool {
    kind.is_empty() || Implementation::parse(kind).is_some_and(Implementation::is_open)
}

/// Every word of `implementation_type`: the known ones, then those of later versions.
fn kind_words() -> impl Iterator<Item = &'static str> {
    let known = Implementation::AUTHORED.iter().map(|kind| kind.type_name());
    known.chain(Implementation::PLANNED.iter().copied())
}

/// How a tool runs, for whoever runs its kind.
pub(super) fn written(kind: Implementation, definition: &Definition, is_new: bool) -> Written<'_> {
    Written {
        kind,
        implementation: &definition.authored.implementation,
        execution_spec: definition.authored.execution_spec.as_ref(),
        is_new,
    }
}
