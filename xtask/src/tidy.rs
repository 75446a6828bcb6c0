//! The house rules that the compiler does not know.
//!
//! Each rule has its file and is a function from texts to problems; this file reads the texts. A rule
//! that cannot be checked, because what it looks at is not there, is a problem too.

mod adrs;
mod callers;
mod dependencies;
mod doc_paths;
mod error_pages;
mod features;
mod manners;
mod migrations;
mod modules;
pub(crate) mod source;
mod tool_files;
mod type_names;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail, ensure};

use crate::{layers, problem::Problem};

/// Prints every problem, one a line, and fails when there is any.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut problems = check(root)?;
    problems.sort();
    for problem in &problems {
        println!("{problem}");
    }
    match problems.len() {
        0 => Ok(()),
        count => bail!("{count} to put right"),
    }
}

fn check(root: &Path) -> Result<Vec<Problem>> {
    let metadata = output(root, "cargo", &["metadata", "--no-deps", "--format-version", "1"])?;
    let mut problems = layers::check(&metadata)?;
    problems.extend(dependencies::check(
        &fs::read_to_string(root.join(dependencies::RULES)).unwrap_or_default(),
        &output(root, "cargo", &resolved(&host(root)?))?,
    )?);
    problems.extend(error_pages::check(
        fs::read_to_string(root.join(error_pages::CODES)).ok().as_deref(),
        &names(root, error_pages::PAGES)?.unwrap_or_default(),
    ));
    problems.extend(tool_files::check(&rust_files(root, tool_files::SOURCES)?));
    let texts = texts_in_git(root)?;
    problems.extend(manners::check(root, &texts));
    problems.extend(doc_paths::check(&texts, |path| root.join(path).exists()));
    problems.extend(features::check(&texts));
    let crates = crates(root)?;
    problems.extend(modules::check(&crates));
    problems.extend(type_names::check(&crates));
    problems.extend(callers::check(&texts));
    problems.extend(migrations::check(
        names(root, migrations::SQLITE)?.as_deref(),
        names(root, migrations::POSTGRES)?.as_deref(),
    ));
    problems.extend(adrs::check(&names(root, adrs::FOLDER)?.unwrap_or_default()));
    Ok(problems)
}

/// How cargo is asked for all crates that a build here takes. Those of other platforms are not downloaded for it.
fn resolved(host: &str) -> [&str; 6] {
    ["metadata", "--locked", "--format-version", "1", "--filter-platform", host]
}

fn host(root: &Path) -> Result<String> {
    let version = output(root, "rustc", &["-vV"])?;
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).context("rustc does not say what it compiles for")
}

/// A file of the repository: its path from the root, and what it says.
pub(crate) type Text = (String, String);

/// The names of the files in a folder, sorted; `None` when there is no such folder.
fn names(root: &Path, folder: &str) -> Result<Option<Vec<String>>> {
    let path = root.join(folder);
    if !path.is_dir() {
        return Ok(None);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path).with_context(|| format!("list {folder}"))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(Some(names))
}

/// The sources of every crate.
pub(crate) fn crates(root: &Path) -> Result<Vec<modules::Sources>> {
    let product = names(root, "crates")?.unwrap_or_default();
    let folders = product.into_iter().map(|name| format!("crates/{name}"));
    let workshop = ["xtask", "bench"].map(str::to_owned);
    let mut crates = Vec::new();
    for path in folders.chain(workshop) {
        let folder = format!("{path}/src");
        crates.push(modules::Sources { files: rust_files(root, &folder)?, folder });
    }
    Ok(crates)
}

/// Every Rust file below a folder.
fn rust_files(root: &Path, folder: &str) -> Result<Vec<Text>> {
    let mut texts = Vec::new();
    for name in names(root, folder)?.unwrap_or_default() {
        let path = format!("{folder}/{name}");
        if root.join(&path).is_dir() {
            texts.extend(rust_files(root, &path)?);
        } else if name.ends_with(".rs") {
            let text = fs::read_to_string(root.join(&path)).with_context(|| format!("read {path}"))?;
            texts.push((path, text));
        }
    }
    Ok(texts)
}

/// Every text file that is in git or would be with the next `git add`. What is not UTF-8 is no text.
fn texts_in_git(root: &Path) -> Result<Vec<Text>> {
    let listed = output(root, "git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"])?;
    let paths = listed.split('\0').filter(|path| !path.is_empty());
    let text = |path: &str| fs::read_to_string(root.join(PathBuf::from(path))).ok();
    Ok(paths.filter_map(|path| Some((path.to_owned(), text(path)?))).collect())
}

fn output(root: &Path, program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program).args(args).current_dir(root).output();
    let output = output.with_context(|| format!("run {program}"))?;
    ensure!(
        output.status.success(),
        "`{program} {}`: {}",
        args.join(" "),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).with_context(|| format!("read what {program} printed"))
}
