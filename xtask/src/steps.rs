//! What the commands do, step by step. The first step that fails ends the run.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Instant,
};

use anyhow::{Context, Result};

use crate::{
    clients,
    commands::{cargo, succeed, target, without_our_package},
    failures, older,
    postgres::Cluster,
    tidy,
    times::{Times, seconds},
    tools, web,
};

/// Where the tests look for PostgreSQL.
const CLUSTER: &str = "TW_TEST_PG";

/// How many tests nextest runs at once.
const THREADS: &str = "NEXTEST_TEST_THREADS";
/// Where nextest and the browser tests write how each test went, below the target folder.
const TEST_REPORT: &str = "nextest/default/junit.xml";
const BROWSER_REPORT: &str = "browser.xml";

/// Everything that must hold before a change lands. The closing lines say where the time went and which tests
/// failed.
pub(crate) fn test(root: &Path, args: &[String]) -> Result<()> {
    let mut times = Times::start();
    let reports = [TEST_REPORT, BROWSER_REPORT].map(|name| target(root).join(name));
    for report in &reports {
        failures::forget(report)?;
    }
    let result = test_steps(root, args, &mut times);
    print!("{times}{}", failures::told(&reports.each_ref().map(PathBuf::as_path)));
    result?;
    println!("[test] everything holds");
    Ok(())
}

fn test_steps(root: &Path, args: &[String], times: &mut Times) -> Result<()> {
    times.step("tools", || tools::install_missing().and_then(|()| clients::install(root).map(drop)))?;
    check_web_and_format(root, times)?;
    times.step("lints: house rules", || tidy::run(root))?;
    let build = ["nextest", "run", "--no-run", "--workspace", "--locked"];
    times.step("build, lints: Rust", || succeed(linting(&mut cargo(root)).args(build)))?;
    // The doc tests go first, so that the last thing on the screen is the summary of all the others.
    let cluster = start_cluster()?;
    let doc = ["test", "--doc", "--workspace", "--locked"];
    times.step("unit: doc tests", || succeed(linting(&mut cargo(root)).args(doc)))?;
    let nextest = ["nextest", "run", "--workspace", "--locked"];
    let tests = times.step("tests", || {
        let mut command = cargo(root);
        command.args(nextest).args(args).env(clients::CLIENTS, clients::install(root)?);
        // A case that only some seeds find would fail the next change, whose author it does not concern. Other
        // seeds are tried by `make soak`.
        command.env("PROPTEST_RNG_SEED", "1");
        if env::var_os(THREADS).is_none() {
            command.env(THREADS, test_threads().to_string());
        }
        succeed(linting(with_cluster(&mut command, &cluster)))
    });
    drop(cluster);
    times.split_tests(&target(root).join(TEST_REPORT));
    tests?;
    if args.is_empty() {
        times.step("browser", || web::browse(root, &built(root), &target(root).join(BROWSER_REPORT)))?;
    }
    Ok(())
}

/// How many tests run at once: more than twice as many as there are cores, because a test that waits for a time limit, a
/// flush or a killed server needs none, and together they leave half of the cores idle.
fn test_threads() -> usize {
    let cores = thread::available_parallelism().map_or(2, usize::from);
    2 * cores + 1
}

/// The pages in a real browser, against a program that is built if it is not.
pub(crate) fn browse(root: &Path) -> Result<()> {
    let mut times = Times::start();
    times.step("web app", || web::build(root))?;
    times.step("server", || succeed(cargo(root).args(["build", "--package", "tw-server", "--locked"])))?;
    times.step("browser", || web::browse(root, &built(root), &target(root).join(BROWSER_REPORT)))
}

/// The program that the tests start.
fn built(root: &Path) -> PathBuf {
    target(root).join("debug/toolwright")
}

pub(crate) fn check(root: &Path) -> Result<()> {
    let mut times = Times::start();
    check_web_and_format(root, &mut times)?;
    let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
    times.step("lints", || succeed(cargo(root).args(clippy)))?;
    times.step("lints: house rules", || tidy::run(root))
}

