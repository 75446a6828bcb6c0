//! What a server does by itself: hears of changes, says that it is alive, looks after what waits, and
//! closes the runs of servers that died.

use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use tw_base::{Error, Result};
use tw_model::{Effect, Timestamp, WaitsFor};
use tw_store::log::Expect;

use crate::{
    Engine,
    flights::DEAD_AFTER,
    run_log::{self, RunIdentity},
};

/// How often epochs are read behind the hints.
const HEAR_EVERY: Duration = Duration::from_millis(500);
const BEAT_EVERY: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often is looked which MCP servers are due.
const REFRESH_EVERY: Duration = Duration::from_secs(10);
const FORGET_KEYS_EVERY: Duration = Duration::from_secs(600);

impl Engine {
    /// Starts the background work, until the token is cancelled.
    pub(crate) fn live(&self, end: &CancellationToken) {
        let pulse = self.inner.pulse.clone();
        self.inner.store.on_death(move |name| pulse.died(name));
        self.until(end, "hear_changes", Self::hear_changes);
        self.until(end, "beat_and_sweep", Self::beat_and_sweep);
        self.until(end, "resume_waiting", Self::resume_waiting);
        self.until(end, "stop_ended_runs", Self::stop_ended_runs);
        self.until(end, "forget_old_keys", Self::forget_old_keys);
        self.until(end, "refresh_mcp_servers", Self::refresh_mcp_servers);
        self.until(end, "tell_webhooks", Self::tell_webhooks);
    }

    fn until<F: Future<Output = ()> + Send + 'static>(
        &self,
        end: &CancellationToken,
        name: &'static str,
        work: fn(Self) -> F,
    ) {
        let (end, engine) = (end.clone(), self.clone());
        tokio::spawn(async move {
            let pulse = engine.inner.pulse.clone();
            end.run_until_cancelled(pulse.keep_up(name, || work(engine.clone()))).await
        });
    }

    async fn refresh_mcp_servers(self) {
        let mut ticks = ticks(REFRESH_EVERY);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = self.inner.mcp_servers.wanted() => {}
            }
            if let Err(error) = self.inner.mcp_servers.refresh_due().await {
                tracing::debug!(%error, "MCP servers could not be refreshed");
            }
        }
    }

    async fn hear_changes(self) {
        let mut tenants = self.inner.store.wake().tenants();
        let mut ticks = ticks(HEAR_EVERY);
        loop {
            let heard = tokio::select! {
                tenant = tenants.recv() => match tenant {
                    Ok(tenant) => self.inner.identity.epochs().ask(tenant).await.map(drop),
                    Err(_) => self.inner.identity.epochs().ask_all().await,
                },
                _ = ticks.tick() => self.inner.identity.epochs().ask_all().await,
            };
            if let Err(error) = heard {
                tracing::debug!(%error, "epochs could not be read");
            }
        }
    }

    async fn beat_and_sweep(self) {
        let mut ticks = ticks(BEAT_EVERY);
        let mut steady_since = Instant::now();
        let mut last_beat = Instant::now();
        loop {
            ticks.tick().await;
            match self.inner.store.heartbeat().await {
                Ok(now) => {
                    // After an outage every server looks dead until it has had time to say otherwise.
                    if BEAT_EVERY * 2 < last_beat.elapsed() {
                        steady_since = Instant::now();
                    }
                    last_beat = Instant::now();
                    if DEAD_AFTER <= steady_since.elapsed() {
                        self.sweep(now).await;
                    }
                }
                Err(error) => tracing::warn!(%error, "this server could not say that it is alive"),
            }
        }
    }

    async fn sweep(&self, now: Timestamp) {
        let dead_before = now.minus(DEAD_AFTER);
        let swept = async {
            self.close_orphans(dead_before).await?;
            self.inner.store.forget_dead(dead_before).await.map_err(Error::store("forgetting dead servers"))
        };
        if let Err(error) = swept.await {
            tracing::warn!(%error, "the runs of dead servers could not be closed");
        }
    }

    /// Ends the runs of servers that have not been heard of since, and says that truthfully.
    pub(crate) async fn close_orphans(&self, dead_before: Timestamp) -> Result<()> {
        loop {
            let orphans = self.inner.store.orphaned_runs(dead_before, 500).await;
            let orphans = orphans.map_err(Error::store("looking for orphaned runs"))?;
            if orphans.is_empty() {
                return Ok(());
            }
            let mut tickets = Vec::new();
            for (tenant, id) in orphans {
                let run =
                    self.inner.store.tenant(tenant).run(id).await.map_err(Error::store("reading a run"))?;
                let Some(run) = run else { continue };
                let identity = RunIdentity::by_the_system(&run);
                let pending = self.inner.store.tenant(tenant).pending_call_of(id).await;
                let pending = pending.map_err(Error::store("reading a pending call"))?;
                let goes_on = pending.filter(|call| call.waits_for == WaitsFor::Child);
                let entry = match goes_on {
                    Some(call) => run_log::left_over(identity, run.lease_epoch, call),
                    None => {
                        let effect = if run.effectful { Effect::Unknown } else { Effect::None };
                        let message = "the server stopped while the tool was running";
                        run_log::interrupted(identity, Expect::Lease(run.lease_epoch), effect, message)
                    }
                };
                tickets.push(self.inner.store.log().append(entry));
            }
            let mut closed = 0;
            for ticket in tickets {
                closed += usize::from(ticket.wait().await.is_ok());
            }
            if closed == 0 {
                return Ok(());
            }
            tracing::info!(closed, "closed the runs of a server that died");
        }
    }

    async fn resume_waiting(self) {
        let mut ticks = ticks(LOOK_EVERY);
        loop {
            tokio::select! {
                () = self.inner.store.wake().pending() => {}
                _ = ticks.tick() => {}
            }
            if let Err(error) = self.look_after_waiting().await {
                tracing::debug!(%error, "waiting calls could not be looked after");
            }
        }
    }

    /// Stops what somebody else has ended: at once by the hint, and by looking at what runs long.
    async fn stop_ended_runs(self) {
        let mut ended = self.inner.store.wake().ended_runs();
        let mut ticks = ticks(HEAR_EVERY);
        loop {
            tokio::select! {
                run = ended.recv() => {
                    if let Ok(run) = run {
                        self.inner.flights.stop(run);
                    }
                }
                _ = ticks.tick() => {
                    for (tenant, runs) in self.inner.flights.older_than(HEAR_EVERY) {
                        match self.inner.store.tenant(tenant).ended_of(&runs).await {
                            Ok(ended) => ended.into_iter().for_each(|run| self.inner.flights.stop(run)),
                            Err(error) => tracing::debug!(%error, "long runs could not be looked at"),
                        }
                    }
                }
            }
        }
    }

    async fn tell_webhooks(self) {
        self.webhooks().keep_sending().await;
    }

    async fn forget_old_keys(self) {
        let mut ticks = ticks(FORGET_KEYS_EVERY);
        loop {
            ticks.tick().await;
            if let Err(error) = self.inner.store.drop_expired_keys(Timestamp::now()).await {
                tracing::debug!(%error, "old idempotency keys could not be forgotten");
            }
        }
    }
}

fn ticks(every: Duration) -> tokio::time::Interval {
    let mut ticks = interval(every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    ticks
}
