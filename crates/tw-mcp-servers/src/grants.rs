//! What servers gave to those who signed in: kept sealed, sent to the server that it is for, and renewed by one of all
//! servers of this program at a time.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep};
use toolwright_sdk::{BoxFuture, Credentials, Network};
use tw_base::{Error, Result};
use tw_mcp_client::{
    Bearer, NoToken, Renewal,
    oauth::{self, GivenTokens, OAuthClient, OAuthError},
};
use tw_model::{Code, McpServerId, TenantId, Timestamp, ToolFailure, ToolId};
use tw_store::{RenewedGrant, Store, StoredMcpGrant, StoredMcpServer};
use tw_vault::Vault;
use zeroize::Zeroizing;

use crate::state::UNAUTHORIZED;

/// A token is renewed so long before it ends, or in the last quarter of a short life.
const EARLY: Duration = Duration::from_secs(60);
/// For how long the renewal belongs to the one that took it; longer than asking for it may take.
const LEASED_FOR: Duration = Duration::from_secs(30);
/// How often the others look whether it is done.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// The tokens of all tenants, as far as servers gave them any.
#[derive(Clone)]
pub(crate) struct Grants {
    pub(crate) store: Store,
    pub(crate) vault: Vault,
    pub(crate) credentials: Arc<dyn Credentials>,
    pub(crate) network: Arc<dyn Network>,
}

/// What is sealed of a grant.
#[derive(Serialize, Deserialize)]
pub(crate) struct GrantSecrets {
    pub(crate) access: Zeroizing<String>,
    pub(crate) refresh: Option<Zeroizing<String>>,
    pub(crate) client: KnownAs,
    pub(crate) token_endpoint: String,
    pub(crate) resource: String,
}

/// Who this is to an authorization server, and where its secret is.
#[derive(Serialize, Deserialize)]
pub(crate) struct KnownAs {
    #[serde(flatten)]
    pub(crate) client: OAuthClient,
    /// The secret stands in the server's row, and not here.
    pub(crate) is_configured: bool,
}

impl fmt::Debug for Grants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grants").finish_non_exhaustive()
    }
}

/// When a token holds no more.
pub(crate) fn end_of(given: Timestamp, tokens: &GivenTokens) -> Option<Timestamp> {
    const LONGEST: u64 = 10 * 365 * 24 * 60 * 60;
    tokens.lasts_s.map(|seconds| given.plus(Duration::from_secs(seconds.min(LONGEST))))
}

impl Grants {
    /// The token for a server, renewed if it is about to end. `None` where nobody signed in.
    pub(crate) async fn bearer(
        &self,
        tenant: TenantId,
        server: &StoredMcpServer,
    ) -> Result<Option<Bearer>, NoToken> {
        let grant = self.store.tenant(tenant).mcp_grant(server.id).await;
        let grant = grant.map_err(Error::store("reading what an MCP server gave")).map_err(late)?;
        // A token goes nowhere else than where it is for.
        let Some(grant) = grant.filter(|grant| grant.url == server.url) else { return Ok(None) };
        if let Some(why) = &grant.refused {
            return Err(NoToken::Over(why.clone()));
        }
        let token = match (is_ending(&grant), grant.expires) {
            (false, _) => self.open(tenant, &grant).await.map_err(late)?.access,
            (true, expires) => match self.renew(tenant, grant.clone()).await {
                Ok(token) => token,
                // It may still hold for a moment.
                Err(NoToken::Late(_)) if expires.is_some_and(|end| Timestamp::now() < end) => {
                    self.open(tenant, &grant).await.map_err(late)?.access
                }
                Err(none) => return Err(none),
            },
        };
        let renewal = Arc::new(OfServer { grants: self.clone(), tenant, server: server.id });
        Ok(Some(Bearer { grant: grant.id.to_string(), token, renewal }))
    }

    /// A token in the place of this grant's, asked for by one of all who want it.
    async fn renew(&self, tenant: TenantId, seen: StoredMcpGrant) -> Result<Zeroizing<String>, NoToken> {
        let grants = self.clone();
        // Whoever waits may give up. What was asked for is kept all the same: a refresh token may work once.
        let renewing = tokio::spawn(async move { grants.renew_in_turn(tenant, &seen).await });
        match renewing.await {
            Ok(renewed) => renewed,
            Err(_) => {
                Err(NoToken::Late("the token could not be renewed; the server's log says why".to_owned()))
            }
        }
    }

