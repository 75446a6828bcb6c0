//! The servers of a tenant as those who manage them see them.

use std::{collections::HashSet, time::Duration};

use serde_json::{Map, Value, json};
use tw_base::{Error, Page, PageRequest, Result, by};
use tw_identity::rights::{CreateTools, Permit, PublishTools, ReadMcpServers, WriteMcpServers};
use tw_model::{Caller, McpDriftId, McpServerId, TenantId, Timestamp};
use tw_registry::{McpImport, McpSource, decided};
use tw_schema::Violation;
use tw_store::{By, Changed, DriftStatus, LastAnswer, McpDrift, StoredMcpGrant, StoredMcpServer};

use crate::{
    ask::{Inquiry, answer_of, shown_client, shown_headers},
    limits::SERVERS_MAX,
    listing::{ListedTool, kept_tools, remote_tools, shown},
    read::{New, Sent, read_change, read_new},
    servers::McpServerAdmin,
    state::READY,
};

/// How often a change is tried again that somebody else came before.
const TRIES: usize = 16;
/// How many tools one import may name.
const IMPORT_MAX: usize = 500;

/// Names a server as it stands.
#[must_use]
pub fn server_mark(server: &StoredMcpServer) -> String {
    format!("{:x}", server.updated.micros())
}

/// A server in a list.
#[derive(Debug)]
pub struct ServerSummary {
    pub server: StoredMcpServer,
    /// Their values hidden.
    pub headers: Map<String, Value>,
    /// The OAuth client id of the tenant, and its secret, hidden.
    pub client_id: Option<String>,
    pub client_secret: Option<String>,
    /// What somebody who signed in was given.
    pub grant: Option<StoredMcpGrant>,
    /// How many drifts nobody has decided about.
    pub pending_drifts: i64,
}

/// A server with its tools.
#[derive(Debug)]
pub struct ServerDetail {
    pub summary: ServerSummary,
    pub tools: Vec<ListedTool>,
}

/// Which tools are to be imported.
#[derive(Clone, Debug)]
pub struct SentImport {
    pub tools: Vec<String>,
    pub publish: bool,
}

/// What is decided about a drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Accept,
    Reject,
}

impl McpServerAdmin {
    /// Adds a server and asks it for its tools. One that does not answer is added all the same, with what went wrong; an
    /// address that may not be called is refused.
    pub async fn create(
        &self,
        permit: &Permit<WriteMcpServers>,
        body: &Value,
        request_id: Option<&str>,
    ) -> Result<ServerDetail> {
        let caller = permit.caller();
        let New { name, url, headers, allowed_tools, client } =
            read_new(body, |url| self.refusal(caller.tenant, url))?;
        let (by, now, id) = (by(caller, request_id), Timestamp::now(), McpServerId::new());
        let scope = self.store.tenant(caller.tenant);
        // Told before the server is asked, and again by the database.
        let other = scope.mcp_server_by_name(&name).await.map_err(Error::store("reading an MCP server"))?;
        if other.is_some() {
            return Err(taken(&name));
        }
        let mut server = StoredMcpServer {
            id,
            name,
            url,
            headers: self.sealed(caller.tenant, id, "headers", Value::Object(headers)).await?,
            allowed_tools,
            oauth: self.sealed_client(caller.tenant, id, client).await?,
            answer: LastAnswer::default(),
            created: now,
            updated: now,
            created_by: by.actor.clone(),
        };
        let asked = self.ask_in_turn(caller.tenant, &server).await?;
        server.answer = answer_of(&server.answer, &asked);
        let listing = match asked {
            Inquiry::Denied(why) => return Err(denied(&why)),
            Inquiry::Listed(listing) => Some(json!(remote_tools(listing)).to_string()),
            Inquiry::Failed { .. } => None,
        };
        let due = self.next_time(&server);
        let created = scope.create_mcp_server(&server, listing.as_deref(), due, SERVERS_MAX, &by).await;
        created.map_err(|error| match error {
            tw_store::Error::Taken { what: "name" } => taken(&server.name),
            error => Error::store("adding an MCP server")(error),
        })?;
        self.epochs.ask(caller.tenant).await?;
        self.detail(caller, server).await
    }

