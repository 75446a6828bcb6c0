//! What a server has on offer, as it says.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolwright_sdk::Redactor;
use tw_schema::without_unfit_mirrors;

use crate::exchange::ServerLine;

/// How many characters the name of a tool may have.
const NAME_CHARS_MAX: usize = 128;
const TITLE_CHARS_MAX: usize = 500;
const INSTRUCTIONS_CHARS_MAX: usize = 16 << 10;

/// All tools of a server, in its order.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolListing {
    pub server: ServerInfo,
    /// The revision of the protocol that it was asked in; `None` where in none.
    pub revision: Option<String>,
    pub tools: Vec<RemoteTool>,
    /// What the list has beside these, and why it cannot be called.
    pub left_out: Vec<LeftOut>,
}

/// Who a server says that it is. Nobody has verified it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    pub name: Option<String>,
    pub title: Option<String>,
    pub version: Option<String>,
    /// How its tools are to be used, in words for a model.
    pub instructions: Option<String>,
}

/// A tool as its server describes it, without the credentials that the server was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteTool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub input_schema: Value,
    pub output_schema: Option<Value>,
    pub annotations: Annotations,
    /// Addresses that nobody here opens.
    pub icons: Vec<Icon>,
    /// What `execution` says about how it is called, such as `taskSupport`.
    pub execution: Option<Value>,
    /// The definition with all its members, for comparing it with another time.
    pub raw: Value,
}

/// What a server says about the effects of a tool. It may be wrong on purpose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    pub title: Option<String>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    pub idempotent: Option<bool>,
    pub open_world: Option<bool>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Icon {
    pub src: String,
    pub mime_type: Option<String>,
    pub sizes: Vec<String>,
    pub theme: Option<String>,
}

/// An entry of the list that is no tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub name: String,
    pub why: String,
}

impl ServerInfo {
    pub(crate) fn read(line: &ServerLine, info: Option<&Value>, result: &Map<String, Value>) -> Self {
        let text = |member: Option<&Value>, chars| {
            let text = line.redactor.text(member?.as_str()?.trim().to_owned());
            Some(text.chars().take(chars).collect::<String>()).filter(|text| !text.is_empty())
        };
        let of_info = |name: &str| text(info.and_then(|info| info.get(name)), TITLE_CHARS_MAX);
        Self {
            name: of_info("name"),
            title: of_info("title"),
            version: of_info("version"),
            instructions: text(result.get("instructions"), INSTRUCTIONS_CHARS_MAX),
        }
    }
}

impl ToolListing {
    /// Sorts the entries of a list into tools and the rest.
    pub(crate) fn sorted(entries: Vec<Value>, redactor: &Redactor) -> (Vec<RemoteTool>, Vec<LeftOut>) {
        let (mut tools, mut left_out) = (Vec::new(), Vec::new());
        let mut names = BTreeSet::new();
        for entry in entries {
            let name = shown_name(&entry);
            match RemoteTool::read(redactor.value(entry)) {
                Err(why) => left_out.push(LeftOut { name, why }),
                Ok(tool) if !names.insert(tool.name.clone()) => {
                    left_out
                        .push(LeftOut { name, why: "another tool of the list has the same name".to_owned() });
                }
                Ok(tool) => tools.push(tool),
            }
        }
        (tools, left_out)
    }
}

fn shown_name(entry: &Value) -> String {
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default();
    name.chars().filter(|c| !c.is_control()).take(NAME_CHARS_MAX).collect()
}

impl RemoteTool {
    /// Reads an entry of a list, or says why it cannot be called.
    fn read(raw: Value) -> Result<Self, String> {
        let text = |name: &str| raw.get(name).and_then(Value::as_str).map(str::to_owned);
        let Some(name) = text("name") else { return Err("`name` must be a text".to_owned()) };
        if !(1..=NAME_CHARS_MAX).contains(&name.chars().count()) || name.chars().any(char::is_control) {
            return Err(format!(
                "`name` must have 1 to {NAME_CHARS_MAX} characters and no control characters"
            ));
        }
        let schema = |name: &str| raw.get(name).filter(|schema| !schema.is_null());
        let input_schema = match schema("inputSchema") {
            Some(schema @ Value::Object(_)) => schema.clone(),
            _ => return Err("`inputSchema` must be an object".to_owned()),
        };
        let mut followed = input_schema.clone();
        without_unfit_mirrors(&mut followed);
        if followed != input_schema {
            return Err("`inputSchema` has an `x-mcp-header` that no client can follow".to_owned());
        }
        let output_schema = match schema("outputSchema") {
            None => None,
            Some(schema @ Value::Object(_)) => Some(schema.clone()),
            Some(_) => return Err("`outputSchema` must be an object".to_owned()),
        };
        Ok(Self {
            title: text("title"),
            description: text("description"),
            input_schema,
            output_schema,
            annotations: Annotations::read(raw.get("annotations")),
            icons: raw
                .get("icons")
                .and_then(Value::as_array)
                .into_iter()
                .flatten()
                .filter_map(Icon::read)
                .collect(),
            execution: raw.get("execution").filter(|hints| hints.is_object()).cloned(),
            name,
            raw,
        })
    }
}

impl Annotations {
    fn read(annotations: Option<&Value>) -> Self {
        let hint = |name: &str| annotations?.get(name)?.as_bool();
        Self {
            title: annotations
                .and_then(|hints| hints.get("title"))
                .and_then(Value::as_str)
                .map(str::to_owned),
            read_only: hint("readOnlyHint"),
            destructive: hint("destructiveHint"),
            idempotent: hint("idempotentHint"),
            open_world: hint("openWorldHint"),
        }
    }
}

impl Icon {
    fn read(icon: &Value) -> Option<Self> {
        let text = |name: &str| icon.get(name).and_then(Value::as_str).map(str::to_owned);
        let sizes = icon.get("sizes").and_then(Value::as_array).into_iter().flatten();
        Some(Self {
            src: text("src")?,
            mime_type: text("mimeType"),
            sizes: sizes.filter_map(Value::as_str).map(str::to_owned).collect(),
            theme: text("theme"),
        })
    }
}
