//! P6: how many events the log takes, against what the database takes without it.

use std::time::Instant;

use anyhow::{Context, Result};
use tw_model::RunId;
use tw_store::{Options, Store, Target};

use super::grouped;
use crate::{
    Bench, Kind, ROUNDS,
    data::{self, Entries},
    floors, process,
    table::{Goal, Table},
};

const APPENDERS: usize = 256;
const ROWS: usize = 60_000;

/// What an appender does again and again.
#[derive(Clone, Copy)]
enum Work {
    /// One event on a run that is open: an entry, its event, and the run's row.
    Append,
    /// A run from its start to its end, without waiting in between: two entries, two events, one row.
    Run,
}

/// Events per second, and processor time per event in microseconds.
#[derive(Clone, Copy)]
struct Rate {
    per_second: f64,
    cpu_us: f64,
}

pub(crate) fn against_floor(bench: &Bench, table: &mut Table) -> Result<()> {
    for kind in Kind::ALL {
        let (Some(target), Some(floor)) = (bench.database(kind, "log")?, bench.database(kind, "log_floor")?)
        else {
            table.missing("P6", "there is no PostgreSQL here");
            continue;
        };
        bench.runtime.block_on(measure(bench, kind, target, floor, table))?;
    }
    Ok(())
}

async fn measure(bench: &Bench, kind: Kind, target: Target, floor: Target, table: &mut Table) -> Result<()> {
    let tenants = data::tenants(&target, 1).await?;
    let tenant = tenants.first().context("the tenant just made")?;
    let store = Store::open(&Options::new(target)).await?;
    let entries = Entries::of(&store, tenant.id).await?;
    let mut runs = Vec::new();
    for _ in 0..APPENDERS {
        let run = RunId::new();
        store.log().append(entries.open(run)).wait().await?;
        runs.push(run);
    }
    let rows = bench.calls(ROWS);
    let none = Rate { per_second: 0.0, cpu_us: f64::INFINITY };
    let (mut raw, mut appended, mut run) = (none, none, none);
    for _ in 0..ROUNDS {
        raw = best(
            raw,
            async {
                match &floor {
                    Target::Sqlite { file } => floors::sqlite(file, rows).await,
                    Target::Postgres { url } => floors::postgres(url, rows).await,
                }
            },
            rows,
        )
        .await?;
        appended = best(appended, work(&store, &entries, &runs, Work::Append, rows / 2), rows / 2).await?;
        run = best(run, work(&store, &entries, &runs, Work::Run, rows / 2), rows / 2).await?;
    }
    store.close().await;
    let floor = match kind {
        Kind::Sqlite => "512 rows per commit, synchronous=FULL",
        Kind::Postgres => "128 rows per commit × 4 clients",
    };
    for (what, rate) in [("one event each on open runs", appended), ("two events and a row per run", run)] {
        table.ratio(
            "P6",
            &format!(
                "events/s of 256 appenders, {what}, on {} against its raw inserts ({floor})",
                kind.name()
            ),
            words(rate),
            words(raw),
            rate.per_second / raw.per_second,
            Goal::AtLeast { aim: 0.8, accept: 0.5 },
        );
    }
    Ok(())
}

fn words(rate: Rate) -> String {
    format!("{} events/s, {:.0} µs CPU", grouped(rate.per_second), rate.cpu_us)
}

/// The better of a rate and what a future reaches, with the processor time of this process.
async fn best(so_far: Rate, work: impl Future<Output = Result<f64>>, rows: usize) -> Result<Rate> {
    let before = process::cpu(std::process::id())?;
    let per_second = work.await?;
    let cpu_us = (process::cpu(std::process::id())? - before) * 1e6 / rows as f64;
    Ok(Rate { per_second: per_second.max(so_far.per_second), cpu_us: cpu_us.min(so_far.cpu_us) })
}

async fn work(store: &Store, entries: &Entries, runs: &[RunId], work: Work, events: usize) -> Result<f64> {
    let turns = match work {
        Work::Append => events / APPENDERS,
        Work::Run => events / APPENDERS / 2,
    };
    let began = Instant::now();
    let appenders: Vec<_> = runs
        .iter()
        .map(|run| tokio::spawn(append(store.clone(), entries.clone(), *run, work, turns)))
        .collect();
    let mut written = 0;
    for appender in appenders {
        written += appender.await??;
    }
    Ok(written as f64 / began.elapsed().as_secs_f64())
}

async fn append(store: Store, entries: Entries, open: RunId, work: Work, turns: usize) -> Result<usize> {
    let log = store.log();
    for _ in 0..turns {
        match work {
            Work::Append => drop(log.append(entries.append(open)).wait().await?),
            Work::Run => {
                let run = RunId::new();
                let (start, end) = (log.append(entries.open(run)), log.append(entries.finish(run)));
                start.wait().await?;
                end.wait().await?;
            }
        }
    }
    Ok(match work {
        Work::Append => turns,
        Work::Run => turns * 2,
    })
}
