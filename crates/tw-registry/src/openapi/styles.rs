//! How values are written into a query, a path, a header or a form: what a document calls `style` and `explode`.
//!
//! A template names its parameters, so an object is written member by member, and one whose members may have any name
//! cannot be written at all.

use serde_json::{Value, json};

/// Words of the language of templates, which cannot stand behind a dot.
const WORDS: &[&str] = &["and", "or", "not", "in", "is", "if", "else", "true", "false", "none", "recursive"];
/// How deep objects may lie in each other.
const DEPTH_MAX: usize = 6;

/// Names that are sent, each with the template of its value.
pub(super) type Written = Vec<(String, String)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Style {
    /// The items of a list one by one under the same name; members under names of their own.
    Exploded,
    /// The items of a list as one text.
    Joined(&'static str),
    /// `name[member]`, and `name[]` for the items of a list.
    Deep,
}

impl Style {
    /// What the description of a parameter says, or what is meant where it says nothing.
    pub(super) fn of(described: &Value, usual: &str) -> Result<Self, String> {
        let style = described["style"].as_str().unwrap_or(usual);
        let is_exploded = described["explode"].as_bool().unwrap_or(style == "form");
        Ok(match (style, is_exploded) {
            ("deepObject", _) => Self::Deep,
            ("simple", _) | ("form", false) => Self::Joined(","),
            ("form" | "spaceDelimited" | "pipeDelimited", true) => Self::Exploded,
            ("spaceDelimited", false) => Self::Joined(" "),
            ("pipeDelimited", false) => Self::Joined("|"),
            _ => return Err(format!("tools cannot write values as `{style}`")),
        })
    }

    /// What an input is sent as under a name, or why it cannot be.
    pub(super) fn written(self, name: &str, input: &str, schema: &Value) -> Result<Written, String> {
        let shape = Shape::of(schema);
        let here = access(&[input])?;
        match self {
            Self::Deep => {
                let mut written = Written::new();
                deep(name, &mut vec![input], schema, &mut written)?;
                Ok(written)
            }
            Self::Joined(_) if shape.members.is_some() => {
                Err("the members of an object cannot be written into one text".to_owned())
            }
            Self::Joined(by) if shape.is_list => {
                let otherwise = if shape.is_word { format!(" else {here}") } else { String::new() };
                let list = format!("{{{{ {here} | join({by:?}) if {here} is sequence{otherwise} }}}}");
                Ok(vec![(name.to_owned(), list)])
            }
            Self::Exploded if shape.members.is_some() => exploded(name, input, &shape),
            Self::Joined(_) | Self::Exploded => Ok(vec![(name.to_owned(), braced(&here))]),
        }
    }

    /// The schema of such an input, which has no members that would not be sent.
    pub(super) fn closed(self, schema: Value) -> Value {
        match self {
            Self::Joined(_) => schema,
            Self::Exploded | Self::Deep => closed(schema),
        }
    }
}

/// Members under names of their own.
fn exploded(name: &str, input: &str, shape: &Shape<'_>) -> Result<Written, String> {
    let (mut written, here) = (Written::new(), access(&[input])?);
    for (member, schema) in shape.closed_members()? {
        if Shape::of(schema).members.is_some() {
            return Err(format!("its member `{member}` is an object"));
        }
        written.push((member.to_owned(), braced(&access(&[input, member])?)));
    }
    if shape.is_word || shape.is_list {
        written.push((name.to_owned(), format!("{{{{ {here} if {here} is not mapping }}}}")));
    }
    Ok(written)
}

fn deep<'a>(
    name: &str,
    path: &mut Vec<&'a str>,
    schema: &'a Value,
    written: &mut Written,
) -> Result<(), String> {
    if DEPTH_MAX < path.len() {
        return Err(format!("it has objects more than {DEPTH_MAX} deep"));
    }
    let (shape, here) = (Shape::of(schema), access(path)?);
    if shape.is_list {
        if Shape::of(&schema["items"]).members.is_some() {
            return Err(format!("`{name}` is a list of objects"));
        }
        written.push((format!("{name}[]"), format!("{{{{ {here} if {here} is sequence }}}}")));
    }
    if shape.members.is_some() {
        for (member, schema) in shape.closed_members()? {
            path.push(member);
            deep(&format!("{name}[{member}]"), path, schema, written)?;
            path.pop();
        }
    }
    if shape.is_word {
        let only = shape.members.is_none() && !shape.is_list;
        let value = format!("{{{{ {here} if {here} is not mapping and {here} is not sequence }}}}");
        written.push((name.to_owned(), if only { braced(&here) } else { value }));
    }
    Ok(())
}

