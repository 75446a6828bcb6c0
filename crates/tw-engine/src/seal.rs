//! What an approval is bound to.

use serde_json::Value;
use tw_model::{Caller, RunId, SessionId, TenantId, Timestamp};
use tw_store::Approval;

use crate::{catalogue::Tool, secrets::Secrets, secrets::equal};

/// Proof that an approval stands for exactly this call. Only [`open`] makes one.
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
    pub(crate) input_digest: &'a str,
    pub(crate) expires: Timestamp,
}

impl Sealed<'_> {
    pub(crate) fn seal(&self, secrets: &Secrets) -> [u8; 32] {
        // Every part has a fixed form without line breaks, so two different sets of facts can never
        // give the same text.
        secrets.seal(&format!(
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
        ))
    }
}

/// Checks an approval against the call it is to let through.
pub(crate) fn open(approval: &Approval, facts: &Sealed<'_>, secrets: &Secrets) -> Option<Unsealed> {
    (approval.input_digest == facts.input_digest && equal(&approval.seal, &facts.seal(secrets)))
        .then_some(Unsealed { _private: () })
}

/// The digest an approval names its input by.
pub(crate) fn input_digest(value: &Value) -> String {
    tw_schema::digest(value).to_string()
}

/// The principal of a caller, as seals and rows name it.
pub(crate) fn principal(caller: &Caller) -> String {
    caller.principal.label()
}
