//! `manageTools`: how an agent has tools made and changed.
//!
//! The agent asks, a person approves, and what happens is what the routes do, by the same functions and by
//! the right of the person the agent belongs to.

mod schema;

use std::sync::{Arc, LazyLock, OnceLock, Weak};

use serde_json::{Map, Value, json};
use tw_base::{Error, PageRequest, Result};
use tw_exec::{BoxFuture, Call, Ended, Executor, Refusal, Services};
use tw_identity::{
    PersonBehind,
    rights::{CreateTools, DeleteTools, PublishTools, ReadTools, UpdateTools},
};
use tw_model::{
    Actor, Authored, Caller, Implementation, Level, Policy, RunId, ToolDef, ToolFailure, ToolResult, redacted,
};
use tw_schema::{Fault, Violation};

use crate::{
    Registry,
    authoring::{EditContext, check_removal},
    catalogue::{OwnTool, View},
    tools::{Listed, ToolFilter, find},
};

const SLUG: &str = "manageTools";
const DESCRIPTION: &str = "Makes, changes, removes, lists and shows the tools of this tenant. A person approves \
    every call first, so say in `description` what the tool is for and when to use it. `create` makes a tool that \
    is live at once; `update` saves a draft unless `publish` is true. To run a tool, call it by its own name.";

const GERMAN: &str = "Erstellt, ändert, entfernt, listet und zeigt die Werkzeuge dieses Mandanten. Jeden Aufruf gibt zuerst ein \
    Mensch frei; darum gehört in `description`, wozu und wann das Werkzeug dient. `create` erstellt ein Werkzeug, das sofort \
    in Betrieb ist; `update` speichert einen Entwurf, es sei denn, `publish` ist true. Ausgeführt wird ein Werkzeug unter \
    seinem eigenen Namen.";

/// Members of the input that are no part of a definition.
const ABOUT_THE_CALL: &[&str] = &["action", "q", "limit", "offset"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Create,
    Update,
    Delete,
    List,
    Get,
}

impl Action {
    const ALL: [Self; 5] = [Self::Create, Self::Update, Self::Delete, Self::List, Self::Get];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
            Self::List => "list",
            Self::Get => "get",
        }
    }

    fn of(input: &Value) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|action| input["action"] == action.as_str());
        found.ok_or_else(|| Error::invalid("/action", Violation::words(Self::ALL.map(Self::as_str))))
    }

    /// What the schema cannot say, since it is one flat object: which fields which action needs.
    fn guard(self, input: &Value) -> Result<()> {
        let given = |field: &str| match &input[field] {
            Value::Null => false,
            Value::String(text) => !text.trim().is_empty(),
            _ => true,
        };
        let needed: &[&str] = match self {
            Self::Create => &["slug", "name", "description"],
            Self::Update | Self::Delete | Self::Get => &["slug"],
            Self::List => &[],
        };
        if let Some(field) = needed.iter().find(|field| !given(field)) {
            return Err(self.requires(field));
        }
        if self == Self::Create && !given("input_schema") && !given("fields") {
            return Err(self.requires("input_schema"));
        }
        if self == Self::Update && definition_in(input).len() < 2 {
            let what = format!("{SLUG}.update requires a field to change");
            return Err(Error::InvalidParams { what, faults: Vec::new() });
        }
        Ok(())
    }

    fn requires(self, field: &str) -> Error {
        let what = format!("{SLUG}.{} requires '{field}'", self.as_str());
        Error::InvalidParams { what, faults: vec![Violation::required().at(format!("/{field}"))] }
    }
}

