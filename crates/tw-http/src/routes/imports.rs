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
    /// The document, version 3.0 or 3.1: an object, or a string of JSON or YAML.
    #[schema(value_type = Value)]
    document: Value,
    /// The base URL of the API. Overrides the servers in the document.
    #[serde(default)]
    server_url: Option<String>,
}

impl Body for ImportOpenapi {}

/// The result of an import.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct ImportView {
    /// The tools that were created, as drafts.
    items: Vec<ToolView>,
    skipped: Vec<SkippedView>,
    /// Parts of created tools that were left out.
    notes: Vec<ImportNoteView>,
    /// The credentials that the tools refer to. Create those that do not exist yet.
    credentials: Vec<ReferredCredential>,
}

/// An operation that was not imported.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct SkippedView {
    method: &'static str,
    path: String,
    operation_id: Option<String>,
    reason: String,
}

/// A note for the author of a tool.
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

/// Create a draft `http` tool for every operation of an OpenAPI document.
///
/// Operations that were not imported are in `skipped` with the reason, such as a slug that is taken.
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
