//! Signing in to a server: a person goes to the page of its authorization server and comes back with a code.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::time::Instant;
use tw_base::{Error, Result, by, secrets};
use tw_exec::Refusal;
use tw_identity::rights::{Permit, WriteMcpServers};
use tw_mcp_client::oauth::{self, Discovered, OAuthClient, OAuthError, SignInRequest};
use tw_model::{Code, McpServerId, TenantId, Timestamp, UserId};
use tw_schema::Violation;
use tw_store::{Changed, McpSignIn, StoredMcpGrant, StoredMcpServer};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::{
    admin::ServerDetail,
    grants::{GrantSecrets, KnownAs, configured, end_of},
    servers::McpServerAdmin,
};

/// How long somebody has to come back.
const OPEN_FOR: Duration = Duration::from_secs(10 * 60);
/// How long servers have to say how one signs in.
const DISCOVERED_WITHIN: Duration = Duration::from_secs(20);
/// Where the pages of others send people back to, and where they find out about this client.
const CALLBACK: &str = "/mcp-servers/callback";
const DOCUMENT: &str = "/oauth/client.json";

/// Under which address people reach this server, such as `https://tools.example.com`.
#[derive(Clone, Debug)]
pub struct OwnAddress(String);

/// What somebody comes back with from a sign-in page.
#[derive(Clone, Default)]
pub struct CallbackSent {
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
    pub error_description: Option<String>,
}

impl std::fmt::Debug for CallbackSent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CallbackSent")
            .field("iss", &self.iss)
            .field("error", &self.error)
            .finish_non_exhaustive()
    }
}

/// What is sealed of a sign-in under way.
#[derive(Serialize, Deserialize)]
struct Begun {
    user: UserId,
    /// Where the server was.
    url: String,
    verifier: Zeroizing<String>,
    redirect_uri: String,
    resource: String,
    scope: Option<String>,
    issuer: String,
    names_itself: bool,
    token_endpoint: String,
    client: KnownAs,
}

impl OwnAddress {
    /// From the setting `public_url`, or from the host that a request at this machine itself was sent to.
    pub fn of(public_url: Option<&str>, host: Option<&str>) -> Result<Self> {
        let base = match (public_url, host) {
            (Some(url), _) => url.trim_end_matches('/').to_owned(),
            (None, Some(host)) if oauth::is_loopback(&format!("http://{host}")) => format!("http://{host}"),
            _ => {
                let why = "a sign-in page must know where to send people back to: set `public_url` to the address \
                           under which people reach this server";
                return Err(Error::Conflict { why: why.to_owned() });
            }
        };
        Ok(Self(base))
    }

