//! An authorization server that lets everybody in, and does what a test wrote down.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{
    Upstream,
    hostile::{Received, Then},
};

/// What stands in every token, to be looked for where none may be.
pub const TOKEN_CANARY: &str = "canary-of-a-token";

/// A server on a loopback port of its own, gone when dropped.
#[derive(Debug)]
pub struct AuthServer {
    pub upstream: Upstream,
    state: Arc<Mutex<Issuing>>,
}

/// Which tokens count, as the server knows that is called with them.
#[derive(Clone, Debug)]
pub struct TokenCheck(Arc<Mutex<Issuing>>);

#[derive(Debug)]
struct Issuing {
    issuer: String,
    /// Members in the place of those that its metadata have; `null` leaves one out.
    metadata: Value,
    lasts_s: Option<u64>,
    gives_refresh: bool,
    refusal: Option<(&'static str, Value)>,
    /// Clients that were registered before, with their secrets.
    clients: BTreeMap<String, Option<String>>,
    codes: BTreeMap<String, Asked>,
    tokens: BTreeSet<String>,
    refresh: BTreeMap<String, String>,
    made: usize,
    exchanges: Vec<BTreeMap<String, String>>,
    registrations: Vec<Value>,
}

#[derive(Clone, Debug)]
struct Asked {
    client: String,
    redirect_uri: String,
    challenge: String,
    resource: String,
}

/// What somebody is sent back with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentBack {
    pub redirect_uri: String,
    pub code: String,
    pub state: String,
    pub iss: String,
    pub scope: Option<String>,
    pub client_id: String,
    pub resource: String,
}

impl SentBack {
    /// As the page sends it on.
    #[must_use]
    pub fn body(&self) -> Value {
        json!({ "code": self.code, "state": self.state, "iss": self.iss })
    }
}

impl AuthServer {
    pub async fn start() -> Self {
        let state = Arc::new(Mutex::new(Issuing {
            issuer: String::new(),
            metadata: json!({}),
            lasts_s: Some(3_600),
            gives_refresh: true,
            refusal: None,
            clients: BTreeMap::new(),
            codes: BTreeMap::new(),
            tokens: BTreeSet::new(),
            refresh: BTreeMap::new(),
            made: 0,
            exchanges: Vec::new(),
            registrations: Vec::new(),
        }));
        let handling = Arc::clone(&state);
        let upstream = Upstream::start_answering(move |asked| locked(&handling).answer(asked)).await;
        locked(&state).issuer = upstream.url("");
        Self { upstream, state }
    }

    #[must_use]
    pub fn issuer(&self) -> String {
        self.state().issuer.clone()
    }

    /// For the server whose tokens these are.
    #[must_use]
    pub fn tokens(&self) -> TokenCheck {
        TokenCheck(Arc::clone(&self.state))
    }

    /// Says something else about itself; `null` leaves a member out.
    pub fn says(&self, metadata: Value) {
        self.state().metadata = metadata;
    }

    /// Gives tokens that hold for so many seconds, or without saying so.
    pub fn gives_for(&self, seconds: Option<u64>) {
        self.state().lasts_s = seconds;
    }

    pub fn gives_no_refresh(&self) {
        self.state().gives_refresh = false;
    }

    /// Answers whoever asks for a token with this from now on, or as it should.
    pub fn refuses(&self, refusal: Option<(&'static str, Value)>) {
        self.state().refusal = refusal;
    }

    /// Knows a client from before.
    pub fn knows(&self, id: &str, secret: Option<&str>) {
        self.state().clients.insert(id.to_owned(), secret.map(str::to_owned));
    }

    /// No token that was given counts any more; those to renew them do.
    pub fn revoke_tokens(&self) {
        self.state().tokens.clear();
    }

    /// What was asked for at the token endpoint, in order.
    #[must_use]
    pub fn exchanges(&self, grant_type: &str) -> Vec<BTreeMap<String, String>> {
        let exchanges = self.state().exchanges.clone();
        exchanges.into_iter().filter(|pairs| pairs["grant_type"] == grant_type).collect()
    }

    /// Who asked to be known.
    #[must_use]
    pub fn registrations(&self) -> Vec<Value> {
        self.state().registrations.clone()
    }

    /// Somebody opens the page and agrees.
    ///
    /// # Panics
    ///
    /// Where the page would refuse the request.
    #[must_use]
    pub fn agree(&self, page: &str) -> SentBack {
        let mut state = self.state();
        let (place, query) = page.split_once('?').expect("the page is asked something");
        assert_eq!(place, format!("{}/authorize", state.issuer));
        let asked = pairs(query);
        assert_eq!(
            (asked["response_type"].as_str(), asked["code_challenge_method"].as_str()),
            ("code", "S256")
        );
        let client = asked["client_id"].clone();
        assert!(
            state.clients.contains_key(&client) || client.starts_with("https://"),
            "{client} is not known"
        );
        let code = state.fresh("code");
        let (redirect_uri, resource) = (asked["redirect_uri"].clone(), asked["resource"].clone());
        let remembered = Asked {
            client: client.clone(),
            redirect_uri: redirect_uri.clone(),
            challenge: asked["code_challenge"].clone(),
            resource: resource.clone(),
        };
        state.codes.insert(code.clone(), remembered);
        SentBack {
            redirect_uri,
            code,
            state: asked["state"].clone(),
            iss: state.issuer.clone(),
            scope: asked.get("scope").cloned(),
            client_id: client,
            resource,
        }
    }

    fn state(&self) -> MutexGuard<'_, Issuing> {
        locked(&self.state)
    }
}

