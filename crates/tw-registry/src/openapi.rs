//! Tools from an OpenAPI document: each operation becomes a draft of an `http` tool.
//!
//! `document.rs` follows references, `schemas.rs` makes JSON Schema 2020-12 of what 3.0 and 3.1 say, and `operation.rs`
//! makes a definition of an operation, of whose values `styles.rs` says how they are written. `yaml.rs` reads a document that
//! comes as text. All five are pure; saving the drafts is left to authoring.

mod document;
mod operation;
mod schemas;
mod styles;
mod yaml;

use std::collections::BTreeMap;

use serde_json::Value;
use tw_base::{Error, Result};
use tw_identity::rights::{CreateTools, Permit};
use tw_model::Code;
use tw_schema::{Fault, Violation};

use self::{document::Document, operation::Operation};
use crate::{
    Registry,
    authoring::{EditContext, in_lane},
    tools::Listed,
};

/// How many operations one document may bring. Each is a tool of its own, which somebody has to look at.
const OPERATIONS_MAX: usize = 500;
/// How many faults a reason names. Whoever mends these sees the others next time.
const FAULTS_TOLD: usize = 3;

/// What came of a document.
#[derive(Debug)]
pub struct ImportedTools {
    pub items: Vec<Listed>,
    pub skipped: Vec<SkippedOperation>,
    /// What was left out of tools that were made.
    pub notes: Vec<ImportNote>,
    /// The credentials that the tools refer to: label and type.
    pub credentials: BTreeMap<String, &'static str>,
}

/// An operation that became no tool.
#[derive(Debug, PartialEq, Eq)]
pub struct SkippedOperation {
    pub method: &'static str,
    pub path: String,
    pub operation_id: Option<String>,
    pub reason: String,
}

/// Something about a tool that its author should know.
#[derive(Debug, PartialEq, Eq)]
pub struct ImportNote {
    pub slug: String,
    pub message: String,
}

/// A definition that an operation makes.
#[derive(Debug)]
struct Draft {
    slug: String,
    body: Value,
    notes: Vec<String>,
    credentials: Vec<(String, &'static str)>,
}

/// Every operation of a document, with the definition that it makes or the reason why it makes none.
#[derive(Debug)]
struct Plan(Vec<(SkippedOperation, Option<Draft>)>);

impl Registry {
    /// Makes a draft of every operation of an OpenAPI document, which may be a text of JSON or YAML. `server` stands for
    /// the document's own servers.
    pub async fn import_openapi(
        &self,
        permit: &Permit<CreateTools>,
        document: Value,
        server: Option<String>,
        request_id: &str,
    ) -> Result<ImportedTools> {
        let read = move || match &document {
            Value::String(text) => match yaml::read(text) {
                Ok(document) => plan(&document, server.as_deref()),
                Err(violation) => Err(vec![violation.at("/document")]),
            },
            document => plan(document, server.as_deref()),
        };
        let planned = in_lane(permit.caller().tenant, "reading an OpenAPI document", read).await?;
        let Plan(operations) = match planned {
            Ok(plan) => plan,
            Err(faults) => return Err(Error::refused(faults)),
        };
        let mut imported = ImportedTools {
            items: Vec::new(),
            skipped: Vec::new(),
            notes: Vec::new(),
            credentials: BTreeMap::new(),
        };
        for (operation, draft) in operations {
            let Some(mut draft) = draft else {
                imported.skipped.push(operation);
                continue;
            };
            let asked = EditContext { marks: None, request_id: Some(request_id), actor: None };
            let mut saved = self.create_tool(permit, &draft.body, asked).await;
            if let Err(error) = &saved
                && let Some(why) = draft.without_output(error)
            {
                draft.notes.push(why);
                saved = self.create_tool(permit, &draft.body, asked).await;
            }
            match saved {
                Ok(saved) => {
                    let note = |message| ImportNote { slug: draft.slug.clone(), message };
                    imported.notes.extend(draft.notes.into_iter().map(note));
                    imported.credentials.extend(draft.credentials);
                    imported.items.push(saved.tool);
                }
                Err(error) if concerns_one(&error) => {
                    imported.skipped.push(SkippedOperation { reason: reason(&error), ..operation });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(imported)
    }
}

impl Draft {
    /// Leaves the output schema out where nothing else is wrong: what a service says about its answers is no reason not to
    /// call it.
    fn without_output(&mut self, error: &Error) -> Option<String> {
        let Error::InvalidParams { faults, .. } = error else { return None };
        let is_about_output = |fault: &Fault| fault.path.starts_with("/output_schema");
        if faults.is_empty() || !faults.iter().all(is_about_output) {
            return None;
        }
        self.body.as_object_mut()?.remove("output_schema")?;
        Some(format!("it has no output schema: {}", reason(error)))
    }
}

/// Whether the next operation may fare better.
fn concerns_one(error: &Error) -> bool {
    matches!(error.code(), Code::InvalidParams | Code::MissingParam | Code::Conflict)
}

pub(crate) fn reason(error: &Error) -> String {
    match error {
        Error::InvalidParams { faults, .. } | Error::MissingParam { faults, .. } => {
            let told =
                faults.iter().take(FAULTS_TOLD).map(|fault| format!("`{}` {}", fault.path, fault.message));
            told.collect::<Vec<_>>().join("; ")
        }
        error => error.to_string(),
    }
}

fn plan(document: &Value, server: Option<&str>) -> std::result::Result<Plan, Vec<Fault>> {
    let is_address = |url: &str| url.starts_with("http://") || url.starts_with("https://");
    let wrong = server.filter(|url| !is_address(url)).map(|_| Violation::format("url").at("/server_url"));
    let document = match (Document::read(document), wrong) {
        (Ok(document), None) => document,
        (Ok(_), Some(wrong)) => return Err(vec![wrong]),
        (Err(faults), wrong) => return Err(faults.into_iter().chain(wrong).collect()),
    };
    let mut operations = Vec::new();
    let mut slugs = BTreeMap::new();
    for operation in Operation::all(&document) {
        let name = |reason: String| SkippedOperation {
            method: operation.method,
            path: operation.path.to_owned(),
            operation_id: operation.id().map(str::to_owned),
            reason,
        };
        if OPERATIONS_MAX <= operations.len() {
            let reason =
                format!("an import must have at most {OPERATIONS_MAX} operations: divide the document");
            operations.push((name(reason), None));
            continue;
        }
        let drafted = operation.draft(&document, server).and_then(|draft| {
            let key = draft.slug.to_ascii_lowercase();
            match slugs.insert(key, operation.place()) {
                None => Ok(draft),
                Some(other) => Err(format!("`{}` is the name of {other} already", draft.slug)),
            }
        });
        match drafted {
            Ok(draft) => operations.push((name(String::new()), Some(draft))),
            Err(reason) => operations.push((name(reason), None)),
        }
    }
    Ok(Plan(operations))
}

#[cfg(test)]
mod tests;
