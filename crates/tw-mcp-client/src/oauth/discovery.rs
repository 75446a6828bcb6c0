//! Finds out who lets people in to a server.

use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tw_egress::{Egress, Method, Request};
use url::Url;

use super::{AuthorizationServer, Discovered, OAuthError, challenge::Challenge, read_url};
use crate::{PRESENT, Target, connect::DISCOVER, era};

const BYTES_MAX: usize = 256 << 10;
const SCOPES_MAX: usize = 200;
const SCOPE_BYTES_MAX: usize = 4_096;

const RESOURCE: &str = "what the server says about signing in";
const METADATA: &str = "the metadata of the authorization server";

/// Asks a server, without a token, who lets people in, and then that one.
pub async fn discover(egress: &Egress, target: &Target, deadline: Instant) -> Result<Discovered, OAuthError> {
    let (challenge, is_asked) = challenge(egress, target, deadline).await?;
    let server =
        Url::parse(&target.url).map_err(|_| OAuthError::unfit("the server", "its address is no URL"))?;
    let found =
        match &challenge.resource_metadata {
            Some(url) => {
                let url = read_url(egress, RESOURCE, url)?;
                let read = fetch(egress, RESOURCE, url.as_str(), deadline).await?;
                Some(read.ok_or_else(|| {
                    OAuthError::unfit(RESOURCE, "there is nothing where the server says it is")
                })?)
            }
            None => {
                let mut found = None;
                for url in places_of_resource(&server) {
                    found = fetch(egress, RESOURCE, &url, deadline).await?;
                    if found.is_some() {
                        break;
                    }
                }
                found
            }
        };
    let (issuer, resource, scopes) = match &found {
        Some(metadata) => {
            let resource = resource_of(metadata, &server)?;
            let issuers = metadata.get("authorization_servers").and_then(Value::as_array);
            let issuer = issuers.and_then(|issuers| issuers.first()?.as_str());
            let issuer = issuer
                .ok_or_else(|| OAuthError::unfit(RESOURCE, "`authorization_servers` must name one"))?
                .to_owned();
            (issuer, resource, texts(metadata.get("scopes_supported")))
        }
        // As of the revisions before this metadata: the server lets people in itself.
        None if is_asked => (server.origin().ascii_serialization(), target.url.clone(), Vec::new()),
        None => return Err(OAuthError::NotAsked),
    };
    let (server, offered) = authorization_server(egress, &issuer, deadline).await?;
    let mut scope = match challenge.scope {
        Some(scope) => scope.split_ascii_whitespace().map(str::to_owned).collect(),
        None => scopes,
    };
    scope.retain(|word| is_scope(word));
    // Without it some give no refresh token.
    let offline = "offline_access".to_owned();
    if !scope.is_empty() && offered.contains(&offline) && !scope.contains(&offline) {
        scope.push(offline);
    }
    let scope = Some(scope.join(" ")).filter(|scope| (1..=SCOPE_BYTES_MAX).contains(&scope.len()));
    Ok(Discovered { server, resource, scope })
}

/// What a server says to somebody without a token, and whether it asks for one.
async fn challenge(
    egress: &Egress,
    target: &Target,
    deadline: Instant,
) -> Result<(Challenge, bool), OAuthError> {
    let body =
        json!({ "jsonrpc": "2.0", "id": 0, "method": DISCOVER, "params": { "_meta": era::request_meta() } });
    let mut request = Request::new(Method::Post, target.url.clone());
    for (name, value) in target.headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("authorization"))
    {
        request = request.header(name, value.as_str());
    }
    let request = request
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", PRESENT)
        .header("mcp-method", DISCOVER)
        .body(body.to_string())
        .body_max(BYTES_MAX)
        .timeout(deadline.saturating_duration_since(Instant::now()));
    let answer = egress.open(request).await;
    let answer = answer.map_err(|error| OAuthError::Unanswered { what: "the server", error })?;
    let challenge = Challenge::read(answer.headers.all("www-authenticate"));
    match answer.status {
        401 => Ok((challenge, true)),
        _ => Ok((Challenge::default(), false)),
    }
}

/// Where a server says who lets people in, if it does not say where.
fn places_of_resource(server: &Url) -> Vec<String> {
    let origin = server.origin().ascii_serialization();
    let root = format!("{origin}/.well-known/oauth-protected-resource");
    match server.path().trim_end_matches('/') {
        "" => vec![root],
        path => vec![format!("{root}{path}"), root],
    }
}

/// What tokens are for: the server itself, or a part of its site that it lies in. Of another, they would be no use here
/// and of use there.
fn resource_of(metadata: &Map<String, Value>, server: &Url) -> Result<String, OAuthError> {
    let other = || OAuthError::unfit(RESOURCE, "`resource` is not this server");
    let named = metadata.get("resource").and_then(Value::as_str).ok_or_else(other)?;
    let resource = Url::parse(named).map_err(|_| other())?;
    let (part, path) = (resource.path().trim_end_matches('/'), server.path());
    let is_within = path.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    if resource.origin() != server.origin() || !is_within || resource.fragment().is_some() {
        return Err(other());
    }
    Ok(named.to_owned())
}

/// Reads who an issuer is, and which scopes it offers.
async fn authorization_server(
    egress: &Egress,
    issuer: &str,
    deadline: Instant,
) -> Result<(AuthorizationServer, Vec<String>), OAuthError> {
    let url = read_url(egress, "the authorization server", issuer)?;
    if url.query().is_some() {
        return Err(OAuthError::unfit("the authorization server", "its name must have no query"));
    }
    for place in places_of_issuer(&url) {
        if let Some(metadata) = fetch(egress, METADATA, &place, deadline).await? {
            let offered = texts(metadata.get("scopes_supported"));
            return Ok((read(egress, issuer, &metadata)?, offered));
        }
    }
    Err(OAuthError::unfit(METADATA, "there are none where they should be"))
}

