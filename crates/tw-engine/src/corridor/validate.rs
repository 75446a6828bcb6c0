//! Step 6: does the input fit.

use std::sync::Arc;

use serde_json::{Value, value::RawValue};
use tw_model::Caller;
use tw_policy::Rule;

use super::authorize::Authorized;
use crate::{
    Engine,
    catalogue::{Body, Tool, View},
    error::{Error, Result},
};

/// A call whose input fits the tool's schema, with defaults filled in.
#[derive(Debug)]
pub(crate) struct Valid {
    tool: Arc<Tool>,
    rule: Rule,
    value: Value,
    /// The same as text: the caller's own bytes wherever nothing had to be changed.
    text: Box<RawValue>,
}

impl Valid {
    pub(crate) fn tool(&self) -> &Tool {
        &self.tool
    }

    pub(crate) fn into_parts(self) -> (Arc<Tool>, Rule, Value, Box<RawValue>) {
        (self.tool, self.rule, self.value, self.text)
    }
}

impl Engine {
    /// Everything that can be known to be wrong with a call before it runs. Nobody is asked to approve
    /// what could not be done.
    pub(crate) async fn validate(
        &self,
        authorized: Authorized,
        input: &RawValue,
        caller: &Caller,
        view: &View,
    ) -> Result<Valid> {
        let valid = fitting(authorized, input, caller)?;
        match valid.tool.body {
            Body::ManageTools => self.check_managing(caller, view, &valid.value).await?,
            Body::Code(_) | Body::Kind(_) => {}
        }
        Ok(valid)
    }
}

/// Holds the input against the tool's schema.
fn fitting(authorized: Authorized, input: &RawValue, caller: &Caller) -> Result<Valid> {
    let schema = &authorized.tool().input;
    let mut value: Value = serde_json::from_str(input.get())
        .map_err(|_| Error::invalid("/input", "is not JSON that can be read"))?;
    let mut changed = false;
    // People get an error they can see next to the field; a model gets what it plainly meant.
    if caller.principal.is_agent() {
        changed |= !schema.coerce(&mut value).is_empty();
    }
    changed |= schema.with_defaults(&mut value);
    if let Some(param) = schema.first_missing(&value) {
        return Err(Error::MissingParam { param });
    }
    if !schema.is_valid(&value) {
        let faults = schema.faults(&value);
        let what = match &*faults {
            [fault] => format!("the input does not fit: `{}` {}", place(&fault.path), fault.message),
            faults => format!("the input does not fit in {} places", faults.len()),
        };
        return Err(Error::InvalidParams { what, faults });
    }
    let text = if changed {
        serde_json::value::to_raw_value(&value).expect("a JSON value can be written as JSON")
    } else {
        input.to_owned()
    };
    let (tool, rule) = authorized.into_parts();
    Ok(Valid { tool, rule, value, text })
}

fn place(path: &str) -> &str {
    if path.is_empty() { "input" } else { path.trim_start_matches('/') }
}
