//! Asks an authorization server to know this client, and for tokens.

use std::time::Duration;

use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use tw_egress::{Egress, Method, Request};
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::{ClientWay, Discovered, GivenTokens, OAuthClient, OAuthError, is_loopback, shown};

const BYTES_MAX: usize = 256 << 10;
const TOKEN_BYTES_MAX: usize = 16 << 10;
const ID_BYTES_MAX: usize = 2_048;
const DESCRIPTION_CHARS: usize = 300;
const WITHIN: Duration = Duration::from_secs(15);

const TOKEN: &str = "the token";
const REGISTRATION: &str = "the registration of this client";

/// What the page of an authorization server is opened with.
#[derive(Debug)]
pub struct SignInRequest<'a> {
    pub client_id: &'a str,
    pub redirect_uri: &'a str,
    pub state: &'a str,
    /// See [`code_challenge`].
    pub code_challenge: &'a str,
}

/// The challenge for a verifier, by `S256`.
#[must_use]
pub fn code_challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.as_bytes()))
}

impl Discovered {
    /// The page on which somebody lets this client in.
    pub fn sign_in_url(&self, request: &SignInRequest<'_>) -> Result<String, OAuthError> {
        let mut url = Url::parse(&self.server.authorization_endpoint)
            .map_err(|_| OAuthError::unfit("the authorization server", "its address is no URL"))?;
        let mut pairs = url.query_pairs_mut();
        pairs
            .append_pair("response_type", "code")
            .append_pair("client_id", request.client_id)
            .append_pair("redirect_uri", request.redirect_uri)
            .append_pair("state", request.state)
            .append_pair("code_challenge", request.code_challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &self.resource);
        if let Some(scope) = &self.scope {
            pairs.append_pair("scope", scope);
        }
        drop(pairs);
        Ok(url.into())
    }
}

/// Makes this client known to an authorization server that takes anybody.
pub async fn register(
    egress: &Egress,
    discovered: &Discovered,
    redirect_uri: &str,
) -> Result<OAuthClient, OAuthError> {
    let server = &discovered.server;
    let Some(endpoint) = &server.registration_endpoint else {
        let why =
            "it knows no clients but those that were registered with it: set `client_id` on the MCP server";
        return Err(OAuthError::unfit("the authorization server", why));
    };
    let takes = |way: &str| server.ways.iter().any(|each| each == way);
    let wanted = match () {
        () if server.ways.is_empty() || takes("none") => "none",
        () if takes("client_secret_basic") => "client_secret_basic",
        () => "client_secret_post",
    };
    let mut body = json!({
        "client_name": "Toolwright",
        "redirect_uris": [redirect_uri],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": wanted,
        "application_type": if is_loopback(redirect_uri) { "native" } else { "web" },
    });
    if let Some(scope) = &discovered.scope {
        body["scope"] = json!(scope);
    }
    let request = Request::new(Method::Post, endpoint.clone())
        .header("content-type", "application/json")
        .body(body.to_string());
    let members = send(egress, REGISTRATION, request).await?;
    let text =
        |name: &str| members.get(name).and_then(Value::as_str).filter(|text| is_plain(text, ID_BYTES_MAX));
    let id =
        text("client_id").ok_or_else(|| OAuthError::unfit(REGISTRATION, "it has no `client_id`"))?.to_owned();
    let secret = text("client_secret").map(|secret| Zeroizing::new(secret.to_owned()));
    let way = match (&secret, members.get("token_endpoint_auth_method").and_then(Value::as_str)) {
        (None, _) | (_, Some("none")) => ClientWay::None,
        (_, Some("client_secret_post")) => ClientWay::Post,
        (_, Some("client_secret_basic")) => ClientWay::Basic,
        (_, _) => server.way(true)?,
    };
    Ok(OAuthClient { id, secret: secret.filter(|_| way != ClientWay::None), way })
}

/// Gives a code for tokens.
pub async fn exchange(
    egress: &Egress,
    token_endpoint: &str,
    client: &OAuthClient,
    resource: &str,
    (code, verifier, redirect_uri): (&str, &str, &str),
) -> Result<GivenTokens, OAuthError> {
    let pairs = [
        ("grant_type", "authorization_code"),
        ("code", code),
        ("code_verifier", verifier),
        ("redirect_uri", redirect_uri),
        ("resource", resource),
    ];
    ask(egress, token_endpoint, client, &pairs).await
}

/// Gives a refresh token for others.
pub async fn refresh(
    egress: &Egress,
    token_endpoint: &str,
    client: &OAuthClient,
    resource: &str,
    refresh_token: &str,
) -> Result<GivenTokens, OAuthError> {
    let pairs = [("grant_type", "refresh_token"), ("refresh_token", refresh_token), ("resource", resource)];
    ask(egress, token_endpoint, client, &pairs).await
}

