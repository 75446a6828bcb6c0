//! `toolwright serve`: from nothing to a running server, and back in order.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use tokio::{
    net::TcpListener,
    task::JoinHandle,
    time::{Instant, interval, sleep, timeout_at},
};
use tokio_util::sync::CancellationToken;
use tw_engine::{Engine, FirstRun, Operator, Setup};
use tw_kinds::AllKinds;
use tw_models::{ModelKey, Models};
use tw_otel::Telemetry;
use tw_sandbox::{Sandbox, Worker};
use tw_store::{Durability, Options, Store, Target};

use crate::{
    banner,
    config::{self, Config, Sources},
    fail::Hint,
    folder::{self, ServeLock},
    logging, master_key,
    signals::Signals,
};

/// How long calls under way get to end by themselves.
const DRAIN: Duration = Duration::from_secs(25);
/// By when everything has ended, after the signal.
const GONE_AFTER: Duration = Duration::from_millis(29_500);
/// What of it is kept for closing the store.
const CLOSING: Duration = Duration::from_millis(750);
/// How long a start waits for PostgreSQL, at each step.
const DATABASE_WITHIN: Duration = Duration::from_secs(20);
const DATABASE_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// How long the last traces and metrics may take on their way.
const TELEMETRY: Duration = Duration::from_secs(2);
const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// Upper ends, in seconds, of the ranges in which durations are counted.
const DURATIONS: &[f64] =
    &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0];

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Sources,
    /// The address to listen on; port 0 takes a free port [default: 127.0.0.1:7420]
    #[arg(long, value_name = "ADDR")]
    listen: Option<String>,
    /// The URL under which people and programs reach the server, if it differs
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
}

/// What is open while the server runs.
struct Running {
    engine: Engine,
    http: JoinHandle<std::io::Result<()>>,
    stop: CancellationToken,
    telemetry: Option<Telemetry>,
}

pub(crate) async fn run(args: Args) -> Result<ExitCode> {
    let config = args.place.load_with(|config| {
        config.listen = args.listen.clone().unwrap_or_else(|| config.listen.clone());
        config.public_url = args.public_url.clone().or_else(|| config.public_url.take());
    })?;
    logging::start(&config.log)?;
    let mut signals = Signals::listen()?;
    let target = config.target()?;
    let mut lock = folder::of(&target).map(take_folder).transpose()?;
    // Before anything is made that is shown only once: where the port is taken, nothing has happened.
    let (listener, address) = bind(&config.listen).await?;
    let metrics = install_metrics()?;

    // Without a key there is no point in touching the database.
    let key = master_key::find_or_make(&config, &target)?;
    let store = patiently(&target, async || open_store(&config, &target).await).await?;
    let operator = Operator::new(store.clone());
    patiently(&target, async || master_key::check(&key, &operator).await).await?;
    let sandbox = Sandbox::new(Worker::this_program());
    let models = config.models()?;
    let base = config.public_url.clone().unwrap_or_else(|| format!("http://{}", reachable(address)));
    let telemetry = start_telemetry(&config, &metrics)?;
    let egress = tw_egress::Egress::builder(config.egress.policy()?);
    let egress = match &telemetry {
        Some(telemetry) => egress.observer(Arc::new(telemetry.clone())),
        None => egress,
    };
    let setup = Setup {
        store,
        master_key: key.key,
        limits: config.limits,
        egress: egress.build(),
        kinds: Arc::new(AllKinds::new(sandbox.clone())),
        sandbox,
        models: models.clone(),
        base_url: Some(base.clone()),
        mcp_servers: config.mcp_servers()?,
        telemetry: telemetry.clone(),
    };
    let engine = start_engine(&target, setup).await?;
    let first = patiently(&target, async || bootstrap(&target, &operator).await).await?;
    let running = Running::open(&config, engine, listener, &base, metrics, telemetry)?;

    if let Some(lock) = &mut lock {
        lock.announce(&base).context("cannot write the lock file")?;
    }
    warn_of(&config, &models, address, &key.source);
    let database = config::shown(&target);
    banner::print(address, &base, &database, config.log.durability, first.as_ref());
    tracing::info!(%address, %database, "serving");
    running.until_stopped(&mut signals).await
}

