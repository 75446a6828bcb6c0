//! P4 and P7: what a governed, durable call costs, and what the second flush of a tool with effects does.

use anyhow::Result;
use tw_bench::bodies;

use super::{Best, grouped};
use crate::{
    Bench, Kind, ROUNDS,
    load::{self, Request, Took},
    process::{self, Server},
    serving,
    table::{Goal, Table},
};

const CONNECTIONS: usize = 16;
const FLOOR_CALLS: usize = 32_000;
const CALLS: usize = 12_000;

/// A server and what is sent to it.
struct Side {
    server: Server,
    request: Request,
    calls: usize,
    best: Best,
    /// Of the database's own processes, where it has some.
    database_us: f64,
}

impl Side {
    fn new(server: Server, path: &str, body: &[u8], calls: usize) -> Self {
        let request = load::post(path, server.key.as_deref(), body);
        Self { server, request, calls, best: Best::NONE, database_us: f64::INFINITY }
    }

    fn run(&self, calls: usize) -> Result<Took> {
        load::run(self.server.port, std::slice::from_ref(&self.request), CONNECTIONS, calls)
    }

    fn round(&mut self, database: Option<u32>) -> Result<()> {
        let database_cpu = || database.map_or(Ok(0.0), process::cpu_of_children);
        let (before, of_database) = (self.server.cpu()?, database_cpu()?);
        let took = self.run(self.calls)?;
        self.best.take(&took, self.server.cpu()? - before);
        let database_us = (database_cpu()? - of_database) * 1e6 / took.calls() as f64;
        self.database_us = self.database_us.min(database_us);
        Ok(())
    }
}

pub(crate) fn against_floor(bench: &Bench, table: &mut Table) -> Result<()> {
    for (tool, body) in [("add", bodies::add()), ("order", bodies::order())] {
        let path = format!("/api/tools/{tool}/run");
        let mut floor =
            Side::new(Server::start::<&str>("floor", &[])?, "/echo", &body, bench.calls(FLOOR_CALLS));
        let mut ours = Vec::new();
        for kind in Kind::ALL {
            match bench.database(kind, &format!("calls_{tool}"))? {
                Some(target) => {
                    let server = Server::start("subject", &serving(&target))?;
                    ours.push((kind, Side::new(server, &path, &body, bench.calls(CALLS))));
                }
                None => table.missing("P4", "there is no PostgreSQL here"),
            }
        }
        for side in ours.iter().map(|(_, side)| side).chain([&floor]) {
            side.run(side.calls / 8)?;
        }
        let cluster = bench.cluster.as_ref().and_then(tw_test::postgres::Cluster::pid);
        for _ in 0..ROUNDS {
            floor.round(None)?;
            for (kind, side) in &mut ours {
                side.round(cluster.filter(|_| *kind == Kind::Postgres))?;
            }
        }
        for (kind, side) in &ours {
            let mut words = side.best.words();
            if *kind == Kind::Postgres {
                words = format!("{words} (and {:.0} µs CPU in the database)", side.database_us);
            }
            table.ratio(
                "P4",
                &format!("`{tool}` over REST on {}, CPU per call against a bare axum echo", kind.name()),
                words,
                floor.best.words(),
                side.best.cpu_us / floor.best.cpu_us,
                Goal::AtMost { aim: 2.0, accept: 3.5 },
            );
        }
        let after = ours.first().map(|(_, side)| side.server.memory()).transpose()?.unwrap_or_default();
        table.figure(
            "P4",
            &format!(
                "memory of the server on SQLite after {} calls of `{tool}`",
                grouped((bench.calls(CALLS) * ROUNDS) as f64)
            ),
            String::new(),
            after / 1024.0,
            " MiB",
            Goal::None,
        );
    }
    Ok(())
}

pub(crate) fn intent_before_effect(bench: &Bench, table: &mut Table) -> Result<()> {
    for kind in Kind::ALL {
        let Some(target) = bench.database(kind, "effects")? else {
            table.missing("P7", "there is no PostgreSQL here");
            continue;
        };
        let server = Server::start("subject", &serving(&target))?;
        let side = |tool: &str| {
            let request =
                load::post(&format!("/api/tools/{tool}/run"), server.key.as_deref(), &bodies::add());
            (request, Best::NONE)
        };
        let mut sides = [side("add"), side("add_write")];
        let calls = bench.calls(CALLS);
        for round in 0..=ROUNDS {
            for (request, best) in &mut sides {
                let before = server.cpu()?;
                let took = load::run(server.port, std::slice::from_ref(request), CONNECTIONS, calls)?;
                // The first round only warms up.
                if round != 0 {
                    best.take(&took, server.cpu()? - before);
                }
            }
        }
        let [(_, add), (_, add_write)] = sides;
        table.ratio(
            "P7",
            &format!(
                "start on disk before a `write` tool runs, requests/s against one flush per call, {}",
                kind.name()
            ),
            add_write.words(),
            add.words(),
            add_write.per_second / add.per_second,
            Goal::AtLeast { aim: 0.95, accept: 0.8 },
        );
    }
    Ok(())
}