impl TokenCheck {
    pub(crate) fn takes(&self, token: Option<&str>) -> bool {
        token.is_some_and(|token| locked(&self.0).tokens.contains(token))
    }

    pub(crate) fn issuer(&self) -> String {
        locked(&self.0).issuer.clone()
    }
}

fn locked(state: &Mutex<Issuing>) -> MutexGuard<'_, Issuing> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Issuing {
    fn fresh(&mut self, what: &str) -> String {
        self.made += 1;
        format!("{TOKEN_CANARY}-{what}-{}", self.made)
    }

    fn answer(&mut self, asked: &Received) -> (Vec<u8>, Then) {
        let answer = match (asked.method.as_str(), asked.path.as_str()) {
            ("GET", "/.well-known/oauth-authorization-server") => Ok(self.described()),
            ("POST", "/register") => Ok(self.register(asked)),
            ("POST", "/token") => self.token(asked),
            _ => Err(("404 Not Found", json!({}))),
        };
        let (status, body) = match answer {
            Ok(body) => ("200 OK", body),
            Err(refusal) => refusal,
        };
        let body = body.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        ([head, body].concat().into_bytes(), Then::NextRequest)
    }

    fn described(&self) -> Value {
        let issuer = &self.issuer;
        let mut described = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{issuer}/authorize"),
            "token_endpoint": format!("{issuer}/token"),
            "registration_endpoint": format!("{issuer}/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic", "client_secret_post"],
            "authorization_response_iss_parameter_supported": true,
        });
        for (name, value) in self.metadata.as_object().into_iter().flatten() {
            described[name] = value.clone();
        }
        described.as_object_mut().expect("it is an object").retain(|_, value| !value.is_null());
        described
    }

    fn register(&mut self, asked: &Received) -> Value {
        let body: Value = serde_json::from_slice(&asked.body).expect("a registration is JSON");
        self.registrations.push(body.clone());
        let id = format!("client-{}", self.registrations.len());
        self.clients.insert(id.clone(), None);
        let mut known = body;
        known["client_id"] = json!(id);
        known
    }

    fn token(&mut self, asked: &Received) -> Result<Value, (&'static str, Value)> {
        let form = pairs(&String::from_utf8_lossy(&asked.body));
        self.exchanges.push(form.clone());
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let refuse = |code: &str| Err(("400 Bad Request", json!({ "error": code })));
        let Some(client) = self.client(asked, &form) else { return refuse("invalid_client") };
        match form["grant_type"].as_str() {
            "authorization_code" => {
                let Some(known) = self.codes.remove(&form["code"]) else { return refuse("invalid_grant") };
                let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, form["code_verifier"].as_bytes()));
                let fits = known.client == client
                    && known.challenge == challenge
                    && known.redirect_uri == form["redirect_uri"]
                    && known.resource == form["resource"];
                if !fits {
                    return refuse("invalid_grant");
                }
            }
            "refresh_token" => {
                // Each counts once.
                let known = self.refresh.remove(&form["refresh_token"]);
                if known.as_deref() != Some(client.as_str()) {
                    return refuse("invalid_grant");
                }
            }
            _ => return refuse("unsupported_grant_type"),
        }
        let token = self.fresh("access");
        self.tokens.insert(token.clone());
        let mut given = json!({ "access_token": token, "token_type": "Bearer", "scope": "tools" });
        if let Some(seconds) = self.lasts_s {
            given["expires_in"] = json!(seconds);
        }
        if self.gives_refresh {
            let refresh = self.fresh("refresh");
            self.refresh.insert(refresh.clone(), client);
            given["refresh_token"] = json!(refresh);
        }
        Ok(given)
    }

    /// The client that asks, if it shows the secret that it has.
    fn client(&self, asked: &Received, form: &BTreeMap<String, String>) -> Option<String> {
        let basic = asked.header("authorization").and_then(|header| header.strip_prefix("Basic "));
        let basic = basic.and_then(|pair| String::from_utf8(STANDARD.decode(pair).ok()?).ok());
        let (id, secret) = match basic.as_deref().and_then(|pair| pair.split_once(':')) {
            Some((id, secret)) => (decoded(id), Some(decoded(secret))),
            None => (form.get("client_id")?.clone(), form.get("client_secret").cloned()),
        };
        let is_known = match self.clients.get(&id) {
            Some(known) => *known == secret,
            None => id.starts_with("https://") && secret.is_none(),
        };
        is_known.then_some(id)
    }
}

fn pairs(form: &str) -> BTreeMap<String, String> {
    let pairs = form.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit =
                    || rest.next().and_then(|digit| char::from(digit).to_digit(16)).unwrap_or_default();
                u8::try_from(digit() * 16 + digit()).unwrap_or_default()
            }
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
