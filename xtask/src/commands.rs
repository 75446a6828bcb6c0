//! The commands that the steps run.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, ensure};

/// Where cargo puts what it builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

pub(crate) fn cargo(root: &Path) -> Command {
    let mut command = Command::new("cargo");
    without_our_package(command.current_dir(root));
    command
}

/// Takes away what `cargo run` tells a program about its own package. A cargo below us would hand it
/// on to build scripts, and some of them would run again whenever it differs from a plain `cargo`.
pub(crate) fn without_our_package(command: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

/// Runs a command and makes its failure ours.
pub(crate) fn succeed(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
    let line = format!("{program} {}", args.join(" "));
    let status = command.status().with_context(|| format!("cannot run `{line}`"))?;
    ensure!(status.success(), "`{line}`: {status}");
    Ok(())
}
