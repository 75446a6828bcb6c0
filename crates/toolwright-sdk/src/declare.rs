//! From what `#[tool]` was told to a definition and a way to run it.

use std::{collections::BTreeMap, sync::Arc};

use schemars::{
    JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, transform::RecursiveTransform,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use tw_model::{
    Authored, Execution, Implementation, Level, Listing, OutputSection, Policy, SectionKind, ToolDef,
    ToolFailure, ToolResult,
};

use crate::{BoxFuture, IntoReply, Location, ToolContext, texts::Dictionary};

/// Up to here every whole number is a float of its own.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// The input of a tool that takes none: an empty object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoInput {}

/// What `#[tool]` was told, as constants. The macro has checked every text in it.
#[derive(Clone, Copy, Debug)]
pub struct Declaration {
    pub location: Location,
    pub slug: &'static str,
    pub name: &'static str,
    pub description: &'static str,
    pub category: &'static str,
    pub icon: &'static str,
    pub tags: &'static [&'static str],
    /// Other names under which the tool is found.
    pub aliases: &'static [&'static str],
    pub version: &'static str,
    pub level: Level,
    pub policy: Option<Policy>,
    pub required_permission: Option<&'static str>,
    pub tenants: &'static [&'static str],
    pub opt_in: bool,
    pub sections: &'static [Section],
    /// A JSON object.
    pub form: Option<&'static str>,
    /// Languages, each with a JSON object of the texts that it translates.
    pub texts: &'static [(&'static str, &'static str)],
    pub collaborative: bool,
    pub visible: Option<bool>,
    pub is_async: bool,
    pub timeout_ms: Option<u64>,
    pub pure: bool,
    pub open_world: Option<bool>,
    pub concurrency_group: Option<&'static str>,
    pub max_concurrency: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Section {
    pub key: &'static str,
    pub label: &'static str,
    pub kind: SectionKind,
    /// A JSON object.
    pub config: Option<&'static str>,
}

/// The definition of a tool whose schemas come from the types of its function. The function is only
/// looked at, not called.
pub fn define<I, Run, Fut, R>(declared: &Declaration, _run: Run) -> ToolDef
where
    I: DeserializeOwned + JsonSchema,
    Run: FnOnce(ToolContext, I) -> Fut,
    Fut: Future<Output = Result<R, ToolFailure>>,
    R: IntoReply,
{
    declared.definition(schema_of::<I>(Direction::Input), schema_of::<R::Data>(Direction::Output))
}

/// As [`define`], for a function that takes no input.
pub fn define_input_less<Run, Fut, R>(declared: &Declaration, _run: Run) -> ToolDef
where
    Run: FnOnce(ToolContext) -> Fut,
    Fut: Future<Output = Result<R, ToolFailure>>,
    R: IntoReply,
{
    declared.definition(schema_of::<NoInput>(Direction::Input), schema_of::<R::Data>(Direction::Output))
}

/// Reads the input into the function's own type, runs it, and puts the answer into the one shape.
pub fn run<I, Run, Fut, R>(
    declared: &'static Declaration,
    cx: ToolContext,
    mut input: Value,
    run: Run,
) -> BoxFuture<'static, Result<ToolResult, ToolFailure>>
where
    I: DeserializeOwned + Send + 'static,
    Run: FnOnce(ToolContext, I) -> Fut + Send + 'static,
    Fut: Future<Output = Result<R, ToolFailure>> + Send + 'static,
    R: IntoReply,
{
    Box::pin(async move {
        // The engine has checked the input against the schema; what is left is what a schema cannot
        // say, and callers that are not the engine.
        let input = match I::deserialize(&input) {
            Ok(input) => input,
            Err(_) => {
                write_whole_numbers_plainly(&mut input);
                serde_json::from_value(input)
                    .map_err(|error| ToolFailure::invalid(format!("{}: {error}", declared.slug)))?
            }
        };
        run(cx, input).await?.into_reply(declared.name).try_into()
    })
}

/// To a schema 3.0 is an integer, and to callers whose language has one kind of number; to a Rust type it is none.
fn write_whole_numbers_plainly(value: &mut Value) {
    match value {
        Value::Number(number) if number.is_f64() => {
            #[expect(clippy::cast_possible_truncation, reason = "it is whole, and within what is exact")]
            if let Some(whole) =
                number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= EXACT_MAX)
            {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_whole_numbers_plainly),
        Value::Object(members) => members.values_mut().for_each(write_whole_numbers_plainly),
        _ => {}
    }
}

/// As [`run`], for a function that takes no input.
pub fn run_input_less<Run, Fut, R>(
    declared: &'static Declaration,
    cx: ToolContext,
    input: Value,
    function: Run,
) -> BoxFuture<'static, Result<ToolResult, ToolFailure>>
where
    Run: FnOnce(ToolContext) -> Fut + Send + 'static,
    Fut: Future<Output = Result<R, ToolFailure>> + Send + 'static,
    R: IntoReply,
{
    run(declared, cx, input, move |cx, _: NoInput| function(cx))
}

