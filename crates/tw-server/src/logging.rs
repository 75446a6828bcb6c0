//! The server's own log: one line per event on standard error.

use std::{
    io::{self, Write},
    panic,
};

use anyhow::{Context, Result};
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::config::{LogConfig, LogFormat};

pub(crate) fn start(log: &LogConfig) -> Result<()> {
    // The driver repeats whatever the database remarks, such as that a table is there already.
    let filter =
        EnvFilter::try_new(format!("sqlx=warn,{}", log.level)).context("`log.level` cannot be used")?;
    let registry = tracing_subscriber::registry().with(filter);
    match log.format {
        LogFormat::Json => {
            registry.with(fmt::layer().json().flatten_event(true).with_writer(io::stderr)).try_init()
        }
        LogFormat::Text => {
            registry.with(fmt::layer().with_ansi(false).with_writer(|| OneLine(io::stderr()))).try_init()
        }
    }
    .context("cannot start the log")?;
    log_panics();
    Ok(())
}

/// A panic is a fault of ours, wherever it is caught, and the log is where faults are looked for.
fn log_panics() {
    panic::set_hook(Box::new(|info| {
        let at = info.location().map(ToString::to_string).unwrap_or_default();
        let said = info.payload_as_str().unwrap_or_default();
        tracing::error!(at, said, "panic");
    }));
}

/// Writes what it is given, which is one event at a time, as one line: a text from outside that holds a
/// line end must not look like an event of its own.
struct OneLine<W>(W);

impl<W: Write> Write for OneLine<W> {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(event);
        let mut line = String::with_capacity(event.len() + 1);
        for c in text.trim_end_matches('\n').chars() {
            if c.is_control() { line.extend(c.escape_default()) } else { line.push(c) }
        }
        line.push('\n');
        self.0.write_all(line.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_is_one_line_whatever_it_quotes() {
        let mut written = Vec::new();
        OneLine(&mut written).write_all("refused `a\n{\"level\":\"INFO\"}\u{1b}[2J`\n".as_bytes()).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), "refused `a\\n{\"level\":\"INFO\"}\\u{1b}[2J`\n");
    }
}
