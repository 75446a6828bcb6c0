//! Trying a credential where it should open something. Whoever tries it hears how that went, and nothing of the
//! answer: a service that repeats what it was sent would show the secret.

use std::time::Duration;

use serde_json::json;
use tw_base::{Error, Result, by};
use tw_egress::{Request, Site};
use tw_identity::rights::{Permit, WriteCredentials};
use tw_model::{AllowedHost, CredentialId, CredentialType};
use tw_schema::Violation;
use tw_store::NewAudit;

use super::CredentialAdmin;

/// How long the service has to answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(10);
/// Where a key is sent, unless somebody names another header.
const KEY_HEADER: &str = "x-api-key";

/// Where a credential is tried.
#[derive(Clone, Debug)]
pub struct Trial {
    /// What answers with success to those who have the right credential, and to nobody else.
    pub url: String,
    /// In which header the credential's value is sent.
    pub header: Option<String>,
}

/// How that went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    pub ok: bool,
    /// What the service answered with, where it answered.
    pub status: Option<u16>,
    pub message: String,
}

impl CredentialAdmin {
    /// Sends a credential along with one GET, and says whether it was taken.
    pub async fn try_out(
        &self,
        permit: &Permit<WriteCredentials>,
        id: CredentialId,
        trial: &Trial,
        request_id: Option<&str>,
    ) -> Result<Tried> {
        let caller = permit.caller();
        let credential = self.stored(caller, id).await?;
        let secret = self.vault.open(caller.tenant, &id.to_string()).await?;
        let value = secret.value().ok_or_else(|| Error::invalid("", Violation::credential_field()))?;
        let (name, value) = match (&trial.header, credential.kind) {
            (Some(name), _) => (name.as_str(), value.to_string()),
            (None, CredentialType::Bearer) => ("authorization", format!("Bearer {}", value.as_str())),
            (None, CredentialType::Basic) => ("authorization", format!("Basic {}", value.as_str())),
            (None, CredentialType::ApiKey | CredentialType::Custom) => (KEY_HEADER, value.to_string()),
        };
        Request::check_header(name, &value)
            .map_err(|error| Error::invalid("/header", Violation::header(why_of(&error))))?;
        let egress = self.network.egress(caller.tenant);
        if let Err(error @ (tw_egress::Error::BadUrl { .. } | tw_egress::Error::BadRequest { .. })) =
            egress.check(&trial.url)
        {
            return Err(Error::invalid("/url", Violation::url(why_of(&error))));
        }
        if !AllowedHost::any_allows(credential.allowed_hosts.as_deref(), &trial.url) {
            return Err(Error::invalid("/url", Violation::host_not_allowed(credential.label.to_string())));
        }
        let note = NewAudit {
            action: "credential.tested".to_owned(),
            object: format!("credential:{id}"),
            before: None,
            after: Some(json!({ "site": Site::in_text(&trial.url).to_string(), "header": name })),
            note: None,
        };
        let scope = self.store.tenant(caller.tenant);
        scope.audit(&by(caller, request_id), note).await.map_err(Error::store("writing the audit"))?;
        let request = Request::get(&trial.url).header(name, value).timeout(ANSWERED_WITHIN);
        // The head says all that is asked for.
        Ok(match egress.open(request).await {
            Ok(answer) => told(answer.status),
            Err(error) => Tried { ok: false, status: None, message: error.to_string() },
        })
    }
}

fn told(status: u16) -> Tried {
    let message = match status {
        200..=299 => "the service accepted the credential".to_owned(),
        300..=399 => {
            format!("the service answered with {status}, a redirect: test the address that it redirects to")
        }
        401 | 403 => format!("the service answered with {status}: it did not accept the credential"),
        _ => format!("the service answered with {status}, which says nothing about the credential"),
    };
    Tried { ok: (200..=299).contains(&status), status: Some(status), message }
}

/// What is wrong with a request, without saying that it is one.
fn why_of(error: &tw_egress::Error) -> String {
    match error {
        tw_egress::Error::BadUrl { why } => (*why).to_owned(),
        tw_egress::Error::BadRequest { why } => why.clone(),
        other => other.to_string(),
    }
}
