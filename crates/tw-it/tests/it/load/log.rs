//! What the database holds, and whether that is what it has to be.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
    time::Duration,
};

use serde_json::Value;
use sqlx::{
    Connection,
    postgres::PgConnection,
    sqlite::{SqliteConnectOptions, SqliteConnection},
};
use tw_store::Target;
use uuid::Uuid;

use super::crowd::{Notes, Told};
use crate::world::lines_of;

/// A run's row.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) status: String,
    effectful: bool,
    pub(crate) error_code: Option<String>,
    pub(crate) effect: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) session: Uuid,
    pub(crate) seq: i64,
    pub(crate) id: Uuid,
    pub(crate) kind: String,
    pub(crate) run: Uuid,
    pub(crate) payload: String,
}

/// The log and its projection, as the database has them.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) runs: BTreeMap<Uuid, Row>,
    /// By session, in order.
    pub(crate) entries: Vec<Entry>,
}

const RUNS: &str = "SELECT id, status, effectful, error_code, effect FROM runs";
const ENTRIES: &str =
    "SELECT session_id, seq, id, type, run_id, payload FROM session_events ORDER BY session_id, seq";
type RunColumns = (Uuid, String, bool, Option<String>, Option<String>);
type EntryColumns = (Uuid, i64, Uuid, String, Uuid, String);

impl Log {
    pub(crate) async fn read(target: &Target) -> Self {
        let (runs, entries): (Vec<RunColumns>, Vec<EntryColumns>) = match target {
            Target::Sqlite { file } => {
                let options =
                    SqliteConnectOptions::new().filename(file).busy_timeout(Duration::from_secs(10));
                let mut db = SqliteConnection::connect_with(&options).await.unwrap();
                let mut tx = db.begin().await.unwrap();
                let runs = sqlx::query_as(RUNS).fetch_all(&mut *tx).await.unwrap();
                (runs, sqlx::query_as(ENTRIES).fetch_all(&mut *tx).await.unwrap())
            }
            Target::Postgres { url } => {
                let mut db = PgConnection::connect(url).await.unwrap();
                let mut tx = db.begin_with("BEGIN ISOLATION LEVEL REPEATABLE READ").await.unwrap();
                let runs = sqlx::query_as(RUNS).fetch_all(&mut *tx).await.unwrap();
                (runs, sqlx::query_as(ENTRIES).fetch_all(&mut *tx).await.unwrap())
            }
        };
        let row =
            |(id, status, effectful, error_code, effect)| (id, Row { status, effectful, error_code, effect });
        let entry = |(session, seq, id, kind, run, payload)| Entry { session, seq, id, kind, run, payload };
        Self { runs: runs.into_iter().map(row).collect(), entries: entries.into_iter().map(entry).collect() }
    }

    pub(crate) fn of_run(&self) -> BTreeMap<Uuid, Vec<&Entry>> {
        let mut by_run: BTreeMap<Uuid, Vec<&Entry>> = BTreeMap::new();
        for entry in &self.entries {
            by_run.entry(entry.run).or_default().push(entry);
        }
        by_run
    }

