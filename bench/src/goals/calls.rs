//! P4 and P7: what a governed, durable call costs, and what the second flush of a tool with effects does.

use anyhow::Result;
use tw_bench::bodies;

use super::{
    Best, grouped,
    sides::{CALLS, CONNECTIONS, FLOOR_CALLS, Side, compete},
};
use crate::{
    Bench, Kind, ROUNDS, load,
    process::Server,
    serving,
    table::{Goal, Table},
};

pub(crate) fn against_floor(bench: &Bench, table: &mut Table) -> Result<()> {
    for (tool, input) in [("add", bodies::add()), ("order", bodies::order())] {
        let path = format!("/api/tools/{tool}/run");
        let side = |server: Server, path: &str, calls: usize| {
            let request = load::post(path, server.key.as_deref(), &bodies::run(&input));
            Side::new(server, request, bench.calls(calls))
        };
        let mut floor = side(Server::start::<&str>("floor", &[])?, "/echo", FLOOR_CALLS);
        let mut ours = Vec::new();
        for kind in Kind::ALL {
            match bench.database(kind, &format!("calls_{tool}"))? {
                Some(target) => {
                    let server = Server::start("subject", &serving(&target))?;
                    ours.push((kind, side(server, &path, CALLS)));
                }
                None => table.missing("P4", "there is no PostgreSQL here"),
            }
        }
        compete(bench, &mut floor, &mut ours)?;
        for (kind, side) in &ours {
            table.ratio(
                "P4",
                &format!("`{tool}` over REST on {}, CPU per call against a bare axum echo", kind.name()),
                side.words(*kind),
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
            let path = format!("/api/tools/{tool}/run");
            (load::post(&path, server.key.as_deref(), &bodies::run(&bodies::add())), Best::NONE)
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
