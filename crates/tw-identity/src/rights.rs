//! Rights as types: an operation asks for a value that only the check can make.
//!
//! A door that forgets to check does not compile, and the check happens before the door reads a body.

use std::marker::PhantomData;

use tw_base::{Error, Result};
use tw_model::Caller;

/// Whether a key that acts as an agent may ever hold a right, whatever its role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agents {
    May,
    Never,
}

/// A right, as a type.
pub trait Right: Send + Sync + 'static {
    /// One of these permissions is enough.
    const ANY_OF: &'static [&'static str];
    const AGENTS: Agents;
}

macro_rules! rights {
    ($($(#[$doc:meta])* $name:ident: $agents:ident, $($permission:literal)|*;)+) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;

        impl Right for $name {
            const ANY_OF: &'static [&'static str] = &[$($permission),*];
            const AGENTS: Agents = Agents::$agents;
        })+
    };
}

rights! {
    /// Anybody with valid credentials.
    SignedIn: May, ;
    /// The same, but no agent.
    Person: Never, ;
    ReadTools: May, "tools.tenant.read";
    RunTools: May, "tools.tenant.run";
    /// The calls of test cases, which an agent does not make.
    TestTools: Never, "tools.tenant.run";
    CreateTools: Never, "tools.tenant.create";
    UpdateTools: Never, "tools.tenant.update";
    PublishTools: Never, "tools.tenant.publish";
    DeleteTools: Never, "tools.tenant.delete";
    /// How a tool came to be what it is. An agent sees what is live.
    ReadHistory: Never, "tools.tenant.read";
    /// One's own runs, or everybody's: what is seen depends on which.
    ReadRuns: May, "runs.own.read" | "runs.tenant.read";
    CancelRuns: May, "runs.own.cancel" | "runs.tenant.cancel";
    ReadApprovals: Never, "approvals.tenant.read";
    DecideApprovals: Never, "approvals.tenant.decide";
    /// A worker's result, or a person's answer: which of them depends on the permission.
    AnswerCalls: Never, "workers.tenant.answer" | "tools.tenant.run";
    ReadKeys: Never, "keys.tenant.read";
    WriteKeys: Never, "keys.tenant.write";
    ReadCredentials: Never, "credentials.tenant.read";
    WriteCredentials: Never, "credentials.tenant.write";
    ReadMcpServers: Never, "mcp_servers.tenant.read";
    WriteMcpServers: Never, "mcp_servers.tenant.write";
    ReadWebhooks: Never, "webhooks.tenant.read";
    WriteWebhooks: Never, "webhooks.tenant.write";
    ReadMembers: Never, "members.tenant.read";
    WriteMembers: Never, "members.tenant.write";
    /// Which language models can be asked.
    ReadModels: Never, "agents.tenant.read";
    ReadSettings: Never, "settings.tenant.read";
    WriteSettings: Never, "settings.tenant.write";
    ReadAudit: Never, "audit.tenant.read";
}

/// Proof that a caller holds a right.
#[derive(Debug)]
pub struct Permit<R> {
    caller: Caller,
    right: PhantomData<R>,
}

impl<R> Clone for Permit<R> {
    fn clone(&self) -> Self {
        Self { caller: self.caller.clone(), right: PhantomData }
    }
}

impl<R: Right> Permit<R> {
    /// Checks the right. There is no other way to a permit.
    pub fn check(caller: Caller) -> Result<Self> {
        if R::AGENTS == Agents::Never && caller.principal.is_agent() {
            return Err(Error::NotPermitted {
                why: "a key that acts as an agent can never do this".to_owned(),
            });
        }
        let held = R::ANY_OF.is_empty() || R::ANY_OF.iter().any(|name| caller.permissions.has(name));
        if !held {
            return Err(Error::NotPermitted { why: format!("this needs the permission `{}`", R::ANY_OF[0]) });
        }
        Ok(Self { caller, right: PhantomData })
    }

    #[must_use]
    pub fn caller(&self) -> &Caller {
        &self.caller
    }
}
