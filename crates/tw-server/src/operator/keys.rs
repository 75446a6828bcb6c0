//! `toolwright keys`.

use std::{collections::HashMap, time::Duration};

use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::{Value, json};
use tw_identity::KeyRequest;
use tw_model::{ActsAs, Role, TenantSlug, Timestamp};
use tw_store::ApiKey;

use super::{Common, with_office};
use crate::{fail::Hint, output};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a key and print it; it is not shown again
    #[command(after_help = "Examples:\n  \
        toolwright keys create --tenant demo --role admin\n  \
        toolwright keys create --role agent --acts-as agent --agent helper --expires-in 90d")]
    Create {
        /// The tenant [default: the only one]
        #[arg(long)]
        tenant: Option<TenantSlug>,
        /// admin, builder, member, approver, viewer or agent
        #[arg(long)]
        role: Role,
        /// What the key is used for
        #[arg(long, default_value = "command line")]
        name: String,
        /// Who the key acts as: user (its owner) or agent
        #[arg(long, value_parser = acts_as, default_value = "user")]
        acts_as: ActsAs,
        /// The slug of the agent, with `--acts-as agent`
        #[arg(long, value_name = "SLUG")]
        agent: Option<String>,
        /// The owner of the key [default: the tenant's first admin]
        #[arg(long, value_name = "EMAIL")]
        owner: Option<String>,
        /// How long the key is valid, such as 12h, 90d or 52w [default: until revoked]
        #[arg(long, value_name = "TIME", value_parser = crate::span::parse)]
        expires_in: Option<Duration>,
    },
    /// List the keys of a tenant, without their secrets
    List {
        /// The tenant [default: the only one]
        #[arg(long)]
        tenant: Option<TenantSlug>,
    },
    /// Revoke a key at once, for every server on this database
    Revoke {
        /// The key's id or its prefix, the part between `tw_` and the next `_`
        #[arg(value_name = "ID_OR_PREFIX")]
        key: String,
    },
}

pub(crate) async fn run(common: &Common, command: Command) -> Result<()> {
    with_office(&common.place, async |office, _| match command {
        Command::Create { tenant, role, name, acts_as, agent, owner, expires_in } => {
            let tenant = office.tenant(tenant.as_ref()).await?;
            let expires = expires_in.map(|span| Timestamp::now().plus(span));
            let request = KeyRequest { name, role, acts_as, agent, expires };
            let made = office.operator.create_key(&tenant, request, owner.as_deref()).await;
            let made = made.with_context(|| format!("cannot create a key for `{tenant}`"))?;
            if common.json {
                let mut shown = shown(&made.key, owner.as_deref());
                shown["key"] = made.text.into();
                shown["database"] = crate::config::shown(&office.target).into();
                return output::json(&shown);
            }
            output::say(&made.text)?;
            output::note(&format!("created a key for {tenant} with the role {role}; it is shown only once"));
            Ok(())
        }
        Command::List { tenant } => {
            let tenant = office.tenant(tenant.as_ref()).await?;
            let keys = office.operator.keys(&tenant).await?;
            let users = office.operator.users(&tenant).await?;
            let emails: HashMap<_, _> = users.iter().map(|user| (user.id, user.email.as_str())).collect();
            let owner = |key: &ApiKey| emails.get(&key.owner).copied();
            if common.json {
                let items: Vec<_> = keys.iter().map(|key| shown(key, owner(key))).collect();
                return output::json(&json!({ "items": items }));
            }
            output::table(
                &["prefix", "name", "role", "acts as", "owner", "state", "expires", "last used"],
                keys.iter().map(|key| row(key, owner(key))),
            )
        }
        Command::Revoke { key } => {
            let revoked = office.operator.revoke_key(prefix(&key)).await;
            // What was given may be a whole key, and is not repeated.
            let revoked =
                revoked.context("cannot revoke").hint("`toolwright keys list` shows the keys of a tenant")?;
            match common.json {
                true => output::json(&shown(&revoked, None)),
                false => output::say(&format!("revoked {} ({})", revoked.prefix, revoked.name)),
            }
        }
    })
    .await
}

/// The prefix, also of a whole key: that is what somebody has at hand who wants it gone.
pub(crate) fn prefix(key: &str) -> &str {
    match key.strip_prefix("tw_") {
        Some(rest) => rest.split('_').next().unwrap_or(rest),
        None => key,
    }
}

fn row(key: &ApiKey, owner: Option<&str>) -> Vec<String> {
    let when = |moment: Option<Timestamp>| moment.map(|moment| output::moment(&moment.to_string()));
    let acts_as = match &key.agent {
        Some(agent) => format!("agent {agent}"),
        None => key.acts_as.as_str().to_owned(),
    };
    vec![
        key.prefix.clone(),
        key.name.clone(),
        key.role.to_string(),
        acts_as,
        owner.unwrap_or("gone").to_owned(),
        state(key).to_owned(),
        when(key.expires).unwrap_or_else(|| "never".to_owned()),
        when(key.last_used).unwrap_or_else(|| "never".to_owned()),
    ]
}

fn state(key: &ApiKey) -> &'static str {
    if key.revoked.is_some() {
        "revoked"
    } else if key.expires.is_some_and(|expires| expires <= Timestamp::now()) {
        "expired"
    } else {
        "active"
    }
}

fn shown(key: &ApiKey, owner: Option<&str>) -> Value {
    json!({
        "id": key.id,
        "prefix": key.prefix,
        "name": key.name,
        "role": key.role,
        "acts_as": key.acts_as,
        "agent": key.agent,
        "owner": owner,
        "owner_id": key.owner,
        "state": state(key),
        "created_at": key.created,
        "expires_at": key.expires,
        "last_used_at": key.last_used,
        "revoked_at": key.revoked,
    })
}

fn acts_as(text: &str) -> Result<ActsAs, String> {
    ActsAs::parse(text).ok_or_else(|| "use user or agent".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_key_stands_for_its_prefix() {
        assert_eq!(prefix("tw_0123456789ab_c3VwZXI_c2VjcmV0"), "0123456789ab");
        assert_eq!(prefix("0123456789ab"), "0123456789ab");
        assert_eq!(prefix("01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11"), "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11");
    }
}
