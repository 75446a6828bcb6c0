//! `toolwright doctor`: looks at everything a server needs, and changes nothing.

use std::{fs, path::Path, process::ExitCode, time::Duration};

use anyhow::Result;
use serde::Serialize;
use serde_json::json;
use tw_model::Timestamp;
use tw_store::{Durability, Options, Store, Target};

use crate::{
    config::Config,
    folder::{self, Server},
    master_key::{self, FoundKey},
    operator::Common,
    output,
};

/// The fact by which the database knows its master key; the engine writes it.
const KEY_CHECK: &str = "master_key_check";
const DISK_LOW: u64 = 1 << 30;
const DISK_FULL: u64 = 64 << 20;
/// 2026-01-01: before this, no clock that is right can have run this program.
const EARLIEST: Timestamp = Timestamp::from_micros(1_767_225_600_000_000);
const SKEW_MAX: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Ok,
    Warn,
    Fail,
}

#[derive(Debug, Serialize)]
struct Line {
    check: &'static str,
    status: Status,
    detail: String,
}

#[derive(Debug, Default)]
struct Report(Vec<Line>);

impl Report {
    fn ok(&mut self, check: &'static str, detail: impl Into<String>) {
        self.0.push(Line { check, status: Status::Ok, detail: detail.into() });
    }

    fn warn(&mut self, check: &'static str, detail: impl Into<String>) {
        self.0.push(Line { check, status: Status::Warn, detail: detail.into() });
    }

    fn fail(&mut self, check: &'static str, detail: impl Into<String>) {
        self.0.push(Line { check, status: Status::Fail, detail: detail.into() });
    }
}

