//! The roles every tenant starts with, and what each may do.

use std::{fmt, str::FromStr, sync::LazyLock};

use serde::{Deserialize, Serialize};

use crate::{Permission, PermissionSet};

/// A role. What it may do is [`Role::permissions`]; the table in the book is printed from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Admin,
    Builder,
    Member,
    Approver,
    Viewer,
    Agent,
}

/// The text names no role.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a role: use admin, builder, member, approver, viewer or agent")]
pub struct RoleError(String);

const READ_TOOLS: &[&str] = &["tools.tenant.read"];
const RUN_TOOLS: &[&str] = &["tools.tenant.run", "runs.own.read", "runs.own.cancel"];
const TENANT_RUNS: &[&str] = &["runs.tenant.read"];
const AUTHOR_TOOLS: &[&str] =
    &["tools.tenant.create", "tools.tenant.update", "tools.tenant.delete", "tools.tenant.publish"];
const BUILD: &[&str] = &[
    "workers.tenant.answer",
    "agents.tenant.read",
    "agents.tenant.write",
    "mcp_servers.tenant.read",
    "mcp_servers.tenant.write",
    "webhooks.tenant.read",
    "webhooks.tenant.write",
    "credentials.tenant.read",
];
const DECIDE: &[&str] = &["approvals.tenant.read", "approvals.tenant.decide"];
const ADMINISTER: &[&str] = &[
    "runs.tenant.cancel",
    "credentials.tenant.write",
    "keys.tenant.read",
    "keys.tenant.write",
    "members.tenant.read",
    "members.tenant.write",
    "settings.tenant.read",
    "settings.tenant.write",
    "audit.tenant.read",
];
/// What the tools that read and write entities ask for.
const ENTITIES: &[&str] = &[
    "entities.team.read",
    "entities.team.create",
    "entities.team.update",
    "entities.team.delete",
    "entity_types.team.read",
    "entity_types.team.write",
];
/// What a key that acts as an agent can never do, whatever its role and its owner.
const NEVER_AN_AGENT: &[&[&str]] = &[TENANT_RUNS, AUTHOR_TOOLS, BUILD, DECIDE, ADMINISTER];
const READ_ENTITIES: &[&str] = &["entities.team.read", "entity_types.team.read"];

impl Role {
    pub const ALL: [Self; 6] =
        [Self::Admin, Self::Builder, Self::Member, Self::Approver, Self::Viewer, Self::Agent];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Builder => "builder",
            Self::Member => "member",
            Self::Approver => "approver",
            Self::Viewer => "viewer",
            Self::Agent => "agent",
        }
    }

    /// One shared set per role.
    #[must_use]
    pub fn permissions(self) -> PermissionSet {
        static SETS: LazyLock<[PermissionSet; 6]> = LazyLock::new(|| Role::ALL.map(Role::build));
        SETS[self as usize].clone()
    }

    /// What is left of the role where it is an agent that has it: its own runs and nobody else's, and nothing by
    /// which it could widen its own rights.
    #[must_use]
    pub fn permissions_of_an_agent(self) -> PermissionSet {
        static SETS: LazyLock<[PermissionSet; 6]> = LazyLock::new(|| {
            Role::ALL.map(|role| {
                let never = |name: &str| NEVER_AN_AGENT.iter().any(|group| group.contains(&name));
                role.build().iter().filter(|name| !never(name.as_str())).cloned().collect()
            })
        });
        SETS[self as usize].clone()
    }

    fn build(self) -> PermissionSet {
        let groups: &[&[&str]] = match self {
            Self::Admin => {
                &[READ_TOOLS, RUN_TOOLS, TENANT_RUNS, AUTHOR_TOOLS, BUILD, DECIDE, ADMINISTER, ENTITIES]
            }
            Self::Builder => &[READ_TOOLS, RUN_TOOLS, TENANT_RUNS, AUTHOR_TOOLS, BUILD, ENTITIES],
            Self::Member => &[READ_TOOLS, RUN_TOOLS, READ_ENTITIES],
            Self::Approver => &[READ_TOOLS, RUN_TOOLS, TENANT_RUNS, DECIDE, READ_ENTITIES],
            Self::Viewer => &[READ_TOOLS, TENANT_RUNS, &["runs.own.read"], READ_ENTITIES],
            Self::Agent => &[READ_TOOLS, RUN_TOOLS, READ_ENTITIES],
        };
        let parse = |name: &&str| name.parse::<Permission>().expect("the names above are permissions");
        groups.iter().flat_map(|group| group.iter()).map(parse).collect()
    }
}

impl FromStr for Role {
    type Err = RoleError;

    fn from_str(text: &str) -> Result<Self, RoleError> {
        Self::ALL.into_iter().find(|role| role.as_str() == text).ok_or_else(|| RoleError(text.to_owned()))
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_admin_and_approver_decide() {
        let deciders: Vec<_> =
            Role::ALL.into_iter().filter(|role| role.permissions().has("approvals.tenant.decide")).collect();
        assert_eq!(deciders, [Role::Admin, Role::Approver]);
    }

    #[test]
    fn agent_with_the_role_of_an_admin_works_with_tools_and_rules_over_nobody() {
        let held = Role::Admin.permissions_of_an_agent();
        let mut groups: Vec<_> = held.iter().map(|name| name.as_str().rsplit_once('.').unwrap().0).collect();
        groups.sort_unstable();
        groups.dedup();
        assert_eq!(groups, ["entities.team", "entity_types.team", "runs.own", "tools.tenant"]);
        for never in
            ["tools.tenant.update", "approvals.tenant.decide", "keys.tenant.write", "runs.tenant.read"]
        {
            assert!(!held.has(never), "{never}");
        }
        assert_eq!(Role::Agent.permissions_of_an_agent(), Role::Agent.permissions());
    }

    #[test]
    fn admin_holds_what_anybody_holds() {
        let admin = Role::Admin.permissions();
        for role in Role::ALL {
            assert_eq!(role.permissions().intersect(&admin), role.permissions(), "{role}");
        }
    }
}
