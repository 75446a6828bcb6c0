//! P5: what a call takes longer because it goes through here to a service.

use anyhow::Result;
use serde_json::json;
use tw_bench::bodies;

use super::Best;
use crate::{
    Bench, Kind, ROUNDS, load,
    process::Server,
    serving,
    table::{Goal, Table},
};

const CALLS: usize = 4_000;

pub(crate) fn added(bench: &Bench, table: &mut Table) -> Result<()> {
    let Some(target) = bench.database(Kind::Sqlite, "hop")? else { return Ok(()) };
    let service = Server::start::<&str>("floor", &[])?;
    let mut args = serving(&target).to_vec();
    args.push("--buffered".to_owned());
    let server = Server::start("subject", &args)?;
    let definition = json!({
        "slug": "hop", "name": "Hop", "description": "Asks the echo.", "permission_level": "read",
        "implementation_type": "http", "input_schema": { "type": "object" }, "publish": true,
        "implementation": { "url": format!("http://127.0.0.1:{}/echo", service.port), "method": "POST" },
    });
    let key = server.key()?;
    load::ask(server.port, &load::post("/api/tools", Some(key), definition.to_string().as_bytes()))?;

    let input = bodies::add();
    let direct = load::post("/echo", None, input.to_string().as_bytes());
    let hop = load::post("/api/tools/hop/run", Some(key), &bodies::run(&input));
    let (mut straight, mut through) = (Best::NONE, Best::NONE);
    for round in 0..=ROUNDS {
        for (port, request, best) in
            [(service.port, &direct, &mut straight), (server.port, &hop, &mut through)]
        {
            let before = server.cpu()?;
            let took = load::run(port, std::slice::from_ref(request), 1, bench.calls(CALLS))?;
            // The first round only warms up.
            if round != 0 {
                best.take(&took, server.cpu()? - before);
            }
        }
    }
    table.ratio(
        "P5",
        "an HTTP service asked through a tool, added p50 over the direct p50, one connection, log buffered",
        format!("{:.0} µs", through.p50_us - straight.p50_us),
        format!("{:.0} µs", straight.p50_us),
        (through.p50_us - straight.p50_us) / straight.p50_us,
        Goal::AtMost { aim: 0.8, accept: 1.3 },
    );
    Ok(())
}
