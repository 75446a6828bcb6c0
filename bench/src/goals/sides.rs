//! Two sides that do the same work, a floor and ours, and how they are held against each other.

use anyhow::Result;
use tw_test::postgres::Cluster;

use super::Best;
use crate::{
    Bench, Kind, ROUNDS,
    load::{self, Request, Took},
    process::{self, Server},
};

pub(super) const CONNECTIONS: usize = 16;
pub(super) const FLOOR_CALLS: usize = 32_000;
pub(super) const CALLS: usize = 12_000;

/// A server and what is sent to it.
pub(super) struct Side {
    pub(super) server: Server,
    request: Request,
    pub(super) connections: usize,
    calls: usize,
    pub(super) best: Best,
    /// Of the database's own processes, where it has some.
    database_us: f64,
}

impl Side {
    pub(super) fn new(server: Server, request: Request, calls: usize) -> Self {
        let (best, database_us) = (Best::NONE, f64::INFINITY);
        Self { server, request, connections: CONNECTIONS, calls, best, database_us }
    }

    fn run(&self, calls: usize) -> Result<Took> {
        load::run(self.server.port, std::slice::from_ref(&self.request), self.connections, calls)
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

    pub(super) fn words(&self, kind: Kind) -> String {
        let words = self.best.words();
        match kind {
            Kind::Sqlite => words,
            Kind::Postgres => format!("{words} (and {:.0} µs CPU in the database)", self.database_us),
        }
    }
}

/// Lets all sides warm up, and then take turns.
pub(super) fn compete(bench: &Bench, floor: &mut Side, ours: &mut [(Kind, Side)]) -> Result<()> {
    for side in ours.iter().map(|(_, side)| side).chain([&*floor]) {
        side.run(side.calls / 8)?;
    }
    let cluster = bench.cluster.as_ref().and_then(Cluster::pid);
    for _ in 0..ROUNDS {
        floor.round(None)?;
        for (kind, side) in &mut *ours {
            side.round(cluster.filter(|_| *kind == Kind::Postgres))?;
        }
    }
    Ok(())
}
