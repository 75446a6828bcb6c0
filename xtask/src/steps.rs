//! What the commands do, step by step. The first step that fails ends the run.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::{
    clients,
    commands::{cargo, succeed, target, without_our_package},
    postgres::Cluster,
    tidy, tools, web,
};

/// Where the tests look for PostgreSQL.
const CLUSTER: &str = "TW_TEST_PG";

pub(crate) fn test(root: &Path, args: &[String]) -> Result<()> {
    let started = Instant::now();
    step("tools", tools::install_missing)?;
    check(root)?;
    let clients = clients::install(root)?;
    let cluster = start_cluster()?;
    // The doc tests go first, so that the last thing on the screen is the summary of all the others.
    let doc = ["test", "--doc", "--workspace", "--locked"];
    step("doc tests", || succeed(cargo(root).args(doc).env(CLUSTER, cluster.url("postgres"))))?;
    let nextest = ["nextest", "run", "--workspace", "--locked"];
    step("tests", || {
        let mut command = cargo(root);
        command.args(nextest).args(args).env(CLUSTER, cluster.url("postgres"));
        succeed(command.env(clients::CLIENTS, &clients))
    })?;
    drop(cluster);
    if args.is_empty() {
        browse(root)?;
    }
    println!("[test] everything holds ({})", seconds(started.elapsed()));
    Ok(())
}

/// The pages in a real browser, against a program that is built if it is not.
pub(crate) fn browse(root: &Path) -> Result<()> {
    step("web app", || web::build(root))?;
    step("server", || succeed(cargo(root).args(["build", "--package", "tw-server", "--locked"])))?;
    step("browser", || web::browse(root, &target(root).join("debug/toolwright")))
}

pub(crate) fn check(root: &Path) -> Result<()> {
    step("web app", || web::build(root))?;
    step("web checks", || web::check(root))?;
    step("format", || succeed(cargo(root).args(["fmt", "--all", "--check"])))?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    step("lints", || succeed(cargo(root).args(clippy)))?;
    step("tidy", || tidy::run(root))
}

pub(crate) fn with_pg(root: &Path, program: &str, args: &[String]) -> Result<()> {
    tools::install_postgres()?;
    let cluster = start_cluster()?;
    let mut command = Command::new(program);
    without_our_package(command.args(args).current_dir(root));
    command.env(CLUSTER, cluster.url("postgres")).env(clients::CLIENTS, clients::install(root)?);
    succeed(&mut command)
}

pub(crate) fn bench(root: &Path, args: &[String]) -> Result<()> {
    tools::install_postgres()?;
    step("web app", || web::build(root))?;
    // The program starts the others itself, and a cluster that flushes, unlike the one for tests.
    let build = ["build", "--profile", "fast", "--package", "tw-bench", "--bins", "--locked"];
    step("build", || succeed(cargo(root).args(build)))?;
    let bench = ["run", "--profile", "fast", "--package", "tw-bench", "--locked", "--"];
    step("bench", || succeed(cargo(root).args(bench).args(args)))
}

pub(crate) fn soak(root: &Path, args: &[String]) -> Result<()> {
    step("tools", tools::install_missing)?;
    step("web app", || web::build(root))?;
    let cluster = start_cluster()?;
    let nextest = ["nextest", "run", "--workspace", "--locked", "--run-ignored", "only", "--profile", "soak"];
    step("soak", || {
        let mut command = cargo(root);
        command.args(nextest).args(args).env(CLUSTER, cluster.url("postgres")).env("TW_SOAK", "1");
        succeed(&mut command)
    })
}

fn start_cluster() -> Result<Cluster> {
    let started = Instant::now();
    let cluster = Cluster::start().context("start a PostgreSQL cluster for the tests")?;
    println!("[cluster] {} ({})", cluster.url("postgres"), seconds(started.elapsed()));
    Ok(cluster)
}

fn step(name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
    println!("[{name}]");
    let started = Instant::now();
    let result = work();
    let verdict = if result.is_ok() { "ok" } else { "FAILED" };
    println!("[{name}] {verdict} ({})", seconds(started.elapsed()));
    result.with_context(|| format!("the step `{name}` failed"))
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
