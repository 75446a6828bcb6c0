//! What an operator does on the database itself, whether or not a server runs on it.

pub(crate) mod keys;
pub(crate) mod master_key;
pub(crate) mod tenants;
pub(crate) mod tools;
pub(crate) mod users;

use anyhow::{Context, Result};
use tw_engine::Operator;
use tw_model::TenantSlug;
use tw_store::Tenant;
use tw_store::{Options, Store, Target};

use crate::{
    config::{Config, Sources},
    fail::{Hint, refusal},
    folder, output,
};

/// A command needs few connections.
const CONNECTIONS: u32 = 4;
/// The tenant that the first start makes.
const FIRST_TENANT: &str = "demo";

/// What every operator command takes.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Common {
    #[command(flatten)]
    pub(crate) place: Sources,
    /// Print JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// The open database, and who works on it.
pub(super) struct Office {
    operator: Operator,
    store: Store,
    target: Target,
}

/// Opens the database, does the work, and closes it again however the work ends. Says on standard error which database
/// it was: a client's settings may name a server on another one.
async fn with_office<T>(place: &Sources, work: impl AsyncFnOnce(&Office, &Config) -> Result<T>) -> Result<T> {
    let config = place.load()?;
    let target = config.target()?;
    folder::migrate(&target).await?;
    let options = Options { connections: CONNECTIONS, ..Options::new(target.clone()) };
    let store = Store::open(&options).await.context("cannot open the database")?;
    let office = Office { operator: Operator::new(store.clone()), store, target };
    let done = work(&office, &config).await;
    office.store.close().await;
    if done.is_ok() {
        output::note(&format!("database: {}", crate::config::shown(&office.target)));
        if std::env::var_os("TOOLWRIGHT_URL").is_some_and(|url| !url.is_empty()) {
            output::note("TOOLWRIGHT_URL is not used: this command works directly in the database");
        }
    }
    done
}

impl Office {
    /// The tenant that is asked for, or the only one. A database that nobody has used yet gets the tenant
    /// that the first start of a server would make.
    async fn tenant(&self, asked: Option<&TenantSlug>) -> Result<TenantSlug> {
        let tenants = self.prepared(asked.is_none_or(|slug| slug.as_str() == FIRST_TENANT)).await?;
        let slugs: Vec<&str> = tenants.iter().map(|tenant| tenant.slug.as_str()).collect();
        let known = format!("there are: {}", slugs.join(", "));
        match (asked, tenants.as_slice()) {
            (Some(asked), tenants) => {
                let found = tenants.iter().find(|tenant| tenant.slug == *asked);
                let found = found.with_context(|| format!("there is no tenant `{asked}`")).hint(known)?;
                Ok(found.slug.clone())
            }
            (None, [only]) => Ok(only.slug.clone()),
            (None, _) => Err(refusal("there is more than one tenant: name one with --tenant", known)),
        }
    }

    async fn prepared(&self, first_use: bool) -> Result<Vec<Tenant>> {
        // Somebody who is making the first tenant right now has not made its admin yet.
        let _turn = folder::turn(&self.target)?;
        let tenants = self.operator.tenants().await?;
        if !tenants.is_empty() || !first_use {
            return Ok(tenants);
        }
        self.operator.prepare().await.context("cannot prepare the database for its first use")?;
        Ok(self.operator.tenants().await?)
    }
}
