//! The web app: its packages, its build, its tests.

use std::{fs, path::Path, process::Command, time::SystemTime};

use anyhow::{Context, Result, ensure};

use crate::{
    commands::{succeed, target},
    tools::{as_root, works},
};

/// What the build is made of.
const SOURCES: &[&str] = &["src", "public", "index.html", "package-lock.json", "vite.config.ts"];

/// Builds the app, unless it is built already.
pub(crate) fn build(root: &Path) -> Result<()> {
    let web = root.join("web");
    install(&web)?;
    let built = newest(&web.join("dist/index.html"))?;
    let mut changed = None;
    for source in SOURCES {
        changed = changed.max(newest(&web.join(source))?);
    }
    if changed < built {
        return Ok(());
    }
    npm(&web, &["run", "--silent", "build"])
}

/// Format, lints, types and unit tests.
pub(crate) fn check(root: &Path) -> Result<()> {
    let web = root.join("web");
    for script in ["format:check", "lint", "types", "test"] {
        npm(&web, &["run", "--silent", script])?;
    }
    client_is_generated(root)
}

/// The pages in a real browser, against the real program; how each test went is written to the report.
pub(crate) fn browse(root: &Path, server: &Path, report: &Path) -> Result<()> {
    install_chromium()?;
    let mut command = Command::new("npm");
    command.args(["run", "--silent", "e2e", "--", "--reporter=default", "--reporter=junit"]);
    command.arg(format!("--outputFile.junit={}", report.display()));
    command.current_dir(root.join("web")).env("TW_E2E_SERVER", server);
    succeed(&mut command)
}

/// Installs the packages that the lock file names, unless they are there.
fn install(folder: &Path) -> Result<()> {
    let wanted = fs::read_to_string(folder.join("package-lock.json"))?;
    let note = folder.join("node_modules/.installed-lock.json");
    if fs::read_to_string(&note).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    ensure!(works("npm", &["--version"]), "the web app needs Node.js 20 and npm: install them and try again");
    println!("installing packages for {}", folder.display());
    // `npm ci` trips over native packages of other systems that the lock file leaves out.
    npm(folder, &["install", "--silent", "--no-save", "--no-audit", "--no-fund"])?;
    fs::write(note, wanted).context("note what is installed")
}

/// The types of the API's client are those that the published description gives.
fn client_is_generated(root: &Path) -> Result<()> {
    let codegen = root.join("web/codegen");
    install(&codegen)?;
    let fresh = target(root).join("schema.d.ts");
    let description = root.join("openapi/toolwright.json");
    let mut command = Command::new(codegen.join("node_modules/.bin/openapi-typescript"));
    succeed(command.arg(description).arg("--output").arg(&fresh).current_dir(&codegen))?;
    let kept = root.join("web/src/api/schema.d.ts");
    ensure!(
        fs::read(&fresh)? == fs::read(&kept)?,
        "{} is out of date: run `npm run types` in web/codegen",
        kept.display()
    );
    Ok(())
}

fn install_chromium() -> Result<()> {
    if works("chromium", &["--version"]) {
        return Ok(());
    }
    println!("installing Chromium");
    let install = "apt-get update && apt-get install -y --no-install-recommends chromium fonts-dejavu-core";
    succeed(as_root("chromium")?.args(["sh", "-c", install])).context("install the Debian package `chromium`")
}

fn npm(folder: &Path, args: &[&str]) -> Result<()> {
    succeed(Command::new("npm").args(args).current_dir(folder))
}

/// When a file, or any in a folder, was last written; `None` for one that is not there.
fn newest(path: &Path) -> Result<Option<SystemTime>> {
    let Ok(found) = fs::metadata(path) else { return Ok(None) };
    if !found.is_dir() {
        return Ok(Some(found.modified()?));
    }
    // A folder changes when something in it is removed.
    let mut newest_in = Some(found.modified()?);
    for entry in fs::read_dir(path)? {
        newest_in = newest_in.max(newest(&entry?.path())?);
    }
    Ok(newest_in)
}
