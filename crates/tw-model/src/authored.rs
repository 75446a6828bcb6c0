//! The part of a tool that only its author could write.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What only a tool that is written down outside the program has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Authored {
    /// Settings of whatever runs. May hold secrets: show it through `redacted` only.
    pub implementation: Value,
    pub execution_spec: Option<Value>,
    /// The input as the author laid it out, where it was authored as fields.
    pub fields: Option<Value>,
    pub form_spec: Option<Value>,
    pub view_spec: Option<Value>,
    /// Other names under which the tool is found.
    pub aliases: Vec<String>,
    /// Name and description in other languages: `{ "de": { "name", "description" } }`. The texts of schemas, forms
    /// and sections have theirs beside them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub i18n: Option<Value>,
}

impl Default for Authored {
    fn default() -> Self {
        Self {
            implementation: Value::Object(serde_json::Map::new()),
            execution_spec: None,
            fields: None,
            form_spec: None,
            view_spec: None,
            aliases: Vec::new(),
            i18n: None,
        }
    }
}

impl Authored {
    /// The names of the parts in which secrets can stand. The others are shown to everybody who may call the tool.
    pub const SECRET_PARTS: &'static [&'static str] = &["implementation", "execution_spec"];

    /// The parts in which secrets can stand.
    pub fn secret_parts(&self) -> impl Iterator<Item = &Value> {
        [Some(&self.implementation), self.execution_spec.as_ref()].into_iter().flatten()
    }

    /// As [`Authored::secret_parts`], to be changed.
    pub fn secret_parts_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        [Some(&mut self.implementation), self.execution_spec.as_mut()].into_iter().flatten()
    }

    /// For a tool of the program, which has none of it.
    #[must_use]
    pub fn none() -> Arc<Self> {
        Arc::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_the_parts_with_secrets_are_those_of_the_parts() {
        let [one, other] = [json!({ "token": 1 }), json!({ "token": 2 })];
        let mut authored = Authored {
            implementation: one.clone(),
            execution_spec: Some(other.clone()),
            ..Authored::default()
        };
        let text = json!(authored);
        let named: Vec<_> = Authored::SECRET_PARTS.iter().map(|name| text[*name].clone()).collect();
        assert_eq!(named, [one, other]);
        assert_eq!(authored.secret_parts().cloned().collect::<Vec<_>>(), named);
        assert_eq!(authored.secret_parts_mut().map(|part| part.clone()).collect::<Vec<_>>(), named);
    }
}