    pub async fn list(
        &self,
        permit: &Permit<ReadMcpServers>,
        page: &PageRequest,
    ) -> Result<Page<ServerSummary>> {
        let caller = permit.caller();
        let place = format!("mcp-servers/{}/{}", caller.tenant, caller.principal.label());
        let after = self.secrets.open_cursor(&place, page)?.map(McpServerId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.mcp_servers(after, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading MCP servers"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        let total = scope.count_mcp_servers().await.map_err(Error::store("counting MCP servers"))?;
        let pending = scope.pending_mcp_drifts().await.map_err(Error::store("counting drifts"))?;
        let mut grants = match (rows.first(), rows.last()) {
            (Some(first), Some(last)) => scope.mcp_grants(first.id, last.id).await,
            _ => Ok(Vec::new()),
        }
        .map_err(Error::store("reading what MCP servers gave"))?;
        let summaries = rows.into_iter().map(|server| {
            let drifts = pending.iter().find(|(id, _)| *id == server.id);
            let grant = grants.iter().position(|grant| grant.server == server.id);
            let grant = grant.map(|at| grants.swap_remove(at));
            summary(server, grant, drifts.map_or(0, |(_, count)| *count))
        });
        let summaries = summaries.collect();
        Ok(self.secrets.page(summaries, page, &place, total, |summary| summary.server.id.uuid()))
    }

    pub async fn get(&self, permit: &Permit<ReadMcpServers>, id: McpServerId) -> Result<ServerDetail> {
        let caller = permit.caller();
        let server = self.stored(caller.tenant, id).await?;
        self.detail(caller, server).await
    }

    /// Changes a server, property by property. At another address, or with other headers, it is asked for its tools at
    /// once.
    pub async fn change(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        body: &Value,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<ServerDetail> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            self.not_of_the_operator(caller.tenant, &before, false).await?;
            let headers: Value = serde_json::from_str(&before.headers).unwrap_or_default();
            let client = before.oauth.as_deref().and_then(|oauth| serde_json::from_str(oauth).ok());
            let refuses = |url: &str| self.refusal(caller.tenant, url);
            let sent = read_change(body, &before.url, &headers, client.as_ref(), refuses)?;
            let after = self.with_change(caller.tenant, &before, sent).await?;
            if after == before {
                return self.detail(caller, before).await;
            }
            let moved =
                after.url != before.url || after.headers != before.headers || after.oauth != before.oauth;
            if moved {
                let refusal = self.refusal(caller.tenant, &after.url);
                refusal.map_or(Ok(()), |why| Err(Error::invalid("/url", why)))?;
            }
            if !after.name.eq_ignore_ascii_case(&before.name) {
                self.unused(caller, &before, "renamed").await?;
            }
            let after = StoredMcpServer { updated: before.moment_after(), ..after };
            let due = self.next_time(&after);
            let changed = scope.change_mcp_server(&after, before.updated, due, &by).await;
            let changed = changed.map_err(|error| match error {
                tw_store::Error::Taken { what: "name" } => taken(&after.name),
                error => Error::store("changing an MCP server")(error),
            })?;
            if let Changed::Done(()) = changed {
                self.epochs.ask(caller.tenant).await?;
                let after = if moved { self.renew(caller.tenant, after, &by).await? } else { after };
                return self.detail(caller, after).await;
            }
        }
        Err(busy())
    }

    /// Removes a server that no tool needs. Its tools are removed first, one by one: each may be in use itself.
    pub async fn remove(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        marks: Option<&[String]>,
        request_id: Option<&str>,
    ) -> Result<()> {
        let caller = permit.caller();
        let by = by(caller, request_id);
        let scope = self.store.tenant(caller.tenant);
        for _ in 0..TRIES {
            let before = self.as_read(caller, id, marks).await?;
            self.not_of_the_operator(caller.tenant, &before, true).await?;
            let unused_at = self.unused(caller, &before, "removed").await?;
            let removed = scope.remove_mcp_server(id, before.updated, unused_at, &by).await;
            match removed.map_err(Error::store("removing an MCP server"))? {
                Changed::Done(()) => return self.epochs.ask(caller.tenant).await.map(drop),
                Changed::Stale(()) | Changed::Missing => {}
            }
        }
        Err(busy())
    }

    /// Asks a server for its tools, and holds those against what was imported.
    pub async fn refresh(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        request_id: Option<&str>,
    ) -> Result<ServerDetail> {
        let caller = permit.caller();
        let server = self.stored(caller.tenant, id).await?;
        let server = self.renew(caller.tenant, server, &by(caller, request_id)).await?;
        self.detail(caller, server).await
    }

    /// Makes tools of those that the server listed last. The server is not asked: what is imported is what was seen.
    pub async fn import(
        &self,
        permit: &Permit<WriteMcpServers>,
        id: McpServerId,
        sent: &SentImport,
        request_id: &str,
    ) -> Result<McpImport> {
        let caller = permit.caller();
        let creates = Permit::<CreateTools>::check(caller.clone())?;
        let server = self.stored(caller.tenant, id).await?;
        if !(1..=IMPORT_MAX).contains(&sent.tools.len()) {
            return Err(Error::invalid("/tools", Violation::item_count(1, IMPORT_MAX)));
        }
        if server.answer.listed.is_none() {
            let why = match &server.answer.error {
                Some(error) => format!("the server has not listed its tools yet: {error}"),
                None => "the server has not listed its tools yet".to_owned(),
            };
            return Err(Error::Conflict { why });
        }
        let mut listed = self.listed(caller.tenant, id).await?;
        let allowed = server.allowed_tools.as_deref();
        listed.retain(|tool| crate::listing::is_allowed(allowed, &tool.name));
        let source = McpSource { id, name: &server.name };
        self.registry.import_mcp(&creates, source, &sent.tools, listed, sent.publish, request_id).await
    }

    /// What was found to be other than imported, newest first.
    pub async fn drifts(
        &self,
        permit: &Permit<ReadMcpServers>,
        id: McpServerId,
        page: &PageRequest,
    ) -> Result<Page<McpDrift>> {
        let caller = permit.caller();
        self.stored(caller.tenant, id).await?;
        let place = format!("mcp-drifts/{}/{id}", caller.tenant);
        let before = self.secrets.open_cursor(&place, page)?.map(McpDriftId::from_uuid);
        let scope = self.store.tenant(caller.tenant);
        let rows = scope.mcp_drifts(id, before, page.limit + page.offset + 1).await;
        let mut rows = rows.map_err(Error::store("reading drifts"))?;
        rows.drain(..rows.len().min(usize::try_from(page.offset).unwrap_or(0)));
        Ok(self.secrets.page(rows, page, &place, None, |drift| drift.id.uuid()))
    }

    /// Decides about a drift, once.
    pub async fn decide(
        &self,
        permit: &Permit<WriteMcpServers>,
        server: McpServerId,
        id: McpDriftId,
        decision: Decision,
        request_id: Option<&str>,
    ) -> Result<McpDrift> {
        let caller = permit.caller();
        let publishes = Permit::<PublishTools>::check(caller.clone())?;
        self.stored(caller.tenant, server).await?;
        let drift = self.drift(caller.tenant, server, id).await?;
        if drift.status != DriftStatus::Pending {
            return Err(decided());
        }
        match decision {
            Decision::Accept => self.registry.accept_mcp_drift(&publishes, &drift, request_id).await?,
            Decision::Reject => self.registry.reject_mcp_drift(&publishes, &drift, request_id).await?,
        }
        self.drift(caller.tenant, server, id).await
    }

    async fn drift(&self, tenant: TenantId, server: McpServerId, id: McpDriftId) -> Result<McpDrift> {
        let drift = self.store.tenant(tenant).mcp_drift(id).await.map_err(Error::store("reading a drift"))?;
        drift.filter(|drift| drift.server == server).ok_or(Error::NotFound { what: "drift" })
    }

    async fn sealed_client(
        &self,
        tenant: TenantId,
        id: McpServerId,
        client: Option<Value>,
    ) -> Result<Option<String>> {
        let Some(mut client) = client else { return Ok(None) };
        self.vault.seal_part(tenant, crate::ask::binding(id), &mut client).await?;
        Ok(Some(client.to_string()))
    }

    pub(crate) async fn stored(&self, tenant: TenantId, id: McpServerId) -> Result<StoredMcpServer> {
        let found = self.store.tenant(tenant).mcp_server(id).await;
        found.map_err(Error::store("reading an MCP server"))?.ok_or(Error::NotFound { what: "MCP server" })
    }

    async fn as_read(
        &self,
        caller: &Caller,
        id: McpServerId,
        marks: Option<&[String]>,
    ) -> Result<StoredMcpServer> {
        let stored = self.stored(caller.tenant, id).await?;
        match marks {
            Some(seen) if !seen.contains(&server_mark(&stored)) => Err(Error::Stale { what: "MCP server" }),
            _ => Ok(stored),
        }
    }

    async fn with_change(
        &self,
        tenant: TenantId,
        before: &StoredMcpServer,
        sent: Sent,
    ) -> Result<StoredMcpServer> {
        let mut after = before.clone();
        if let Some(name) = sent.name {
            after.name = name;
        }
        if let Some(url) = sent.url {
            after.url = url;
        }
        if let Some(allowed) = sent.allowed_tools {
            after.allowed_tools = allowed;
        }
        if let Some(headers) = sent.headers {
            after.headers = self.sealed(tenant, before.id, "headers", Value::Object(headers)).await?;
        }
        after.oauth = self.sealed_client(tenant, before.id, sent.client).await?;
        Ok(after)
    }

    /// Why an address may not be called, as far as that is known without asking a name server.
    fn refusal(&self, tenant: TenantId, url: &str) -> Option<Violation> {
        match self.network.egress(tenant).check(url) {
            Ok(()) => None,
            Err(error @ (tw_egress::Error::BadUrl { .. } | tw_egress::Error::BadRequest { .. })) => {
                Some(Violation::url(crate::ask::why_of(&error)))
            }
            Err(error) => Some(Violation::egress_denied(error.to_string())),
        }
    }

    /// As of which epoch nothing uses a server, or a refusal that names what does.
    async fn unused(&self, caller: &Caller, server: &StoredMcpServer, to_be: &'static str) -> Result<i64> {
        let epoch = self.epochs.ask(caller.tenant).await?;
        let source = McpSource { id: server.id, name: &server.name };
        let (users, epoch) = self.registry.mcp_users(caller.tenant, epoch, source).await?;
        if users.is_empty() {
            return Ok(epoch);
        }
        let by = users.into_iter().map(|user| user.slug).collect();
        Err(Error::InUse { what: "MCP server", to_be, by })
    }

    pub(crate) async fn detail(&self, caller: &Caller, server: StoredMcpServer) -> Result<ServerDetail> {
        let scope = self.store.tenant(caller.tenant);
        let listed = self.listed(caller.tenant, server.id).await?;
        let epoch = self.epochs.ask(caller.tenant).await?;
        let imported = self.registry.mcp_tools(caller.tenant, epoch, server.id).await?;
        let pending = scope.pending_mcp_drifts().await.map_err(Error::store("counting drifts"))?;
        let pending = pending.iter().find(|(id, _)| *id == server.id).map_or(0, |(_, count)| *count);
        let grant = scope.mcp_grant(server.id).await;
        let grant = grant.map_err(Error::store("reading what an MCP server gave"))?;
        let allowed = server.allowed_tools.clone();
        let tools = self.in_lane(caller.tenant, move || shown(listed, imported, allowed.as_deref())).await?;
        Ok(ServerDetail { summary: summary(server, grant, pending), tools })
    }

    /// The tools that a server listed last.
    async fn listed(&self, tenant: TenantId, id: McpServerId) -> Result<Vec<tw_registry::RemoteDefinition>> {
        let text = self.store.tenant(tenant).mcp_listing(id).await;
        let text = text.map_err(Error::store("reading what an MCP server listed"))?;
        self.in_lane(tenant, move || kept_tools(text.as_deref())).await
    }

    /// A list may be long, and no other tenant should wait for it.
    async fn in_lane<T: Send + 'static>(
        &self,
        tenant: TenantId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T> {
        let limit = Duration::from_secs(10);
        toolwright_sdk::HeavyPool::shared().run(tenant, limit, work).await.map_err(|overload| {
            let why = format!("reading the tools of an MCP server: {overload}");
            Error::RateLimited { why, retry_after: Duration::from_secs(1) }
        })
    }

    async fn ask_in_turn(&self, tenant: TenantId, server: &StoredMcpServer) -> Result<Inquiry> {
        let _turn = self.lanes.enter(tenant).await;
        Ok(self.ask(tenant, server).await)
    }

    /// Asks a server for its tools, writes down how that went, and holds what was imported against it.
    pub(crate) async fn renew(
        &self,
        tenant: TenantId,
        server: StoredMcpServer,
        by: &By,
    ) -> Result<StoredMcpServer> {
        let began = Timestamp::now();
        let asked = self.ask_in_turn(tenant, &server).await?;
        let answer = answer_of(&server.answer, &asked);
        let server = StoredMcpServer { answer, ..server };
        let scope = self.store.tenant(tenant);
        let due = self.next_time(&server);
        let Inquiry::Listed(listing) = asked else {
            let noted = scope.note_mcp_answer(server.id, server.updated, &server.answer, None, due).await;
            noted.map_err(Error::store("noting what an MCP server answered"))?;
            return Ok(server);
        };
        let before: HashSet<String> =
            self.listed(tenant, server.id).await?.into_iter().map(|tool| tool.name).collect();
        let tools = remote_tools(listing);
        let text = json!(tools).to_string();
        let noted = scope.note_mcp_answer(server.id, server.updated, &server.answer, Some(&text), due).await;
        // Of a server that somebody changed meanwhile this is an old answer, and says nothing about its tools.
        if noted.map_err(Error::store("noting what an MCP server answered"))? {
            let drifts = self.registry.observe_mcp(tenant, server.id, tools, before, began, by).await?;
            for drift in &drifts {
                tracing::warn!(server = %server.name, slug = %drift.slug, kind = %drift.kind, "a tool changed on its MCP server and is held");
            }
        }
        Ok(server)
    }

    /// When a server is asked next: sooner where it answered, and never all of them at one moment.
    pub(crate) fn next_time(&self, server: &StoredMcpServer) -> Timestamp {
        let every = if server.answer.status == READY { EVERY } else { EVERY_FAILING };
        let bytes = server.id.uuid().into_bytes();
        let spread = u32::from(u16::from_be_bytes([bytes[14], bytes[15]]));
        Timestamp::now().plus(every + every / 5 * spread / u32::from(u16::MAX))
    }
}

/// How long a server is left alone that answered, and one that did not.
const EVERY: Duration = Duration::from_secs(5 * 60);
const EVERY_FAILING: Duration = Duration::from_secs(15 * 60);

fn summary(server: StoredMcpServer, grant: Option<StoredMcpGrant>, pending_drifts: i64) -> ServerSummary {
    let (client_id, client_secret) = shown_client(&server);
    ServerSummary { headers: shown_headers(&server), client_id, client_secret, grant, server, pending_drifts }
}

fn taken(name: &str) -> Error {
    let fault = Box::new(Violation::taken(name).at("/name"));
    Error::Taken { why: format!("there is an MCP server `{name}` already"), fault }
}

fn denied(why: &str) -> Error {
    Error::invalid("/url", Violation::egress_denied(why))
}

fn busy() -> Error {
    Error::Busy { what: "MCP server" }
}
