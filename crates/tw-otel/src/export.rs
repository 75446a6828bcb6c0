//! Sends what has gathered, in the background.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::mpsc,
    time::{MissedTickBehavior, interval},
};
use tw_egress::{Egress, Method, Request};

use crate::{Job, Settings, Span, dropped, encode, nanos, prometheus};

/// How many spans go into one request.
const BATCH: usize = 512;
const SPANS_EVERY: Duration = Duration::from_secs(1);
const METRICS_EVERY: Duration = Duration::from_secs(15);
const ANSWERED_WITHIN: Duration = Duration::from_secs(5);

type Render = Arc<dyn Fn() -> String + Send + Sync>;

struct Exporter {
    settings: Settings,
    egress: Egress,
    render: Render,
    instance: String,
    began: u64,
    /// Whether the collector took what it was sent last: a change of that is told, and no more.
    is_taken: bool,
}

pub(crate) async fn run(settings: Settings, egress: Egress, render: Render, mut jobs: mpsc::Receiver<Job>) {
    let began = nanos(std::time::SystemTime::now());
    let instance = uuid::Uuid::new_v4().to_string();
    let mut exporter = Exporter { settings, egress, render, instance, began, is_taken: true };
    let mut gathered = Vec::new();
    let mut ticks = interval(SPANS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    let mut metrics = interval(METRICS_EVERY);
    metrics.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        tokio::select! {
            job = jobs.recv() => match job {
                Some(Job::Span(span)) => {
                    gathered.push(*span);
                    if BATCH <= gathered.len() {
                        exporter.send_spans(&mut gathered).await;
                    }
                }
                Some(Job::Flush(done)) => {
                    exporter.send_spans(&mut gathered).await;
                    exporter.send_metrics().await;
                    // Nobody may wait for it any more.
                    let _ = done.send(());
                }
                None => return,
            },
            _ = ticks.tick() => exporter.send_spans(&mut gathered).await,
            _ = metrics.tick() => exporter.send_metrics().await,
        }
    }
}

impl Exporter {
    async fn send_spans(&mut self, gathered: &mut Vec<Span>) {
        if gathered.is_empty() {
            return;
        }
        let spans = std::mem::take(gathered);
        let body = encode::traces(&self.settings, &self.instance, &spans).to_string();
        if !self.send("/v1/traces", body).await {
            dropped(spans.len());
        }
    }

    async fn send_metrics(&mut self) {
        let families = prometheus::families(&(self.render)());
        let now = nanos(std::time::SystemTime::now());
        let body = encode::metrics(&self.settings, &self.instance, self.began, now, &families).to_string();
        self.send("/v1/metrics", body).await;
    }

    /// Whether the collector has taken it.
    async fn send(&mut self, path: &str, body: String) -> bool {
        let url = format!("{}{path}", self.settings.endpoint.trim_end_matches('/'));
        let request = Request::new(Method::Post, url).header("content-type", "application/json");
        let request =
            self.settings.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let answer = self.egress.send(request.body(body).timeout(ANSWERED_WITHIN)).await;
        let why = match answer {
            Ok(answer) if (200..300).contains(&answer.status) => None,
            Ok(answer) => Some(format!("it answers with {}", answer.status)),
            Err(error) => Some(error.to_string()),
        };
        match (&why, self.is_taken) {
            (Some(why), true) => {
                tracing::warn!(why, "the collector at `otel.endpoint` does not accept traces and metrics")
            }
            (None, false) => {
                tracing::info!("the collector at `otel.endpoint` accepts traces and metrics again")
            }
            _ => {}
        }
        self.is_taken = why.is_none();
        self.is_taken
    }
}
