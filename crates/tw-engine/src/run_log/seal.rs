//! What an approval is bound to.

use serde_json::Value;
use tw_base::{Secrets, secrets::equal};
use tw_model::{RunId, SessionId, TenantId, Timestamp};
use tw_registry::Tool;
use tw_store::{Approval, Run};
use tw_vault::{Stamp, Stamped};

/// Proof that an approval stands for exactly this call. Only [`Unsealed::check`] makes one.
#[derive(Debug)]
pub(crate) struct Unsealed {
    _private: (),
}

/// The facts under the seal.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sealed<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) principal: &'a str,
    /// What the call goes on with: role, owner, source and chain of its caller, as JSON.
    pub(crate) context: &'a str,
    pub(crate) root: RunId,
    pub(crate) run: RunId,
    pub(crate) session: SessionId,
    pub(crate) tool: &'a Tool,
    /// Of the credentials that the tool opens, in the order of their references.
    pub(crate) credentials: &'a [Stamp],
    pub(crate) input_digest: &'a str,
    pub(crate) expires: Timestamp,
}

impl<'a> Sealed<'a> {
    /// What is stored of a waiting call, with another input or the same.
    pub(crate) fn of(
        approval: &'a Approval,
        run: &Run,
        tool: &'a Tool,
        credentials: &'a [Stamp],
        input_digest: &'a str,
    ) -> Self {
        Self {
            tenant: run.tenant,
            principal: &approval.requested_by,
            context: &approval.context,
            root: run.root,
            run: run.id,
            session: run.session,
            tool,
            credentials,
            input_digest,
            expires: approval.expires,
        }
    }

    pub(crate) fn seal(&self, secrets: &Secrets) -> [u8; 32] {
        // Every part has a fixed form without line breaks, so two different sets of facts can never
        // give the same text.
        let mut text = format!(
            "{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}",
            self.tenant,
            self.principal.replace('\n', " "),
            blake3::hash(self.context.as_bytes()),
            self.root,
            self.run,
            self.session,
            self.tool.def.id,
            self.tool.definition_hash,
            self.input_digest,
            self.expires.micros(),
        );
        text.push_str(&stamped(self.credentials));
        secrets.seal(&text)
    }
}

/// Which credentials there are, and in which state, a line for each.
pub(super) fn stamped(credentials: &[Stamp]) -> String {
    let mut text = String::new();
    for Stamp { reference, found } in credentials {
        // A reference is the author's, so it may hold anything.
        let reference = blake3::hash(reference.as_bytes());
        match found {
            Some(Stamped { id, revision, allowed_hosts: None }) => {
                text.push_str(&format!("\n{reference} {id} {revision}"));
            }
            Some(Stamped { id, revision, allowed_hosts: Some(hosts) }) => {
                let hosts = blake3::hash(hosts.join(" ").as_bytes());
                text.push_str(&format!("\n{reference} {id} {revision} {hosts}"));
            }
            None => text.push_str(&format!("\n{reference} missing")),
        }
    }
    text
}

impl Unsealed {
    /// Checks an approval against the call that it is to let through, with the tool and its credentials as they are
    /// now.
    pub(crate) fn check(
        approval: &Approval,
        run: &Run,
        tool: &Tool,
        credentials: &[Stamp],
        secrets: &Secrets,
    ) -> Option<Self> {
        let input = serde_json::from_str::<Value>(approval.input.get()).unwrap_or(Value::Null);
        let digest = input_digest(&input);
        let facts = Sealed::of(approval, run, tool, credentials, &digest);
        let is_as_stored =
            approval.input_digest == digest && approval.definition_hash == tool.definition_hash;
        let is_sealed = is_as_stored && equal(&approval.seal, &facts.seal(secrets));
        is_sealed.then_some(Self { _private: () })
    }
}

/// The digest an approval names its input by.
pub(crate) fn input_digest(value: &Value) -> String {
    tw_schema::digest(value).to_string()
}