fn take_folder(folder: &Path) -> Result<ServeLock> {
    folder::prepare(folder)?;
    ServeLock::take(folder)
}

async fn bind(listen: &str) -> Result<(TcpListener, SocketAddr)> {
    let listener = TcpListener::bind(listen).await;
    let listener = listener
        .with_context(|| format!("cannot listen on {listen}"))
        .hint("name another address with --listen; port 0 takes a free one")?;
    let address = listener.local_addr().context("cannot ask for the port")?;
    Ok((listener, address))
}

fn install_metrics() -> Result<PrometheusHandle> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), DURATIONS)
        .and_then(PrometheusBuilder::install_recorder)
        .context("cannot start the metrics")?;
    let upkeep = handle.clone();
    tokio::spawn(async move {
        let mut ticks = interval(UPKEEP_EVERY);
        loop {
            ticks.tick().await;
            upkeep.run_upkeep();
        }
    });
    Ok(handle)
}

/// Begins to tell a collector, where one is named. It is the operator's own, so it may be anywhere.
fn start_telemetry(config: &Config, metrics: &PrometheusHandle) -> Result<Option<Telemetry>> {
    let Some(settings) = config.otel.settings()? else { return Ok(None) };
    let egress = tw_egress::Egress::new(tw_egress::Policy::new(tw_egress::Reach::Any, [] as [&str; 0])?);
    let metrics = metrics.clone();
    Ok(Some(Telemetry::start(settings, egress, move || metrics.render())))
}

/// Does a step of the start again while PostgreSQL is out of reach: who starts both at once need not order them.
async fn patiently<T>(target: &Target, step: impl AsyncFn() -> Result<T>) -> Result<T> {
    let until = Instant::now() + DATABASE_WITHIN;
    loop {
        match step().await {
            Err(error) if is_out_of_reach(target, &error) && Instant::now() < until => {
                tracing::warn!("{error:#}; trying again for up to {} s", DATABASE_WITHIN.as_secs());
                sleep(DATABASE_AGAIN_AFTER).await;
            }
            done => return done,
        }
    }
}

fn is_out_of_reach(target: &Target, error: &anyhow::Error) -> bool {
    // A file that cannot be opened now will not open by waiting.
    matches!(target, Target::Postgres { .. })
        && error.chain().any(|cause| {
            matches!(cause.downcast_ref::<tw_store::Error>(), Some(tw_store::Error::Unavailable { .. }))
        })
}

async fn open_store(config: &Config, target: &Target) -> Result<Store> {
    folder::migrate(target).await?;
    let options = Options {
        target: target.clone(),
        durability: config.log.durability,
        connections: config.database.connections,
    };
    Store::open(&options).await.context("cannot open the database")
}

async fn start_engine(target: &Target, setup: Setup) -> Result<Engine> {
    tw_tools::link();
    let engine = Engine::start(setup).context("cannot start the engine")?;
    if matches!(target, Target::Sqlite { .. }) {
        // Nobody else works on this database, so whatever is still open was cut off.
        engine
            .close_left_over_runs()
            .await
            .context("cannot close the runs that an earlier server left open")?;
    }
    Ok(engine)
}

async fn bootstrap(target: &Target, operator: &Operator) -> Result<Option<FirstRun>> {
    let _turn = folder::turn(target)?;
    operator.bootstrap().await.context("cannot prepare the database for its first use")
}

