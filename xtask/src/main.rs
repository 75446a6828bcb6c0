//! The workshop: what `make` calls when there is something to decide.
//!
//! Nothing here is part of the product, and nothing here may be needed to build it. Start with
//! [`run`], which lists the commands; `steps.rs` has the order of a test run, `tidy.rs` the house
//! rules, `layers.rs` the table of who may lean on whom.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program")]

mod clients;
mod commands;
mod failures;
mod layers;
mod measures;
mod older;
#[cfg_attr(not(test), expect(dead_code, reason = "stopping and restarting is for the outage tests"))]
#[expect(unreachable_pub, reason = "the file belongs to the library tw-test, which publishes it")]
#[path = "../../crates/tw-test/src/postgres.rs"]
mod postgres;
mod problem;
mod steps;
mod tidy;
mod times;
mod tools;
mod web;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};

const USAGE: &str = "\
cargo xtask test [-- ARGS…]     everything: tools, format, lints, tidy, tests on both databases
cargo xtask check               format, lints and tidy only
cargo xtask tidy                the house rules only
cargo xtask measures            the largest crates and types
cargo xtask with-pg -- CMD…     run a command with a PostgreSQL cluster named in TW_TEST_PG
cargo xtask web                 build the web app, if it is not built
cargo xtask browse              the pages in a real browser
cargo xtask bench [-- ARGS…]    the benchmarks
cargo xtask soak [-- ARGS…]     the long tests, with a cluster

ARGS go to cargo-nextest, or to the benchmark program.";

fn main() -> ExitCode {
    let args: Vec<String> = env::args().skip(1).collect();
    match root().and_then(|root| run(&root, &args)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(root: &Path, args: &[String]) -> Result<()> {
    let (command, rest) = args.split_first().context(USAGE)?;
    let rest = rest.strip_prefix(&["--".to_owned()]).unwrap_or(rest);
    match (command.as_str(), rest) {
        ("test", _) => steps::test(root, rest),
        ("check", []) => steps::check(root),
        ("tidy", []) => tidy::run(root),
        ("measures", []) => measures::run(root),
        ("web", []) => web::build(root),
        ("browse", []) => steps::browse(root),
        ("with-pg", [program, args @ ..]) => steps::with_pg(root, program, args),
        ("bench", _) => steps::bench(root, rest),
        ("soak", _) => steps::soak(root, rest),
        ("help" | "--help" | "-h", _) => {
            println!("{USAGE}");
            Ok(())
        }
        _ => bail!("`{}` is not one of these:\n{USAGE}", args.join(" ")),
    }
}

/// The repository's root folder. `cargo run` says where this package is; the program itself was
/// perhaps built in another checkout.
fn root() -> Result<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").context("run this as `cargo xtask …`")?;
    Path::new(&package).parent().map(Path::to_owned).context("xtask has no folder above it")
}
