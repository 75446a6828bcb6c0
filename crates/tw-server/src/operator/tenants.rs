//! `toolwright tenants`.

use anyhow::{Context, Result};
use clap::Subcommand;
use serde_json::{Value, json};
use tw_model::TenantSlug;
use tw_store::Tenant;

use super::{Common, with_office};
use crate::output;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a tenant
    #[command(after_help = "Example:\n  toolwright tenants create acme --name 'Acme Ltd'")]
    Create {
        /// Its slug, for addresses and commands
        slug: TenantSlug,
        /// Its display name [default: the slug]
        #[arg(long)]
        name: Option<String>,
    },
    /// List the tenants
    List,
}

pub(crate) async fn run(common: &Common, command: Command) -> Result<()> {
    with_office(&common.place, async |office, _| match &command {
        Command::Create { slug, name } => {
            let name = name.as_deref().unwrap_or(slug.as_str());
            let made = office.operator.create_tenant(slug, name).await;
            let tenant = made.with_context(|| format!("cannot create the tenant `{slug}`"))?;
            if common.json {
                return output::json(&shown(&tenant));
            }
            output::say(&format!("created the tenant {slug}"))?;
            output::note(&format!(
                "next: toolwright users create EMAIL --tenant {slug} --role admin; toolwright keys create --tenant {slug} --role admin"
            ));
            Ok(())
        }
        Command::List => {
            let tenants = office.operator.tenants().await?;
            if common.json {
                return output::json(&json!({ "items": tenants.iter().map(shown).collect::<Vec<_>>() }));
            }
            output::table(
                &["slug", "name", "status", "created"],
                tenants.iter().map(|tenant| {
                    let made = output::moment(&tenant.created.to_string());
                    vec![tenant.slug.to_string(), tenant.name.clone(), tenant.status.clone(), made]
                }),
            )
        }
    })
    .await
}

fn shown(tenant: &Tenant) -> Value {
    json!({
        "id": tenant.id,
        "slug": tenant.slug,
        "name": tenant.name,
        "status": tenant.status,
        "created_at": tenant.created,
    })
}
