//! Faults of schemas.

use super::{Fault, Violation};

/// Why a document cannot be used as a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaFault {
    #[error("a schema must be an object or a boolean")]
    NotASchema,
    #[error("a schema must have at most {max} {what}")]
    TooLarge { path: String, what: &'static str, max: usize },
    #[error("the schema is invalid at `{path}`: {violation}")]
    Invalid { path: String, violation: Violation },
    #[error(
        "the schema is invalid at `{path}`: a pattern must be a regular expression of ECMA-262 (with the flag `u`) \
         of moderate size, without look-around, back-references and flags inside"
    )]
    Pattern { path: String },
    #[error("the schema refers to `{reference}`, which is not part of it; nothing is fetched")]
    RemoteReference { reference: String },
    #[error("the schema refers to `{reference}`, which does not exist")]
    BrokenReference { reference: String },
    #[error("the schema refers to itself endlessly for the same value")]
    EndlessReference,
    #[error("the schema is too complex: too many subschemas apply to one value")]
    TooComplex,
}

impl SchemaFault {
    /// A JSON pointer into the schema; the empty text when the fault has no single location.
    #[must_use]
    pub fn path(&self) -> &str {
        match self {
            Self::TooLarge { path, .. } | Self::Invalid { path, .. } | Self::Pattern { path } => path,
            _ => "",
        }
    }

    /// The same as a fault of the document that holds the schema.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let violation = match self {
            Self::NotASchema => Violation::not_a_schema(),
            Self::TooLarge { what, max, .. } => Violation::schema_limit(*max, *what),
            Self::Invalid { violation, .. } => violation.clone(),
            Self::Pattern { .. } => Violation::schema_pattern(),
            Self::RemoteReference { reference } => Violation::schema_remote(reference.as_str()),
            Self::BrokenReference { reference } => Violation::schema_broken(reference.as_str()),
            Self::EndlessReference => Violation::schema_endless(),
            Self::TooComplex => Violation::schema_complex(),
        };
        violation.at(self.path())
    }
}