impl Declaration {
    fn definition(&self, input_schema: Value, output_schema: Value) -> ToolDef {
        let mut def = self.untranslated(input_schema, output_schema);
        for (language, text) in self.texts {
            let mut texts = self.checked("texts", Dictionary::read(language, text));
            self.translate(&mut def, &mut texts);
            let unused = texts.unused();
            assert!(
                unused.is_empty(),
                "{}: texts in `{language}` that translate nothing of the tool: {unused:?}",
                self.location
            );
        }
        def
    }

    fn translate(&self, def: &mut ToolDef, texts: &mut Dictionary) {
        let i18n = texts.tool(def);
        let authored = Arc::make_mut(&mut def.authored);
        authored.i18n = i18n.or(authored.i18n.take());
        if let Some(form) = &mut authored.form_spec {
            texts.form(form);
        }
        for section in &mut def.output_sections {
            section.i18n = texts.label(&section.label);
        }
        texts.schema(Arc::make_mut(&mut def.input_schema), None);
        if let Some(schema) = &mut def.output_schema {
            texts.schema(Arc::make_mut(schema), None);
        }
    }

    fn untranslated(&self, input_schema: Value, output_schema: Value) -> ToolDef {
        let slug = self.checked("slug", self.slug.parse());
        ToolDef {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            category: self.category.to_owned(),
            icon: self.icon.to_owned(),
            tags: owned(self.tags),
            version: self.checked("version", semver::Version::parse(self.version)),
            listing: if self.opt_in { Listing::OptIn } else { Listing::OptOut },
            level: Some(self.level),
            policy: self.policy,
            required_permission: self
                .required_permission
                .map(|name| self.checked("required_permission", name.parse())),
            tenant_slugs: owned(self.tenants),
            output_sections: self.sections.iter().map(|section| self.section(section)).collect(),
            collaborative: self.collaborative,
            visible: self.visible,
            is_async: self.is_async,
            timeout_ms: self.timeout_ms.unwrap_or(ToolDef::TIMEOUT_MS_DEFAULT),
            execution: Execution {
                is_pure: self.pure,
                concurrency_group: self.concurrency_group.unwrap_or("default").to_owned(),
                max_concurrency: self.max_concurrency,
                timeout_s: None,
            },
            // What is not known to stay inside may reach outside.
            open_world: Some(self.open_world.unwrap_or(!self.pure)),
            output_schema: Some(Arc::new(output_schema)),
            authored: Arc::new(Authored {
                form_spec: self.form.map(|form| self.checked("form", serde_json::from_str(form))),
                aliases: owned(self.aliases),
                ..Authored::default()
            }),
            ..ToolDef::new(slug, Implementation::Code, Arc::new(input_schema))
        }
    }

    fn section(&self, section: &Section) -> OutputSection {
        let config = section.config.map(|text| {
            self.checked("config of a section", serde_json::from_str::<BTreeMap<String, Value>>(text))
        });
        OutputSection {
            key: section.key.to_owned(),
            label: section.label.to_owned(),
            kind: section.kind,
            config,
            i18n: None,
        }
    }

    /// Unwraps what the macro has checked already by rules of its own. Should those ever differ from
    /// the model's, the program stops at its start and names the tool's place.
    fn checked<T, E: std::fmt::Display>(&self, what: &str, value: Result<T, E>) -> T {
        value.unwrap_or_else(|error| panic!("{}: the {what} of a tool is wrong: {error}", self.location))
    }
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[derive(Clone, Copy)]
enum Direction {
    Input,
    Output,
}

fn schema_of<T: JsonSchema>(direction: Direction) -> Value {
    let settings = SchemaSettings::draft2020_12();
    let settings = match direction {
        Direction::Input => settings.for_deserialize(),
        Direction::Output => settings.for_serialize(),
    };
    let settings = settings
        .with_transform(RecursiveTransform(unwrap_description))
        .with_transform(RecursiveTransform(drop_rust_formats));
    let mut schema = SchemaGenerator::from(settings).into_root_schema_for::<T>();
    // By default the title is the name of the Rust type, which says nothing to a person.
    let title = schema.get("title").and_then(Value::as_str);
    if title.is_some_and(|title| title == T::schema_name()) {
        schema.remove("title");
    }
    schema.to_value()
}

/// Names of Rust's numbers are no formats of JSON Schema, and some clients complain about each of them.
/// The bounds that go with them stay.
fn drop_rust_formats(schema: &mut Schema) {
    let is_number = schema.get("format").and_then(Value::as_str).is_some_and(|format| {
        let rest = format.trim_start_matches("uint").trim_start_matches("int");
        matches!(format, "float" | "double")
            || (rest.len() < format.len() && rest.bytes().all(|b| b.is_ascii_digit()))
    });
    if is_number {
        schema.remove("format");
    }
}

/// A doc comment is wrapped for the source; in a form or a prompt its lines are one paragraph.
fn unwrap_description(schema: &mut Schema) {
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let paragraphs: Vec<String> =
            text.split("\n\n").map(|paragraph| paragraph.replace('\n', " ")).collect();
        *text = paragraphs.join("\n\n");
    }
}