/// What the input says about a tool.
fn definition_in(input: &Value) -> Map<String, Value> {
    let members = input.as_object().into_iter().flatten();
    let about_the_tool = members.filter(|(key, _)| !ABOUT_THE_CALL.contains(&key.as_str()));
    about_the_tool.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// The body of a change: the tool is named beside it.
fn change_in(input: &Value) -> Value {
    let mut change = definition_in(input);
    change.shift_remove("slug");
    Value::Object(change)
}

/// The body of a new tool, which is live at once.
fn new_in(input: &Value) -> Value {
    let mut new = definition_in(input);
    new.insert("publish".to_owned(), Value::Bool(true));
    Value::Object(new)
}

fn slug_in(input: &Value) -> &str {
    input["slug"].as_str().unwrap_or_default()
}

/// The executor of `manageTools`.
#[derive(Debug, Default)]
pub(crate) struct ManageTools {
    /// Set once the registry is there that has this tool among its own.
    registry: OnceLock<Weak<Registry>>,
}

impl ManageTools {
    pub(crate) fn tool(this: &Arc<Self>) -> OwnTool {
        OwnTool { def: definition(), executor: Arc::clone(this) as Arc<dyn Executor> }
    }

    pub(crate) fn serve(&self, registry: &Arc<Registry>) {
        let _ = self.registry.set(Arc::downgrade(registry));
    }

    fn registry(&self) -> Result<Arc<Registry>> {
        self.registry.get().and_then(Weak::upgrade).ok_or(Error::ShuttingDown)
    }

    async fn check(&self, caller: &Caller, input: &Value) -> Result<()> {
        let registry = self.registry()?;
        let view = registry.catalogue.view(caller.tenant, caller.epoch).await?;
        registry.check_managing(caller, &view, input).await
    }

    async fn manage(&self, call: &Call<'_>) -> Result<ToolResult> {
        let registry = self.registry()?;
        // The log says that the agent did it, or who changed what it asked for, and by which run; whose right it was
        // stands in the agent.
        let actor = call.edited_by.cloned().unwrap_or_else(|| call.caller.actor());
        let (data, summary) = registry.managed(call.caller, &actor, call.cx.run(), &call.input).await?;
        Ok(ToolResult { data, summary, markdown: None })
    }
}

impl Executor for ManageTools {
    fn run<'a>(&'a self, call: Call<'a>) -> BoxFuture<'a, Ended> {
        Box::pin(async move {
            match self.manage(&call).await {
                Ok(result) => Ended::Done(result),
                Err(error) => Ended::Failed(failure(&error)),
            }
        })
    }

    fn check<'a>(
        &'a self,
        caller: &'a Caller,
        _: &'a Services,
        input: &'a Value,
    ) -> BoxFuture<'a, Result<(), Refusal>> {
        Box::pin(async move { Self::check(self, caller, input).await.map_err(Refusal::from) })
    }

    /// Making and changing a tool can be undone, deleting one cannot.
    fn level_of(&self, input: &Value) -> Option<Level> {
        (input["action"] == Action::Delete.as_str()).then_some(Level::Destructive)
    }

    fn always_asks(&self) -> bool {
        true
    }

    fn definition_parts(&self) -> &'static [&'static str] {
        Authored::SECRET_PARTS
    }

    fn is_function(&self) -> bool {
        true
    }
}

impl Registry {
    /// What keeps a call from being done, found before anybody is asked: the person behind it lacks the
    /// right, a field is missing, the definition is wrong, or the tool is not there or has to stay.
    async fn check_managing(&self, caller: &Caller, view: &View, input: &Value) -> Result<()> {
        let action = Action::of(input)?;
        let behind = PersonBehind::of(caller, &self.identity).await?;
        let person = match action {
            Action::Create => {
                behind.permit::<PublishTools>()?;
                behind.permit::<CreateTools>()?.caller().clone()
            }
            Action::Update => {
                if input["publish"] == true {
                    behind.permit::<PublishTools>()?;
                }
                behind.permit::<UpdateTools>()?.caller().clone()
            }
            Action::Delete => behind.permit::<DeleteTools>()?.caller().clone(),
            Action::List | Action::Get => behind.permit::<ReadTools>()?.caller().clone(),
        };
        action.guard(input)?;
        match action {
            Action::Create => self.check_new(&person, view, &new_in(input)).await,
            Action::Update => {
                let (entry, _) = find(view, &person, slug_in(input))?;
                self.check_change(&person, view, entry, &change_in(input)).await
            }
            Action::Delete => check_removal(view, find(view, &person, slug_in(input))?.0),
            Action::Get => find(view, &person, slug_in(input)).map(drop),
            Action::List => page(input).map(drop),
        }
    }

