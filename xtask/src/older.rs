//! The program of an earlier commit, for the tests that let it work beside that of today.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

use crate::commands::{cargo, succeed, target};

/// Where the tests look for it.
pub(crate) const OLDER: &str = "TW_TEST_OLD_SERVER";
/// The last commit before there were tools of scripts, prompts and remote servers.
const COMMIT: &str = "ec6ea2e963bb6e4e95c518eb73b9e870b01926bd";

/// Where the program is, once it is built.
pub(crate) fn program(root: &Path) -> PathBuf {
    target(root).join("older").join(COMMIT)
}

/// Builds it in a work tree of its own, unless it is built.
pub(crate) fn build(root: &Path) -> Result<()> {
    let program = program(root);
    if program.exists() {
        return Ok(());
    }
    let folder = target(root).join("older");
    let commit = format!("{COMMIT}^{{commit}}");
    let is_here = git(root, &["cat-file", "-e", &commit]).status().context("run `git`")?;
    ensure!(is_here.success(), "commit {COMMIT} is not in this clone: run `git fetch --unshallow`");
    let source = folder.join("source");
    // What a build that was cut off has left.
    forget(root, &source)?;
    let mut add = git(root, &["worktree", "add", "--force", "--detach", "--quiet"]);
    succeed(add.arg(&source).arg(COMMIT))?;
    let objects = folder.join("target");
    let built = compile(&source, &objects);
    forget(root, &source)?;
    fs::rename(built?, &program).context("keep the older program")?;
    fs::remove_dir_all(objects).context("remove what its build has left")
}

fn compile(source: &Path, target: &Path) -> Result<PathBuf> {
    // Its pages are not looked at, and to build them takes as long as all else.
    let pages = source.join("web/dist");
    fs::create_dir_all(&pages)?;
    fs::write(pages.join("index.html"), "<!doctype html>")?;
    let program = "toolwright-under-test";
    let build = ["build", "--locked", "--package", "tw-it", "--bin", program];
    succeed(cargo(source).args(build).env("CARGO_TARGET_DIR", target))?;
    Ok(target.join("debug").join(program))
}

fn forget(root: &Path, source: &Path) -> Result<()> {
    if source.exists() {
        fs::remove_dir_all(source).context("remove the older sources")?;
    }
    succeed(&mut git(root, &["worktree", "prune"]))
}

fn git(root: &Path, args: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(args);
    command
}