async fn ask(
    egress: &Egress,
    token_endpoint: &str,
    client: &OAuthClient,
    pairs: &[(&str, &str)],
) -> Result<GivenTokens, OAuthError> {
    let request = request(token_endpoint, client, pairs);
    read(&send(egress, TOKEN, request).await?)
}

fn request(token_endpoint: &str, client: &OAuthClient, pairs: &[(&str, &str)]) -> Request {
    let mut form = form_urlencoded::Serializer::new(String::new());
    form.extend_pairs(pairs);
    let mut request = Request::new(Method::Post, token_endpoint);
    let secret = client.secret.as_ref().map_or("", |secret| secret.as_str());
    match client.way {
        ClientWay::Basic => {
            let [id, secret] = [client.id.as_str(), secret].map(|text| Zeroizing::new(encoded(text)));
            let pair = Zeroizing::new(format!("{}:{}", id.as_str(), secret.as_str()));
            request = request.header("authorization", format!("Basic {}", STANDARD.encode(pair.as_bytes())));
        }
        ClientWay::Post => {
            form.append_pair("client_id", &client.id).append_pair("client_secret", secret);
        }
        ClientWay::None => {
            form.append_pair("client_id", &client.id);
        }
    }
    request.header("content-type", "application/x-www-form-urlencoded").body(form.finish())
}

fn read(members: &Map<String, Value>) -> Result<GivenTokens, OAuthError> {
    let unfit = |why: &str| OAuthError::unfit(TOKEN, why);
    let token = |name: &str| match members.get(name).filter(|token| !token.is_null()) {
        None => Ok(None),
        Some(Value::String(token)) if is_plain(token, TOKEN_BYTES_MAX) => {
            Ok(Some(Zeroizing::new(token.clone())))
        }
        Some(_) => Err(unfit("it is nothing that a header can carry")),
    };
    let kind = members.get("token_type").and_then(Value::as_str).unwrap_or_default();
    if !kind.eq_ignore_ascii_case("bearer") {
        return Err(unfit("`token_type` must be `Bearer`"));
    }
    // Some write the number as a text.
    let seconds = |value: &Value| value.as_u64().or_else(|| value.as_str()?.parse().ok());
    Ok(GivenTokens {
        access: token("access_token")?.ok_or_else(|| unfit("`access_token` is missing"))?,
        refresh: token("refresh_token")?,
        lasts_s: members.get("expires_in").and_then(seconds),
        scope: members.get("scope").and_then(Value::as_str).map(|scope| shown(scope, 1_000)),
    })
}

async fn send(
    egress: &Egress,
    what: &'static str,
    request: Request,
) -> Result<Map<String, Value>, OAuthError> {
    let request = request.header("accept", "application/json").body_max(BYTES_MAX).timeout(WITHIN);
    let answer = egress.send(request).await.map_err(|error| OAuthError::Unanswered { what, error })?;
    let members = match serde_json::from_slice(&answer.body) {
        Ok(Value::Object(members)) => members,
        // What stands there may be a token, so nothing of it is shown.
        _ if answer.is_success() => return Err(OAuthError::unfit(what, "the answer is no JSON object")),
        _ => return Err(OAuthError::unfit(what, format!("HTTP {} came instead", answer.status))),
    };
    let said =
        |name: &str| members.get(name).and_then(Value::as_str).map(|text| shown(text, DESCRIPTION_CHARS));
    match said("error") {
        Some(code) if !answer.is_success() && answer.status < 500 => {
            Err(OAuthError::Refused { what, code, description: said("error_description") })
        }
        _ if answer.is_success() => Ok(members),
        _ => Err(OAuthError::unfit(what, format!("HTTP {} came instead", answer.status))),
    }
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// Whether a text is visible ASCII, as tokens and names of clients are.
fn is_plain(text: &str, bytes: usize) -> bool {
    (1..=bytes).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_graphic() || b == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenge_is_that_of_rfc_7636() {
        let challenge = code_challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }

    #[test]
    fn what_a_header_cannot_carry_is_no_token() {
        let tokens = |members: Value| read(members.as_object().unwrap());
        let fit = tokens(json!({ "access_token": "a", "token_type": "bearer", "expires_in": "60" })).unwrap();
        assert_eq!((fit.access.as_str(), fit.lasts_s), ("a", Some(60)));
        for unfit in [
            json!({ "token_type": "Bearer" }),
            json!({ "access_token": "a", "token_type": "mac" }),
            json!({ "access_token": "a" }),
            json!({ "access_token": "a\r\nX: y", "token_type": "Bearer" }),
            json!({ "access_token": "ä", "token_type": "Bearer" }),
            json!({ "access_token": 7, "token_type": "Bearer" }),
            json!({ "access_token": "", "token_type": "Bearer" }),
            json!({ "access_token": "a", "refresh_token": "x".repeat(20_000), "token_type": "Bearer" }),
        ] {
            let error = tokens(unfit).unwrap_err().to_string();
            assert!(!error.contains("X: y"), "{error}");
        }
    }
}
