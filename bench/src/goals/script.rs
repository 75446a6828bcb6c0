//! P16: what a script costs that does what a native tool does.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use tw_bench::bodies;

use super::{
    Best,
    sides::{CALLS, CONNECTIONS},
};
use crate::{
    Bench, Kind, ROUNDS, load,
    process::Server,
    serving,
    table::{Goal, Table},
};

const SOURCE: &str = "export default (input) => ({ sum: input.a + input.b })";

pub(crate) fn against_native(bench: &Bench, table: &mut Table) -> Result<()> {
    let target = bench.database(Kind::Sqlite, "script")?.context("SQLite is always there")?;
    let server = Server::start("subject", &serving(&target))?;
    let key = server.key()?;
    // As the native one, but for what runs it.
    let number = json!({ "type": "number" });
    let definition = json!({
        "slug": "add_script", "name": "Add", "description": "Adds two numbers.", "permission_level": "read",
        "implementation_type": "artifact", "implementation": { "language": "javascript", "source": SOURCE },
        "input_schema": {
            "type": "object", "properties": { "a": number, "b": number }, "required": ["a", "b"],
            "additionalProperties": false,
        },
        "output_schema": { "type": "object", "properties": { "sum": number }, "required": ["sum"] },
        "execution": { "is_pure": true }, "publish": true,
    });
    load::ask(server.port, &load::post("/api/tools", Some(key), definition.to_string().as_bytes()))?;
    let side = |tool: &str| -> Result<_> {
        let path = format!("/api/tools/{tool}/run");
        let request = load::post(&path, Some(key), &bodies::run(&bodies::add()));
        let answer: Value = serde_json::from_slice(&load::ask(server.port, &request)?)?;
        ensure!(answer["output"]["sum"] == 3.75, "`{tool}` is answered with {answer}");
        Ok((request, Best::NONE))
    };
    let mut sides = [side("add")?, side("add_script")?];
    let calls = bench.calls(CALLS / 2);
    for round in 0..=ROUNDS {
        for (request, best) in &mut sides {
            let before = server.cpu_of_tree()?;
            let took = load::run(server.port, std::slice::from_ref(request), CONNECTIONS, calls)?;
            // The first round only warms up, and starts the workers.
            if round != 0 {
                best.take(&took, server.cpu_of_tree()? - before);
            }
        }
    }
    let [(_, native), (_, script)] = sides;
    table.ratio(
        "P16",
        "`add` as a script, CPU per call of server and workers against the native `add`, SQLite",
        script.words(),
        native.words(),
        script.cpu_us / native.cpu_us,
        Goal::AtMost { aim: 3.0, accept: 6.0 },
    );
    Ok(())
}
