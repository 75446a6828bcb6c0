//! Compiled schemas.

use std::{borrow::Cow, fmt, sync::Arc};

use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

use crate::{
    Digest, FAULTS_MAX, Fault, SchemaFault, Violation, canonical,
    cost::{Price, Telling},
    limits::{self, Within},
    outline::{Outline, ROOT},
    pointer, subschemas, words,
};

/// How many errors are looked at before they are put in order and cut.
const ERRORS_MAX: usize = 10 * FAULTS_MAX;

/// How much memory one regular expression may take while it runs, beside what it is compiled to.
const PATTERN_RUN_BYTES_MAX: usize = 512 << 10;

/// A JSON Schema (2020-12), compiled once and shared.
///
/// A clone is another handle on the same schema. Every schema is read as 2020-12: a `$schema` at the
/// root is ignored, and a `$schema` in a subschema must name 2020-12.
///
/// **References** must lead into the document itself or to the published meta-schemas of 2020-12.
/// Nothing is ever fetched.
///
/// **Patterns** must be ECMA-262 with the `u` flag, because clients compile them too. They run on an
/// engine whose time is linear in the text. Look-around and back-references are therefore refused when
/// the schema is compiled, and so is the syntax of other dialects, such as `(?i)` and `\A`.
///
/// **Formats** are checked: `date`, `date-time`, `time`, `duration`, `email`,
/// `hostname`, `ipv4`, `ipv6`, `uri`, `uri-reference`, `uri-template`, `iri`, `iri-reference`, `uuid`,
/// `json-pointer`, `relative-json-pointer` and `regex`. Another format,
/// such as `password`, is not checked; forms use it as a hint.
///
/// # Example
///
/// ```
/// use serde_json::json;
/// use tw_schema::Schema;
///
/// let schema = Schema::compile(&json!({
///     "type": "object",
///     "properties": { "years": { "type": "integer", "minimum": 1 } },
///     "required": ["years"],
/// }))?;
/// assert!(schema.is_valid(&json!({ "years": 3 })));
///
/// let faults = schema.faults(&json!({ "years": 0 }));
/// assert_eq!((faults[0].path.as_str(), faults[0].message.as_str()), ("/years", "must be at least 1"));
/// # Ok::<(), tw_schema::SchemaFault>(())
/// ```
#[derive(Clone)]
pub struct Schema {
    compiled: Arc<Compiled>,
}

struct Compiled {
    document: Value,
    digest: Digest,
    validator: Validator,
    outline: Outline,
    price: Price,
    required: Vec<String>,
}

impl Schema {
    /// Compiles a document. It must keep the limits [`crate::NODES_MAX`], [`crate::SCHEMA_DEPTH_MAX`] and
    /// the others of this crate.
    ///
    /// # Errors
    ///
    /// When the meta-schema refuses the document, when it is too large or too complex, or when a
    /// reference leads outside of it.
    pub fn compile(document: &Value) -> Result<Self, SchemaFault> {
        let within = limits::check(document)?;
        Self::compile_within(document, within, canonical::digest(document))
    }

    /// Compiles a document that is within the limits and whose digest is known.
    pub(crate) fn compile_within(
        document: &Value,
        within: Within,
        digest: Digest,
    ) -> Result<Self, SchemaFault> {
        jsonschema::draft202012::meta::validate(document).map_err(|error| invalid(&error))?;
        subschemas::check(document)?;
        let read = without_dialect(document);
        // The outline comes first: it is what keeps a hostile schema away from the compiler.
        let outline = Outline::build(&read)?;
        let price = Price::of(&outline)?;
        let validator = validator(&read, within)?;
        let layers = outline.layers(&[ROOT]);
        let required = layers.iter().flat_map(|id| outline.nodes[*id].required.iter().cloned()).collect();
        let document = document.clone();
        let compiled = Compiled { document, digest, validator, outline, price, required };
        Ok(Self { compiled: Arc::new(compiled) })
    }