    /// What holds of every log whatever happened: numbers without a gap, one end to a run, and rows that say
    /// what the events say.
    pub(crate) fn is_sound(&self) {
        let mut expected = (Uuid::nil(), 0);
        for entry in &self.entries {
            expected = if entry.session == expected.0 {
                (entry.session, expected.1 + 1)
            } else {
                (entry.session, 1)
            };
            assert_eq!((entry.session, entry.seq), expected, "the numbers of a session have a gap");
        }
        let ids: BTreeSet<Uuid> = self.entries.iter().map(|entry| entry.id).collect();
        assert_eq!(ids.len(), self.entries.len(), "an event is there twice");
        let by_run = self.of_run();
        assert!(by_run.keys().eq(self.runs.keys()), "there are runs without events, or events without a run");
        for (id, entries) in by_run {
            let row = &self.runs[&id];
            let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
            let end = match row.status.as_str() {
                "success" => Some("tool.completed"),
                "error" | "timed_out" => Some("tool.failed"),
                "cancelled" => Some("tool.cancelled"),
                _ => None,
            };
            let ends: Vec<&str> = kinds.iter().copied().filter(|kind| is_end(kind)).collect();
            assert_eq!(ends, end.into_iter().collect::<Vec<_>>(), "{id} {row:?} {kinds:?}");
            if end.is_some() {
                assert!(is_end(kinds[kinds.len() - 1]), "something came after the end of {id}: {kinds:?}");
            }
            let starts = kinds.iter().filter(|kind| **kind == "tool.started").count();
            let ran = matches!(row.status.as_str(), "success" | "running" | "timed_out");
            assert!(starts <= 1 && (starts == 1 || !ran), "{id} {row:?} {kinds:?}");
            assert!(matches!(kinds[0], "tool.started" | "tool.needs_approval"), "{id} {kinds:?}");
            if row.error_code.as_deref() == Some("INTERRUPTED") {
                let effect = row.effect.as_deref();
                assert!(effect == Some("none") || row.effectful && effect == Some("unknown"), "{id} {row:?}");
            }
        }
    }

    /// What a run that wrote, or would have written, had for a line.
    pub(crate) fn line_of(entries: &[&Entry]) -> Option<String> {
        let first: Value = serde_json::from_str(&entries[0].payload).unwrap();
        first["input"]["line"].as_str().map(str::to_owned)
    }

    /// Every effect belongs to a run that had begun, and every run says truly whether it had its effect.
    pub(crate) fn tells_the_truth_about(&self, ledger: &Path) {
        let mut lines: BTreeMap<String, usize> = BTreeMap::new();
        for line in lines_of(ledger) {
            *lines.entry(line).or_default() += 1;
        }
        let twice: Vec<_> = lines.iter().filter(|(_, count)| **count != 1).collect();
        assert!(twice.is_empty(), "effects that happened more than once: {twice:?}");
        let mut seen = BTreeSet::new();
        for (id, entries) in self.of_run() {
            let row = &self.runs[&id];
            let Some(line) = Self::line_of(&entries) else { continue };
            assert!(seen.insert(line.clone()), "two runs for the line {line}");
            let there = lines.remove(&line).is_some();
            let began = entries.iter().any(|entry| entry.kind == "tool.started");
            let kinds: Vec<&str> = entries.iter().map(|entry| entry.kind.as_str()).collect();
            match (row.status.as_str(), row.effect.as_deref()) {
                ("success", _) => {
                    assert!(there, "{line} was reported and did not happen: {id} {row:?} {kinds:?}")
                }
                (_, Some("unknown")) => assert!(began, "{id} {row:?} {kinds:?}"),
                _ => assert!(!there, "{line} happened and nobody says so: {id} {row:?} {kinds:?}"),
            }
        }
        assert!(lines.is_empty(), "effects that no run tells of: {lines:?}");
    }

    #[track_caller]
    fn run(&self, told: &Told) -> (Uuid, &Row) {
        let id: Uuid = told.word("run_id").parse().unwrap_or_else(|_| panic!("no run in {told:?}"));
        (id, self.runs.get(&id).unwrap_or_else(|| panic!("an acknowledged call is not in the log: {told:?}")))
    }

    /// Every run of the log is one that somebody was told of: nobody was left without an answer.
    pub(crate) fn has_nothing_but(&self, notes: &Notes) {
        let keyed = notes.keyed.iter().flat_map(|keyed| &keyed.told);
        let told: BTreeSet<Uuid> =
            notes.calls.iter().chain(keyed).filter_map(|told| told.word("run_id").parse().ok()).collect();
        let untold: Vec<_> = self.runs.iter().filter(|(run, _)| !told.contains(run)).collect();
        assert!(untold.is_empty(), "nobody was told of {untold:#?}");
    }

    /// How many runs were cut off.
    pub(crate) fn interrupted(&self) -> usize {
        self.runs.values().filter(|row| row.error_code.as_deref() == Some("INTERRUPTED")).count()
    }

