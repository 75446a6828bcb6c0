//! The clients of others that the tests talk to the server with.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::{
    commands::{succeed, target},
    tools::{as_root, works},
};

/// Where the tests look for them.
pub(crate) const CLIENTS: &str = "TW_TEST_CLIENTS";

/// Installs what the lists in `crates/tw-it/clients` name, unless that is there already. Returns the folder.
pub(crate) fn install(root: &Path) -> Result<PathBuf> {
    let lists = root.join("crates/tw-it/clients");
    let folder = target(root).join("clients");
    python(&lists.join("python"), &folder.join("python"))?;
    typescript(&lists.join("typescript"), &folder.join("typescript"))?;
    Ok(folder)
}

fn python(list: &Path, folder: &Path) -> Result<()> {
    let wanted = fs::read_to_string(list.join("requirements.txt"))?;
    let note = folder.join("installed.txt");
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    if !works("python3", &["-c", "import ensurepip, venv"]) {
        println!("installing Python");
        let install = "apt-get update && apt-get install -y --no-install-recommends python3 python3-venv";
        succeed(as_root("python3-venv")?.args(["sh", "-c", install])).context("install Python")?;
    }
    println!("installing MCP clients for Python");
    succeed(Command::new("python3").args(["-m", "venv", "--clear"]).arg(folder))?;
    let pip = folder.join("bin/pip");
    let install = ["install", "--quiet", "--disable-pip-version-check", "--requirement"];
    succeed(Command::new(pip).args(install).arg(list.join("requirements.txt")))?;
    fs::write(note, wanted).context("note what is installed")
}

fn typescript(list: &Path, folder: &Path) -> Result<()> {
    let wanted = fs::read_to_string(list.join("package-lock.json"))?;
    let note = folder.join("installed.txt");
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    ensure!(works("npm", &["--version"]), "the tests need Node.js and npm: install them and try again");
    println!("installing MCP clients for TypeScript");
    fs::create_dir_all(folder)?;
    for file in ["package.json", "package-lock.json"] {
        fs::copy(list.join(file), folder.join(file)).with_context(|| format!("copy {file}"))?;
    }
    // `npm ci` trips over native packages of other systems that the lock file leaves out.
    let install = ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"];
    succeed(Command::new("npm").args(install).current_dir(folder))?;
    fs::write(note, wanted).context("note what is installed")
}