    async fn renew_in_turn(
        &self,
        tenant: TenantId,
        seen: &StoredMcpGrant,
    ) -> Result<Zeroizing<String>, NoToken> {
        let scope = self.store.tenant(tenant);
        let failed = |error| late(Error::store("renewing a token")(error));
        let until = Instant::now() + LEASED_FOR;
        loop {
            let Some(now) = scope.mcp_grant(seen.server).await.map_err(failed)? else {
                return Err(NoToken::Over("nobody is signed in any more: sign in again".to_owned()));
            };
            if let Some(why) = now.refused {
                return Err(NoToken::Over(why));
            }
            if (now.id, now.revision) != (seen.id, seen.revision) {
                return Ok(self.open(tenant, &now).await.map_err(late)?.access);
            }
            if scope.lease_mcp_grant(&now, Timestamp::now(), LEASED_FOR).await.map_err(failed)? {
                return self.renew_alone(tenant, &now).await;
            }
            if until <= Instant::now() {
                return Err(NoToken::Late("the token is not renewed yet".to_owned()));
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn renew_alone(
        &self,
        tenant: TenantId,
        grant: &StoredMcpGrant,
    ) -> Result<Zeroizing<String>, NoToken> {
        let scope = self.store.tenant(tenant);
        let asked = self.ask(tenant, grant).await;
        let (over, failed) = match asked {
            Ok((secrets, tokens, given)) => return self.keep(tenant, grant, secrets, tokens, given).await,
            Err(Trouble::Over(why)) => (Some(format!("sign in again: {why}")), why),
            Err(Trouble::Late(why)) => (None, why),
        };
        let noted = match &over {
            Some(why) => scope.refuse_mcp_grant(grant, why, UNAUTHORIZED).await,
            None => scope.release_mcp_grant(grant).await,
        };
        if let Err(error) = noted {
            tracing::warn!(%error, server = %grant.server, "it was not noted that a token could not be renewed");
        }
        Err(over.map_or_else(
            || NoToken::Late(format!("the token could not be renewed: {failed}")),
            NoToken::Over,
        ))
    }

    async fn keep(
        &self,
        tenant: TenantId,
        grant: &StoredMcpGrant,
        before: GrantSecrets,
        tokens: GivenTokens,
        given: Timestamp,
    ) -> Result<Zeroizing<String>, NoToken> {
        let expires = end_of(given, &tokens);
        let GivenTokens { access, refresh, scope, .. } = tokens;
        let secrets = GrantSecrets { access: access.clone(), refresh: refresh.or(before.refresh), ..before };
        let sealed = self.seal(tenant, grant.server, &secrets).await.map_err(late)?;
        let scope = scope.or_else(|| grant.scope.clone());
        let renewed = RenewedGrant { sealed: &sealed, scope: scope.as_deref(), given, expires };
        // Lost here, the token would be gone for all: what was used for it works once.
        for tries in 1.. {
            match self.store.tenant(tenant).renew_mcp_grant(grant, &renewed).await {
                Ok(()) => break,
                Err(error) if tries < 5 => {
                    tracing::warn!(%error, server = %grant.server, "a renewed token was not kept yet");
                    sleep(LOOK_EVERY * 4 * tries).await;
                }
                Err(error) => return Err(late(Error::store("renewing a token")(error))),
            }
        }
        Ok(access)
    }

    async fn ask(
        &self,
        tenant: TenantId,
        grant: &StoredMcpGrant,
    ) -> Result<(GrantSecrets, GivenTokens, Timestamp), Trouble> {
        let mut secrets =
            self.open(tenant, grant).await.map_err(|error| Trouble::Late(late(error).why().to_owned()))?;
        let Some(refresh) = secrets.refresh.clone() else {
            return Err(Trouble::Over(
                "the token holds no more, and came without another to renew it".to_owned(),
            ));
        };
        let client = self.client(tenant, grant.server, &secrets.client, &secrets.token_endpoint).await?;
        let (egress, given) = (self.network.egress(tenant), Timestamp::now());
        let asked =
            oauth::refresh(&egress, &secrets.token_endpoint, &client, &secrets.resource, &refresh).await;
        match asked {
            Ok(tokens) => {
                secrets.refresh = Some(refresh);
                Ok((secrets, tokens, given))
            }
            Err(error @ OAuthError::Refused { .. }) if error.is_final() => {
                Err(Trouble::Over(error.to_string()))
            }
            Err(error) => Err(Trouble::Late(error.to_string())),
        }
    }

    /// Who this is, with its secret.
    pub(crate) async fn client(
        &self,
        tenant: TenantId,
        server: McpServerId,
        known: &KnownAs,
        token_endpoint: &str,
    ) -> Result<OAuthClient, Trouble> {
        if !known.is_configured {
            return Ok(known.client.clone());
        }
        let stored = self.store.tenant(tenant).mcp_server(server).await;
        let stored = stored.map_err(Error::store("reading an MCP server")).map_err(Trouble::hidden)?;
        let configured = match stored {
            Some(stored) => configured(&self.vault, tenant, &stored).await.map_err(Trouble::hidden)?,
            None => None,
        };
        let configured = configured.filter(|configured| configured.id == known.client.id);
        let Some(configured) = configured else {
            return Err(Trouble::Over("`client_id` of the MCP server is another one by now".to_owned()));
        };
        let secret = match configured.secret {
            None => None,
            Some(written) => Some(self.written(tenant, &written, token_endpoint).await?),
        };
        Ok(OAuthClient { secret, ..known.client.clone() })
    }

    /// A secret as it is written down: itself, or `secret:<label>` of a credential that may be sent there.
    async fn written(
        &self,
        tenant: TenantId,
        written: &Zeroizing<String>,
        token_endpoint: &str,
    ) -> Result<Zeroizing<String>, Trouble> {
        let Some(label) = written.strip_prefix("secret:") else { return Ok(written.clone()) };
        let credential = self.credentials.credential(tenant, label).await.map_err(Trouble::of_credential)?;
        let secret = credential.secret().ok_or_else(|| {
            let why = format!("the credential `{label}` does not say which of its texts is sent");
            Trouble::of_credential(ToolFailure::with_code(Code::CredentialMissing, why))
        })?;
        secret.check_host(token_endpoint).map_err(Trouble::of_credential)?;
        Ok(secret.value)
    }

    pub(crate) async fn seal(
        &self,
        tenant: TenantId,
        server: McpServerId,
        secrets: &impl Serialize,
    ) -> Result<Vec<u8>> {
        let text = Zeroizing::new(serde_json::to_vec(secrets).expect("it is plain JSON"));
        Ok(self.vault.new_tool_secrets(tenant).await?.seal_for_mcp_server(server, &text))
    }

    async fn open(&self, tenant: TenantId, grant: &StoredMcpGrant) -> Result<GrantSecrets> {
        self.opened(tenant, grant.server, &grant.sealed).await
    }

    pub(crate) async fn opened<T: serde::de::DeserializeOwned>(
        &self,
        tenant: TenantId,
        server: McpServerId,
        sealed: &[u8],
    ) -> Result<T> {
        let key = self.vault.tool_secrets(tenant).await?;
        let text = key.and_then(|key| key.open_for_mcp_server(server, sealed));
        // What a reader says about a text that it cannot read may hold a part of the text.
        text.and_then(|text| serde_json::from_slice(&text).ok()).ok_or_else(|| {
            Error::internal("opening a token", format!("what the MCP server {server} gave does not open"))
        })
    }
}

/// The OAuth client of a tenant at an authorization server, as the record of the MCP server has it.
pub(crate) struct Configured {
    pub(crate) id: String,
    /// As written: a reference, or the secret itself.
    pub(crate) secret: Option<Zeroizing<String>>,
    /// Who lets people in there, as of the first sign-in.
    pub(crate) issuer: Option<String>,
}

pub(crate) async fn configured(
    vault: &Vault,
    tenant: TenantId,
    server: &StoredMcpServer,
) -> Result<Option<Configured>> {
    let Some(oauth) = &server.oauth else { return Ok(None) };
    let sealed: Value = serde_json::from_str(oauth)
        .map_err(|error| Error::internal("reading what is kept about an MCP server", error))?;
    let opened = vault.open_part(tenant, ToolId::from_uuid(server.id.uuid()), &sealed).await?;
    let text = |name: &str| opened[name].as_str().map(str::to_owned);
    Ok(text("client_id").map(|id| Configured {
        id,
        secret: text("client_secret").map(Zeroizing::new),
        issuer: text("issuer"),
    }))
}

/// Why a token could not be asked for.
#[derive(Debug)]
pub(crate) enum Trouble {
    Over(String),
    Late(String),
}

impl Trouble {
    fn hidden(error: Error) -> Self {
        Self::Late(late(error).why().to_owned())
    }

    fn of_credential(failure: ToolFailure) -> Self {
        Self::Late(failure.message)
    }
}

impl From<Trouble> for Error {
    fn from(trouble: Trouble) -> Self {
        let (Trouble::Over(why) | Trouble::Late(why)) = trouble;
        Self::Conflict { why }
    }
}

/// A store that is away is nothing that the caller of a tool can mend.
fn late(error: Error) -> NoToken {
    tracing::error!(error = &error as &dyn std::error::Error, "the token of an MCP server could not be read");
    NoToken::Late("the token of the MCP server could not be read; the server's log says why".to_owned())
}

fn is_ending(grant: &StoredMcpGrant) -> bool {
    grant.expires.is_some_and(|end| end <= Timestamp::now().plus(EARLY.min(end.since(grant.given) / 4)))
}

/// Renews the token of one server for whoever was told that it holds no more.
#[derive(Debug)]
struct OfServer {
    grants: Grants,
    tenant: TenantId,
    server: McpServerId,
}

impl Renewal for OfServer {
    fn renewed<'a>(&'a self, refused: &'a str) -> BoxFuture<'a, Result<Zeroizing<String>, NoToken>> {
        Box::pin(async move {
            let Self { grants, tenant, server } = self;
            let grant = grants.store.tenant(*tenant).mcp_grant(*server).await;
            let grant = grant.map_err(Error::store("reading what an MCP server gave")).map_err(late)?;
            let Some(grant) = grant else {
                return Err(NoToken::Over("nobody is signed in any more: sign in again".to_owned()));
            };
            if let Some(why) = grant.refused {
                return Err(NoToken::Over(why));
            }
            // Somebody else was told the same before.
            let access = grants.open(*tenant, &grant).await.map_err(late)?.access;
            if access.as_str() == refused { grants.renew(*tenant, grant).await } else { Ok(access) }
        })
    }
}
