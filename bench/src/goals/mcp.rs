//! P1, P2, P3 and P8: the MCP door against the library's own server, with the same tools and without checks,
//! keys or a log.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tw_bench::bodies;

use super::{
    catalogue,
    sides::{CALLS, FLOOR_CALLS, Side, compete},
};
use crate::{
    Bench, Kind, data,
    load::{self, Request},
    process::Server,
    serving,
    table::{Goal, Table},
};

/// How many tools are listed, and how many more there are that this caller may not use.
const LISTED: u32 = 5_000;
const HIDDEN: u32 = 500;
const LISTS: usize = 160;

pub(crate) fn add(bench: &Bench, table: &mut Table) -> Result<()> {
    let goals = [Goal::AtLeast { aim: 1.0, accept: 0.65 }, Goal::AtMost { aim: 1.0, accept: 1.3 }];
    durable(bench, table, "P1", "add", &bodies::add(), goals)
}

pub(crate) fn order(bench: &Bench, table: &mut Table) -> Result<()> {
    let goals = [Goal::AtLeast { aim: 1.0, accept: 0.5 }, Goal::AtMost { aim: 1.0, accept: 1.5 }];
    durable(bench, table, "P2", "order", &bodies::order(), goals)
}

fn durable(
    bench: &Bench,
    table: &mut Table,
    name: &str,
    tool: &str,
    input: &Value,
    [rate, cpu]: [Goal; 2],
) -> Result<()> {
    let mut floor = floor(bench, tool, input)?;
    let mut ours = Vec::new();
    for kind in Kind::ALL {
        match bench.database(kind, &format!("mcp_{tool}"))? {
            Some(target) => {
                let server = Server::start("subject", &serving(&target))?;
                ours.push((kind, calling(server, tool, input, bench.calls(CALLS))?));
            }
            None => table.missing(name, "there is no PostgreSQL here"),
        }
    }
    compete(bench, &mut floor, &mut ours)?;
    for (kind, side) in &ours {
        let what = format!("`{tool}` over MCP on {}", kind.name());
        let (words, of_floor) = (side.words(*kind), floor.best.words());
        table.ratio(
            name,
            &format!("{what}, requests/s against a bare rmcp server"),
            words.clone(),
            of_floor.clone(),
            side.best.per_second / floor.best.per_second,
            rate,
        );
        let ratio = side.best.cpu_us / floor.best.cpu_us;
        table.ratio(name, &format!("{what}, CPU per call against the same"), words, of_floor, ratio, cpu);
    }
    Ok(())
}

pub(crate) fn buffered(bench: &Bench, table: &mut Table) -> Result<()> {
    for (tool, input) in [("add", bodies::add()), ("order", bodies::order())] {
        let mut floor = floor(bench, tool, &input)?;
        let target = bench
            .database(Kind::Sqlite, &format!("mcp_buffered_{tool}"))?
            .context("SQLite is always there")?;
        let [option, value] = serving(&target);
        let server = Server::start("subject", &[option, value, "--buffered".to_owned()])?;
        let mut ours = [(Kind::Sqlite, calling(server, tool, &input, bench.calls(CALLS))?)];
        compete(bench, &mut floor, &mut ours)?;
        let [(kind, ours)] = ours;
        table.ratio(
            "P3",
            &format!("`{tool}` over MCP with a buffered log, CPU per call against a bare rmcp server"),
            ours.words(kind),
            floor.best.words(),
            ours.best.cpu_us / floor.best.cpu_us,
            Goal::AtMost { aim: 0.4, accept: 0.8 },
        );
    }
    Ok(())
}

fn floor(bench: &Bench, tool: &str, input: &Value) -> Result<Side> {
    calling(Server::start::<&str>("floor", &[])?, tool, input, bench.calls(FLOOR_CALLS))
}

/// A side that calls a tool. Its first answer is read, and all others have to be like it.
fn calling(server: Server, tool: &str, input: &Value, calls: usize) -> Result<Side> {
    let request = load::tools_call(tool, server.key.as_deref(), input);
    let body = load::ask(server.port, &request)?;
    let answer: Value = serde_json::from_slice(&body)?;
    let result = &answer["result"];
    let output = &result["structuredContent"];
    let is_output = match tool {
        "add" => output["sum"] == 3.75,
        _ => output["order"] == *input && output["accepted"] == true,
    };
    ensure!(result["isError"] == false && is_output, "`{tool}` is answered with {answer}");
    Ok(Side::new(server, request.answered(&body), calls))
}

pub(crate) fn list(bench: &Bench, table: &mut Table) -> Result<()> {
    let target = bench.database(Kind::Sqlite, "mcp_list")?.context("SQLite is always there")?;
    let tenants = bench.runtime.block_on(async {
        let tenants = data::tenants(&target, 1).await?;
        catalogue::write_tools(&target, LISTED, HIDDEN).await?;
        anyhow::Ok(tenants)
    })?;
    let key = &tenants.first().context("the tenant just made")?.key;
    let began = Instant::now();
    let ours = Server::start("subject", &serving(&target))?;
    let (ours, size) = listing(ours, load::tools_list(Some(key)), bench.calls(LISTS))?;
    let first = began.elapsed();
    let floor = Server::start("floor", &["--tools", &LISTED.to_string()])?;
    let (mut floor, floor_size) = listing(floor, load::tools_list(None), bench.calls(LISTS))?;
    let mut ours = [(Kind::Sqlite, ours)];
    compete(bench, &mut floor, &mut ours)?;
    let [(kind, ours)] = ours;
    table.ratio(
        "P8",
        &format!(
            "list of {LISTED} tools over MCP out of {}, p50 against a bare rmcp server",
            LISTED + HIDDEN
        ),
        format!("{}, {size}", ours.words(kind)),
        format!("{}, {floor_size}", floor.best.words()),
        ours.best.p50_us / floor.best.p50_us,
        Goal::AtMost { aim: 0.05, accept: 0.1 },
    );
    table.figure(
        "P8",
        "start to the first list, for which every schema is read",
        String::new(),
        first.as_secs_f64() * 1e3,
        " ms",
        Goal::None,
    );
    Ok(())
}

/// A side that asks for the list of tools, and how large the list is.
fn listing(server: Server, request: Request, calls: usize) -> Result<(Side, String)> {
    let body = load::ask(server.port, &request)?;
    let answer: Value = serde_json::from_slice(&body)?;
    let tools = answer["result"]["tools"].as_array().context("a list without tools")?;
    let name = |tool: &Value| tool["name"].as_str().is_some_and(|name| name.starts_with("crowd."));
    let listed = tools.iter().filter(|tool| name(tool)).count();
    ensure!(listed == LISTED as usize, "{listed} tools are listed, not {LISTED}");
    let size = format!("{:.1} MiB", body.len() as f64 / f64::from(1 << 20));
    let mut side = Side::new(server, request.answered(&body), calls);
    side.connections = 1;
    Ok((side, size))
}
