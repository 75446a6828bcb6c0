//! The way to a server: with its address and headers, their credentials open, and with limits.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolwright_sdk::{BoxFuture, Secret};
use tw_base::{Error, Result};
use tw_mcp_client::{ListLimits, Listing, McpServers, NoToken, Target};
use tw_model::{Code, McpServerId, TenantId, ToolFailure, ToolId};
use tw_store::{LastAnswer, StoredMcpServer};
use zeroize::Zeroizing;

use crate::{
    listing::ServerAbout,
    servers::McpServerAdmin,
    stamp::reference,
    state::{FAILED, READY, UNAUTHORIZED, UNREACHABLE},
    stdio::stdio_name,
};

/// How long a server has for its whole list.
const LISTED_WITHIN: Duration = Duration::from_secs(15);
/// Of an error, so much is kept.
const ERROR_CHARS_MAX: usize = 1_000;

/// How it went with a server.
#[derive(Debug)]
pub(crate) enum Inquiry {
    Listed(Listing),
    /// Nothing has left: the address may not be called.
    Denied(String),
    Failed {
        status: &'static str,
        error: String,
    },
}

impl McpServerAdmin {
    /// Asks a server for its tools.
    pub(crate) async fn ask(&self, tenant: TenantId, server: &StoredMcpServer) -> Inquiry {
        let mut target = match self.without_token(tenant, server).await {
            Ok(target) => target,
            Err(failure) => {
                return Inquiry::Failed { status: FAILED, error: cut(&failure.message) };
            }
        };
        match self.grants.bearer(tenant, server).await {
            Ok(bearer) => target = signed_in(target, bearer),
            Err(why) => return Inquiry::Failed { status: status_without(&why), error: cut(why.why()) },
        }
        let limits = ListLimits::until(Instant::now() + LISTED_WITHIN);
        match self.client.list_tools(&target, limits).await {
            Ok(listing) => Inquiry::Listed(listing),
            Err(tw_mcp_client::Error::Denied { why, .. }) => Inquiry::Denied(why),
            Err(tw_mcp_client::Error::Unanswered {
                error: error @ tw_egress::Error::Denied { .. }, ..
            }) => Inquiry::Denied(error.to_string()),
            Err(error) => {
                let status = match &error {
                    tw_mcp_client::Error::Unauthorized { .. } => UNAUTHORIZED,
                    tw_mcp_client::Error::SignIn { why, .. } => status_without(why),
                    error if error.is_well() == Some(true) => FAILED,
                    tw_mcp_client::Error::Unanswered { .. }
                    | tw_mcp_client::Error::Late { .. }
                    | tw_mcp_client::Error::Gone { .. }
                    | tw_mcp_client::Error::Refused { .. } => UNREACHABLE,
                    _ => FAILED,
                };
                Inquiry::Failed { status, error: cut(&error.to_string()) }
            }
        }
    }

    /// The server that a tool names, by its name or its id.
    pub(crate) async fn find(&self, tenant: TenantId, named: &str) -> Result<Option<StoredMcpServer>> {
        let scope = self.store.tenant(tenant);
        let found = match named.parse::<McpServerId>() {
            Ok(id) => scope.mcp_server(id).await,
            Err(_) => scope.mcp_server_by_name(named).await,
        };
        found.map_err(Error::store("reading an MCP server"))
    }

    /// Where a server is and what is sent to it, with its credentials open.
    pub(crate) async fn target_of(
        &self,
        tenant: TenantId,
        server: &StoredMcpServer,
    ) -> Result<Target, ToolFailure> {
        let target = self.without_token(tenant, server).await?;
        match self.grants.bearer(tenant, server).await {
            Ok(bearer) => Ok(signed_in(target, bearer)),
            Err(why) => {
                let why = format!("the MCP server `{}`: {}", server.name, why.why());
                Err(ToolFailure::with_code(Code::UpstreamError, why))
            }
        }
    }

    /// The same, without the token of somebody who signed in.
    pub(crate) async fn without_token(
        &self,
        tenant: TenantId,
        server: &StoredMcpServer,
    ) -> Result<Target, ToolFailure> {
        if let Some(name) = stdio_name(server) {
            let process = self.process(tenant, name).await.map_err(|error| hidden(&error))?;
            let gone =
                || ToolFailure::new(format!("the configuration of the server starts no MCP server `{name}`"));
            return Ok(Target::of_process(tenant, &server.url, process.ok_or_else(gone)?));
        }
        let headers =
            self.open(tenant, server.id, "headers", &server.headers).await.map_err(|error| hidden(&error))?;
        let mut target = Target::new(tenant, &server.url);
        for (name, value) in headers.as_object().into_iter().flatten() {
            let text = self.filled(tenant, value.as_str().unwrap_or_default(), &mut target.secrets).await?;
            target.headers.push((name.clone(), text));
        }
        Ok(target)
    }

    /// A header with the credentials that it refers to.
    async fn filled(
        &self,
        tenant: TenantId,
        value: &str,
        secrets: &mut Vec<Secret>,
    ) -> Result<Zeroizing<String>, ToolFailure> {
        let mut filled = Zeroizing::new(String::new());
        for (index, word) in value.split(' ').enumerate() {
            if 0 < index {
                filled.push(' ');
            }
            match reference(word) {
                None => filled.push_str(word),
                Some(reference) => {
                    let secret = self.secret(tenant, reference).await?;
                    filled.push_str(&secret.value);
                    secrets.push(secret);
                }
            }
        }
        Ok(filled)
    }

