//! P10: how soon a server answers its first governed call, and what it takes while it does nothing.
//!
//! Against the library's own MCP server; both are called over MCP.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tw_bench::bodies;

use crate::{
    Bench, Kind, load,
    process::Server,
    serving,
    table::{Goal, Table},
};

const STARTS: usize = 7;

/// The time to the first answer in milliseconds, and the memory after it in KiB.
struct First {
    ms: f64,
    memory: f64,
}

pub(crate) fn against_floor(bench: &Bench, table: &mut Table) -> Result<()> {
    let mut fresh = f64::INFINITY;
    let mut ours = First { ms: f64::INFINITY, memory: f64::INFINITY };
    let mut floor = First { ms: f64::INFINITY, memory: f64::INFINITY };
    for number in 0..STARTS {
        let target =
            bench.database(Kind::Sqlite, &format!("start_{number}"))?.context("SQLite is always there")?;
        let began = Instant::now();
        let server = Server::start("subject", &serving(&target))?;
        let key = server.key()?.to_owned();
        answer(&server, Some(&key))?;
        fresh = fresh.min(began.elapsed().as_secs_f64() * 1e3);
        drop(server);
        ours.better(&first("subject", &serving(&target), Some(&key))?);
        floor.better(&first::<String>("floor", &[], None)?);
    }
    let ms = |ms: f64| format!("{ms:.1} ms");
    let mib = |kib: f64| format!("{:.1} MiB", kib / 1024.0);
    table.ratio(
        "P10",
        "start to first governed call on SQLite, against a bare rmcp server",
        format!("{} ({} with a new database)", ms(ours.ms), ms(fresh)),
        ms(floor.ms),
        ours.ms / floor.ms,
        Goal::AtMost { aim: 2.0, accept: 6.0 },
    );
    table.ratio(
        "P10",
        "memory after the first call, idle, against a bare rmcp server",
        mib(ours.memory),
        mib(floor.memory),
        ours.memory / floor.memory,
        Goal::AtMost { aim: 1.5, accept: 3.0 },
    );
    Ok(())
}

impl First {
    fn better(&mut self, other: &Self) {
        self.ms = self.ms.min(other.ms);
        self.memory = self.memory.min(other.memory);
    }
}

fn first<S: AsRef<std::ffi::OsStr>>(program: &str, args: &[S], key: Option<&str>) -> Result<First> {
    let began = Instant::now();
    let server = Server::start(program, args)?;
    answer(&server, key)?;
    let ms = began.elapsed().as_secs_f64() * 1e3;
    // What a start allocates for a moment is given back soon, if at all.
    std::thread::sleep(Duration::from_millis(300));
    Ok(First { ms, memory: server.memory()? })
}

fn answer(server: &Server, key: Option<&str>) -> Result<()> {
    let body = load::ask(server.port, &load::tools_call("add", key, &bodies::add()))?;
    let answer: Value = serde_json::from_slice(&body)?;
    ensure!(answer["result"]["structuredContent"]["sum"] == 3.75, "`add` is answered with {answer}");
    Ok(())
}
