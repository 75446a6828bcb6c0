//! Faults of a choice between forms (`anyOf`, `oneOf`).
//!
//! "None of five forms fits" helps nobody. Mostly the caller meant one form, and the others differ in
//! type or in a constant that names the variant. Then the faults of that form are reported.

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};

use serde_json::Value;

use super::{one_of, wanted};
use crate::{Fault, Violation};

pub(super) fn say(
    at: &str,
    error: &ValidationError<'_>,
    branches: &[Vec<ValidationError<'static>>],
    faults: &mut Vec<Fault>,
) {
    let meant = only_one(branches, |error| is_other_type(at, error))
        .or_else(|| only_one(branches, |error| is_other_type(at, error) || is_other_variant(at, error)));
    if let Some(meant) = meant {
        meant.iter().for_each(|error| super::say(error, faults));
        return;
    }
    let violation = if let Some(types) = types_of_all(at, branches) {
        Violation::typed(&types, error.instance())
    } else if let Some(entries) = entries_of_all(at, branches) {
        one_of(&entries)
    } else {
        Violation::any_of()
    };
    faults.push(violation.at(at));
}

/// The one branch that is left when those with such an error are put aside.
fn only_one<'a>(
    branches: &'a [Vec<ValidationError<'static>>],
    is_out: impl Fn(&ValidationError<'_>) -> bool,
) -> Option<&'a [ValidationError<'static>]> {
    let mut left = branches.iter().filter(|errors| !errors.iter().any(&is_out));
    match (left.next(), left.next()) {
        (Some(only), None) => Some(only),
        _ => None,
    }
}

fn is_other_type(at: &str, error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Type { .. } | Kind::FalseSchema) && error.instance_path().as_str() == at
}

/// Whether an error says that another variant was meant: a constant in the value is another one.
fn is_other_variant(at: &str, error: &ValidationError<'_>) -> bool {
    match error.kind() {
        Kind::Enum { .. } => error.instance_path().as_str() == at,
        Kind::Constant { .. } => true,
        _ => false,
    }
}

/// The types that the branches want, when all of them fail by type and by nothing else.
fn types_of_all(at: &str, branches: &[Vec<ValidationError<'static>>]) -> Option<Vec<&'static str>> {
    let mut types = Vec::new();
    for kind in kinds_of_all(at, branches)? {
        match kind {
            Kind::Type { kind } => types.extend(wanted(kind)),
            _ => return None,
        }
    }
    Some(types)
}

/// The values that the branches want, when each of them is but a list of values.
fn entries_of_all(at: &str, branches: &[Vec<ValidationError<'static>>]) -> Option<Vec<Value>> {
    let mut entries = Vec::new();
    for kind in kinds_of_all(at, branches)? {
        match kind {
            Kind::Constant { expected_value } => entries.push(Value::clone(expected_value)),
            Kind::Enum { options } => entries.extend(options.as_array().into_iter().flatten().cloned()),
            _ => return None,
        }
    }
    Some(entries)
}

/// The error of each branch, if each has exactly one error and it is at the value itself.
fn kinds_of_all<'a>(at: &str, branches: &'a [Vec<ValidationError<'static>>]) -> Option<Vec<&'a Kind>> {
    let one = |errors: &'a Vec<ValidationError<'static>>| match errors.as_slice() {
        [error] if error.instance_path().as_str() == at => Some(error.kind()),
        _ => None,
    };
    branches.iter().map(one).collect()
}
