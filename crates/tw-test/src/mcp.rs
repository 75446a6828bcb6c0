//! An MCP server of either generation, with tools of its own and every bad habit that a test asks for.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde_json::{Value, json};

use crate::{
    Upstream,
    hostile::{Received, Then},
    sign_in::TokenCheck,
};

/// The revision without a handshake.
pub const PRESENT: &str = "2026-07-28";
/// Where a server says who lets people in.
const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource/mcp";
/// The newest one with a handshake.
pub const EARLIER: &str = "2025-11-25";

/// Which clients a server serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    Present,
    /// With a handshake that ends in this revision, and sessions.
    Earlier(&'static str),
    /// With a handshake, and without sessions.
    Sessionless,
    /// Plain JSON-RPC that knows `tools/call` alone and refuses all else: with this status, as a message where it is 200.
    Bare(&'static str),
}

/// What a server does instead of answering `tools/list` or `tools/call`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quirk {
    /// Every page of the list leads to another one.
    EndlessPages,
    /// The second page leads back to the first.
    CursorLoop,
    /// A list of so many tools, at once.
    Tools(usize),
    /// A list with entries that are no tools.
    StrangeTools,
    /// The answer never ends, and is said as fast as it is read.
    Flood,
    /// An answer to another request.
    WrongId,
    /// No answer at all.
    Silence,
    /// A byte of the answer now and then.
    Drip,
    /// A stream that ends before the answer.
    CutStream,
    /// An answer that is no message.
    Answer { status: &'static str, kind: &'static str, body: String },
    /// A result with these members.
    Result(Value),
    /// An error of the protocol.
    Fault { status: &'static str, code: i64, message: String, data: Value },
    /// HTTP 401 with this challenge.
    Unauthorized(&'static str),
    /// A redirect to this address.
    Redirect(String),
    /// The connection breaks before there is an answer.
    Reset,
}

/// A server on a loopback port of its own, gone when dropped.
#[derive(Debug)]
pub struct McpServer {
    pub upstream: Upstream,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    generation: Generation,
    streams: bool,
    quirk: Option<Quirk>,
    /// Answers of all requests, also of those that open a session, are the quirk.
    from_the_start: bool,
    sessions: BTreeSet<String>,
    made: usize,
    page_tools: usize,
    announces: bool,
    guard: Option<Guard>,
}

/// Who may call a server that asks for a token.
#[derive(Debug)]
struct Guard {
    tokens: TokenCheck,
    /// Where it says who lets people in; without it, it says nothing of that in its refusals.
    challenge: String,
    /// What it says there.
    metadata: Value,
}

impl McpServer {
    pub async fn start(generation: Generation) -> Self {
        let state = Arc::new(Mutex::new(State {
            generation,
            streams: false,
            quirk: None,
            from_the_start: false,
            sessions: BTreeSet::new(),
            made: 0,
            page_tools: usize::MAX,
            announces: false,
            guard: None,
        }));
        let handling = Arc::clone(&state);
        let upstream = Upstream::start_answering(move |asked| locked(&handling).answer(asked)).await;
        Self { upstream, state }
    }

    #[must_use]
    pub fn url(&self) -> String {
        self.upstream.url("/mcp")
    }

    /// Answers as a stream of events from now on.
    #[must_use]
    pub fn streaming(self) -> Self {
        self.state().streams = true;
        self
    }

    /// Lists so many tools on a page.
    #[must_use]
    pub fn paged(self, tools: usize) -> Self {
        self.state().page_tools = tools;
        self
    }

    /// Takes no request without a token of this authorization server from now on.
    pub fn ask_to_sign_in(&self, tokens: TokenCheck) {
        let metadata = json!({
            "resource": self.url(), "authorization_servers": [tokens.issuer()], "scopes_supported": ["tools"],
        });
        let place = self.upstream.url(RESOURCE_METADATA);
        let challenge = format!("Bearer resource_metadata=\"{place}\"");
        self.state().guard = Some(Guard { tokens, challenge, metadata });
    }

    /// Refuses those without a token in these words.
    pub fn challenge_by(&self, challenge: &str) {
        self.state().guard.as_mut().expect("it asks for tokens").challenge = challenge.to_owned();
    }

    /// Says this of who lets people in; `null` for nothing.
    pub fn says_of_itself(&self, metadata: Value) {
        self.state().guard.as_mut().expect("it asks for tokens").metadata = metadata;
    }

    /// Does something else than to answer from now on.
    pub fn set(&self, quirk: impl Into<Option<Quirk>>) {
        self.state().quirk = quirk.into();
    }

    /// The same, also for the requests that a client begins with.
    pub fn set_from_the_start(&self, quirk: Quirk) {
        self.state().from_the_start = true;
        self.set(quirk);
    }

    /// Says with every answer from now on that its tools have changed.
    pub fn announce_changes(&self) {
        self.state().announces = true;
    }

    /// Becomes a server of another generation, as one does that is installed anew.
    pub fn becomes(&self, generation: Generation) {
        let mut state = self.state();
        state.generation = generation;
        state.sessions.clear();
    }

    /// Ends every session.
    pub fn forget_sessions(&self) {
        self.state().sessions.clear();
    }

    /// The messages of this method that came, in order.
    #[must_use]
    pub fn asked(&self, method: &str) -> Vec<Value> {
        let messages = self.upstream.requests().into_iter().filter_map(|asked| message(&asked));
        messages.filter(|message| message["method"] == method).collect()
    }

    /// The methods that came, in order.
    #[must_use]
    pub fn methods(&self) -> Vec<String> {
        let messages = self.upstream.requests().into_iter().filter_map(|asked| message(&asked));
        messages.map(|message| message["method"].as_str().unwrap_or("an answer").to_owned()).collect()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message(asked: &Received) -> Option<Value> {
    serde_json::from_slice(&asked.body).ok()
}

type Said = (Vec<u8>, Then);

impl State {
    fn answer(&mut self, asked: &Received) -> Said {
        if let Some(guard) = &self.guard {
            if asked.method == "GET" && asked.path == RESOURCE_METADATA && !guard.metadata.is_null() {
                return plain("200 OK", "application/json", &guard.metadata.to_string());
            }
            if asked.method == "GET" {
                return plain("404 Not Found", "text/plain", "");
            }
            let token = asked.header("authorization").and_then(|header| header.strip_prefix("Bearer "));
            if !guard.tokens.takes(token) {
                let head = format!("HTTP/1.1 401 Unauthorized\r\nwww-authenticate: {}\r\n", guard.challenge);
                return (format!("{head}content-length: 0\r\n\r\n").into_bytes(), Then::NextRequest);
            }
        }
        let Some(message) = message(asked) else { return plain("400 Bad Request", "text/plain", "no JSON") };
        let (method, id) = (message["method"].as_str().unwrap_or_default(), &message["id"]);
        if id.is_null() || method.is_empty() {
            return plain("202 Accepted", "text/plain", "");
        }
        if self.from_the_start
            && let Some(quirk) = self.quirk.clone()
        {
            return self.odd(&quirk, &message);
        }
        match self.generation {
            Generation::Present => {
                if let Some(refusal) = unfit(asked, &message) {
                    return refusal;
                }
            }
            Generation::Earlier(revision) => {
                if method == "initialize" {
                    self.made += 1;
                    let session = format!("session-{}", self.made);
                    self.sessions.insert(session.clone());
                    let header = format!("mcp-session-id: {session}\r\n");
                    return self.say("200 OK", &header, id, "result", &initialized(revision));
                }
                match asked.header("mcp-session-id") {
                    None => return plain("400 Bad Request", "application/json", &no_session("no session")),
                    Some(session) if !self.sessions.contains(session) => {
                        return plain("404 Not Found", "application/json", &no_session("session not found"));
                    }
                    Some(_) => {}
                }
            }
            Generation::Sessionless if method == "initialize" => {
                return self.say("200 OK", "", id, "result", &initialized(EARLIER));
            }
            Generation::Sessionless => {}
            Generation::Bare(_) if method == "tools/call" => {}
            Generation::Bare("200 OK") => {
                let error = json!({ "code": -32601, "message": "Method not found" });
                return self.say("200 OK", "", id, "error", &error);
            }
            Generation::Bare(status) => return plain(status, "text/plain", "what is that?"),
        }
        if let (Some(quirk), "tools/list" | "tools/call") = (self.quirk.clone(), method) {
            return self.odd(&quirk, &message);
        }
        self.answered(method, &message)
    }

    fn answered(&self, method: &str, message: &Value) -> Said {
        let id = &message["id"];
        match method {
            "server/discover" if self.generation == Generation::Present => {
                self.say("200 OK", "", id, "result", &self.complete(discovered()))
            }
            "tools/list" => {
                let from =
                    message["params"]["cursor"].as_str().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
                let all = tools();
                let page: Vec<_> = all.iter().skip(from).take(self.page_tools).cloned().collect();
                let mut result = json!({ "tools": page });
                if from + page.len() < all.len() {
                    result["nextCursor"] = json!((from + page.len()).to_string());
                }
                self.say("200 OK", "", id, "result", &self.complete(result))
            }
            "tools/call" => self.called(message),
            _ => {
                let error = json!({ "code": -32601, "message": format!("no method {method}") });
                self.say("200 OK", "", id, "error", &error)
            }
        }
    }

    fn called(&self, message: &Value) -> Said {
        let (id, params) = (&message["id"], &message["params"]);
        let arguments = &params["arguments"];
        let text = |text: &str| json!([{ "type": "text", "text": text }]);
        let result = match params["name"].as_str().unwrap_or_default() {
            "add" => {
                let sum = arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
                json!({ "content": text(&format!("{{\"sum\":{sum}}}")), "structuredContent": { "sum": sum } })
            }
            "echo" => json!({ "content": text(arguments["text"].as_str().unwrap_or_default()) }),
            "fail" => json!({ "content": text("the cellar is locked"), "isError": true }),
            "picture" => json!({ "content": [
                { "type": "text", "text": "a dot" },
                { "type": "image", "data": DOT, "mimeType": "image/png" },
                { "type": "resource_link", "uri": "https://example.com/dot", "name": "dot" },
            ] }),
            "slow" => return self.reported(message),
            name => {
                let error = json!({ "code": -32602, "message": format!("Unknown tool: {name}") });
                return self.say("200 OK", "", id, "error", &error);
            }
        };
        self.say("200 OK", "", id, "result", &self.complete(result))
    }

    /// Two reports of progress, and then nothing until the client goes.
    fn reported(&self, message: &Value) -> Said {
        let token = &message["params"]["_meta"]["progressToken"];
        let report = |progress: u64| {
            let params =
                json!({ "progressToken": token, "progress": progress, "total": 3, "message": "digging" });
            json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params })
        };
        let ping = json!({ "jsonrpc": "2.0", "id": "p-1", "method": "ping" });
        let events = format!(": hello\n\ndata: {}\n\ndata: {ping}\n\ndata: {}\n\n", report(1), report(2));
        (format!("{STREAM}{events}").into_bytes(), Then::Hold)
    }

    fn odd(&self, quirk: &Quirk, message: &Value) -> Said {
        let (id, params) = (&message["id"], &message["params"]);
        let result = |result: Value| self.say("200 OK", "", id, "result", &self.complete(result));
        match quirk {
            Quirk::EndlessPages => {
                let page = params["cursor"].as_str().and_then(|page| page.parse().ok()).unwrap_or(0_u64);
                result(json!({ "tools": [tool(&format!("t{page}"))], "nextCursor": (page + 1).to_string() }))
            }
            Quirk::CursorLoop => {
                let next = if params["cursor"] == "b" { "a" } else { "b" };
                result(json!({ "tools": [], "nextCursor": next }))
            }
            Quirk::Tools(count) => {
                let tools: Vec<_> = (0..*count).map(|number| tool(&format!("t{number}"))).collect();
                result(json!({ "tools": tools }))
            }
            Quirk::StrangeTools => result(json!({ "tools": [
                tool("good"), tool("good"), { "name": 7 }, { "name": "bare" }, "text",
                { "name": "x".repeat(200), "inputSchema": {} },
                { "name": "header", "inputSchema": { "type": "object", "properties": {
                    "a": { "type": "number", "x-mcp-header": "A" } } } },
            ] })),
            Quirk::Flood => {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
                (
                    format!(
                        "{head}{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[{{\"description\":\""
                    )
                    .into_bytes(),
                    Then::Flood,
                )
            }
            Quirk::WrongId => {
                self.say("200 OK", "", &json!(987_654), "result", &self.complete(json!({ "tools": [] })))
            }
            Quirk::Silence => (Vec::new(), Then::Hold),
            Quirk::Drip => {
                let head =
                    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n";
                (head.to_owned().into_bytes(), Then::Drip)
            }
            Quirk::CutStream => {
                let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": {} });
                (format!("{STREAM}data: {log}\n\n").into_bytes(), Then::Close)
            }
            Quirk::Answer { status, kind, body } => plain(status, kind, body),
            Quirk::Result(members) => result(members.clone()),
            Quirk::Fault { status, code, message, data } => {
                let error = json!({ "code": code, "message": message, "data": data });
                self.say(status, "", id, "error", &error)
            }
            Quirk::Unauthorized(challenge) => {
                let head = format!("HTTP/1.1 401 Unauthorized\r\nwww-authenticate: {challenge}\r\n");
                (format!("{head}content-length: 0\r\n\r\n").into_bytes(), Then::NextRequest)
            }
            Quirk::Redirect(to) => {
                let head = format!("HTTP/1.1 307 Temporary Redirect\r\nlocation: {to}\r\n");
                (format!("{head}content-length: 0\r\n\r\n").into_bytes(), Then::NextRequest)
            }
            Quirk::Reset => (Vec::new(), Then::Reset),
        }
    }

    fn complete(&self, mut result: Value) -> Value {
        if self.generation == Generation::Present && result.get("resultType").is_none() {
            result["resultType"] = json!("complete");
        }
        result
    }

    fn say(&self, status: &str, headers: &str, id: &Value, part: &str, value: &Value) -> Said {
        let message = json!({ "jsonrpc": "2.0", "id": id, part: value }).to_string();
        let changed = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        let (kind, body) = match status.starts_with("200") {
            true if self.announces => {
                ("text/event-stream", format!("data: {changed}\n\ndata: {message}\n\n"))
            }
            true if self.streams => {
                ("text/event-stream", format!("id: 1\ndata:\n\nevent: message\ndata: {message}\n\n"))
            }
            _ => ("application/json", message),
        };
        let length = body.len();
        let head =
            format!("HTTP/1.1 {status}\r\n{headers}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
        ([head, body].concat().into_bytes(), Then::NextRequest)
    }
}

const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

/// A picture of one pixel.
pub const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn plain(status: &str, kind: &str, body: &str) -> Said {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n");
    ([head.as_str(), body].concat().into_bytes(), Then::NextRequest)
}

fn no_session(message: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": message } }).to_string()
}

/// Why a request is not one of the present revision.
fn unfit(asked: &Received, message: &Value) -> Option<Said> {
    let refuse = |code: i64, text: &str, data: Value| {
        let error = json!({ "code": code, "message": text, "data": data });
        let body = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string();
        Some(plain("400 Bad Request", "application/json", &body))
    };
    let meta = &message["params"]["_meta"];
    let named = meta["io.modelcontextprotocol/protocolVersion"].as_str();
    if named != Some(PRESENT) || asked.header("mcp-protocol-version") != named {
        return refuse(-32022, "unsupported protocol version", json!({ "supported": [PRESENT] }));
    }
    if !meta["io.modelcontextprotocol/clientCapabilities"].is_object() {
        return refuse(-32602, "the capabilities of the client are missing", Value::Null);
    }
    if asked.header("mcp-method") != message["method"].as_str() {
        return refuse(-32020, "Mcp-Method differs from the body", Value::Null);
    }
    let name = message["params"]["name"].as_str().filter(|_| message["method"] == "tools/call");
    if asked.header("mcp-name") != name {
        return refuse(-32020, "Mcp-Name differs from the body", Value::Null);
    }
    let has_region = name == Some("echo") && message["params"]["arguments"]["region"].is_string();
    if asked.header("mcp-param-region").is_some() != has_region {
        return refuse(-32020, "Mcp-Param-Region differs from the body", Value::Null);
    }
    None
}

fn initialized(revision: &str) -> Value {
    json!({
        "protocolVersion": revision, "capabilities": { "tools": {} }, "instructions": "Dig gently.",
        "serverInfo": { "name": "garden", "title": "The garden", "version": "2.1.0" },
    })
}

fn discovered() -> Value {
    json!({
        "supportedVersions": [PRESENT], "capabilities": { "tools": {} }, "instructions": "Dig gently.",
        "_meta": { "io.modelcontextprotocol/serverInfo":
            { "name": "garden", "title": "The garden", "version": "2.1.0" } },
        "ttlMs": 1000, "cacheScope": "private",
    })
}

fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

fn tools() -> Vec<Value> {
    let number = json!({ "type": "number" });
    vec![
        json!({
            "name": "add", "title": "Add", "description": "Adds two numbers.",
            "inputSchema": { "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"] },
            "outputSchema": { "type": "object", "properties": { "sum": number }, "required": ["sum"] },
            "annotations": { "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false },
            "icons": [{ "src": "https://example.com/add.svg", "mimeType": "image/svg+xml", "sizes": ["any"] }],
            "execution": { "taskSupport": "optional" },
        }),
        json!({
            "name": "echo", "description": "Gives a text back.",
            "inputSchema": { "type": "object", "properties": {
                "text": { "type": "string" }, "region": { "type": "string", "x-mcp-header": "Region" },
            } },
        }),
        json!({ "name": "fail", "inputSchema": { "type": "object" }, "annotations": { "destructiveHint": true } }),
        tool("picture"),
        tool("slow"),
    ]
}
