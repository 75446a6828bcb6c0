//! What an approval is bound to.

use serde_json::Value;
use tw_base::{Secrets, secrets::equal};
use tw_mcp_servers::{ServerStamp, StampedServer};
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
    pub(crate) reach: &'a CallReach,
    pub(crate) input_digest: &'a str,
    pub(crate) expires: Timestamp,
}

impl<'a> Sealed<'a> {
    /// What is stored of a waiting call, with another input or the same.
    pub(crate) fn of(
        approval: &'a Approval,
        run: &Run,
        tool: &'a Tool,
        reach: &'a CallReach,
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
            reach,
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
        text.push_str(&self.reach.text());
        secrets.seal(&text)
    }
}

/// What a call opens and whom it asks, beyond its definition, as these are at a moment.
#[derive(Debug, Default)]
pub(crate) struct CallReach {
    /// Of the credentials that the tool or a server of its opens, in the order of their references.
    pub(crate) credentials: Vec<Stamp>,
    /// Of the MCP servers that it names, in the order of their names.
    pub(crate) servers: Vec<ServerStamp>,
}

impl CallReach {
    /// Which of them there are, and in which state, a line for each.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for Stamp { reference, found } in &self.credentials {
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
        for ServerStamp { named, found } in &self.servers {
            let named = blake3::hash(named.as_bytes());
            match found {
                Some(StampedServer { id, digest, .. }) => {
                    text.push_str(&format!("\nserver {named} {id} {digest}"));
                }
                None => text.push_str(&format!("\nserver {named} missing")),
            }
        }
        text
    }
}

impl Unsealed {
    /// Checks an approval against the call that it is to let through, with the tool and its reach as they are now.
    pub(crate) fn check(
        approval: &Approval,
        run: &Run,
        tool: &Tool,
        reach: &CallReach,
        secrets: &Secrets,
    ) -> Option<Self> {
        let input = serde_json::from_str::<Value>(approval.input.get()).unwrap_or(Value::Null);
        let digest = input_digest(&input);
        let facts = Sealed::of(approval, run, tool, reach, &digest);
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