    /// What was acknowledged is there, with the status that was acknowledged.
    pub(crate) fn keeps(&self, notes: &Notes) {
        assert!(notes.strange.is_empty(), "{:#?}", notes.strange);
        let by_run = self.of_run();
        let keyed = notes.keyed.iter().filter(|keyed| keyed.path != "/api/sessions");
        for told in notes.calls.iter().chain(keyed.clone().flat_map(|keyed| &keyed.told)) {
            let (_, row) = self.run(told);
            if told.is_final() {
                assert_eq!(told.word("status"), row.status, "{told:?} {row:?}");
                assert_eq!(told.body["error_code"].as_str(), row.error_code.as_deref(), "{told:?} {row:?}");
            }
        }
        for keyed in keyed {
            let runs: BTreeSet<&str> = keyed.told.iter().map(|told| told.word("run_id")).collect();
            let repeatable = keyed.path.contains("test.slow");
            assert!(runs.len() <= 1 || repeatable, "one key, several runs: {keyed:?}");
        }
        for decision in &notes.decisions {
            let id: Uuid = decision.parked.run.parse().unwrap();
            let (row, entries) = (&self.runs[&id], &by_run[&id]);
            let approved = entries.iter().any(|entry| entry.kind == "tool.approved");
            if decision.told.as_ref().is_some_and(Told::acknowledged) {
                assert_eq!(approved, decision.yes, "a decision was lost: {decision:?} {row:?}");
                let cancelled = notes.given_up.contains(&decision.parked.run);
                let ended = match decision.yes {
                    true => match row.status.as_str() {
                        "success" => true,
                        "error" => row.error_code.as_deref() == Some("INTERRUPTED"),
                        "cancelled" => cancelled,
                        _ => false,
                    },
                    false => row.status == "cancelled",
                };
                assert!(ended, "{decision:?} {row:?}");
            }
        }
        for run in &notes.cancelled {
            let row = &self.runs[&run.parse::<Uuid>().unwrap()];
            assert_eq!(row.status, "cancelled", "a cancellation was lost: {run} {row:?}");
        }
        for parked in &notes.left {
            let row = &self.runs[&parked.run.parse::<Uuid>().unwrap()];
            let waits = row.status == "needs_approval" || notes.given_up.contains(&parked.run);
            assert!(waits, "{parked:?} should still wait: {row:?}");
        }
    }

    pub(crate) fn in_words(&self) -> String {
        let mut by_status: BTreeMap<String, usize> = BTreeMap::new();
        for row in self.runs.values() {
            let word = match (row.error_code.as_deref(), row.effect.as_deref()) {
                (Some("INTERRUPTED"), Some(effect)) => format!("interrupted, effect {effect}"),
                _ => row.status.clone(),
            };
            *by_status.entry(word).or_default() += 1;
        }
        format!("{} runs {by_status:?}, {} events", self.runs.len(), self.entries.len())
    }
}

fn is_end(kind: &str) -> bool {
    matches!(kind, "tool.completed" | "tool.failed" | "tool.cancelled")
}

/// The checks themselves, on a log with a fault in it.
mod planted {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use serde_json::json;

    use super::*;
    use crate::load::crowd::{Decision, Parked};

    const RAN: Uuid = Uuid::from_u128(1);
    const WAITS: Uuid = Uuid::from_u128(2);

    fn entry(run: Uuid, seq: i64, kind: &str) -> Entry {
        let id = Uuid::from_u128(run.as_u128() * 100 + u128::try_from(seq).unwrap());
        let payload = json!({ "input": { "line": run.to_string() } }).to_string();
        Entry { session: run, seq, id, kind: kind.to_owned(), run, payload }
    }

    fn row(status: &str) -> Row {
        Row { status: status.to_owned(), effectful: true, error_code: None, effect: None }
    }