    /// Does what was asked for.
    async fn managed(
        &self,
        caller: &Caller,
        actor: &Actor,
        run: RunId,
        input: &Value,
    ) -> Result<(Value, String)> {
        let action = Action::of(input)?;
        action.guard(input)?;
        let behind = PersonBehind::of(caller, &self.identity).await?;
        let run = run.to_string();
        let asked = EditContext { marks: None, request_id: Some(&run), actor: Some(actor) };
        let word = action.as_str();
        let one = |listed: &Listed, done: &str| {
            let summary = format!("{done} {} {}", listed.def.slug, listed.def.version);
            (json!({ "action": word, "tool": whole(listed) }), summary)
        };
        Ok(match action {
            Action::Create => {
                let permit = behind.permit::<CreateTools>()?;
                let made = self.create_tool(&permit, &new_in(input), asked).await?;
                with_warnings(one(&made.tool, "created and published"), &made.warnings)
            }
            Action::Update => {
                let permit = behind.permit::<UpdateTools>()?;
                let changed = self.change_tool(&permit, slug_in(input), &change_in(input), asked).await?;
                let done = if changed.tool.def.has_draft { "saved a draft of" } else { "changed" };
                with_warnings(one(&changed.tool, done), &changed.warnings)
            }
            Action::Delete => {
                let slug = slug_in(input);
                self.remove_tool(&behind.permit::<DeleteTools>()?, slug, asked).await?;
                (json!({ "action": word, "deleted": slug }), format!("deleted {slug}"))
            }
            Action::Get => {
                let permit = behind.permit::<ReadTools>()?;
                one(&self.tool(&permit, slug_in(input)).await?, "found")
            }
            Action::List => {
                let text = |key: &str| input[key].as_str().map(str::to_owned);
                let filter = ToolFilter {
                    status: text("status"),
                    category: text("category"),
                    implementation_type: text("implementation_type"),
                    q: text("q"),
                    ..ToolFilter::default()
                };
                let permit = behind.permit::<ReadTools>()?;
                let found = self.tools(&permit, &filter, &page(input)?).await?;
                let tools: Vec<Value> =
                    found.items.iter().map(|listed| Value::Object(brief(listed))).collect();
                let total = found.total.unwrap_or_default();
                let summary = format!("{} of {total} tools", tools.len());
                (json!({ "action": word, "tools": tools, "total": total }), summary)
            }
        })
    }
}

/// An answer with what the author should know.
fn with_warnings((mut answer, mut summary): (Value, String), warnings: &[Fault]) -> (Value, String) {
    if let [first, ..] = warnings {
        summary = format!("{summary}; warning: {} {}", first.path, first.message);
    }
    answer["warnings"] = json!(warnings);
    (answer, summary)
}

fn page(input: &Value) -> Result<PageRequest> {
    PageRequest::new(input["limit"].as_i64(), input["offset"].as_i64(), None)
}

/// A refusal as the agent reads it: every fault with its place.
fn failure(error: &Error) -> ToolFailure {
    let mut message = error.to_string();
    if 1 < error.faults().len() {
        for fault in error.faults() {
            message = format!("{message}\n{}: {}", fault.path, fault.message);
        }
    }
    ToolFailure::with_code(error.code(), message)
}

