//! How long the steps of a run took, and what to look at when it is too long.

use std::{
    fmt, fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::failures::attribute;

/// How many of the slowest tests the table names.
const SLOWEST: usize = 12;

/// The steps of a run so far.
#[derive(Debug)]
pub(crate) struct Times {
    started: Instant,
    steps: Vec<(String, Duration)>,
    slowest: Vec<TestTime>,
}

#[derive(Clone, Debug, PartialEq)]
struct TestTime {
    binary: String,
    name: String,
    seconds: f64,
}

impl Times {
    pub(crate) fn start() -> Self {
        Self { started: Instant::now(), steps: Vec::new(), slowest: Vec::new() }
    }

    /// Does a step, says so before and after, and notes its time.
    pub(crate) fn step(&mut self, name: &str, work: impl FnOnce() -> Result<()>) -> Result<()> {
        println!("[{name}]");
        let started = Instant::now();
        let result = work();
        let (took, verdict) = (started.elapsed(), if result.is_ok() { "ok" } else { "FAILED" });
        println!("[{name}] {verdict} ({})", seconds(took));
        self.steps.push((name.to_owned(), took));
        result.with_context(|| format!("the step `{name}` failed"))
    }

    /// Divides the last step among the databases, by the seconds that nextest noted for each test. Tests run
    /// side by side, so the parts are shares of the step and not sums.
    pub(crate) fn split_tests(&mut self, report: &Path) {
        let tests = test_times(&fs::read_to_string(report).unwrap_or_default());
        let Some((_, whole)) = self.steps.last().cloned() else { return };
        let sum: f64 = tests.iter().map(|test| test.seconds).sum();
        if sum <= 0.0 {
            return;
        }
        for part in ["unit", "SQLite", "PostgreSQL"] {
            let of_part: Vec<_> = tests.iter().filter(|test| test.part() == part).collect();
            let share = of_part.iter().map(|test| test.seconds).sum::<f64>() / sum;
            self.steps.push((format!("  {part}, {} tests", of_part.len()), whole.mul_f64(share)));
        }
        self.slowest = tests;
        self.slowest.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
        self.slowest.truncate(SLOWEST);
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.slowest.is_empty() {
            writeln!(f, "\nslowest tests")?;
        }
        for TestTime { binary, name, seconds } in &self.slowest {
            writeln!(f, "  {seconds:7.1} s  {binary} {name}")?;
        }
        writeln!(f, "\nwhere the time went")?;
        for (name, took) in &self.steps {
            writeln!(f, "  {name:<24}{:>12}", minutes(*took))?;
        }
        writeln!(f, "  {:<24}{:>12}", "total", minutes(self.started.elapsed()))
    }
}

impl TestTime {
    /// Which line of the table a test belongs to; `on_both!` puts the database into the name.
    fn part(&self) -> &'static str {
        let has = |word: &str| {
            self.name.split("::").any(|step| step == word) || self.name.contains(&format!("_{word}_"))
        };
        match (has("postgres"), has("sqlite")) {
            (true, _) => "PostgreSQL",
            (false, true) => "SQLite",
            (false, false) => "unit",
        }
    }
}

/// The tests in a report of nextest: `<testcase name="…" classname="…" … time="…">`.
fn test_times(report: &str) -> Vec<TestTime> {
    let cases = report.split("<testcase ").skip(1);
    let case = |text: &str| {
        let (attributes, _) = text.split_once('>')?;
        let value = |name: &str| attribute(attributes, name);
        Some(TestTime {
            name: value("name")?,
            binary: value("classname")?,
            seconds: value("time")?.parse().ok()?,
        })
    };
    cases.filter_map(case).collect()
}

pub(crate) fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs_f64().round();
    format!("{} min {:02} s", (seconds / 60.0).floor(), seconds % 60.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = r#"<testsuites><testsuite name="tw-it::it">
        <testcase name="calls::postgres::one" classname="tw-it::it" timestamp="2026-01-01" time="6.000"></testcase>
        <testcase name="calls::sqlite::one" classname="tw-it::it" timestamp="2026-01-01" time="3.000"/>
        <testcase name="rules::tests::two" classname="tw-policy" timestamp="2026-01-01" time="1.000"></testcase>
        </testsuite></testsuites>"#;

    #[test]
    fn report_is_read_test_by_test() {
        let times = test_times(REPORT);
        let read: Vec<_> = times.iter().map(|test| (test.part(), test.seconds)).collect();
        assert_eq!(read, [("PostgreSQL", 6.0), ("SQLite", 3.0), ("unit", 1.0)]);
        assert_eq!((times[2].binary.as_str(), times[2].name.as_str()), ("tw-policy", "rules::tests::two"));
        assert_eq!(test_times("nothing of the kind"), []);
    }

    #[test]
    fn database_in_the_words_of_a_name_counts_too() {
        let name = "kill::heavy_nothing_is_lost_when_an_sqlite_server_is_killed".to_owned();
        let test = TestTime { binary: "tw-it::it".to_owned(), name, seconds: 1.0 };
        assert_eq!(test.part(), "SQLite");
    }

    #[test]
    fn step_of_tests_is_divided_by_their_seconds() {
        let folder = tempfile::tempdir().unwrap();
        let report = folder.path().join("junit.xml");
        fs::write(&report, REPORT).unwrap();
        let mut times = Times::start();
        times.steps.push(("tests".to_owned(), Duration::from_secs(600)));
        times.split_tests(&report);
        let table = times.to_string();
        for line in ["tests 10 min 00 s", "PostgreSQL, 1 tests 6 min 00 s", "unit, 1 tests 1 min 00 s"] {
            assert!(squeezed(&table).contains(line), "{table}");
        }
    }

    #[test]
    fn failed_step_is_in_the_table() {
        let mut times = Times::start();
        let failed = times.step("lints", || anyhow::bail!("no"));
        assert_eq!(failed.unwrap_err().to_string(), "the step `lints` failed");
        assert!(times.to_string().contains("  lints"));
    }

    fn squeezed(text: &str) -> String {
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
