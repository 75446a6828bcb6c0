//! Lists and calls the tools of servers, and remembers how each is spoken to.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use moka::future::Cache;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, timeout_at};
use toolwright_sdk::Network;
use tw_model::TenantId;
use tw_schema::{MirroredParam, mirrored_params};

use crate::{
    Bearer, CallOptions, CallResult, Error, ListLimits, ListWatch, Listing, Overrun, Target,
    connect::{self, Greeting},
    deserted::UnderWay,
    era::{self, ServerManner},
    exchange::{RpcAnswer, Said, ServerLine, Terms},
    mirrored,
    rpc::RpcRequest,
};

const LIST: &str = "tools/list";
const CALL: &str = "tools/call";

/// How many servers are remembered.
const SERVERS_MAX: u64 = 10_000;
/// For how long what was learned about a server that nobody calls is kept.
const IDLE_FOR: Duration = Duration::from_secs(30 * 60);
/// For how long it is kept at all, so that a server that learns the present revision is spoken to in it.
const KNOWN_FOR: Duration = Duration::from_secs(12 * 60 * 60);

/// Toolwright as a client of MCP servers. Cheap to clone; clones remember the same.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

struct Shared {
    network: Arc<dyn Network>,
    known: Cache<Key, Arc<Known>>,
    next: AtomicU64,
    watch: OnceLock<Arc<dyn ListWatch>>,
}

/// A server as one tenant calls it with one set of headers. A session belongs to whoever opened it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    tenant: TenantId,
    url: String,
    headers: [u8; 32],
}

#[derive(Debug)]
struct Known {
    greeting: Greeting,
    /// Tells what was learned at one time from what was learned at another.
    serial: u64,
    /// The arguments that its tools want repeated in headers, by the names of those tools.
    mirrored: Mutex<BTreeMap<String, Vec<MirroredParam>>>,
}

impl Known {
    fn new(greeting: Greeting, serial: u64) -> Self {
        Self { greeting, serial, mirrored: Mutex::default() }
    }

    fn mirrored(&self, tool: &str) -> Vec<MirroredParam> {
        self.mirrored.lock().unwrap_or_else(PoisonError::into_inner).get(tool).cloned().unwrap_or_default()
    }

    fn learn_mirrored(&self, listing: &Listing) {
        let mirrored =
            listing.tools.iter().map(|tool| (tool.name.clone(), mirrored_params(&tool.input_schema)));
        let mirrored = mirrored.filter(|(_, params)| !params.is_empty()).collect();
        *self.mirrored.lock().unwrap_or_else(PoisonError::into_inner) = mirrored;
    }
}

impl Client {
    /// A client that has learned nothing yet.
    #[must_use]
    pub fn new(network: Arc<dyn Network>) -> Self {
        let known =
            Cache::builder().max_capacity(SERVERS_MAX).time_to_idle(IDLE_FOR).time_to_live(KNOWN_FOR).build();
        let (next, watch) = (AtomicU64::new(1), OnceLock::new());
        Self { shared: Arc::new(Shared { network, known, next, watch }) }
    }

    /// Says who hears that what a server lists may have changed. Said once.
    pub fn watched_by(&self, watch: Arc<dyn ListWatch>) {
        let _ = self.shared.watch.set(watch);
    }

    /// All tools that a server has on offer.
    pub async fn list_tools(&self, target: &Target, limits: ListLimits) -> Result<Listing, Error> {
        match self.list_as(target, limits).await {
            Err(error @ Error::Unauthorized { .. }) => {
                let again = renewed(target, error, limits.deadline).await?;
                self.list_as(&again, limits).await
            }
            listed => listed,
        }
    }

    async fn list_as(&self, target: &Target, limits: ListLimits) -> Result<Listing, Error> {
        let line = self.line(target, LIST, None)?;
        let (known, _) = self.known(&line, limits.deadline).await?;
        let setback = match self.list(&line, &known, limits).await {
            Err(Setback::Outdated(error)) => error,
            listed => return listed.map_err(Setback::into_error),
        };
        match self.learn_again(&line, &known, limits.deadline).await? {
            Some(known) => self.list(&line, &known, limits).await.map_err(Setback::into_error),
            None => Err(setback),
        }
    }

    /// Calls a tool of a server. A tool that says that it failed is a result.
    ///
    /// Dropped before it has ended, it tells the server that the answer is not wanted any more.
    pub async fn call_tool(
        &self,
        target: &Target,
        name: &str,
        arguments: &Map<String, Value>,
        options: CallOptions,
    ) -> Result<CallResult, Error> {
        let line = self.line(target, CALL, options.trace.as_deref())?;
        let cancelled = options.cancel.clone();
        tokio::select! {
            biased;
            () = cancelled.cancelled() => Err(Error::Cancelled { at: line.at(CALL) }),
            called = self.call_as(target, &line, name, arguments, &options) => called,
        }
    }