/// Where a browser on this machine finds the server: an address that stands for all of the machine's is
/// none to connect to.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn warn_of(config: &Config, models: &Models, address: SocketAddr, key: &master_key::KeySource) {
    for (name, spec) in models.iter() {
        if let ModelKey::Unset { variable } = &spec.key {
            tracing::warn!(
                "`models.{name}.api_key` names the environment variable `{variable}`, which is not set: \
                 only tenants with a key of their own can ask this model"
            );
        }
    }
    if let Some(exposure) = master_key::exposure(key) {
        tracing::warn!("{exposure}");
    }
    if config.log.durability == Durability::Buffered {
        tracing::warn!(
            "log.durability is `buffered`: answers do not wait for the disk, so a crash loses some"
        );
    }
    if !address.ip().is_loopback() && config.public_url.is_none() && config.allowed_hosts.is_empty() {
        tracing::warn!(
            "other machines can connect but will be refused: set `public_url` or `allowed_hosts` to the names they use"
        );
    }
}

impl Running {
    fn open(
        config: &Config,
        engine: Engine,
        listener: TcpListener,
        base: &str,
        metrics: PrometheusHandle,
        telemetry: Option<Telemetry>,
    ) -> Result<Self> {
        let trusted_proxies = config.trusted_proxies()?;
        let settings = tw_http::HttpSettings {
            public_url: config.public_url.clone(),
            allowed_hosts: config.allowed_hosts.clone(),
            allowed_origins: config.allowed_origins.clone(),
            trusted_proxies,
            body_limit: config.body_limit_bytes,
            metrics_public: config.metrics.public,
            render_metrics: Arc::new(move || metrics.render()),
        };
        let mcp = tw_mcp::McpSettings {
            base: base.to_owned(),
            body_limit: config.body_limit_bytes,
            icon_path: tw_http::icon_path,
        };
        let router = tw_http::router(engine.clone(), settings, tw_mcp::router(engine.clone(), mcp));
        let stop = CancellationToken::new();
        let http = tokio::spawn(tw_http::serve(listener, router, config.max_connections, stop.clone()));
        Ok(Self { engine, http, stop, telemetry })
    }

    async fn until_stopped(mut self, signals: &mut Signals) -> Result<ExitCode> {
        tokio::select! {
            signal = signals.next() => tracing::info!(signal, "stopping; a second signal ends at once"),
            ended = &mut self.http => {
                self.engine.drain(Duration::ZERO).await;
                self.engine.close().await;
                ended.context("the HTTP server broke")?.context("the HTTP server stopped")?;
                anyhow::bail!("the HTTP server stopped by itself");
            }
        }
        tokio::select! {
            code = self.stop() => Ok(code),
            signal = signals.next() => {
                tracing::warn!(signal, "ending at once; calls under way are closed as interrupted at the next start");
                std::process::exit(1);
            }
        }
    }

    /// Lets calls under way end while `/readyz` sends new ones elsewhere, then hangs up and closes.
    async fn stop(self) -> ExitCode {
        let gone = Instant::now() + GONE_AFTER;
        self.engine.drain(DRAIN).await;
        self.stop.cancel();
        match timeout_at(gone - CLOSING, self.http).await {
            Ok(Ok(Ok(()))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "the HTTP server did not stop in order"),
            Ok(Err(error)) => tracing::error!(%error, "the HTTP server broke while stopping"),
            Err(_) => tracing::info!("connections that stayed open were cut"),
        }
        if timeout_at(gone, self.engine.close()).await.is_err() {
            tracing::error!("the database could not be closed in time");
            return ExitCode::FAILURE;
        }
        if let Some(telemetry) = self.telemetry {
            telemetry.flush(TELEMETRY.min(gone.saturating_duration_since(Instant::now()))).await;
        }
        tracing::info!("stopped");
        ExitCode::SUCCESS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_address_is_one_to_connect_to() {
        for (listening, printed) in [
            ("127.0.0.1:7420", "127.0.0.1:7420"),
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("192.0.2.7:80", "192.0.2.7:80"),
        ] {
            assert_eq!(reachable(listening.parse().unwrap()).to_string(), printed);
        }
    }
}
