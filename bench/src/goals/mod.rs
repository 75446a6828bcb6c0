//! One file per goal.

mod calls;
mod catalogue;
mod history;
mod hop;
mod log;
mod mcp;
mod script;
mod sides;
mod start;

use anyhow::Result;

use crate::{Bench, load::Took, table::Table};

type Measure = fn(&Bench, &mut Table) -> Result<()>;

/// Every goal that can be measured today, by its name.
pub(crate) const ALL: &[(&str, Measure)] = &[
    ("P1", mcp::add),
    ("P2", mcp::order),
    ("P3", mcp::buffered),
    ("P4", calls::against_floor),
    ("P5", hop::added),
    ("P6", log::against_floor),
    ("P7", calls::intent_before_effect),
    ("P8", mcp::list),
    ("P9", catalogue::flat),
    ("P10", start::against_floor),
    ("P12", history::flat),
    ("P16", script::against_native),
    ("P17", hop::added_to_mcp),
];

/// The best of several rounds of the same load. The rounds of the two sides of a ratio take turns, so
/// that what disturbs one disturbs the other.
#[derive(Clone, Copy, Debug)]
struct Best {
    per_second: f64,
    p50_us: f64,
    cpu_us: f64,
}

impl Best {
    const NONE: Self = Self { per_second: 0.0, p50_us: f64::INFINITY, cpu_us: f64::INFINITY };

    fn take(&mut self, took: &Took, cpu_seconds: f64) {
        self.per_second = self.per_second.max(took.per_second());
        self.p50_us = self.p50_us.min(took.p50());
        self.cpu_us = self.cpu_us.min(cpu_seconds * 1e6 / took.calls() as f64);
    }

    fn words(&self) -> String {
        format!("{:.0} µs CPU, {}/s, p50 {:.1} ms", self.cpu_us, grouped(self.per_second), self.p50_us / 1e3)
    }
}

/// A number with its thousands set apart.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index != 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