    /// What others are told about this client, where they can ask for it.
    #[must_use]
    pub fn document(&self) -> Option<Value> {
        let client_id = self.client_id()?;
        Some(json!({
            "client_id": client_id,
            "client_name": "Toolwright",
            "client_uri": self.0,
            "redirect_uris": [self.redirect_uri()],
            "grant_types": ["authorization_code", "refresh_token"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "none",
            "application_type": "web",
        }))
    }

    fn client_id(&self) -> Option<String> {
        let is_open = self.0.starts_with("https://") && !oauth::is_loopback(&self.0);
        is_open.then(|| format!("{}{DOCUMENT}", self.0))
    }

    fn redirect_uri(&self) -> String {
        format!("{}{CALLBACK}", self.0)
    }
}

impl McpServerAdmin {
    /// Finds out how one signs in to a server, and returns the page for it. Whoever asked comes back from there with
    /// [`CallbackSent`], within ten minutes, to the address that [`OwnAddress::of`] makes of the setting and the host.
    pub async fn authorize(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        (public_url, host): (Option<&str>, Option<&str>),
        request_id: Option<&str>,
    ) -> Result<String> {
        let caller = permit.caller();
        let server = self.stored(caller.tenant, id).await?;
        let address = &OwnAddress::of(public_url, host)?;
        let target = self.without_token(caller.tenant, &server).await;
        let target = target.map_err(|failure| Error::Conflict { why: failure.message })?;
        let egress = self.network.egress(caller.tenant);
        let _turn = self.lanes.enter(caller.tenant).await;
        let found = oauth::discover(&egress, &target, Instant::now() + DISCOVERED_WITHIN).await;
        let found = found.map_err(told)?;
        let client = self.known_as(caller.tenant, &server, &found, address).await?;

        let (state, state_hash) = secrets::token();
        let verifier = Zeroizing::new(URL_SAFE_NO_PAD.encode(secrets::random::<32>()));
        let redirect_uri = address.redirect_uri();
        let page = found.sign_in_url(&SignInRequest {
            client_id: &client.client.id,
            redirect_uri: &redirect_uri,
            state: &state,
            code_challenge: &oauth::code_challenge(&verifier),
        });
        let page = page.map_err(told)?;
        let audited =
            json!({ "issuer": found.server.issuer, "client_id": client.client.id, "scope": found.scope });
        let begun = Begun {
            user: caller.principal.owner(),
            url: server.url,
            verifier,
            redirect_uri,
            resource: found.resource,
            scope: found.scope,
            issuer: found.server.issuer,
            names_itself: found.server.names_itself,
            token_endpoint: found.server.token_endpoint,
            client,
        };
        let now = Timestamp::now();
        let sign_in = McpSignIn {
            server: id,
            user: begun.user,
            sealed: self.grants.seal(caller.tenant, id, &begun).await?,
            expires: now.plus(OPEN_FOR),
        };
        let scope = self.store.tenant(caller.tenant);
        let kept =
            scope.begin_mcp_sign_in(&state_hash, &sign_in, now, audited, &by(caller, request_id)).await;
        kept.map_err(Error::store("beginning a sign-in"))?;
        Ok(page)
    }

    /// Takes back somebody who went to sign in, and gives what they bring for tokens. What they bring counts once, and
    /// only from who went.
    pub async fn come_back(
        &self,
        permit: &Permit<WriteMcpServers>,
        sent: &CallbackSent,
        request_id: Option<&str>,
    ) -> Result<ServerDetail> {
        let caller = permit.caller();
        let (tenant, user) = (caller.tenant, caller.principal.owner());
        let scope = self.store.tenant(tenant);
        let taken = scope.take_mcp_sign_in(&secrets::hash(&sent.state), user, Timestamp::now()).await;
        let taken = taken.map_err(Error::store("taking a sign-in"))?;
        let missing = || Error::NotFound { what: "sign-in" };
        let taken = taken.ok_or_else(missing)?;
        let begun: Begun = self.grants.opened(tenant, taken.server, &taken.sealed).await?;
        if begun.user != user {
            return Err(missing());
        }
        let code = code_of(&begun, sent)?;
        let server = self.stored(tenant, taken.server).await?;
        if server.url != begun.url {
            return Err(changed());
        }
        let client = self.grants.client(tenant, server.id, &begun.client, &begun.token_endpoint).await?;
        let given = Timestamp::now();
        let tokens = {
            let _turn = self.lanes.enter(tenant).await;
            let egress = self.network.egress(tenant);
            let brought = (code, begun.verifier.as_str(), begun.redirect_uri.as_str());
            oauth::exchange(&egress, &begun.token_endpoint, &client, &begun.resource, brought).await
        };
        let tokens = tokens.map_err(told)?;
        let oauth = with_issuer(&server, &begun);
        let by = by(caller, request_id);
        let grant = StoredMcpGrant {
            id: Uuid::now_v7(),
            server: server.id,
            url: begun.url,
            issuer: begun.issuer,
            scope: tokens.scope.clone().or(begun.scope),
            expires: end_of(given, &tokens),
            sealed: {
                let secrets = GrantSecrets {
                    access: tokens.access,
                    refresh: tokens.refresh,
                    client: begun.client,
                    token_endpoint: begun.token_endpoint,
                    resource: begun.resource,
                };
                self.grants.seal(tenant, server.id, &secrets).await?
            },
            revision: 1,
            given,
            refused: None,
            signed_in: given,
            signed_in_by: by.actor.clone(),
        };
        let kept = scope.keep_mcp_grant(&grant, oauth.as_deref(), &by).await;
        match kept.map_err(Error::store("keeping what an MCP server gave"))? {
            Changed::Done(()) => {}
            Changed::Stale(()) => return Err(changed()),
            Changed::Missing => return Err(Error::NotFound { what: "MCP server" }),
        }
        self.epochs.ask(tenant).await?;
        let server = self.stored(tenant, server.id).await?;
        let server = self.renew(tenant, server, &by).await?;
        self.detail(caller, server).await
    }

