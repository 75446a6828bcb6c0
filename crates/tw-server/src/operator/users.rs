//! `toolwright users`.

use std::io::{self, BufRead};

use anyhow::{Context, Result, bail};
use clap::Subcommand;
use serde_json::{Value, json};
use tw_identity::UserRequest;
use tw_model::{Role, TenantSlug};
use tw_store::User;
use tw_store::{Added, normal_email};

use super::{Common, Office, with_office};
use crate::{
    banner,
    config::Config,
    fail::{Hint, refusal},
    folder, output,
};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add a person to a tenant
    #[command(after_help = "Examples:\n  \
        toolwright users create ada@example.com --tenant demo --role builder\n  \
        toolwright users create ada@example.com --role admin --password-stdin < password")]
    Create {
        email: String,
        /// The tenant [default: the only one]
        #[arg(long)]
        tenant: Option<TenantSlug>,
        /// admin, builder, member, approver or viewer
        #[arg(long)]
        role: Role,
        /// The display name [default: the first part of the email]
        #[arg(long)]
        name: Option<String>,
        /// Read a password from the first line of standard input; without a password, use `users link`
        #[arg(long)]
        password_stdin: bool,
    },
    /// Print a new sign-in link, which works once and within 24 hours
    #[command(after_help = "Example:\n  toolwright users link admin@demo.localhost")]
    Link {
        email: String,
        /// The tenant [default: the one the person belongs to]
        #[arg(long)]
        tenant: Option<TenantSlug>,
    },
    /// List the people of a tenant
    List {
        /// The tenant [default: the only one]
        #[arg(long)]
        tenant: Option<TenantSlug>,
    },
}

pub(crate) async fn run(common: &Common, command: Command) -> Result<()> {
    with_office(&common.place, async |office, config| match command {
        Command::Create { email, tenant, role, name, password_stdin } => {
            let tenant = office.tenant(tenant.as_ref()).await?;
            let password = if password_stdin { Some(password()?) } else { None };
            let display_name = name.unwrap_or_else(|| email.split('@').next().unwrap_or_default().to_owned());
            create(office, common, &tenant, UserRequest { email, display_name, role, password }).await
        }
        Command::Link { email, tenant } => {
            let tenant = match tenant {
                Some(_) => office.tenant(tenant.as_ref()).await?,
                None => home_of(office, &email).await?,
            };
            let token = office.operator.sign_in_link(&tenant, &email).await;
            let token = token.with_context(|| format!("cannot create a link for {email} in `{tenant}`"));
            let token =
                token.hint(format!("`toolwright users list --tenant {tenant}` shows who is there"))?;
            let link = banner::sign_in(&base(config)?, &token);
            match common.json {
                true => output::json(&json!({ "email": email, "tenant": tenant, "url": link })),
                false => output::say(&format!("sign in: {link}")),
            }
        }
        Command::List { tenant } => {
            let tenant = office.tenant(tenant.as_ref()).await?;
            let users = office.operator.users(&tenant).await?;
            if common.json {
                return output::json(&json!({ "items": users.iter().map(shown).collect::<Vec<_>>() }));
            }
            output::table(
                &["email", "name", "role", "password", "member since"],
                users.iter().map(|user| {
                    let password = if user.has_password { "set" } else { "none" }.to_owned();
                    let since = output::moment(&user.created.to_string());
                    vec![
                        user.email.clone(),
                        user.display_name.clone(),
                        user.role.to_string(),
                        password,
                        since,
                    ]
                }),
            )
        }
    })
    .await
}

async fn create(office: &Office, common: &Common, tenant: &TenantSlug, request: UserRequest) -> Result<()> {
    let (role, with_password) = (request.role, request.password.is_some());
    let added = office.operator.add_user(tenant, request).await;
    let (user, added) = added.with_context(|| format!("cannot add a person to `{tenant}`"))?;
    if added == Added::AlreadyMember && user.role != role {
        bail!("{} belongs to `{tenant}` already, as {}; nothing was changed", user.email, user.role);
    }
    if common.json {
        return output::json(&shown(&user));
    }
    let what = match added {
        Added::Created => "added",
        Added::Joined => "known from another tenant, added",
        Added::AlreadyMember => "belongs already",
    };
    output::say(&format!("{}: {what} to {tenant} as {}", user.email, user.role))?;
    if with_password && added != Added::Created {
        output::note(match added {
            Added::Joined => {
                "the password was not set: this person already exists in another tenant and must sign in here with a link first"
            }
            _ => "the password was not changed: only the member can change it",
        });
    }
    if !user.has_password {
        output::note(&format!("next: toolwright users link {} --tenant {tenant}", user.email));
    }
    Ok(())
}

fn password() -> Result<String> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).context("cannot read the password from standard input")?;
    let password = line.trim_end_matches(['\r', '\n']).to_owned();
    if password.is_empty() {
        bail!("there is no password on standard input");
    }
    Ok(password)
}

/// The tenant a person belongs to, where there is only one.
async fn home_of(office: &Office, email: &str) -> Result<TenantSlug> {
    let email = normal_email(email).with_context(|| format!("`{email}` is not an email address"))?;
    let mut homes = Vec::new();
    for tenant in office.operator.tenants().await? {
        if office.operator.users(&tenant.slug).await?.iter().any(|user| user.email == email) {
            homes.push(tenant.slug);
        }
    }
    match homes.as_slice() {
        [home] => Ok(home.clone()),
        [] => Err(refusal(format!("no tenant has a member {email}"), "`toolwright users create` adds one")),
        many => {
            let names: Vec<&str> = many.iter().map(TenantSlug::as_str).collect();
            let hint = format!("{email} belongs to: {}", names.join(", "));
            Err(refusal("name the tenant with --tenant", hint))
        }
    }
}

/// Where the server is reached: as configured, else where the one that runs on the folder listens.
fn base(config: &Config) -> Result<String> {
    if let Some(url) = &config.public_url {
        return Ok(url.clone());
    }
    let running = folder::of(&config.target()?).and_then(|folder| folder::server(folder).ok());
    match running {
        Some(folder::Server::Running { url: Some(url) }) => Ok(url),
        _ => Ok(format!("http://{}", config.listen)),
    }
}

fn shown(user: &User) -> Value {
    json!({
        "id": user.id,
        "email": user.email,
        "display_name": user.display_name,
        "role": user.role,
        "has_password": user.has_password,
        "created_at": user.created,
    })
}