    /// What `secret:<label>` stands for, or `secret:<label>.<field>`: a label may have dots itself.
    async fn secret(&self, tenant: TenantId, reference: &str) -> Result<Secret, ToolFailure> {
        let whole = self.credentials.credential(tenant, reference).await;
        let found = match (whole, reference.rsplit_once('.')) {
            (Err(failure), Some((label, field))) if failure.code == Code::CredentialMissing => {
                match self.credentials.credential(tenant, label).await {
                    Ok(credential) => credential.field_secret(field),
                    Err(_) => return Err(failure),
                }
            }
            (whole, _) => whole?.secret(),
        };
        found.ok_or_else(|| {
            let why = format!(
                "the credential `{reference}` has several fields: name one, as in `{reference}.<field>`"
            );
            ToolFailure::with_code(Code::CredentialMissing, why)
        })
    }

    /// A part of what is kept about a server, with its secrets sealed.
    pub(crate) async fn sealed(
        &self,
        tenant: TenantId,
        id: McpServerId,
        name: &str,
        part: Value,
    ) -> Result<String> {
        let mut part = json!({ name: part });
        self.vault.seal_part(tenant, binding(id), &mut part).await?;
        Ok(part[name].to_string())
    }

    /// The same, opened.
    pub(crate) async fn open(
        &self,
        tenant: TenantId,
        id: McpServerId,
        name: &str,
        sealed: &str,
    ) -> Result<Value> {
        let sealed: Value = serde_json::from_str(sealed)
            .map_err(|error| Error::internal("reading what is kept about an MCP server", error))?;
        let part = self.vault.open_part(tenant, binding(id), &json!({ name: sealed })).await?;
        Ok(part[name].clone())
    }
}

impl McpServers for McpServerAdmin {
    fn target<'a>(&'a self, tenant: TenantId, server: &'a str) -> BoxFuture<'a, Result<Target, ToolFailure>> {
        Box::pin(async move {
            let found = self.find(tenant, server).await.map_err(|error| hidden(&error))?;
            let found = found.ok_or_else(|| {
                ToolFailure::new(format!(
                    "there is no MCP server `{}`",
                    server.chars().take(64).collect::<String>()
                ))
            })?;
            self.target_of(tenant, &found).await
        })
    }
}

/// A server with the token that it gave, in the place of whatever else would say who calls.
fn signed_in(mut target: Target, bearer: Option<tw_mcp_client::Bearer>) -> Target {
    if bearer.is_some() {
        target.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
    }
    target.bearer = bearer;
    target
}

fn status_without(why: &NoToken) -> &'static str {
    match why {
        NoToken::Over(_) => UNAUTHORIZED,
        NoToken::Late(_) => UNREACHABLE,
    }
}

/// What is sealed for one server opens for no other, and for no tool.
pub(crate) fn binding(id: McpServerId) -> ToolId {
    ToolId::from_uuid(id.uuid())
}

/// A store that is away is nothing that the caller of a tool can mend.
fn hidden(error: &Error) -> ToolFailure {
    tracing::error!(error = error as &dyn std::error::Error, "an MCP server could not be read");
    ToolFailure::with_code(Code::Internal, "the MCP server could not be read; the server's log says why")
}

pub(crate) fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(ERROR_CHARS_MAX).collect()
}

/// What is wrong with a request, without saying that it is one.
pub(crate) fn why_of(error: &tw_egress::Error) -> String {
    match error {
        tw_egress::Error::BadUrl { why } => (*why).to_owned(),
        tw_egress::Error::BadRequest { why } => why.clone(),
        other => other.to_string(),
    }
}

/// What a tenant is known as, as it may be shown: the name, and the secret if there is one.
pub(crate) fn shown_client(server: &StoredMcpServer) -> (Option<String>, Option<String>) {
    let oauth: Value =
        server.oauth.as_deref().and_then(|oauth| serde_json::from_str(oauth).ok()).unwrap_or_default();
    let shown = tw_model::redacted(&oauth);
    let text = |name: &str| shown[name].as_str().map(str::to_owned);
    (text("client_id"), text("client_secret"))
}

/// The headers of a server as they may be shown.
pub(crate) fn shown_headers(server: &StoredMcpServer) -> Map<String, Value> {
    let headers: Value = serde_json::from_str(&server.headers).unwrap_or_default();
    let shown = tw_model::redacted(&json!({ "headers": headers }));
    shown["headers"].as_object().cloned().unwrap_or_default()
}

/// The answer of a server as it is kept: what is known of an earlier one stays where this one says nothing.
pub(crate) fn answer_of(before: &LastAnswer, asked: &Inquiry) -> LastAnswer {
    match asked {
        Inquiry::Listed(listing) => LastAnswer {
            status: READY.to_owned(),
            error: None,
            about: Some(json!(ServerAbout::of(listing)).to_string()),
            tools: i64::try_from(listing.tools.len()).unwrap_or(i64::MAX),
            listed: Some(tw_model::Timestamp::now()),
        },
        Inquiry::Denied(why) => {
            LastAnswer { status: UNREACHABLE.to_owned(), error: Some(cut(why)), ..before.clone() }
        }
        Inquiry::Failed { status, error } => {
            LastAnswer { status: (*status).to_owned(), error: Some(error.clone()), ..before.clone() }
        }
    }
}