    /// Calls with the token that there is, and once more with another one where the server does not take it.
    async fn call_as(
        &self,
        target: &Target,
        line: &ServerLine,
        name: &str,
        arguments: &Map<String, Value>,
        options: &CallOptions,
    ) -> Result<CallResult, Error> {
        match self.call(line, name, arguments, options).await {
            Err(error @ Error::Unauthorized { .. }) => {
                let again = renewed(target, error, options.deadline).await?;
                let line = self.line(&again, CALL, options.trace.as_deref())?;
                self.call(&line, name, arguments, options).await
            }
            called => called,
        }
    }

    async fn call(
        &self,
        line: &ServerLine,
        name: &str,
        arguments: &Map<String, Value>,
        options: &CallOptions,
    ) -> Result<CallResult, Error> {
        let (mut known, is_new) = self.known(line, options.deadline).await?;
        if is_new {
            line.may_have_changed();
        }
        let (mut may_learn_again, mut may_list) = (true, true);
        loop {
            match self.call_once(line, &known, name, arguments, options).await {
                Err(Setback::Outdated(error)) if may_learn_again => {
                    may_learn_again = false;
                    let again = self.learn_again(line, &known, options.deadline).await?;
                    known = again.ok_or(error)?;
                    line.may_have_changed();
                }
                // The list tells what the server wants to see in headers.
                Err(Setback::Headers(error)) if may_list => {
                    may_list = false;
                    let before = known.mirrored(name);
                    let listed = self.list(line, &known, ListLimits::until(options.deadline)).await;
                    listed.map_err(Setback::into_error)?;
                    if known.mirrored(name) == before {
                        return Err(error);
                    }
                }
                called => return called.map_err(Setback::into_error),
            }
        }
    }

