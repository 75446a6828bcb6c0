//! Traces and metrics for a collector of OpenTelemetry, by OTLP over HTTP as JSON.
//!
//! Whoever has something to tell hands over a [`Span`] that is over; nobody waits for what becomes of it. `export.rs` sends
//! in the background, `encode.rs` writes the format, `prometheus.rs` reads the metrics where `/metrics` has them from.

mod encode;
mod export;
mod prometheus;

use std::{
    fmt,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use tokio::sync::{mpsc, oneshot};
use tw_egress::{Egress, Exchange, Observe};

/// How many spans wait to be sent. Further ones are dropped, and counted.
const QUEUE: usize = 8_192;

/// Where everything goes.
#[derive(Clone)]
pub struct Settings {
    /// The collector, without the path of a signal: `http://127.0.0.1:4318`.
    pub endpoint: String,
    /// Sent along, for collectors that want a key.
    pub headers: Vec<(String, String)>,
    pub service_name: String,
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("service_name", &self.service_name).finish_non_exhaustive()
    }
}

/// Something that took time, and is over.
#[derive(Clone, Debug)]
pub struct Span {
    /// 32 digits in hexadecimal.
    pub trace: String,
    /// 16 digits in hexadecimal.
    pub id: String,
    pub parent: Option<String>,
    pub name: String,
    pub kind: SpanKind,
    /// Nanoseconds since 1970.
    pub start: u64,
    pub end: u64,
    pub attributes: Vec<(&'static str, Attribute)>,
    /// What went wrong.
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpanKind {
    Internal,
    Server,
    Client,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attribute {
    Text(String),
    Number(i64),
}

impl From<&str> for Attribute {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Attribute {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[derive(Debug)]
enum Job {
    Span(Box<Span>),
    Flush(oneshot::Sender<()>),
}

/// The way to the collector. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Telemetry {
    jobs: mpsc::Sender<Job>,
}

impl Telemetry {
    /// Starts to send. `metrics` is what `/metrics` answers with.
    #[must_use]
    pub fn start(
        settings: Settings,
        egress: Egress,
        metrics: impl Fn() -> String + Send + Sync + 'static,
    ) -> Self {
        let (jobs, taken) = mpsc::channel(QUEUE);
        tokio::spawn(export::run(settings, egress, Arc::new(metrics), taken));
        Self { jobs }
    }

    /// Hands over a span. Where the collector does not keep up it is dropped, and counted.
    pub fn emit(&self, span: Span) {
        if self.jobs.try_send(Job::Span(Box::new(span))).is_err() {
            dropped(1);
        }
    }

    /// Waits until everything so far was sent, or given up, for so long at the most.
    pub async fn flush(&self, within: Duration) {
        let (done, is_done) = oneshot::channel();
        let flushed = async {
            if self.jobs.send(Job::Flush(done)).await.is_ok() {
                let _ = is_done.await;
            }
        };
        if tokio::time::timeout(within, flushed).await.is_err() {
            tracing::warn!("the collector did not take the last traces and metrics in time");
        }
    }
}

fn dropped(count: usize) {
    metrics::counter!("toolwright_otel_dropped_total").increment(u64::try_from(count).unwrap_or(u64::MAX));
}

impl Observe for Telemetry {
    fn exchanged(&self, exchange: &Exchange<'_>) {
        let mut parts = exchange.parent.split('-').skip(1);
        let (Some(trace), Some(parent), Some(flags)) = (parts.next(), parts.next(), parts.next()) else {
            return;
        };
        if !is_sampled(flags) {
            return;
        }
        let mut attributes: Vec<(&'static str, Attribute)> =
            vec![("http.request.method", exchange.method.into()), ("server.address", exchange.site.into())];
        let mut error = None;
        match exchange.outcome {
            Ok(status) => {
                attributes.push(("http.response.status_code", Attribute::Number(i64::from(status))));
                if 400 <= status {
                    error = Some(format!("HTTP {status}"));
                }
            }
            Err(why) => error = Some(why.to_string()),
        }
        let end = nanos(SystemTime::now());
        let took = u64::try_from(exchange.took.as_nanos()).unwrap_or(u64::MAX);
        self.emit(Span {
            trace: trace.to_owned(),
            id: new_id(),
            parent: Some(parent.to_owned()),
            name: exchange.about.map_or_else(|| exchange.method.to_owned(), str::to_owned),
            kind: SpanKind::Client,
            start: end.saturating_sub(took),
            end,
            attributes,
            error,
        });
    }
}

/// Whether whoever began the trace wants it recorded.
#[must_use]
pub fn is_sampled(flags: &str) -> bool {
    u8::from_str_radix(flags, 16).is_ok_and(|flags| flags & 1 == 1)
}

/// An id for a span.
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
pub fn new_id() -> String {
    let random = uuid::Uuid::new_v4().as_u128();
    // The bits of a version 4 that are fixed lie in both halves; folded, none is.
    let (high, low) = ((random >> 64) as u64, random as u64);
    format!("{:016x}", (high.rotate_left(32) ^ low).max(1))
}

fn nanos(at: SystemTime) -> u64 {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}
