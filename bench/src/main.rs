//! `make bench`: measures Toolwright against the floors it stands on, and says which goals hold.
//!
//! Every figure is a ratio inside one run, best of three rounds, with processor time per call first: the
//! machine is shared, and an absolute time says little. What is measured runs in processes of its own, on
//! loopback. Start with `goals/`; the floors are in `floors.rs` and `bin/floor/`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command line program")]
#![expect(clippy::cast_precision_loss, reason = "a figure needs no more than 52 bits")]

mod data;
mod floors;
mod goals;
mod load;
mod process;
mod table;

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::Parser;
use tempfile::TempDir;
use tw_store::Target;
use tw_test::postgres::Cluster;

use crate::table::Table;

/// Measure Toolwright against the floors it stands on
#[derive(Debug, Parser)]
struct Args {
    /// Only these goals, such as `p4,p6`
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// A quarter of the calls: for trying things out
    #[arg(long)]
    quick: bool,
    /// Leave PostgreSQL out
    #[arg(long)]
    no_postgres: bool,
}

/// What the goals share.
#[derive(Debug)]
pub(crate) struct Bench {
    folder: TempDir,
    /// A cluster that flushes, unlike the one that tests run on.
    cluster: Option<Cluster>,
    quick: bool,
    runtime: tokio::runtime::Runtime,
}

/// How often everything is measured.
pub(crate) const ROUNDS: usize = 3;

impl Bench {
    fn new(args: &Args) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("tw-bench-").tempdir().context("make a folder")?;
        let cluster = if args.no_postgres {
            None
        } else {
            Cluster::start_durable().inspect_err(|error| eprintln!("without PostgreSQL: {error:#}")).ok()
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        Ok(Self { folder, cluster, quick: args.quick, runtime })
    }

    /// How many calls to make where a quiet run makes `count`.
    fn calls(&self, count: usize) -> usize {
        if self.quick { count / 4 } else { count }
    }

    /// A new database, not migrated yet. On PostgreSQL only where there is one.
    fn database(&self, kind: Kind, name: &str) -> Result<Option<Target>> {
        match (kind, &self.cluster) {
            (Kind::Sqlite, _) => {
                Ok(Some(Target::Sqlite { file: self.folder.path().join(format!("{name}.sqlite")) }))
            }
            (Kind::Postgres, None) => Ok(None),
            (Kind::Postgres, Some(cluster)) => {
                let make = floors::create_database(cluster.url("postgres"), name.to_owned());
                self.runtime.block_on(make).with_context(|| format!("make the database {name}"))?;
                Ok(Some(Target::Postgres { url: cluster.url(name) }))
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    pub(crate) const ALL: [Self; 2] = [Self::Sqlite, Self::Postgres];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
        }
    }
}

/// The arguments that make a subject serve a database.
pub(crate) fn serving(target: &Target) -> [String; 2] {
    match target {
        Target::Sqlite { file } => ["--sqlite".to_owned(), file.display().to_string()],
        Target::Postgres { url } => ["--postgres".to_owned(), url.clone()],
    }
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &Args) -> Result<()> {
    let began = Instant::now();
    let bench = Bench::new(args)?;
    let mut table = Table::default();
    for (name, measure) in goals::ALL {
        if !args.only.is_empty() && !args.only.iter().any(|only| only.eq_ignore_ascii_case(name)) {
            continue;
        }
        eprint!("{name} …");
        let began = Instant::now();
        if let Err(error) = measure(&bench, &mut table) {
            eprintln!(" {error:#}");
            table.missing(name, &format!("failed: {error:#}"));
        }
        eprintln!(" {:.0} s", began.elapsed().as_secs_f64());
    }
    println!("{}\n{}", table.print(), machine(began.elapsed()));
    Ok(())
}

/// Where and when this was measured.
fn machine(took: Duration) -> String {
    let read = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
    let info = read("/proc/cpuinfo");
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(": "))
        .map_or("?", |(_, name)| name);
    let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
    let load = read("/proc/loadavg").split(' ').next().unwrap_or("?").to_owned();
    format!(
        "{}, {cores} cores ({model}), Linux {}, load average at the end {load}, measured in {:.0} s",
        tw_model::Timestamp::now(),
        read("/proc/sys/kernel/osrelease").trim(),
        took.as_secs_f64()
    )
}
