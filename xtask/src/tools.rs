//! What the tests need on the machine, installed where it is missing and left alone where it is not.

use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{commands::succeed, postgres};

/// Debian's package would make and start a cluster of its own. Where no PostgreSQL was before, we ask
/// it not to, for the time of the install; a machine that has one keeps its ways.
const INSTALL_POSTGRES: &str = r#"
set -eu
settings=/etc/postgresql-common
if [ ! -e "$settings" ]; then
    mkdir -p "$settings/createcluster.d"
    echo 'create_main_cluster = false' >"$settings/createcluster.d/toolwright.conf"
    trap 'rm -f "$settings/createcluster.d/toolwright.conf"' EXIT
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends postgresql
"#;

pub(crate) fn install_missing() -> Result<()> {
    install_postgres()?;
    install_nextest()
}

pub(crate) fn install_postgres() -> Result<()> {
    if postgres::bin_folder().is_some() {
        return Ok(());
    }
    ensure!(
        works("apt-get", &["--version"]),
        "the tests need a PostgreSQL server, and this machine has no apt-get to install it with: install \
         your system's server package and see that `postgres` or `pg_config` is in PATH"
    );
    let mut command = as_root("postgresql")?;
    println!("installing PostgreSQL");
    succeed(command.args(["sh", "-c", INSTALL_POSTGRES]))
        .context("install the Debian package `postgresql`")?;
    ensure!(
        postgres::bin_folder().is_some(),
        "the package `postgresql` is installed, but its program `postgres` was not found: put it in PATH"
    );
    Ok(())
}

fn install_nextest() -> Result<()> {
    if works("cargo", &["nextest", "--version"]) {
        return Ok(());
    }
    println!("installing cargo-nextest");
    succeed(Command::new("cargo").args(["install", "cargo-nextest", "--locked"]))
}

pub(crate) fn install_deny() -> Result<()> {
    if works("cargo", &["deny", "--version"]) {
        return Ok(());
    }
    println!("installing cargo-deny");
    succeed(Command::new("cargo").args(["install", "cargo-deny", "--locked"]))
}

/// The start of a command that runs as root: nothing in front of it when we are root, else `sudo`.
pub(crate) fn as_root(package: &str) -> Result<Command> {
    let id = Command::new("id").arg("-u").output().context("run `id`")?;
    let program = if id.stdout.trim_ascii() == b"0" { "env" } else { "sudo" };
    ensure!(
        works(program, &["--version"]),
        "the tests need a package: as root, run `apt-get install --no-install-recommends {package}`"
    );
    Ok(Command::new(program))
}

pub(crate) fn works(program: &str, args: &[&str]) -> bool {
    let status = Command::new(program).args(args).stdout(Stdio::null()).stderr(Stdio::null()).status();
    matches!(status, Ok(status) if status.success())
}