fn check_web_and_format(root: &Path, times: &mut Times) -> Result<()> {
    times.step("build: web app", || web::build(root))?;
    times.step("lints, unit: web app", || web::check(root))?;
    times.step("lints: format", || succeed(cargo(root).args(["fmt", "--all", "--check"])))
}

/// Has clippy compile our crates instead of the plain compiler, a warning being an error: it makes the same
/// programs and lints on the way, where `cargo clippy` would go through every dependency once more.
/// What the tests start is compiled so too, and nothing is compiled twice in a test run.
fn linting(command: &mut Command) -> &mut Command {
    // What `cargo clippy -- -D warnings` sets.
    let arguments = "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__";
    command.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver").env("CLIPPY_ARGS", arguments)
}

pub(crate) fn with_pg(root: &Path, program: &str, args: &[String]) -> Result<()> {
    tools::install_postgres()?;
    let cluster = start_cluster()?;
    let mut command = Command::new(program);
    without_our_package(command.args(args).current_dir(root));
    command.env(clients::CLIENTS, clients::install(root)?);
    succeed(with_cluster(&mut command, &cluster))
}

pub(crate) fn bench(root: &Path, args: &[String]) -> Result<()> {
    let mut times = Times::start();
    tools::install_postgres()?;
    times.step("web app", || web::build(root))?;
    // The program starts the others itself, and a cluster that flushes, unlike the one for tests.
    let build = ["build", "--profile", "fast", "--package", "tw-bench", "--bins", "--locked"];
    times.step("build", || succeed(cargo(root).args(build)))?;
    let bench = ["run", "--profile", "fast", "--package", "tw-bench", "--locked", "--"];
    times.step("bench", || succeed(cargo(root).args(bench).args(args)))
}

pub(crate) fn soak(root: &Path, args: &[String]) -> Result<()> {
    let mut times = Times::start();
    times.step("tools", tools::install_missing)?;
    times.step("web app", || web::build(root))?;
    // Advisories need a fresh copy of their database, so they are left to whoever has the network.
    let deny = ["deny", "--locked", "check", "bans", "licenses", "sources"];
    times.step("dependencies", || tools::install_deny().and_then(|()| succeed(cargo(root).args(deny))))?;
    times.step("older program", || older::build(root))?;
    let cluster = start_cluster()?;
    let nextest = ["nextest", "run", "--workspace", "--locked", "--profile", "soak"];
    let mut soak = |name: &str, which: &[&str]| {
        times.step(name, || {
            let mut command = cargo(root);
            command
                .args(nextest)
                .args(which)
                .args(args)
                .env("TW_SOAK", "1")
                .env(older::OLDER, older::program(root));
            succeed(with_cluster(&mut command, &cluster))
        })
    };
    // Some of them compare times, which tell nothing of a program that was not compiled to be fast.
    soak("soak", &["--cargo-profile", "fast", "--run-ignored", "only"])?;
    // The same tests as in `make test`, with more trials and other seeds.
    soak("races", &["-E", "test(/races::/)"])?;
    soak(
        "other seeds",
        &["-E", "package(tw-schema) + package(tw-policy) + package(tw-kinds) + package(tw-egress)"],
    )
}

fn start_cluster() -> Result<Cluster> {
    let started = Instant::now();
    let cluster = Cluster::start().context("start a PostgreSQL cluster for the tests")?;
    println!("[cluster] {} ({})", cluster.url("postgres"), seconds(started.elapsed()));
    Ok(cluster)
}

/// Tells a command where the cluster is, and to make its temporary files beside it: in memory, where the
/// cluster is, and gone with it.
fn with_cluster<'a>(command: &'a mut Command, cluster: &Cluster) -> &'a mut Command {
    command.env(CLUSTER, cluster.url("postgres")).env("TMPDIR", cluster.scratch())
}