pub(crate) async fn run(common: &Common) -> Result<ExitCode> {
    let mut report = Report::default();
    match common.place.load().and_then(|config| Ok((config.target()?, config))) {
        Ok((target, config)) => examine(&mut report, &config, &target).await,
        Err(error) => report.fail("settings", format!("{error:#}")),
    }
    let failed = report.0.iter().any(|line| line.status == Status::Fail);
    if common.json {
        output::json(&json!({ "ok": !failed, "items": report.0 }))?;
    } else {
        for Line { check, status, detail } in &report.0 {
            let status = format!("{status:?}").to_lowercase();
            output::say(&output::clean(&format!("{status:4}  {check}: {detail}")))?;
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn examine(report: &mut Report, config: &Config, target: &Target) {
    match config.log.durability {
        Durability::Full => report.ok("settings", "can be read"),
        Durability::Buffered => {
            report.warn("settings", "log.durability is `buffered`: a crash loses answered calls")
        }
    }
    if let Some(folder) = folder::of(target) {
        data_folder(report, folder);
        server(report, folder);
        disk(report, folder);
    }
    let store = database(report, config, target).await;
    let bound = match &store {
        Some(store) => store.meta(KEY_CHECK).await.ok().flatten(),
        None => None,
    };
    key(report, master_key::find(config, target), target, bound.as_deref());
    clock(report, store.as_ref()).await;
    if let Some(store) = store {
        store.close().await;
    }
}

fn data_folder(report: &mut Report, folder: &Path) {
    let shown = folder.display();
    let Ok(metadata) = fs::metadata(folder) else {
        return report.warn("data folder", format!("{shown} is not there yet; the first start makes it"));
    };
    if !metadata.is_dir() {
        return report.fail("data folder", format!("{shown} is not a folder"));
    }
    // Asking for permissions is not the same as having them: a disk can be read-only.
    if let Err(error) = tempfile::tempfile_in(folder) {
        return report.fail("data folder", format!("nothing can be written to {shown}: {error}"));
    }
    match open_to_others(&metadata) {
        true => report.warn("data folder", format!("other users can read it: run `chmod 700 {shown}`")),
        false => report.ok("data folder", format!("{shown} is writable and private")),
    }
}

#[cfg(unix)]
fn open_to_others(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    metadata.permissions().mode() & 0o007 != 0
}

#[cfg(not(unix))]
fn open_to_others(_: &fs::Metadata) -> bool {
    false
}

fn server(report: &mut Report, folder: &Path) {
    match folder::server(folder) {
        Ok(Server::None) => report.ok("server", "none is running on this folder"),
        Ok(Server::Running { url: Some(url) }) => report.ok("server", format!("one is running, at {url}")),
        Ok(Server::Running { url: None }) => report.ok("server", "one is running"),
        Err(error) => report.fail("server", format!("cannot read the lock file: {error}")),
    }
}

#[cfg(unix)]
fn disk(report: &mut Report, folder: &Path) {
    let Some(existing) = folder.ancestors().find(|folder| folder.exists()) else { return };
    let free = match rustix::fs::statvfs(existing) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => return report.warn("disk", format!("cannot read the free space: {error}")),
    };
    let detail = format!("{} MiB free", free >> 20);
    match free {
        ..DISK_FULL => report.fail("disk", format!("{detail}; at least {} MiB are needed", DISK_FULL >> 20)),
        DISK_FULL..DISK_LOW => report.warn("disk", format!("{detail}; less than {} MiB", DISK_LOW >> 20)),
        DISK_LOW.. => report.ok("disk", detail),
    }
}

#[cfg(not(unix))]
fn disk(_: &mut Report, _: &Path) {}

/// Opens the database, where there is one with a schema in it.
async fn database(report: &mut Report, config: &Config, target: &Target) -> Option<Store> {
    if let Target::Sqlite { file } = target
        && !file.exists()
    {
        report.warn("database", format!("{} is not there yet; the first start makes it", file.display()));
        return None;
    }
    match tw_store::pending_migrations(target).await {
        Ok(pending) if pending.is_empty() => report.ok("migrations", "none is pending"),
        Ok(pending) => {
            let names = pending.join(", ");
            report.warn(
                "migrations",
                format!("pending: {names}; `toolwright migrate` or the next start runs them"),
            );
        }
        Err(error) => {
            report.warn("migrations", format!("cannot be checked: {:#}", anyhow::Error::new(error)));
        }
    }
    let connections = config.database.connections.min(2);
    let store = match Store::open(&Options { connections, ..Options::new(target.clone()) }).await {
        Ok(store) => store,
        Err(error) => {
            // Without its schema, a PostgreSQL database also lacks the role we work under.
            let fresh = if folder::of(target).is_none() {
                "; a new one needs `toolwright migrate` first"
            } else {
                ""
            };
            report.fail("database", format!("{:#}{fresh}", anyhow::Error::new(error)));
            return None;
        }
    };
    match store.tenants().await {
        Ok(tenants) => report.ok("database", format!("answers; tenants: {}", tenants.len())),
        Err(error) => {
            let error = anyhow::Error::new(error);
            report.fail("database", format!("has no usable schema; run `toolwright migrate`: {error:#}"));
            store.close().await;
            return None;
        }
    }
    Some(store)
}

fn key(report: &mut Report, found: Result<Option<FoundKey>>, target: &Target, bound: Option<&str>) {
    const CHECK: &str = "master key";
    let found = match found {
        Ok(found) => found,
        Err(error) => return report.fail(CHECK, format!("{error:#}")),
    };
    match (found, bound) {
        (Some(found), Some(bound)) if found.key.fingerprint() != bound => {
            report.fail(CHECK, "does not fit the database: set the key that the servers used last");
        }
        (Some(found), bound) => match master_key::exposure(&found.source) {
            Some(exposure) => report.warn(CHECK, exposure),
            None if bound.is_some() => report.ok(CHECK, "fits the database"),
            None => report.ok(CHECK, "is there; the first start binds the database to it"),
        },
        (None, Some(_)) => report.fail(CHECK, "is missing, and the database needs it: put the file back, or set TOOLWRIGHT_MASTER_KEY or `master_key_file`"),
        (None, None) if folder::of(target).is_some() => report.ok(CHECK, "the first start makes one"),
        (None, None) => {
            report.fail(
                CHECK,
                "is missing: set TOOLWRIGHT_MASTER_KEY or `master_key_file`; `toolwright master-key` prints a new key",
            );
        }
    }
}

async fn clock(report: &mut Report, store: Option<&Store>) {
    let now = Timestamp::now();
    if now < EARLIEST {
        return report.fail("clock", format!("the clock of this machine is wrong: it shows {now}"));
    }
    let theirs = match store {
        Some(store) => store.now().await.unwrap_or(now),
        None => now,
    };
    match now.since(theirs).max(theirs.since(now)) {
        skew if SKEW_MAX < skew => report.warn(
            "clock",
            format!("differs from the database's clock by {} s: synchronize both", skew.as_secs()),
        ),
        _ => report.ok("clock", now.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_that_is_missing_or_foreign_fails() {
        let sqlite = Target::sqlite_in(Path::new("."));
        let postgres = Target::Postgres { url: String::new() };
        let with = |found: Option<FoundKey>, target: &Target, bound: Option<&str>| {
            let mut report = Report::default();
            key(&mut report, Ok(found), target, bound);
            report.0[0].status
        };
        let found = || {
            let key = tw_base::MasterKey::parse(&format!("{}=", "A".repeat(43))).unwrap();
            Some(FoundKey { key, source: master_key::KeySource::Environment })
        };
        let own = found().unwrap().key.fingerprint();
        assert_eq!(with(None, &sqlite, None), Status::Ok);
        assert_eq!(with(None, &postgres, None), Status::Fail);
        assert_eq!(with(None, &sqlite, Some(&own)), Status::Fail);
        assert_eq!(with(found(), &sqlite, Some(&own)), Status::Ok);
        assert_eq!(with(found(), &postgres, None), Status::Ok);
        assert_eq!(with(found(), &postgres, Some("another")), Status::Fail);
    }
}
