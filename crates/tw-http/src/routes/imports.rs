//! Tools from documents of others.

use axum::{http::StatusCode, response::Response};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tw_identity::rights::CreateTools;
use tw_registry::{ImportNote, ImportedTools, SkippedOperation};

use super::tools::{ToolView, view};
use crate::{
    answer::JsonAnswer,
    body::JsonBytes,
    idempotent::Write,
    members::Body,
    problem::{ProblemDocument, Result},
};

/// An OpenAPI document.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImportOpenapi {
    /// The document, version 3.0 or 3.1: as JSON, or as a text of JSON or YAML.
    #[schema(value_type = Value)]
    document: Value,
    /// Where the API is, instead of the servers that the document names.
    #[serde(default)]
    server_url: Option<String>,
}

impl Body for ImportOpenapi {}

/// What came of a document.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportView {
    /// The tools that were made, as drafts.
    items: Vec<ToolView>,
    skipped: Vec<SkippedView>,
    /// What was left out of tools that were made.
    notes: Vec<ImportNoteView>,
    /// The credentials that the tools refer to. Those that do not exist yet have to be made.
    credentials: Vec<ReferredCredential>,
}

/// An operation that became no tool.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SkippedView {
    method: &'static str,
    path: String,
    operation_id: Option<String>,
    reason: String,
}

/// Something about a tool that its author should know.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportNoteView {
    slug: String,
    message: String,
}

/// A credential that tools refer to.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ReferredCredential {
    label: String,
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: &'static str,
}

impl From<ImportedTools> for ImportView {
    fn from(imported: ImportedTools) -> Self {
        let skipped = |SkippedOperation { method, path, operation_id, reason }| SkippedView {
            method,
            path,
            operation_id,
            reason,
        };
        let credential = |(label, kind)| ReferredCredential { label, kind };
        Self {
            items: imported.items.iter().map(view).collect(),
            skipped: imported.skipped.into_iter().map(skipped).collect(),
            notes: imported
                .notes
                .into_iter()
                .map(|ImportNote { slug, message }| ImportNoteView { slug, message })
                .collect(),
            credentials: imported.credentials.into_iter().map(credential).collect(),
        }
    }
}

/// Makes a draft of an `http` tool of every operation of an OpenAPI document.
///
/// What cannot be a tool is in `skipped`, with the reason; a name that is taken is one.
#[utoipa::path(post, path = "/api/tools/import/openapi", tag = "tools", operation_id = "import_openapi",
    params(("Idempotency-Key" = Option<String>, Header)),
    request_body = ImportOpenapi,
    responses((status = 200, body = ImportView), (status = 422, body = ProblemDocument)))]
pub(crate) async fn openapi(
    write: Write<CreateTools>,
    JsonBytes(body, bytes): JsonBytes<ImportOpenapi>,
) -> Result<Response> {
    let ImportOpenapi { document, server_url } = body;
    write
        .once(&bytes, |Write { app, permit, request_id, .. }| async move {
            let registry = app.engine.registry();
            let imported = registry.import_openapi(&permit, document, server_url, &request_id).await?;
            Ok(JsonAnswer::new(StatusCode::OK, &ImportView::from(imported)))
        })
        .await
}