fn places_of_issuer(issuer: &Url) -> Vec<String> {
    const OAUTH: &str = "/.well-known/oauth-authorization-server";
    const OPENID: &str = "/.well-known/openid-configuration";
    let origin = issuer.origin().ascii_serialization();
    match issuer.path().trim_end_matches('/') {
        "" => vec![format!("{origin}{OAUTH}"), format!("{origin}{OPENID}")],
        path => vec![
            format!("{origin}{OAUTH}{path}"),
            format!("{origin}{OPENID}{path}"),
            format!("{origin}{path}{OPENID}"),
        ],
    }
}

fn read(
    egress: &Egress,
    issuer: &str,
    metadata: &Map<String, Value>,
) -> Result<AuthorizationServer, OAuthError> {
    let unfit = |why: &str| OAuthError::unfit(METADATA, why);
    // Letter by letter: one server must not speak for another.
    if metadata.get("issuer").and_then(Value::as_str) != Some(issuer) {
        return Err(unfit("`issuer` is another one"));
    }
    if !texts(metadata.get("code_challenge_methods_supported")).iter().any(|method| method == "S256") {
        return Err(unfit("it does not say that it verifies the code challenge `S256`"));
    }
    let responses = texts(metadata.get("response_types_supported"));
    if !responses.is_empty() && !responses.iter().any(|kind| kind == "code") {
        return Err(unfit("it does not answer with a code"));
    }
    let endpoint = |name: &'static str| match metadata.get(name).filter(|value| !value.is_null()) {
        None => Ok(None),
        Some(Value::String(url)) => read_url(egress, name, url).map(|url| Some(url.to_string())),
        Some(_) => Err(unfit("an address in it is no text")),
    };
    let needed =
        |name| endpoint(name)?.ok_or_else(|| OAuthError::unfit(METADATA, format!("`{name}` is missing")));
    let flag = |name: &str| metadata.get(name).and_then(Value::as_bool).unwrap_or_default();
    Ok(AuthorizationServer {
        issuer: issuer.to_owned(),
        authorization_endpoint: needed("authorization_endpoint")?,
        token_endpoint: needed("token_endpoint")?,
        registration_endpoint: endpoint("registration_endpoint")?,
        names_itself: flag("authorization_response_iss_parameter_supported"),
        takes_documents: flag("client_id_metadata_document_supported"),
        ways: texts(metadata.get("token_endpoint_auth_methods_supported")),
    })
}

/// Fetches an object; `None` where there is nothing.
async fn fetch(
    egress: &Egress,
    what: &'static str,
    url: &str,
    deadline: Instant,
) -> Result<Option<Map<String, Value>>, OAuthError> {
    let left = deadline.saturating_duration_since(Instant::now());
    let request = Request::get(url).header("accept", "application/json").body_max(BYTES_MAX).timeout(left);
    let answer = egress.send(request).await.map_err(|error| OAuthError::Unanswered { what, error })?;
    match answer.status {
        200 => {}
        // An answer that leads elsewhere is none: nothing is followed.
        300..500 => return Ok(None),
        status => return Err(OAuthError::unfit(what, format!("HTTP {status} came instead"))),
    }
    match serde_json::from_slice(&answer.body) {
        Ok(Value::Object(members)) => Ok(Some(members)),
        _ => Err(OAuthError::unfit(what, "it is no JSON object")),
    }
}

fn texts(list: Option<&Value>) -> Vec<String> {
    let items = list.and_then(Value::as_array).into_iter().flatten();
    items.filter_map(Value::as_str).take(SCOPES_MAX).map(str::to_owned).collect()
}

/// As RFC 6749 writes them.
fn is_scope(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|b| matches!(b, 0x21 | 0x23..=0x5b | 0x5d..=0x7e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_looked_for_where_the_standards_say() {
        let of = |url: &str| places_of_issuer(&Url::parse(url).unwrap());
        assert_eq!(
            of("https://a.test"),
            [
                "https://a.test/.well-known/oauth-authorization-server",
                "https://a.test/.well-known/openid-configuration"
            ]
        );
        assert_eq!(
            of("https://a.test/one/"),
            [
                "https://a.test/.well-known/oauth-authorization-server/one",
                "https://a.test/.well-known/openid-configuration/one",
                "https://a.test/one/.well-known/openid-configuration",
            ]
        );
        let of = |url: &str| places_of_resource(&Url::parse(url).unwrap());
        assert_eq!(
            of("https://a.test:8/mcp?x=1"),
            [
                "https://a.test:8/.well-known/oauth-protected-resource/mcp",
                "https://a.test:8/.well-known/oauth-protected-resource"
            ]
        );
        assert_eq!(of("https://a.test/"), ["https://a.test/.well-known/oauth-protected-resource"]);
    }

    #[test]
    fn resource_is_the_server_or_a_part_of_its_site() {
        let server = Url::parse("https://a.test/one/mcp").unwrap();
        let is_fit = |resource: &str| {
            let metadata = json!({ "resource": resource });
            resource_of(metadata.as_object().unwrap(), &server).is_ok()
        };
        for fit in [
            "https://a.test/one/mcp",
            "https://a.test",
            "https://a.test/",
            "https://A.test/one",
            "https://a.test/one/",
        ] {
            assert!(is_fit(fit), "{fit}");
        }
        for unfit in [
            "https://b.test/one/mcp",
            "http://a.test/one/mcp",
            "https://a.test/on",
            "https://a.test:8/",
            "x",
            "https://a.test/#a",
            "https://a.test/one/mcp/two",
        ] {
            assert!(!is_fit(unfit), "{unfit}");
        }
    }
}
