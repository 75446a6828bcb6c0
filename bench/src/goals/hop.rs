//! P5 and P17: what a call takes longer because it goes through here to a service or to an MCP server.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tw_bench::bodies;

use super::Best;
use crate::{
    Bench, Kind, ROUNDS,
    load::{self, Request},
    process::Server,
    serving,
    table::{Goal, Table},
};

const CALLS: usize = 4_000;

pub(crate) fn added(bench: &Bench, table: &mut Table) -> Result<()> {
    let service = Server::start::<&str>("floor", &[])?;
    let url = format!("http://127.0.0.1:{}/echo", service.port);
    let implementation = json!({ "url": url, "method": "POST" });
    let direct = load::post("/echo", None, bodies::add().to_string().as_bytes());
    let (straight, through) =
        compared(bench, "hop", &service, &direct, ["http", "/success"], implementation)?;
    let what =
        "an HTTP service asked through a tool, added p50 over the direct p50, one connection, log buffered";
    told(table, "P5", what, straight, through);
    Ok(())
}

pub(crate) fn added_to_mcp(bench: &Bench, table: &mut Table) -> Result<()> {
    for (path, revision, name) in
        [("/mcp", bodies::MCP_VERSION, "hop_mcp"), ("/earlier", bodies::MCP_EARLIER, "hop_earlier")]
    {
        let service = Server::start::<&str>("floor", &[])?;
        let url = format!("http://127.0.0.1:{}{path}", service.port);
        let implementation = json!({ "server_url": url, "tool_name": "add" });
        let direct = load::tools_call_at(path, revision, "add", &bodies::add());
        let (straight, through) =
            compared(bench, name, &service, &direct, ["mcp", "/output/sum"], implementation)?;
        let what = format!(
            "`add` of an MCP server of revision {revision} called through a tool, added p50 over the direct p50, one connection, log buffered"
        );
        told(table, "P17", &what, straight, through);
    }
    Ok(())
}

/// Calls a service and, in turn, a tool of ours that calls it. `kind` is that of the tool, and where its answer must have
/// something.
fn compared(
    bench: &Bench,
    name: &str,
    service: &Server,
    direct: &Request,
    [kind, place]: [&str; 2],
    implementation: Value,
) -> Result<(Best, Best)> {
    let target = bench.database(Kind::Sqlite, name)?.context("SQLite is always there")?;
    let mut args = serving(&target).to_vec();
    args.push("--buffered".to_owned());
    let server = Server::start("subject", &args)?;
    let definition = json!({
        "slug": "hop", "name": "Hop", "description": "Asks the service.", "permission_level": "read",
        "implementation_type": kind, "input_schema": { "type": "object" }, "publish": true,
        "implementation": implementation,
    });
    let key = server.key()?;
    load::ask(server.port, &load::post("/api/tools", Some(key), definition.to_string().as_bytes()))?;
    let hop = load::post("/api/tools/hop/run", Some(key), &bodies::run(&bodies::add()));
    let answer: Value = serde_json::from_slice(&load::ask(server.port, &hop)?)?;
    ensure!(answer.pointer(place).is_some_and(|found| !found.is_null()), "the hop is answered with {answer}");
    let (mut straight, mut through) = (Best::NONE, Best::NONE);
    for round in 0..=ROUNDS {
        for (port, request, best) in
            [(service.port, direct, &mut straight), (server.port, &hop, &mut through)]
        {
            let before = server.cpu()?;
            let took = load::run(port, std::slice::from_ref(request), 1, bench.calls(CALLS))?;
            // The first round only warms up.
            if round != 0 {
                best.take(&took, server.cpu()? - before);
            }
        }
    }
    Ok((straight, through))
}

fn told(table: &mut Table, goal: &str, what: &str, straight: Best, through: Best) {
    table.ratio(
        goal,
        what,
        format!("{:.0} µs", through.p50_us - straight.p50_us),
        format!("{:.0} µs", straight.p50_us),
        (through.p50_us - straight.p50_us) / straight.p50_us,
        Goal::AtMost { aim: 0.8, accept: 1.3 },
    );
}
