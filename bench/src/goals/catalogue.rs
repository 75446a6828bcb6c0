//! P9: what a large catalogue costs a call, a list and a change.
//!
//! The tools are the tenants' own. Sides that are compared have the same tenants, so that what differs is
//! the number of tools.

use anyhow::{Context, Result};
use sqlx::Executor;
use tw_store::Target;

use super::Best;
use crate::{
    Bench, Kind, ROUNDS, data, floors,
    load::{self, Request},
    process::Server,
    serving,
    table::{Goal, Table},
};

const FEW: u32 = 10;
/// So many tenants, with so many tools each.
const LARGE: (usize, u32) = (64, 1_600);
const MANY: (usize, u32) = (1_000, 100);
const CONNECTIONS: usize = 16;
const CALLS: usize = 10_000;
/// Of lists and changes, on one connection.
const LOOKS: usize = 400;

/// A server, and one request of each sort per tenant.
struct Side {
    server: Server,
    calls: Vec<Request>,
    lists: Vec<Request>,
    changes: Vec<Request>,
    best: Best,
    listed: Best,
    changed: Best,
    memory: f64,
}

impl Side {
    fn start(bench: &Bench, name: &str, tenants: usize, tools: u32) -> Result<Self> {
        let target = bench.database(Kind::Sqlite, name)?.context("SQLite is always there")?;
        let tenants = bench.runtime.block_on(async {
            let tenants = data::tenants(&target, tenants).await?;
            write_tools(&target, tools, 0).await?;
            anyhow::Ok(tenants)
        })?;
        let server = Server::start("subject", &serving(&target))?;
        let of_each = |request: &dyn Fn(&str) -> Request| -> Vec<Request> {
            tenants.iter().map(|tenant| request(&tenant.key)).collect()
        };
        let calls = of_each(&|key| {
            load::post("/api/tools/crowd.tool7/run", Some(key), br#"{"input":{"text":"as it came"}}"#)
        });
        let lists = of_each(&|key| load::get("/api/tools?limit=50&q=tool", key));
        let changes = of_each(&|key| load::patch("/api/tools/crowd.tool7", key, br#"{"tags":["crowd"]}"#));
        // Every tenant once, so that what is kept of a tenant in memory is there.
        load::run(server.port, &calls, 1, calls.len())?;
        let memory = server.memory()?;
        let best = Best::NONE;
        Ok(Self { server, calls, lists, changes, best, listed: best, changed: best, memory })
    }

    fn round(&mut self, calls: usize, counts: bool) -> Result<()> {
        for (requests, connections, times, best) in [
            (&self.calls, CONNECTIONS, calls, &mut self.best),
            (&self.lists, 1, LOOKS, &mut self.listed),
            (&self.changes, 1, LOOKS, &mut self.changed),
        ] {
            let before = self.server.cpu()?;
            let took = load::run(self.server.port, requests, connections, times)?;
            if counts {
                best.take(&took, self.server.cpu()? - before);
            }
        }
        Ok(())
    }
}

pub(crate) fn flat(bench: &Bench, table: &mut Table) -> Result<()> {
    for (tenants, tools) in [LARGE, MANY] {
        let mut few = Side::start(bench, &format!("few_{tenants}"), tenants, FEW)?;
        let mut many = Side::start(bench, &format!("many_{tenants}"), tenants, tools)?;
        for round in 0..=ROUNDS {
            few.round(bench.calls(CALLS), round != 0)?;
            many.round(bench.calls(CALLS), round != 0)?;
        }
        report(table, tenants, tools, &few, &many);
    }
    Ok(())
}

fn report(table: &mut Table, tenants: usize, tools: u32, few: &Side, many: &Side) {
    let goal = Goal::AtMost { aim: 1.05, accept: 1.2 };
    let sides = format!("{tenants} tenants with {tools} tools each against {FEW}");
    let mut row = |what: &str, ours: &Best, theirs: &Best, figure: fn(&Best) -> f64| {
        let ratio = figure(ours) / figure(theirs);
        table.ratio("P9", &format!("{what}, {sides}"), ours.words(), theirs.words(), ratio, goal);
    };
    row("a call: CPU", &many.best, &few.best, |best| best.cpu_us);
    row("a call: p50", &many.best, &few.best, |best| best.p50_us);
    row("a list of 50: p50", &many.listed, &few.listed, |best| best.p50_us);
    row("a change: p50", &many.changed, &few.changed, |best| best.p50_us);
    let extra = tenants as f64 * f64::from(tools - FEW);
    table.figure(
        "P9",
        &format!("memory per extra tool, {sides}"),
        format!("{:.0} MiB with them, {:.0} MiB without", many.memory / 1024.0, few.memory / 1024.0),
        (many.memory - few.memory) / extra,
        " KiB",
        Goal::AtMost { aim: 2.0, accept: 8.0 },
    );
}

/// Writes so many published tools into every tenant, each with a schema of its own, and so many more that
/// ask for a permission nobody has.
pub(super) async fn write_tools(target: &Target, count: u32, hidden: u32) -> Result<()> {
    let Target::Sqlite { file } = target else { anyhow::bail!("only for SQLite") };
    let mut connection = floors::sqlite_for_loading(file).await?;
    let definition = "json_object('name', 'Tool number ' || n.i, 'description',
        'Takes a text and gives it back, as number ' || n.i || ' of many tools that do the same.',
        'category', 'crowd', 'icon', 'users', 'permission_level', 'read', 'implementation_type', 'internal',
        'input_schema', json_object('type', 'object', 'required', json_array('text'), 'properties',
        json_object('text', json_object('type', 'string', 'maxLength', 1000 + n.i))))";
    let definition = format!(
        "iif(n.i < {count}, {definition}, json_set({definition}, '$.required_permission', 'crowd.hidden.use'))"
    );
    let insert = format!(
        "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count} + {hidden})
         INSERT INTO tools (id, tenant_id, slug, slug_key, kind, is_active, status, tags, tenant_slugs, definition, version,
         live, live_version, published_us, revision, created_us, updated_us, created_by, changed_epoch)
         SELECT randomblob(16), t.id, 'crowd.tool' || n.i, 'crowd.tool' || n.i, 'tenant_custom', 1, 'published', '[]', '[]',
         {definition}, '1.0.0', {definition}, '1.0.0', 1, 1, 1, 1, 'operator', 1 FROM tenants t, n"
    );
    connection.execute(sqlx::AssertSqlSafe(insert)).await?;
    Ok(sqlx::Connection::close(connection).await?)
}