    /// A write that happened, and one that waits; what was said about them; and the ledger.
    fn scene() -> (Log, Notes, Vec<String>) {
        let entries = vec![
            entry(RAN, 1, "tool.needs_approval"),
            entry(RAN, 2, "tool.approved"),
            entry(RAN, 3, "tool.started"),
            entry(RAN, 4, "tool.completed"),
            entry(WAITS, 1, "tool.needs_approval"),
        ];
        let runs = BTreeMap::from([(RAN, row("success")), (WAITS, row("needs_approval"))]);
        let parked = |run: Uuid| Parked { approval: run.to_string(), run: run.to_string() };
        let told =
            Told { status: 200, body: json!({ "run_id": RAN, "status": "success", "error_code": null }) };
        let notes = Notes {
            calls: vec![told.clone()],
            decisions: vec![Decision { parked: parked(RAN), yes: true, told: Some(told) }],
            left: vec![parked(WAITS)],
            ..Notes::default()
        };
        (Log { runs, entries }, notes, vec![RAN.to_string()])
    }

    fn passes(plant: impl FnOnce(&mut Log, &mut Notes, &mut Vec<String>)) -> bool {
        let (mut log, mut notes, mut lines) = scene();
        plant(&mut log, &mut notes, &mut lines);
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("effects");
        std::fs::write(&ledger, lines.iter().map(|line| format!("{line}\n")).collect::<String>()).unwrap();
        let checked = catch_unwind(AssertUnwindSafe(|| {
            log.is_sound();
            log.tells_the_truth_about(&ledger);
            log.keeps(&notes);
        }));
        checked.is_ok()
    }

    #[test]
    fn kill_check_passes_what_is_in_order_and_finds_every_planted_fault() {
        assert!(passes(|_, _, _| {}));
        let row_of = |log: &mut Log, status: &str, effect: Option<&str>| {
            *log.runs.get_mut(&RAN).unwrap() = Row {
                error_code: Some("INTERRUPTED".to_owned()),
                effect: effect.map(str::to_owned),
                ..row(status)
            };
            log.entries[3].kind = "tool.failed".to_owned();
        };
        assert!(passes(|log, notes, _| {
            row_of(log, "error", Some("unknown"));
            notes.calls.clear();
        }));

        assert!(!passes(|log, _, _| drop(log.entries.remove(1))), "a gap");
        assert!(!passes(|log, _, _| log.entries.insert(4, entry(RAN, 5, "tool.failed"))), "a second end");
        assert!(
            !passes(|log, _, _| log.entries.insert(4, entry(RAN, 5, "tool.started"))),
            "life after the end"
        );
        assert!(!passes(|log, _, _| drop(log.entries.remove(3))), "no end");
        assert!(
            !passes(|log, _, _| drop(log.runs.insert(RAN, row("error")))),
            "a row that says something else"
        );
        assert!(!passes(|log, _, _| drop(log.runs.remove(&WAITS))), "events without a run");
        assert!(!passes(|_, _, lines| lines.push(RAN.to_string())), "an effect that happened twice");
        assert!(!passes(|_, _, lines| lines.push(WAITS.to_string())), "an effect before the approval");
        assert!(!passes(|_, _, lines| lines.push("unknown".to_owned())), "an effect of nobody");
        assert!(!passes(|_, _, lines| lines.clear()), "a success without its effect");
        assert!(
            !passes(|log, notes, _| {
                row_of(log, "error", Some("none"));
                notes.calls.clear();
            }),
            "an effect that is denied"
        );
        assert!(
            !passes(|_, notes, _| notes.calls[0].body["run_id"] = json!(Uuid::from_u128(3))),
            "a lost call"
        );
        assert!(
            !passes(|_, notes, _| notes.calls[0].body["status"] = json!("error")),
            "another end than was told"
        );
        assert!(!passes(|_, notes, _| notes.decisions[0].yes = false), "a lost decision");
        assert!(!passes(|_, notes, _| notes.cancelled.push(RAN.to_string())), "a lost cancellation");
        assert!(!passes(|_, notes, _| notes.left[0].run = RAN.to_string()), "a decision nobody made");
        assert!(!passes(|_, notes, _| notes.strange.push("500".to_owned())), "an answer that should not be");
    }
}