/// What a schema lets in, as far as that says how it is written.
#[derive(Debug, Default)]
struct Shape<'a> {
    is_word: bool,
    is_list: bool,
    /// Where it may be an object: in the order of the document.
    members: Option<Vec<(&'a str, &'a Value)>>,
    /// Whether members may have other names.
    is_open: bool,
}

impl<'a> Shape<'a> {
    fn of(schema: &'a Value) -> Self {
        let mut shape = Self::default();
        shape.add(schema);
        shape
    }

    fn add(&mut self, schema: &'a Value) {
        let choices = ["allOf", "anyOf", "oneOf"].into_iter();
        let choices = choices.filter_map(|name| schema[name].as_array()).flatten();
        match &schema["type"] {
            Value::String(name) => self.add_type(name, schema),
            Value::Array(names) => {
                names.iter().filter_map(Value::as_str).for_each(|name| self.add_type(name, schema));
            }
            _ if schema["properties"].is_object() => self.add_type("object", schema),
            _ if schema.get("items").is_some() => self.add_type("array", schema),
            _ => {
                let mut is_plain = true;
                for choice in choices {
                    is_plain = false;
                    self.add(choice);
                }
                self.is_word |= is_plain;
            }
        }
    }

    fn add_type(&mut self, name: &str, schema: &'a Value) {
        match name {
            "array" => self.is_list = true,
            "object" => {
                let own = schema["properties"].as_object();
                let members = self.members.get_or_insert_default();
                for (name, schema) in own.into_iter().flatten() {
                    if !members.iter().any(|(known, _)| known == name) {
                        members.push((name.as_str(), schema));
                    }
                }
                let others = schema.get("additionalProperties").is_some_and(|others| *others != json!(false));
                self.is_open |= own.is_none() || others || schema.get("patternProperties").is_some();
            }
            "null" => {}
            _ => self.is_word = true,
        }
    }

    fn closed_members(&self) -> Result<impl Iterator<Item = (&'a str, &'a Value)>, String> {
        if self.is_open {
            return Err("tools send only members that the document names".to_owned());
        }
        Ok(self.members.iter().flatten().copied())
    }
}

/// Lets no other members in than those that are named. What lies behind `allOf` is left as it is: each of its schemas
/// would refuse the members of the others.
fn closed(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return schema };
    for name in ["anyOf", "oneOf"] {
        for choice in members.get_mut(name).and_then(Value::as_array_mut).into_iter().flatten() {
            *choice = closed(choice.take());
        }
    }
    if let Some(properties) = members.get_mut("properties").and_then(Value::as_object_mut) {
        properties.values_mut().for_each(|property| *property = closed(property.take()));
        if !members.contains_key("allOf") {
            members.entry("additionalProperties").or_insert(json!(false));
        }
    }
    schema
}

fn braced(expression: &str) -> String {
    format!("{{{{ {expression} }}}}")
}

/// How a template reads an input, or what lies in it.
pub(super) fn access(path: &[&str]) -> Result<String, String> {
    let mut text = "input".to_owned();
    for name in path {
        let is_word = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && !WORDS.contains(name);
        if is_word {
            text += &format!(".{name}");
        } else if name.is_empty() || name.contains(['"', '\\', '{', '}', '%', '\n']) {
            return Err(format!("no template can read a parameter that is called `{name}`"));
        } else {
            text += &format!("[\"{name}\"]");
        }
    }
    Ok(text)
}
