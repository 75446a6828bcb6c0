//! Fields: the form of a schema that people author.
//!
//! A field has one of twelve storage types, and a variant that says how it is shown. A list of fields
//! converts to one schema and back. A keyword that fields cannot express is refused by name, so an
//! editor never drops a constraint that it does not show.

mod check;
mod read;
mod restore;
mod write;

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use read::parse_fields;
pub use restore::{FieldsFault, schema_to_fields};
pub(crate) use write::compiled as schema_of_sound;
pub use write::fields_to_schema;

/// How many characters the name of a field may have.
pub const FIELD_NAME_MAX: usize = 128;
/// How deep fields may be nested.
pub const FIELD_DEPTH_MAX: usize = 16;
/// How many fields one tool may have, nested ones included.
pub const FIELDS_MAX: usize = 1_000;

/// One value of a tool's input or output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The name of the property. The field of an array's items needs no name, and the schema does not
    /// keep one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    #[serde(rename = "type")]
    pub kind: FieldType,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// One of [`variants`]; the first of them by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<String>,
    /// The choices of an `enum`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<FieldOption>,
    /// The members of an `object`. An object without fields accepts any members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// The field of every item of an `array`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Box<Field>>,
    /// For a `relation`, the type of the entity; for `media`, the accepted media types, such as `image/*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The texts of the field in other languages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub i18n: BTreeMap<String, FieldTexts>,
}

/// The texts of a field in one language. A text that is missing is shown as it is written in the field.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldTexts {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The labels of the choices, one for each of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub option_labels: Vec<Option<String>>,
}

/// One choice of an `enum` field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FieldOption {
    /// A text, a number or a boolean.
    pub value: Value,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// The side of a tool on which a component is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ComponentSide {
    Input,
    Display,
}

/// The twelve in one place: the word, its variants, and the two components that show it by default.
macro_rules! field_types {
    ($($variant:ident = $word:literal [$($look:literal),+]),+ $(,)?) => {
        /// The storage type of a field. There are twelve and never a thirteenth: another look is a
        /// variant, and another meaning is the tool's own business.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "lowercase")]
        pub enum FieldType { $($variant),+ }

        impl FieldType {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }

            #[must_use]
            pub fn parse(text: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|kind| kind.as_str() == text)
            }
        }

        /// The variants of a type, the default first.
        #[must_use]
        pub const fn variants(kind: FieldType) -> &'static [&'static str] {
            match kind { $(FieldType::$variant => &[$($look),+]),+ }
        }

        /// The name of the default component of a type.
        #[must_use]
        pub const fn component(kind: FieldType, side: ComponentSide) -> &'static str {
            match (kind, side) {
                $(
                    (FieldType::$variant, ComponentSide::Input) => concat!("field-input:", $word),
                    (FieldType::$variant, ComponentSide::Display) => concat!("field-display:", $word),
                )+
            }
        }
    };
}

field_types! {
    Text = "text" ["input", "textarea", "markdown", "code", "password"],
    Number = "number" ["input", "integer", "slider", "currency", "percent", "rating"],
    Boolean = "boolean" ["switch", "checkbox"],
    Date = "date" ["date", "datetime", "time"],
    Enum = "enum" ["select", "radio", "segmented"],
    Url = "url" ["input", "link", "image"],
    Email = "email" ["input", "link"],
    Phone = "phone" ["input", "link"],
    Media = "media" ["upload", "image", "video", "audio"],
    Relation = "relation" ["picker", "link"],
    Object = "object" ["group", "inline", "json"],
    Array = "array" ["list", "table", "tags", "multi-select"],
}

impl fmt::Display for FieldType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Field {
    /// An optional field with a name and a type only.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: FieldType) -> Self {
        Self {
            name: name.into(),
            kind,
            label: None,
            description: None,
            required: false,
            default: None,
            variant: None,
            options: Vec::new(),
            fields: Vec::new(),
            items: None,
            target: None,
            i18n: BTreeMap::new(),
        }
    }
}

#[cfg(test)]
mod tests;
