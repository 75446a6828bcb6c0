//! Faults for people, made from the validator's errors.
//!
//! A message is short and says what is wanted, not which keyword failed. It never repeats the value,
//! which may be long or a secret. It repeats values from the schema, cut to a bounded length.

mod choice;

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use crate::{FAULTS_MAX, Fault, Violation, fault, pointer};

/// How much of a value from the schema a message repeats.
const QUOTED_MAX: usize = 80;
/// How many entries of an `enum` a message lists.
const LISTED_MAX: usize = 10;

/// Says one error of the validator in plain words, as one fault or as several.
pub(crate) fn say(error: &ValidationError<'_>, faults: &mut Vec<Fault>) {
    let at = error.instance_path().as_str();
    match error.kind() {
        Kind::Required { property } => {
            let name = property.as_str().unwrap_or_default();
            faults.push(Violation::required().at(pointer::join(at, name)));
        }
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            let unknown = |name: &String| Violation::unknown_property().at(pointer::join(at, name));
            faults.extend(unexpected.iter().take(FAULTS_MAX).map(unknown));
        }
        Kind::AnyOf { context } | Kind::OneOfNotValid { context } => choice::say(at, error, context, faults),
        kind => faults.push(violation(kind, error).at(at)),
    }
}

fn violation(kind: &Kind, error: &ValidationError<'_>) -> Violation {
    match kind {
        Kind::Type { kind } => Violation::typed(&wanted(kind), error.instance()),
        Kind::Enum { options } => one_of(options.as_array().map(Vec::as_slice).unwrap_or_default()),
        Kind::Constant { expected_value } => Violation::constant(short(expected_value)),
        Kind::Minimum { limit } => Violation::minimum(limit.clone()),
        Kind::Maximum { limit } => Violation::maximum(limit.clone()),
        Kind::ExclusiveMinimum { limit } => Violation::exclusive_minimum(limit.clone()),
        Kind::ExclusiveMaximum { limit } => Violation::exclusive_maximum(limit.clone()),
        Kind::MultipleOf { multiple_of } => Violation::multiple_of(whole(*multiple_of)),
        Kind::MinLength { limit } => Violation::min_length(*limit),
        Kind::MaxLength { limit } => Violation::max_length(*limit),
        Kind::MinItems { limit } => Violation::min_items(*limit),
        Kind::MaxItems { limit } => Violation::max_items(*limit),
        Kind::AdditionalItems { limit } => Violation::max_items(*limit),
        Kind::MinProperties { limit } => Violation::min_properties(*limit),
        Kind::MaxProperties { limit } => Violation::max_properties(*limit),
        Kind::Pattern { pattern } => Violation::pattern(cut(pattern)),
        Kind::Format { format } => Violation::format(cut(format)),
        Kind::UniqueItems => Violation::unique_items(),
        Kind::Contains => Violation::contains(),
        Kind::UnevaluatedItems { .. } => Violation::unevaluated_items(),
        Kind::FalseSchema => Violation::not_allowed(),
        Kind::Not { .. } => Violation::not(),
        Kind::OneOfMultipleValid { .. } => Violation::exactly_one_form(),
        Kind::PropertyNames { error } => {
            let name = error.instance().as_str().unwrap_or_default();
            Violation::property_names(cut(name), violation(error.kind(), error).to_string())
        }
        Kind::ContentEncoding { content_encoding } => Violation::content_encoding(cut(content_encoding)),
        Kind::ContentMediaType { content_media_type } => {
            Violation::content_media_type(cut(content_media_type))
        }
        Kind::FromUtf8 { .. } => Violation::utf8(),
        Kind::RegexEngineFailure { .. } | Kind::BacktrackLimitExceeded { .. } => {
            Violation::pattern_unchecked()
        }
        // `say` takes these apart; here they stand for themselves, inside a property name.
        Kind::Required { .. }
        | Kind::AdditionalProperties { .. }
        | Kind::UnevaluatedProperties { .. }
        | Kind::AnyOf { .. }
        | Kind::OneOfNotValid { .. }
        | Kind::Custom { .. }
        | Kind::Referencing(_) => Violation::schema(),
    }
}

fn wanted(kind: &TypeKind) -> Vec<&'static str> {
    match kind {
        TypeKind::Single(one) => vec![one.as_str()],
        TypeKind::Multiple(several) => several.iter().map(JsonType::as_str).collect(),
    }
}

/// A number as people write it: whole ones without a fraction.
fn whole(number: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole, and small enough to be exact")]
    if number.fract() == 0.0 && number.abs() < 1e15 { (number as i64).into() } else { number.into() }
}

fn one_of(options: &[Value]) -> Violation {
    let listed: Vec<Value> = options.iter().take(LISTED_MAX).map(short).collect();
    match options {
        [only] => Violation::constant(short(only)),
        all if all.len() <= LISTED_MAX => Violation::words(listed),
        all => Violation::one_of(listed, all.len() - LISTED_MAX),
    }
}

/// A value from a schema, cut when it is long.
fn short(value: &Value) -> Value {
    match value {
        Value::String(text) => cut(text).into(),
        Value::Array(_) | Value::Object(_) => {
            let text = value.to_string();
            if text.len() <= QUOTED_MAX { value.clone() } else { cut(&text).into() }
        }
        scalar => scalar.clone(),
    }
}

/// A text in quotes, its escapes and all, cut when it is long.
pub(crate) fn quote_text(text: &str) -> String {
    Value::from(cut(text)).to_string()
}

/// A text, cut when it is long.
pub(crate) fn cut(text: &str) -> String {
    fault::cut(text, QUOTED_MAX)
}
