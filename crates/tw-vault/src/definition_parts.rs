//! Definitions in the input of a call: a tool that saves tools is given what the routes for tools are given, so the same
//! is a secret in both.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_model::{REDACTED, each_secret, secret_texts, with_kept_secrets};
use zeroize::Zeroizing;

/// What says of which kind the tool of a definition is.
const KIND: &str = "implementation_type";

/// The parts of an input in which secrets are known by the rule for definitions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DefinitionParts {
    #[default]
    None,
    /// Members of the input, each a part of a definition.
    Members(BTreeSet<String>),
    /// All of it: somewhere in it stands what is passed on to a tool that is given a definition.
    Whole,
}

/// An input with secrets, as it may be written down.
#[derive(Debug)]
pub struct HiddenInput {
    pub shown: Value,
    /// The secrets, as far as they are looked for where they are passed on to.
    pub(crate) texts: Vec<Zeroizing<String>>,
}

impl DefinitionParts {
    #[must_use]
    pub fn members(names: &[&str]) -> Self {
        Self::Members(names.iter().map(|name| (*name).to_owned()).collect())
    }

    /// These parts and others.
    #[must_use]
    pub fn and(self, other: &Self) -> Self {
        match (self, other) {
            (parts, Self::None) => parts,
            (Self::Members(names), Self::Members(others)) => {
                Self::Members(names.into_iter().chain(others.iter().cloned()).collect())
            }
            (Self::None, other) => other.clone(),
            _ => Self::Whole,
        }
    }

    /// The input without its secrets; `None` where it has none. What is hidden already is a secret that is stored.
    #[must_use]
    pub fn hide(&self, input: &Value) -> Option<HiddenInput> {
        let mut shown = input.clone();
        let (mut is_hiding, mut texts) = (false, Vec::new());
        self.visit(&mut shown, &mut |part| {
            texts.extend(secret_texts(part).into_iter().map(Zeroizing::new));
            each_secret(part, &mut |secret| {
                is_hiding |= secret != REDACTED;
                *secret = Value::String(REDACTED.to_owned());
            });
        });
        is_hiding.then_some(HiddenInput { shown, texts })
    }

    /// Another input, with what comes back hidden as it was, as far as it goes where it went.
    #[must_use]
    pub fn restore(&self, mut input: Value, before: &Value) -> Value {
        match self {
            Self::None => input,
            Self::Whole => with_kept_secrets(input, before),
            Self::Members(_) if input.get(KIND) != before.get(KIND) => input,
            Self::Members(names) => {
                for name in names {
                    if let (Some(part), Some(before)) = (input.get_mut(name), before.get(name)) {
                        *part = with_kept_secrets(part.take(), before);
                    }
                }
                input
            }
        }
    }

    fn visit(&self, input: &mut Value, visit: &mut impl FnMut(&mut Value)) {
        match self {
            Self::None => {}
            Self::Whole => visit(input),
            Self::Members(names) => {
                names.iter().for_each(|name| input.get_mut(name).into_iter().for_each(&mut *visit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parts() -> DefinitionParts {
        DefinitionParts::members(&["implementation", "execution_spec"])
    }

    #[test]
    fn secret_is_hidden_in_the_parts_of_a_definition_and_nowhere_else() {
        let schema = json!({ "properties": { "token": { "type": "string" } } });
        let input = |key: &str, pin: Value| {
            json!({
                "slug": "demo", "input_schema": schema, "implementation": { "url": "u", "headers": { "X-Key": key } },
                "execution_spec": { "steps": [{ "id": "a", "input": { "pin": pin } }] },
            })
        };
        let hidden = parts().hide(&input("demo", json!(4711))).unwrap();
        assert_eq!(hidden.shown, input("***", json!("***")));
        let texts: Vec<_> = hidden.texts.iter().map(|text| text.as_str()).collect();
        assert_eq!(texts, ["4711", "demo"]);
        assert!(parts().hide(&input("secret:demo", json!("***"))).is_none());
        assert!(parts().hide(&json!({ "implementation": "odd", "execution_spec": null })).is_none());
        assert!(parts().hide(&json!(["odd"])).is_none());
        assert!(DefinitionParts::None.hide(&input("demo", json!(4711))).is_none());
    }

    #[test]
    fn whole_input_is_hidden_where_a_definition_may_stand_anywhere() {
        let input = json!({ "deep": [{ "headers": { "A": "b" } }], "api_key": "k", "q": "k" });
        let hidden = DefinitionParts::Whole.hide(&input).unwrap();
        assert_eq!(
            hidden.shown,
            json!({ "deep": [{ "headers": { "A": "***" } }], "api_key": "***", "q": "k" })
        );
    }

    #[test]
    fn what_comes_back_hidden_is_what_it_was() {
        let input = |key: &str, url: &str| json!({ "name": "***", "implementation": { "url": url, "headers": { "K": key } } });
        let before = input("one", "https://a.test/x");
        assert_eq!(
            parts().restore(input("***", "https://a.test/y"), &before),
            input("one", "https://a.test/y")
        );
        assert_eq!(
            parts().restore(input("two", "https://a.test/x"), &before),
            input("two", "https://a.test/x")
        );
        assert_eq!(
            parts().restore(input("***", "https://b.test/x"), &before),
            input("***", "https://b.test/x")
        );
        let mut other = input("***", "https://a.test/x");
        other["implementation_type"] = json!("mcp");
        assert_eq!(parts().restore(other.clone(), &before), other);
        let new = json!({ "execution_spec": { "token": "***" } });
        assert_eq!(parts().restore(new.clone(), &before), new);
        let whole = DefinitionParts::Whole
            .restore(json!({ "a": { "token": "***" } }), &json!({ "a": { "token": 1 } }));
        assert_eq!(whole, json!({ "a": { "token": 1 } }));
    }

    #[test]
    fn parts_add_up() {
        let (one, other) = (DefinitionParts::members(&["a"]), DefinitionParts::members(&["b"]));
        assert_eq!(one.clone().and(&other), DefinitionParts::members(&["a", "b"]));
        assert_eq!(one.clone().and(&DefinitionParts::None), one);
        assert_eq!(DefinitionParts::None.and(&one), one);
        assert_eq!(one.clone().and(&DefinitionParts::Whole), DefinitionParts::Whole);
        assert_eq!(DefinitionParts::Whole.and(&one), DefinitionParts::Whole);
    }
}
