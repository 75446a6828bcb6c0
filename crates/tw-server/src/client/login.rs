//! `toolwright login`, `logout` and `profiles`.

use std::io::{self, BufRead, IsTerminal, Write};

use anyhow::{Context, Result};
use serde_json::json;

use super::{
    Client, Server, base_url, given,
    profiles::{Profile, Profiles},
    who,
};
use crate::{fail::refusal, output};

/// `toolwright login`: tries a key, then keeps it.
pub(crate) async fn login(server: &Server) -> Result<()> {
    let name = server.profile_name();
    let mut profiles = Profiles::open()?;
    let before = profiles.get(name).ok().flatten();
    let base = base_url(server.url.as_deref().or(before.as_ref().map(|profile| &*profile.url)))?;
    let key = match given(server.key.as_deref()) {
        Some(key) => key.to_owned(),
        None => typed_key(base.as_str())?,
    };
    let client = Client::new(base, key)?;
    let me = client.get(&["me"], &[]).await?;
    profiles.set(name, &Profile { url: client.base.to_string(), key: client.key });
    profiles.save()?;
    if server.json {
        return output::json(&json!({ "profile": name, "url": client.base.as_str(), "me": me }));
    }
    let mut pairs = vec![("server", client.base.to_string())];
    pairs.extend(who(&me));
    output::pairs(&pairs)?;
    output::note(&format!("saved as the profile `{name}` in {}", profiles.path().display()));
    Ok(())
}

/// `toolwright logout`: forgets a profile.
pub(crate) fn logout(server: &Server) -> Result<()> {
    let name = server.profile_name();
    let mut profiles = Profiles::open()?;
    if !profiles.remove(name) {
        return Err(refusal(format!("no profile named `{name}`"), "`toolwright profiles` lists them"));
    }
    profiles.save()?;
    if server.json {
        return output::json(&json!({ "profile": name, "removed": true }));
    }
    output::say(&format!("removed the profile `{name}`"))?;
    output::note("its key still works: an administrator revokes it with `toolwright keys revoke`");
    Ok(())
}

/// `toolwright profiles`: lists them, without their keys.
pub(crate) fn list(server: &Server) -> Result<()> {
    let profiles = Profiles::open()?;
    let used = server.profile_name();
    let mut rows = Vec::new();
    for name in profiles.names() {
        if let Some(profile) = profiles.get(name)? {
            rows.push((name.to_owned(), profile.url));
        }
    }
    if server.json {
        let item =
            |(name, url): &(String, String)| json!({ "name": name, "url": url, "in_use": name == used });
        return output::json(&json!({ "items": rows.iter().map(item).collect::<Vec<_>>() }));
    }
    if rows.is_empty() {
        output::note("there are no profiles yet: `toolwright login` makes one");
        return Ok(());
    }
    let row = |(name, url): (String, String)| {
        let mark = if name == used { "yes" } else { "" };
        vec![name, url, mark.to_owned()]
    };
    output::table(&["profile", "server", "in use"], rows.into_iter().map(row))
}

/// The key that a person types or pastes, or that a program writes to standard input.
fn typed_key(url: &str) -> Result<String> {
    let input = io::stdin();
    let mut key = String::new();
    if input.is_terminal() {
        let _ = write!(io::stderr(), "API key for {url} (it is not shown): ");
        let _hidden = Hidden::now();
        input.lock().read_line(&mut key).context("cannot read the key")?;
        let _ = writeln!(io::stderr());
    } else {
        input.lock().read_line(&mut key).context("cannot read standard input")?;
    }
    let hint = "give it with --key, in TOOLWRIGHT_KEY or on standard input";
    given(Some(&key)).map(str::to_owned).ok_or_else(|| refusal("there is no API key", hint))
}

/// A terminal that does not show what is typed, until dropped.
struct Hidden {
    #[cfg(unix)]
    before: Option<rustix::termios::Termios>,
}

#[cfg(unix)]
impl Hidden {
    fn now() -> Self {
        use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &silent);
        }
        Self { before }
    }
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, before);
        }
    }
}

#[cfg(not(unix))]
impl Hidden {
    fn now() -> Self {
        Self {}
    }
}