/// A tool in a list.
fn brief(listed: &Listed) -> Map<String, Value> {
    let def = &listed.def;
    let brief = json!({
        "slug": def.slug.as_str(),
        "name": def.name,
        "description": def.description,
        "category": def.category,
        "kind": def.layer.as_str(),
        "implementation_type": listed.implementation_type,
        "status": def.status.as_str(),
        "version": def.version.to_string(),
        "available": listed.available.is_ok(),
        "unavailable_reason": listed.available.err(),
        "has_draft": def.has_draft,
        "permission_level": def.level,
        "permission_policy": def.policy,
    });
    match brief {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

fn whole(listed: &Listed) -> Value {
    let (def, mut members) = (&listed.def, brief(listed));
    members.insert("icon".to_owned(), json!(def.icon));
    members.insert("tags".to_owned(), json!(def.tags));
    members.insert("i18n".to_owned(), json!(def.authored.i18n));
    members.insert("timeout_ms".to_owned(), json!(def.timeout_ms));
    members.insert("input_schema".to_owned(), (*def.input_schema).clone());
    members.insert("output_schema".to_owned(), json!(def.output_schema.as_deref()));
    members.insert("implementation".to_owned(), redacted(&def.authored.implementation));
    let spec = def.authored.execution_spec.as_ref().map(redacted);
    members.insert("execution_spec".to_owned(), json!(spec));
    Value::Object(members)
}

/// The tool as the catalogue has it.
#[must_use]
pub fn definition() -> ToolDef {
    static INPUT: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(schema::input()));
    static OUTPUT: LazyLock<Arc<Value>> = LazyLock::new(|| Arc::new(schema::output()));
    ToolDef {
        name: "Manage tools".to_owned(),
        description: DESCRIPTION.to_owned(),
        category: "admin".to_owned(),
        icon: "wrench".to_owned(),
        level: Some(Level::Write),
        policy: Some(Policy::AlwaysAsk),
        open_world: Some(false),
        output_schema: Some(Arc::clone(&OUTPUT)),
        authored: Arc::new(Authored {
            i18n: Some(json!({ "de": { "name": "Werkzeuge verwalten", "description": GERMAN } })),
            ..Authored::default()
        }),
        ..ToolDef::new(SLUG.parse().expect("the word is a slug"), Implementation::Code, Arc::clone(&INPUT))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_conforms_and_its_examples_fit() {
        let definition = definition();
        let problems = toolwright_sdk::conformance::problems(&definition, false);
        assert!(problems.is_empty(), "{problems:?}");
        let schema = tw_schema::Schema::compile(&definition.input_schema).expect("the schema is valid");
        tw_schema::Schema::compile(&schema::output()).expect("the schema is valid");
        for example in definition.input_schema["examples"].as_array().into_iter().flatten() {
            assert_eq!(schema.faults(example), [], "{example}");
            assert!(Action::of(example).and_then(|action| action.guard(example)).is_ok(), "{example}");
        }
    }

    #[test]
    fn input_is_one_flat_object() {
        let schema = schema::input();
        for word in ["oneOf", "anyOf", "allOf", "if", "$ref"] {
            assert!(schema.get(word).is_none(), "{word}");
        }
        assert_eq!(schema["required"], json!(["action"]));
        assert_eq!((definition().policy, definition().level), (Some(Policy::AlwaysAsk), Some(Level::Write)));
    }

    #[test]
    fn what_an_action_lacks_is_said_in_its_own_words() {
        let said = |input: Value| {
            let guarded = Action::of(&input).and_then(|action| action.guard(&input));
            guarded.map_or_else(|error| error.to_string(), |()| "fine".to_owned())
        };
        assert_eq!(said(json!({ "action": "create", "name": "a" })), "manageTools.create requires 'slug'");
        assert_eq!(said(json!({ "action": "create", "slug": " " })), "manageTools.create requires 'slug'");
        assert_eq!(said(json!({ "action": "create", "slug": "a" })), "manageTools.create requires 'name'");
        let named = json!({ "action": "create", "slug": "a", "name": "a", "description": "a" });
        assert_eq!(said(named), "manageTools.create requires 'input_schema'");
        for action in ["update", "delete", "get"] {
            assert_eq!(said(json!({ "action": action })), format!("manageTools.{action} requires 'slug'"));
        }
        let idle = json!({ "action": "update", "slug": "a" });
        assert_eq!(said(idle), "manageTools.update requires a field to change");
        assert_eq!(said(json!({ "action": "list" })), "fine");
    }
}