    #[must_use]
    pub fn document(&self) -> &Value {
        &self.compiled.document
    }

    /// The digest of the document's canonical form.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.compiled.digest
    }

    #[must_use]
    pub fn is_valid(&self, value: &Value) -> bool {
        self.compiled.price.allows_check(value) && self.compiled.validator.is_valid(value)
    }

    /// Whether a value of so many bytes is checked so quickly that nobody waits for it. What an author made expensive
    /// belongs on a thread of its own.
    #[must_use]
    pub fn is_quick(&self, bytes: usize) -> bool {
        self.compiled.price.is_quick(bytes)
    }

    /// The faults of a value, at most [`FAULTS_MAX`], in the order of their locations.
    ///
    /// A valid value has none. If collecting all faults would cost too much, one fault stands for all:
    /// when a schema that refers to itself meets a deep value, or when the value is huge.
    #[must_use]
    pub fn faults(&self, value: &Value) -> Vec<Fault> {
        let Compiled { validator, outline, price, .. } = &*self.compiled;
        if !price.allows_check(value) {
            return vec![Violation::unchecked_size().at("")];
        }
        if validator.is_valid(value) {
            return Vec::new();
        }
        let mut faults = Vec::new();
        match price.telling(outline, value) {
            Telling::Everything => {
                validator
                    .iter_errors(value)
                    .take(ERRORS_MAX)
                    .for_each(|error| words::say(&error, &mut faults));
            }
            Telling::FirstError => {
                validator.validate(value).unwrap_or_else(|error| words::say(&error, &mut faults));
            }
            Telling::Nothing => {}
        }
        if faults.is_empty() {
            faults.push(Violation::schema().at(""));
        }
        let in_order = |left: &Fault, right: &Fault| {
            pointer::document_order(&left.path, &right.path).then_with(|| left.message.cmp(&right.message))
        };
        faults.sort_by(in_order);
        faults.dedup();
        faults.truncate(FAULTS_MAX);
        faults
    }

    /// The first required property that a root object lacks, in the order of the schema.
    ///
    /// A property that is null is present; validation decides whether null fits. For a value that is no
    /// object the result is `None`.
    #[must_use]
    pub fn first_missing(&self, value: &Value) -> Option<String> {
        let object = value.as_object()?;
        self.compiled.required.iter().find(|name| !object.contains_key(*name)).cloned()
    }

    pub(crate) fn outline(&self) -> &Outline {
        &self.compiled.outline
    }

    pub(crate) fn allows_walk(&self, value: &Value) -> bool {
        self.compiled.price.allows_check(value)
    }
}

/// The document without the `$schema` of its root. References to the root would follow it.
fn without_dialect(document: &Value) -> Cow<'_, Value> {
    if document.get("$schema").is_none() {
        return Cow::Borrowed(document);
    }
    let mut plain = document.clone();
    plain.as_object_mut().map(|members| members.shift_remove("$schema"));
    Cow::Owned(plain)
}

fn validator(document: &Value, within: Within) -> Result<Validator, SchemaFault> {
    let patterns =
        PatternOptions::regex().size_limit(within.pattern_bytes_max()).dfa_size_limit(PATTERN_RUN_BYTES_MAX);
    jsonschema::draft202012::options()
        .offline()
        .with_pattern_options(patterns)
        .should_validate_formats(true)
        .build(document)
        .map_err(|error| invalid(&error))
}

/// The fault of a schema that the validator refuses.
fn invalid(error: &ValidationError<'_>) -> SchemaFault {
    if let ValidationErrorKind::Format { format } = error.kind()
        && format == "regex"
    {
        return SchemaFault::Pattern { path: error.instance_path().to_string() };
    }
    let mut faults = Vec::new();
    words::say(error, &mut faults);
    match faults.into_iter().next() {
        Some(fault) => {
            let (path, violation) = fault.into_parts();
            SchemaFault::Invalid { path, violation }
        }
        None => SchemaFault::NotASchema,
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schema").field("digest", &self.compiled.digest).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