    async fn call_once(
        &self,
        line: &ServerLine,
        known: &Known,
        name: &str,
        arguments: &Map<String, Value>,
        options: &CallOptions,
    ) -> Result<CallResult, Setback> {
        let manner = &known.greeting.manner;
        let id = self.number();
        let mut params = Map::new();
        params.insert("name".to_owned(), json!(name));
        params.insert("arguments".to_owned(), Value::Object(arguments.clone()));
        let mut meta = if manner.is_stateless() { era::request_meta() } else { Map::new() };
        if options.progress.is_some() {
            meta.insert("progressToken".to_owned(), json!(id));
        }
        if let Some(trace) = &options.trace {
            meta.insert("traceparent".to_owned(), json!(trace));
        }
        if !meta.is_empty() && *manner != ServerManner::Bare {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let outgoing = RpcRequest { method: CALL, id, params };
        let mut terms = Terms::new(Some(manner), options.deadline, options.bytes);
        terms.progress = options.progress.as_ref();
        if manner.is_stateless() {
            terms.headers = mirrored::headers(&known.mirrored(name), arguments);
            terms.headers.push(("mcp-method".to_owned(), CALL.to_owned()));
            terms.headers.push(("mcp-name".to_owned(), mirrored::header_value(name)));
        }
        let under_way = UnderWay::new(line, manner, id);
        let asked = line.ask(&outgoing, &terms).await;
        // What was never sent, or was refused by HTTP, is not worked on.
        match &asked {
            Err(Error::Late { .. } | Error::TooLarge { .. } | Error::Invalid { .. } | Error::Busy { .. }) => {
            }
            _ => under_way.answered(),
        }
        let (result, bytes) = settled(line, CALL, manner, asked?)?;
        let redactor = Arc::clone(&line.redactor);
        let read =
            line.sized(CALL, options.deadline, bytes, move || CallResult::read(result, &redactor)).await?;
        read.map_err(|why| Error::Invalid { at: line.at(CALL), why: why.to_owned() }.into())
    }

    async fn list(&self, line: &ServerLine, known: &Known, limits: ListLimits) -> Result<Listing, Setback> {
        let Greeting { manner, server } = &known.greeting;
        let (mut entries, mut seen) = (Vec::new(), BTreeSet::new());
        let (mut cursor, mut bytes) = (None::<String>, 0);
        let over = |over| Error::TooLarge { at: line.at(LIST), over };
        for page in 0.. {
            if limits.pages <= page {
                return Err(over(Overrun::Pages(limits.pages)).into());
            }
            let mut params = Map::new();
            if let Some(cursor) = &cursor {
                params.insert("cursor".to_owned(), json!(cursor));
            }
            if manner.is_stateless() {
                params.insert("_meta".to_owned(), Value::Object(era::request_meta()));
            }
            let outgoing = RpcRequest { method: LIST, id: self.number(), params };
            let mut terms = Terms::new(Some(manner), limits.deadline, limits.bytes - bytes);
            if manner.is_stateless() {
                terms.headers.push(("mcp-method".to_owned(), LIST.to_owned()));
            }
            let asked = connect::twice(line, &outgoing, &terms).await.map_err(|error| match error {
                Error::TooLarge { over: Overrun::Bytes(_), .. } => over(Overrun::Bytes(limits.bytes)),
                error => error,
            });
            let (mut result, page_bytes) = settled(line, LIST, manner, asked?)?;
            bytes = limits.bytes.min(bytes + page_bytes);
            let Some(Value::Array(tools)) = result.remove("tools") else {
                let why = "`tools` must be a list".to_owned();
                return Err(Error::Invalid { at: line.at(LIST), why }.into());
            };
            entries.extend(tools);
            if limits.tools < entries.len() {
                return Err(over(Overrun::Tools(limits.tools)).into());
            }
            match result.remove("nextCursor") {
                None | Some(Value::Null) => break,
                Some(Value::String(next)) => {
                    if !seen.insert(next.clone()) {
                        let why = format!(
                            "page {} leads back to an earlier page, so the list never ends",
                            page + 1
                        );
                        return Err(Error::Invalid { at: line.at(LIST), why }.into());
                    }
                    cursor = Some(next);
                }
                Some(_) => {
                    let why = "`nextCursor` must be a text".to_owned();
                    return Err(Error::Invalid { at: line.at(LIST), why }.into());
                }
            }
        }
        let redactor = Arc::clone(&line.redactor);
        let sorted =
            line.sized(LIST, limits.deadline, bytes, move || Listing::sorted(entries, &redactor)).await;
        let (tools, left_out) = sorted?;
        let revision = manner.revision().map(str::to_owned);
        let listing = Listing { server: server.clone(), revision, tools, left_out };
        if manner.is_stateless() {
            known.learn_mirrored(&listing);
        }
        Ok(listing)
    }

    /// The way to a server. A credential that is not for its host is told before anything is sent.
    fn line(&self, target: &Target, method: &'static str, trace: Option<&str>) -> Result<ServerLine, Error> {
        let egress = self.shared.network.egress(target.tenant);
        let egress = match trace {
            Some(trace) => egress.traced(trace),
            None => egress,
        };
        let line = ServerLine::new(egress, target, self.shared.watch.get().cloned());
        for secret in &target.secrets {
            let checked = secret.check_host(&target.url);
            checked.map_err(|failure| Error::Denied { at: line.at(method), why: failure.message })?;
        }
        for (name, value) in &target.headers {
            let checked = Target::check_header(name, value);
            checked.map_err(|error| Error::Unanswered { at: line.at(method), error })?;
        }
        Ok(line)
    }

    fn number(&self) -> u64 {
        self.shared.next.fetch_add(1, Ordering::Relaxed)
    }

    /// What is known about a server, and whether it was learned now because nobody had asked it yet. Of several calls
    /// one asks.
    async fn known(&self, line: &ServerLine, deadline: Instant) -> Result<(Arc<Known>, bool), Error> {
        let (key, is_new) = (Key::of(&line.target), AtomicBool::new(false));
        loop {
            let learned = self.shared.known.try_get_with(key.clone(), async {
                let greeting = connect::greet(line, &|| self.number(), deadline).await?;
                is_new.store(true, Ordering::Relaxed);
                Ok::<_, Error>(Arc::new(Known::new(greeting, self.number())))
            });
            match learned.await {
                Ok(known) => return Ok((known, is_new.into_inner())),
                // Whoever asked had less time than is left here.
                Err(error)
                    if matches!(*error, Error::Late { .. } | Error::Cancelled { .. })
                        && Instant::now() < deadline => {}
                Err(error) => return Err((*error).clone()),
            }
        }
    }

    /// Learns again what was known about a server. `None` where it is the same as before, and no session: then the
    /// answer that caused the doubt counts.
    async fn learn_again(
        &self,
        line: &ServerLine,
        old: &Known,
        deadline: Instant,
    ) -> Result<Option<Arc<Known>>, Error> {
        let key = Key::of(&line.target);
        if self.shared.known.get(&key).await.is_some_and(|known| known.serial == old.serial) {
            self.shared.known.invalidate(&key).await;
        }
        let again = match old.greeting.manner {
            ServerManner::Session { revision, .. } => Some(revision),
            ServerManner::Stateless | ServerManner::Bare => None,
        };
        let learned = self.shared.known.try_get_with(key, async {
            let greeting = match again {
                Some(revision) => connect::greet_again(line, &|| self.number(), revision, deadline).await?,
                None => connect::greet(line, &|| self.number(), deadline).await?,
            };
            Ok::<_, Error>(Arc::new(Known::new(greeting, self.number())))
        });
        let known = learned.await.map_err(|error| (*error).clone())?;
        let (now, before) = (&known.greeting.manner, &old.greeting.manner);
        let is_same = now.is_sessionless() && now == before;
        Ok(Some(known).filter(|_| !is_same))
    }
}

/// A target with another token, where the server did not take the one that there was.
async fn renewed(target: &Target, error: Error, deadline: Instant) -> Result<Target, Error> {
    let Some(bearer) = &target.bearer else { return Err(error) };
    let at = error.at().clone();
    match timeout_at(deadline, bearer.renewal.renewed(&bearer.token)).await {
        Err(_) => Err(error),
        Ok(Err(why)) => Err(Error::SignIn { at, why }),
        Ok(Ok(token)) => Ok(Target { bearer: Some(Bearer { token, ..bearer.clone() }), ..target.clone() }),
    }
}

impl Key {
    /// Who has signed in is in it, and not which token they have by now.
    fn of(target: &Target) -> Self {
        let mut hasher = blake3::Hasher::new();
        let grant = target.bearer.iter().map(|bearer| ("", bearer.grant.as_str()));
        for (name, value) in
            target.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).chain(grant)
        {
            for part in [name.to_ascii_lowercase().as_str(), value] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        Self { tenant: target.tenant, url: target.url.clone(), headers: *hasher.finalize().as_bytes() }
    }
}

/// Why there is no result, and what may mend it.
enum Setback {
    /// What was known about the server may no longer be so. It has done nothing.
    Outdated(Error),
    /// It wants headers that it was not sent. It has done nothing.
    Headers(Error),
    Final(Error),
}

impl Setback {
    fn into_error(self) -> Error {
        let (Self::Outdated(error) | Self::Headers(error) | Self::Final(error)) = self;
        error
    }
}

impl From<Error> for Setback {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

/// The result in an answer, with the size of the answer.
fn settled(
    line: &ServerLine,
    method: &'static str,
    manner: &ServerManner,
    answer: RpcAnswer,
) -> Result<(Map<String, Value>, usize), Setback> {
    let RpcAnswer { status, bytes, said, .. } = answer;
    match said {
        Said::Result(result) => Ok((complete(line, method, result)?, bytes)),
        Said::Fault(fault) => {
            let error = connect::protocol(line, method, &fault);
            let is_outdated = match manner {
                ServerManner::Session { .. } => {
                    has_no_session(status, &fault.message) || (status == 400 && era::is_of_present(&fault))
                }
                ServerManner::Stateless => {
                    status == 400 && (!era::is_of_present(&fault) || !era::supported_by(&fault).is_empty())
                }
                ServerManner::Bare => {
                    status == 400 && (era::is_of_present(&fault) || has_no_session(status, &fault.message))
                }
            };
            Err(match manner {
                _ if is_outdated => Setback::Outdated(error),
                ServerManner::Stateless if era::is_header_mismatch(&fault) => Setback::Headers(error),
                _ => Setback::Final(error),
            })
        }
        Said::Nothing(text) => {
            let is_outdated = match manner {
                ServerManner::Session { .. } => has_no_session(status, &text),
                ServerManner::Stateless | ServerManner::Bare => matches!(status, 400 | 404 | 405),
            };
            let text = match manner {
                ServerManner::Bare => connect::doubted(status, &text),
                ServerManner::Stateless | ServerManner::Session { .. } => text,
            };
            let error = Error::Refused { at: line.at(method), status, text };
            Err(if is_outdated { Setback::Outdated(error) } else { Setback::Final(error) })
        }
    }
}

/// Whether a refusal says that a session is not known any more. The status for it is 404; many servers say 400.
fn has_no_session(status: u16, text: &str) -> bool {
    status == 404 || (status == 400 && text.to_ascii_lowercase().contains("session"))
}

/// A result that is the last word.
fn complete(
    line: &ServerLine,
    method: &'static str,
    result: Map<String, Value>,
) -> Result<Map<String, Value>, Error> {
    match result.get("resultType").and_then(Value::as_str) {
        None | Some("complete") => Ok(result),
        Some("input_required") => Err(Error::InputRequired { at: line.at(method) }),
        Some(_) => Err(Error::Invalid { at: line.at(method), why: "its `resultType` is unknown".to_owned() }),
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("known", &self.shared.known.entry_count()).finish_non_exhaustive()
    }
}
