//! The server under test: the real doors, engine and store, with tools to measure.

use std::{
    io::{Read, Write},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use clap::Parser;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};
use tw_base::MasterKey;
use tw_egress::{Egress, Policy, Reach};
use tw_engine::{Engine, Operator, RateLimits, Setup};
use tw_kinds::AllKinds;
use tw_sandbox::{Sandbox, Worker};
use tw_store::{Durability, Options, Store, Target};

/// What a subject is started with.
#[derive(Debug, Parser)]
struct Args {
    /// The file of an SQLite database, made if it is not there
    #[arg(long, required_unless_present = "postgres")]
    sqlite: Option<PathBuf>,
    /// The URL of a PostgreSQL database
    #[arg(long)]
    postgres: Option<String>,
    /// Answer before the log is on disk
    #[arg(long)]
    buffered: bool,
}

/// What a subject says when it is ready, as one line of JSON.
#[derive(Debug, Serialize, Deserialize)]
pub struct Ready {
    pub port: u16,
    /// The key of the first tenant, if the database was empty.
    pub key: Option<String>,
}

/// Serves until the standard input ends.
#[must_use]
pub fn main() -> ExitCode {
    // The sandbox starts this program once more for what tenants write.
    if std::env::args().nth(1).is_some_and(|first| first == "sandbox-worker") {
        return tw_sandbox::serve_worker();
    }
    tw_tools::link();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let served =
        runtime.context("start the runtime").and_then(|runtime| runtime.block_on(serve(Args::parse())));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "subject: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: Args) -> Result<()> {
    // As `toolwright serve` has them by default, because both cost something with every call.
    let log = fmt::layer().with_ansi(false).with_writer(std::io::stderr);
    tracing_subscriber::registry().with(EnvFilter::new("info")).with(log).try_init()?;
    let metrics = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &[0.001, 0.01, 0.1, 1.0, 10.0])?
        .install_recorder()?;

    let target = match (args.postgres, args.sqlite) {
        (Some(url), _) => Target::Postgres { url },
        (None, Some(file)) => Target::Sqlite { file },
        (None, None) => anyhow::bail!("name a database"),
    };
    tw_store::migrate(&target).await.context("migrate")?;
    let durability = if args.buffered { Durability::Buffered } else { Durability::Full };
    let store =
        Store::open(&Options { durability, ..Options::new(target) }).await.context("open the store")?;
    let operator = Operator::new(store.clone());
    let master_key = master_key()?;
    anyhow::ensure!(operator.check_master_key(&master_key).await?, "the database has another master key");
    let sandbox = Sandbox::new(Worker::this_program());
    let setup = Setup {
        store,
        master_key,
        limits: RateLimits::default(),
        egress: Egress::new(Policy::new(Reach::Any, [] as [&str; 0])?),
        kinds: Arc::new(AllKinds::new(sandbox.clone())),
        sandbox,
        models: tw_models::Models::default(),
        mcp_servers: Vec::new(),
        base_url: None,
        telemetry: None,
    };
    let engine = Engine::start(setup)?;
    let first = operator.bootstrap().await.context("prepare the database")?;

    let settings = tw_http::HttpSettings {
        public_url: None,
        allowed_hosts: Vec::new(),
        allowed_origins: Vec::new(),
        trusted_proxies: Vec::new(),
        body_limit: 1 << 20,
        metrics_public: true,
        render_metrics: Arc::new(move || metrics.render()),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.context("listen")?;
    let port = listener.local_addr()?.port();
    let mcp = tw_mcp::McpSettings {
        base: format!("http://127.0.0.1:{port}"),
        body_limit: settings.body_limit,
        icon_path: tw_http::icon_path,
    };
    let router = tw_http::router(engine.clone(), settings, tw_mcp::router(engine.clone(), mcp));
    let ready = Ready { port, key: first.map(|first| first.key) };
    let stop = CancellationToken::new();
    let http = tokio::spawn(tw_http::serve(listener, router, usize::MAX, stop.clone()));
    writeln!(std::io::stdout(), "{}", serde_json::to_string(&ready)?)?;

    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    engine.drain(Duration::from_secs(1)).await;
    stop.cancel();
    http.await??;
    engine.close().await;
    Ok(())
}

/// The same for every start, so that a database can be served again.
fn master_key() -> Result<MasterKey> {
    let text = format!("{}=", "A".repeat(43));
    MasterKey::parse(&text).context("the master key of the benchmarks")
}
