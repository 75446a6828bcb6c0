//! What is wrong with a name in a definition.

use tw_model::{Label, LabelError, Slug, SlugError};
use tw_schema::Violation;

/// What is wrong with a text that is to be a slug.
#[must_use]
pub fn slug_violation(error: &SlugError) -> Violation {
    match error {
        SlugError::Length { .. } => Violation::length(1, Slug::LEN_MAX),
        SlugError::Character { .. } => Violation::characters(),
        SlugError::PartStart => Violation::slug_parts(),
        SlugError::DoubleUnderscore => Violation::slug_underscores(),
        SlugError::Reserved { slug } => Violation::reserved(slug.as_str()),
    }
}

/// What is wrong with a text that is to be the label of a credential.
#[must_use]
pub fn label_violation(error: &LabelError) -> Violation {
    match error {
        LabelError::Length => Violation::length(1, Label::LEN_MAX),
        LabelError::Character => Violation::characters(),
        LabelError::Ends => Violation::ends(),
    }
}