    /// Forgets what a server gave to whoever signed in.
    pub async fn sign_out(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        self.stored(caller.tenant, id).await?;
        let by = by(caller, request_id);
        let forgot = self.store.tenant(caller.tenant).forget_mcp_grant(id, &by).await;
        if forgot.map_err(Error::store("forgetting what an MCP server gave"))? {
            self.epochs.ask(caller.tenant).await?;
            let server = self.stored(caller.tenant, id).await?;
            self.renew(caller.tenant, server, &by).await?;
        }
        Ok(())
    }

    /// Who this is to an authorization server: what was written down, else the document about this client, else what it
    /// is registered as now.
    async fn known_as(
        &self,
        tenant: TenantId,
        server: &StoredMcpServer,
        found: &Discovered,
        address: &OwnAddress,
    ) -> Result<KnownAs> {
        if let Some(configured) = configured(&self.vault, tenant, server).await? {
            if configured.issuer.as_ref().is_some_and(|issuer| *issuer != found.server.issuer) {
                let why = format!(
                    "`client_id` is for the authorization server `{}`, and the MCP server names another one by now; if \
                     that is right, send `client_id` and `client_secret` of that one",
                    configured.issuer.unwrap_or_default()
                );
                return Err(Error::Conflict { why });
            }
            let way = found.server.way(configured.secret.is_some()).map_err(told)?;
            let client = OAuthClient { id: configured.id, secret: None, way };
            return Ok(KnownAs { client, is_configured: true });
        }
        let registered = |client| KnownAs { client, is_configured: false };
        if found.server.takes_documents
            && let Some(id) = address.client_id()
        {
            return Ok(registered(OAuthClient { id, secret: None, way: oauth::ClientWay::None }));
        }
        let egress = self.network.egress(tenant);
        oauth::register(&egress, found, &address.redirect_uri()).await.map(registered).map_err(told)
    }
}

/// The code that somebody brings, from whom it should be. Of an answer of somebody else, nothing is shown.
fn code_of<'a>(begun: &Begun, sent: &'a CallbackSent) -> Result<&'a str> {
    let is_theirs = match &sent.iss {
        Some(issuer) => *issuer == begun.issuer,
        None => !begun.names_itself,
    };
    if !is_theirs {
        let why = "the answer is not from the authorization server that was asked: `iss` is another one, or missing";
        return Err(Error::Conflict { why: why.to_owned() });
    }
    if let Some(error) = &sent.error {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).take(300).collect::<String>();
        let more =
            sent.error_description.as_deref().map_or_else(String::new, |text| format!(" ({})", shown(text)));
        let why = format!("the authorization server did not let you in: {}{more}", shown(error));
        return Err(Error::Conflict { why });
    }
    let code = sent.code.as_deref().filter(|code| !code.is_empty());
    code.ok_or_else(|| Error::invalid("/code", Violation::required()))
}

/// What the server's row says of this client, with who lets people in: another one is not shown its secret.
fn with_issuer(server: &StoredMcpServer, begun: &Begun) -> Option<String> {
    let oauth = server.oauth.as_deref()?;
    let mut written: Value = serde_json::from_str(oauth).ok()?;
    written["issuer"] = json!(begun.issuer);
    Some(written.to_string())
}

fn changed() -> Error {
    Error::Conflict { why: "the MCP server was changed since you went to sign in: sign in again".to_owned() }
}

fn told(error: OAuthError) -> Error {
    let code = match &error {
        _ if error.is_denied() => Code::EgressDenied,
        OAuthError::Unanswered { .. } | OAuthError::Unfit { .. } => Code::UpstreamError,
        OAuthError::NotAsked | OAuthError::Refused { .. } => Code::Conflict,
    };
    Error::Refused(Refusal { code, message: error.to_string(), faults: Vec::new() })
}
