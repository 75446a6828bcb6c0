//! Every statement that the store says, by the word of its own trace.

use std::{
    fmt,
    sync::{Mutex, MutexGuard, Once, PoisonError},
};

use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

/// A statement as it was said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Said {
    /// With single blanks.
    pub(super) sql: String,
    /// On a connection that was set to read in the order of an index; see `Db::read_in_order`.
    pub(super) in_order: bool,
}

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn said() -> MutexGuard<'static, Vec<String>> {
    SAID.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Begins to record what this process says. Each test is a process of its own.
pub(super) fn begin() {
    static BEGUN: Once = Once::new();
    BEGUN.call_once(|| tracing::subscriber::set_global_default(Recorder).unwrap());
    said().clear();
}

/// What was said since the last time, in order. A connection is set for the one statement that comes next.
pub(super) fn take() -> Vec<Said> {
    let mut in_order = false;
    let mut taken = Vec::new();
    // A hint to other servers is said whenever its time has come.
    for sql in said().drain(..).filter(|sql| !sql.contains("pg_notify")) {
        let sets = sql.contains("set_config('enable_sort', 'off'");
        taken.push(Said { sql, in_order });
        in_order = sets;
    }
    taken
}

/// Text with single blanks.
pub(super) fn single_blanks(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

struct Recorder;

#[derive(Default)]
struct Fields {
    summary: String,
    statement: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            // All there is of a statement of a few words.
            "summary" => self.summary = single_blanks(value),
            "db.statement" => self.statement = single_blanks(value),
            _ => {}
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "sqlx::query"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        said().push(if fields.statement.is_empty() { fields.summary } else { fields.statement });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}
