//! What people read when a value does not fit its schema.
//!
//! The texts are short, say what is wanted rather than which keyword failed, and never repeat the
//! value itself: it may be long, and it may be a secret. What the schema wants is repeated, cut.

mod choice;

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    outline::{Types, type_name},
    path,
};

/// How much of a value from the schema a message repeats.
const QUOTED_MAX: usize = 80;
/// How many entries of an `enum` a message lists.
const LISTED_MAX: usize = 10;

/// One reason why a value does not fit its schema.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// A JSON pointer to the place; the empty text is the root. A missing or unknown property is
    /// pointed at itself and not at the object around it.
    pub path: String,
    pub message: String,
}

impl Fault {
    pub(crate) fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Collects faults while something is read. What is wrong in a million places is told in a hundred.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    told: Vec<Fault>,
    count: usize,
}

impl Faults {
    pub(crate) fn say(&mut self, path: impl Into<String>, message: impl Into<String>) {
        self.count += 1;
        if self.told.len() < crate::FAULTS_MAX {
            self.told.push(Fault::new(path, message));
        }
    }

    /// How many there were, also those that will not be told.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The faults, in the order of their places.
    pub(crate) fn told(mut self) -> Vec<Fault> {
        self.told.sort_by(|left, right| path::by_place(&left.path, &right.path));
        self.told
    }
}

/// Says one error of the validator in plain words, as one fault or as several.
pub(crate) fn say(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            faults.push(Fault::new(path::join(at, name), format!("{} is required", quote_text(name))));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let unknown = |name: &String| Fault::new(path::join(at, name), "is not a known property");
            faults.extend(unexpected.iter().take(crate::FAULTS_MAX).map(unknown));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => choice::say(at, error, context, faults),
        kind => faults.push(Fault::new(at, message(kind, error))),
    }
}

fn message(kind: &Kind, error: &ValidationError<'_>) -> String {
    let form = "must have another form".to_owned();
    match kind {
        Kind::Type { kind } => wrong_type(&wanted(kind), error.instance()),
        Kind::Enum { options } => one_of(options.as_array().map(Vec::as_slice).unwrap_or_default()),
        Kind::Constant { expected_value } => format!("must be {}", quote(expected_value)),
        Kind::Minimum { limit } => format!("must be at least {}", quote(limit)),
        Kind::Maximum { limit } => format!("must be at most {}", quote(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be more than {}", quote(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be less than {}", quote(limit)),
        Kind::MultipleOf { multiple_of } => format!("must be a multiple of {multiple_of}"),
        Kind::MinLength { limit } => format!("must have at least {}", plural(*limit, "character")),
        Kind::MaxLength { limit } => format!("must have at most {}", plural(*limit, "character")),
        Kind::MinItems { limit } => format!("must have at least {}", plural(*limit, "item")),
        Kind::MaxItems { limit } => format!("must have at most {}", plural(*limit, "item")),
        Kind::AdditionalItems { limit } => format!("must have at most {}", plural(*limit as u64, "item")),
        Kind::MinProperties { limit } => format!("must have at least {}", properties(*limit)),
        Kind::MaxProperties { limit } => format!("must have at most {}", properties(*limit)),
        Kind::Pattern { pattern } => format!("must match the pattern `{}`", cut(pattern)),
        Kind::Format { format } => format!("must be a valid {}", cut(format)),
        Kind::UniqueItems => "must not hold two equal items".to_owned(),
        Kind::Contains => "must hold another number of items of the wanted form".to_owned(),
        Kind::UnevaluatedItems { .. } => "holds items that are not wanted".to_owned(),
        Kind::FalseSchema => "is not allowed".to_owned(),
        Kind::Not { .. } => "has a form that is not allowed".to_owned(),
        Kind::OneOfMultipleValid { .. } => {
            "fits more than one of the forms of which it must fit one".to_owned()
        }
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default();
            format!("has a property {} whose name {}", quote_text(name), message(error.kind(), error))
        }
        Kind::ContentEncoding { content_encoding } => format!("must be {} text", cut(content_encoding)),
        Kind::ContentMediaType { content_media_type } => format!("must be {}", cut(content_media_type)),
        Kind::FromUtf8 { .. } => "must be UTF-8 text".to_owned(),
        Kind::RegexEngineFailure { .. } | Kind::BacktrackLimitExceeded { .. } => {
            "could not be held against its pattern".to_owned()
        }
        // `say` takes these apart; here they stand for themselves, inside a property name.
        Kind::Required { .. }
        | Kind::AdditionalProperties { .. }
        | Kind::UnevaluatedProperties { .. }
        | Kind::AnyOf { .. }
        | Kind::OneOfNotValid { .. }
        | Kind::Custom { .. }
        | Kind::Referencing(_) => form,
    }
}

fn wanted(kind: &TypeKind) -> Vec<JsonType> {
    match kind {
        TypeKind::Single(one) => vec![*one],
        TypeKind::Multiple(several) => several.iter().collect(),
    }
}

fn wrong_type(wanted: &[JsonType], found: &Value) -> String {
    let mut names: Vec<&str> = wanted.iter().map(|one| with_article(one.as_str())).collect();
    // Null comes last, as people say it, and every type once.
    names.sort_unstable_by_key(|name| (*name == "null", *name));
    names.dedup();
    let wanted = match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => "nothing".to_owned(),
    };
    // A whole number is a number to people, unless it is just that which is wanted.
    let found = if Types::of_value(found) == Types::INTEGER { "number" } else { type_name(found) };
    format!("must be {wanted}, not {}", with_article(found))
}

fn with_article(name: &str) -> &str {
    match name {
        "array" => "an array",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "number" => "a number",
        "object" => "an object",
        "string" => "a string",
        other => other,
    }
}

fn one_of(options: &[Value]) -> String {
    let listed: Vec<String> = options.iter().take(LISTED_MAX).map(quote).collect();
    match options.len() {
        1 => format!("must be {}", listed[0]),
        all if all <= LISTED_MAX => format!("must be one of {}", listed.join(", ")),
        all => format!("must be one of {} and {} more", listed.join(", "), all - LISTED_MAX),
    }
}

fn plural(count: u64, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn properties(count: u64) -> String {
    if count == 1 { "1 property".to_owned() } else { format!("{count} properties") }
}

fn quote(value: &Value) -> String {
    match value {
        Value::String(text) => quote_text(text),
        other => cut(&other.to_string()),
    }
}

/// A text in quotes, its escapes and all, cut when it is long.
pub(crate) fn quote_text(text: &str) -> String {
    Value::from(cut(text)).to_string()
}

/// A text, cut when it is long.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(QUOTED_MAX) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
