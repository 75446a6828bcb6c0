//! Which runs a list shows, as SQL that costs the same however many runs there are.
//!
//! Every filter has an index in the order of the list. A database that may choose takes another one for a filter that it
//! believes to be rare, and then sorts a whole history; so here is said which one it is: the first filter, in the order
//! of how few runs it leaves, is written as the index has it, and all others so that no index fits them.

use tw_model::{Mode, RunId, RunStatus, SessionId, Source, TenantId, Timestamp};

use crate::filter::{Arg, Conditions};

/// Which runs.
#[derive(Clone, Debug, Default)]
pub struct RunFilter {
    pub tool: Option<String>,
    pub status: Option<RunStatus>,
    pub source: Option<Source>,
    pub session: Option<SessionId>,
    pub parent: Option<RunId>,
    pub principal: Option<String>,
    pub error_code: Option<String>,
    pub mode: Option<Mode>,
    /// Listed at or after; see [`crate::Run::listed`].
    pub since: Option<Timestamp>,
    /// Listed before.
    pub until: Option<Timestamp>,
}

/// A place in a list of runs: behind the run that was listed at this moment and has this id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunPlace {
    pub listed: Timestamp,
    pub id: RunId,
}

pub(crate) struct Listing<'a> {
    pub(crate) tenant: TenantId,
    pub(crate) filter: &'a RunFilter,
    pub(crate) behind: Option<RunPlace>,
}

/// The filter whose index is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Main {
    Parent,
    /// Runs of a stored session.
    Session,
    /// The run that is a session of its own.
    OwnSession,
    Error,
    Status,
    Mode,
    Tool,
    Principal,
    Source(Source),
}

impl Listing<'_> {
    /// A query for `id` and `listed_us` of the newest `most` runs and perhaps some more, in no order, and its values. The
    /// first value is the tenant.
    pub(crate) fn sql(&self, most: i64) -> (String, Vec<Arg>) {
        let mut conditions = Conditions::default();
        let mut parts = Vec::new();
        for main in self.mains() {
            self.add(main, &mut conditions);
            let found = format!("SELECT r.id, r.listed_us FROM runs r{}", conditions.next_part());
            parts.push(match main {
                // One at the most, and there is no order of one.
                Main::OwnSession => found,
                _ => format!(
                    "SELECT * FROM ({found} ORDER BY r.listed_us DESC, r.id DESC LIMIT {most}) AS part"
                ),
            });
        }
        (parts.join(" UNION ALL "), conditions.args())
    }

    /// Without a filter that has an index, a list is put together from those of all sources.
    fn mains(&self) -> Vec<Main> {
        let filter = self.filter;
        let not_success = filter.status.is_some_and(|status| status != RunStatus::Success);
        let found = [
            (filter.parent.is_some(), Main::Parent),
            (filter.error_code.is_some(), Main::Error),
            (not_success, Main::Status),
            (filter.mode.is_some_and(|mode| mode != Mode::Production), Main::Mode),
            (filter.tool.is_some(), Main::Tool),
            (filter.principal.is_some(), Main::Principal),
        ];
        if filter.session.is_some() {
            return vec![Main::Session, Main::OwnSession];
        }
        match (found.into_iter().find(|(is_set, _)| *is_set), filter.source) {
            (Some((_, main)), _) => vec![main],
            (None, Some(source)) => vec![Main::Source(source)],
            (None, None) => Source::ALL.into_iter().map(Main::Source).collect(),
        }
    }

    fn add(&self, main: Main, to: &mut Conditions) {
        let filter = self.filter;
        to.and("r.tenant_id =", Arg::Id(self.tenant.uuid()));
        if let Some(parent) = filter.parent {
            let is_main = main == Main::Parent;
            to.and(
                plain(is_main, "r.parent_run_id =", "coalesce(r.parent_run_id, r.id) ="),
                Arg::Id(parent.uuid()),
            );
        }
        if let Some(session) = filter.session {
            to.and("r.session_id =", Arg::Id(session.uuid()));
            match main {
                Main::OwnSession => to.and("r.id =", Arg::Id(session.uuid())),
                _ => to.and_always("r.session_id <> r.id"),
            }
        }
        if let Some(code) = &filter.error_code {
            let is_main = main == Main::Error;
            to.and(plain(is_main, "r.error_code =", "coalesce(r.error_code, '') ="), Arg::Text(code.clone()));
        }
        self.add_words(main, to);
        if let Some(since) = filter.since {
            to.and("r.listed_us >=", Arg::Int(since.micros()));
        }
        // One upper end: a database that is given two may read from the later one.
        match (filter.until, self.behind) {
            (Some(until), Some(behind)) if until <= behind.listed => before(until, to),
            (_, Some(RunPlace { listed, id })) => {
                to.and("r.listed_us <=", Arg::Int(listed.micros()));
                to.and("NOT (r.listed_us =", Arg::Int(listed.micros()));
                to.and("r.id >=", Arg::Id(id.uuid()));
                to.close();
            }
            (Some(until), None) => before(until, to),
            (None, None) => {}
        }
    }

    fn add_words(&self, main: Main, to: &mut Conditions) {
        let filter = self.filter;
        if let Some(status) = filter.status {
            let is_main = main == Main::Status;
            let status_is = plain(is_main, "r.status =", "coalesce(r.status, '') =");
            to.and(status_is, Arg::Text(status.as_str().to_owned()));
            if is_main {
                to.and_always("r.status <> 'success'");
            }
        }
        if let Some(mode) = filter.mode {
            let is_main = main == Main::Mode;
            to.and(plain(is_main, "r.mode =", "coalesce(r.mode, '') ="), Arg::Text(mode.as_str().to_owned()));
            if is_main {
                to.and_always("r.mode <> 'production'");
            }
        }
        if let Some(tool) = &filter.tool {
            to.and(plain(main == Main::Tool, "r.tool =", "coalesce(r.tool, '') ="), Arg::Text(tool.clone()));
        }
        if let Some(principal) = &filter.principal {
            let is_main = main == Main::Principal;
            to.and(
                plain(is_main, "r.principal =", "coalesce(r.principal, '') ="),
                Arg::Text(principal.clone()),
            );
        }
        match (main, filter.source) {
            (Main::Source(source), _) => to.and("r.source =", Arg::Text(source.as_str().to_owned())),
            (_, Some(source)) => to.and("coalesce(r.source, '') =", Arg::Text(source.as_str().to_owned())),
            (_, None) => {}
        }
    }
}

fn before(until: Timestamp, to: &mut Conditions) {
    to.and("r.listed_us <", Arg::Int(until.micros()));
}

fn plain(is_main: bool, plain: &'static str, hidden: &'static str) -> &'static str {
    if is_main { plain } else { hidden }
}
