//! P9: what a large catalogue costs a call.
//!
//! Tools are defined in code so far, so the many tools of many tenants are 1,600 tools of the program with
//! an override on each of them in every tenant: 64 tenants have 102,592 tools between them, each a
//! definition of its own.

use anyhow::{Context, Result};
use sqlx::{Connection, Executor};
use tw_bench::{CROWD, bodies, crowd_slug};
use tw_store::Target;

use super::Best;
use crate::{
    Bench, Kind, ROUNDS, data, floors,
    load::{self, Request},
    process::Server,
    serving,
    table::{Goal, Table},
};

const TENANTS: usize = 64;
const CONNECTIONS: usize = 16;
const CALLS: usize = 10_000;

/// A server, and one call per tenant.
struct Side {
    server: Server,
    requests: Vec<Request>,
    best: Best,
    memory: f64,
}

impl Side {
    fn start(bench: &Bench, name: &str, program: &str, tenants: usize, overridden: bool) -> Result<Self> {
        let target = bench.database(Kind::Sqlite, name)?.context("SQLite is always there")?;
        let tenants = bench.runtime.block_on(async {
            let tenants = data::tenants(&target, tenants).await?;
            if overridden {
                override_all(&target).await?;
            }
            anyhow::Ok(tenants)
        })?;
        let server = Server::start(program, &serving(&target))?;
        let call =
            |tenant: &data::Tenant| load::post("/api/tools/add/run", Some(&tenant.key), &bodies::add());
        let requests: Vec<_> = tenants.iter().map(call).collect();
        // Every tenant once, so that what is kept of a tenant in memory is there.
        load::run(server.port, &requests, 1, requests.len())?;
        let memory = server.memory()?;
        Ok(Self { server, requests, best: Best::NONE, memory })
    }
}

pub(crate) fn flat(bench: &Bench, table: &mut Table) -> Result<()> {
    let mut few = Side::start(bench, "few", "subject", 1, false)?;
    let mut one = Side::start(bench, "one", "crowd", 1, true)?;
    let mut many = Side::start(bench, "many", "crowd", TENANTS, true)?;
    let plain = Side::start(bench, "plain", "crowd", TENANTS, false)?.memory;
    let calls = bench.calls(CALLS);
    for round in 0..=ROUNDS {
        for side in [&mut few, &mut one, &mut many] {
            let before = side.server.cpu()?;
            let took = load::run(side.server.port, &side.requests, CONNECTIONS, calls)?;
            if round != 0 {
                side.best.take(&took, side.server.cpu()? - before);
            }
        }
    }
    let goal = Goal::AtMost { aim: 1.05, accept: 1.2 };
    let total = TENANTS * (CROWD as usize + 1);
    for (what, side) in [("1 tenant with 1,601 tools", &one), ("64 tenants with 102,464 tools", &many)] {
        let words = [format!("{what}: CPU per call against 1 tenant with 6"), format!("{what}: p50")];
        let [cpu, p50] = words;
        table.ratio(
            "P9",
            &cpu,
            side.best.words(),
            few.best.words(),
            side.best.cpu_us / few.best.cpu_us,
            goal,
        );
        table.ratio("P9", &p50, String::new(), String::new(), side.best.p50_us / few.best.p50_us, goal);
    }
    table.figure(
        "P9",
        "memory per extra tool (an override that renames and describes it)",
        format!("{:.0} MiB with them, {:.0} MiB without", many.memory / 1024.0, plain / 1024.0),
        (many.memory - plain) / total as f64,
        " KiB",
        Goal::AtMost { aim: 2.0, accept: 8.0 },
    );
    Ok(())
}

/// Lays an override over `add` and every tool of the crowd, in every tenant.
async fn override_all(target: &Target) -> Result<()> {
    let Target::Sqlite { file } = target else { anyhow::bail!("only for SQLite") };
    let mut connection = floors::sqlite_for_loading(file).await?;
    connection.execute("CREATE TEMP TABLE slugs (slug TEXT)").await?;
    let mut transaction = connection.begin().await?;
    for slug in (0..CROWD).map(crowd_slug).chain(["add".to_owned()]) {
        sqlx::query("INSERT INTO slugs VALUES (?)").bind(slug).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    connection
        .execute(
            "INSERT INTO tools (id, tenant_id, slug, slug_key, kind, name, description, revision, created_us,
             updated_us, created_by)
             SELECT randomblob(16), t.id, s.slug, s.slug, 'system_override', 'What we call ' || s.slug,
             'The words that tenant ' || t.slug || ' has for this tool, which are longer than the author''s.',
             1, 0, 0, 'operator' FROM tenants t, slugs s",
        )
        .await?;
    Ok(connection.close().await?)
}
