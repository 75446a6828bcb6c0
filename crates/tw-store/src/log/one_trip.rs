//! A group in one trip to PostgreSQL, where its lane knows what the group meets.
//!
//! A lane writes most of what happens to the runs that it writes about, so it can lay a group out without asking. The
//! database holds what the lane knows against what is there, under the same locks, and writes only if all of it is
//! right; otherwise the group goes step by step. So what is known here may be old, but never does harm.

use std::{collections::HashMap, hash::Hash};

use sqlx::Row as _;
use tw_model::{ReplicaId, RunId, RunStatus, SessionId, TenantId, Timestamp};
use uuid::Uuid;

use super::{
    entry::Item,
    lane::Written,
    plan::{Found, Plan, RunState, existing_runs, plan, stored_sessions},
    postgres::{Bound, bind_rows, column},
    rows,
};
use crate::{
    db::{Pg, tenants_setting},
    error::{Cause, Error, Result},
};

/// How many of a kind a lane remembers. Past it, it begins anew.
const KNOWN_MAX: usize = 8192;
/// For how long a fence counts at the most: what servers leave behind that ended at once is removed by others.
const FENCE_KEPT_US: i64 = 24 * 60 * 60 * 1_000_000;
/// How often, and how far apart, a lane looks whether a group was written whose connection broke.
const LOOKS: u32 = 20;
const BETWEEN_LOOKS: std::time::Duration = std::time::Duration::from_millis(250);

/// What a lane knows of the database.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Without it nothing is written in one trip.
    fence: Option<Uuid>,
    /// The epoch of each tenant, and what its webhooks are told of.
    tenants: HashMap<TenantId, (i64, i64)>,
    /// Runs at work.
    runs: HashMap<(TenantId, RunId), RunState>,
    sessions: HashMap<(TenantId, SessionId), i64>,
}

impl Known {
    /// What the items meet, if all of it is known.
    fn found(&self, items: &[&Item]) -> Option<Found> {
        let mut found = Found::default();
        for tenant in items.iter().map(|item| item.tenant()) {
            let (epoch, told) = *self.tenants.get(&tenant)?;
            found.epochs.insert(tenant, epoch);
            found.told.insert(tenant, told);
        }
        for key in existing_runs(items) {
            found.runs.insert(key, self.runs.get(&key)?.clone());
        }
        for key in stored_sessions(items) {
            found.sessions.insert(key, *self.sessions.get(&key)?);
        }
        Some(found)
    }

    /// Remembers the tenants that a group met.
    pub(super) fn met(&mut self, tenants: impl Iterator<Item = (TenantId, (i64, i64))>) {
        for (tenant, state) in tenants {
            remember(&mut self.tenants, tenant, state);
        }
    }

    /// Remembers what a group has left.
    pub(super) fn left(&mut self, plan: &Plan<'_>) {
        let opened = plan.new_runs.iter().map(|(entry, _, state)| ((entry.tenant, entry.run), state));
        let changed = plan.changed_runs.iter().map(|changed| ((changed.tenant, changed.run), &changed.state));
        for (key, state) in opened.chain(changed) {
            if state.status == RunStatus::Running {
                remember(&mut self.runs, key, state.clone());
            } else {
                self.runs.remove(&key);
            }
        }
        for (tenant, session, seq) in &plan.sessions {
            remember(&mut self.sessions, (*tenant, *session), *seq);
        }
    }

    /// Sees to it that there is a fence.
    pub(super) async fn have_fence(&mut self, pg: &Pg) -> Result<()> {
        const Q: &str = "WITH old AS (DELETE FROM log_fences WHERE created_us < $2::bigint - $3::bigint)
            INSERT INTO log_fences (id, created_us) VALUES ($1, $2)";
        if self.fence.is_some() {
            return Ok(());
        }
        let fence = Uuid::now_v7();
        let mut connection = pg.acquire().await.map_err(Error::doing("connecting"))?;
        let (c, presence) = connection.parts();
        let now = Timestamp::now().micros();
        let made = sqlx::query(Q).bind(fence).bind(now).bind(FENCE_KEPT_US).execute(c);
        presence.in_time(made).await.map_err(Error::doing("making a fence"))?;
        self.fence = Some(fence);
        Ok(())
    }

    /// Writes the items in one trip. None where they have to be written step by step; nothing is written then.
    pub(super) async fn write(&mut self, pg: &Pg, items: &[&Item]) -> Result<Option<Written>> {
        let (Some(fence), Some(found)) = (self.fence, self.found(items)) else { return Ok(None) };
        let (needed, refused) = rows::first(items, &found);
        if !needed.is_empty() || !refused.is_empty() {
            return Ok(None);
        }
        let held = Held::of(fence, &found);
        let plan = plan(items, found, &HashMap::new());
        if !is_plain(&plan) {
            return Ok(None);
        }
        match self.send(pg, held, &plan).await? {
            Came::Written => {
                self.left(&plan);
                Ok(Some(Written { answers: plan.answers, is_told: false }))
            }
            Came::Changed => Ok(None),
            Came::NoFence => {
                self.fence = None;
                Ok(None)
            }
        }
    }

    async fn send(&mut self, pg: &Pg, held: Held, plan: &Plan<'_>) -> Result<Came> {
        const DOING: &str = "writing a group";
        let (fence, setting) = (held.fence, held.setting.clone());
        let mut connection = pg.acquire().await.map_err(Error::doing("connecting"))?;
        let (c, presence) = connection.parts();
        let query = held.bind(bind_rows(sqlx::query(WRITE), plan));
        match presence.in_time(query.fetch_one(c)).await {
            Ok(row) => Ok(Came::parse(&row.try_get::<String, _>(0).map_err(Error::doing(DOING))?)),
            // The database has said that nothing came of it.
            Err(error @ sqlx::Error::Database(_)) => Err(Error::sorted(DOING, Cause::from(error))),
            // The connection broke, so nobody knows. The database does.
            Err(error) => {
                *self = Self::default();
                drop(connection);
                if is_written(pg, fence, &setting, plan).await? {
                    Ok(Came::Written)
                } else {
                    Err(Error::sorted(DOING, Cause::from(error)))
                }
            }
        }
    }
}

fn remember<K: Eq + Hash, V>(known: &mut HashMap<K, V>, key: K, value: V) {
    if KNOWN_MAX <= known.len() {
        known.clear();
    }
    known.insert(key, value);
}

/// Whether nothing but rows of runs and events is to be written, and nobody is turned down: what is known may be old.
fn is_plain(plan: &Plan<'_>) -> bool {
    !plan.events.is_empty()
        && plan.answers.iter().all(Result::is_ok)
        && plan.audits.is_empty()
        && plan.tellings.is_empty()
        && rows::waits(plan).is_empty()
}

/// What came of a group that was sent in one trip.
enum Came {
    Written,
    /// Something is other than the lane knew.
    Changed,
    NoFence,
}

impl Came {
    fn parse(word: &str) -> Self {
        match word {
            "held" => Self::Written,
            "fence" => Self::NoFence,
            _ => Self::Changed,
        }
    }
}

/// What is held follows the rows, which are written only where all of it is as known.
const WRITE: &str = "SELECT hold.word, CASE WHEN hold.word = 'held' THEN tw_write_group(
    $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
        $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41,
        $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60) END
    FROM (SELECT tw_hold_group(
    $61, $62, $63, $64, $65, $66, $67, $68, $69, $70, $71, $72, $73, $74) AS word OFFSET 0) AS hold";

/// What has to be as it is known, each column in the order in which everybody locks.
struct Held {
    fence: Uuid,
    setting: String,
    tenants: Vec<(Uuid, i64, i64)>,
    runs: Vec<((TenantId, RunId), RunState)>,
    sessions: Vec<((TenantId, SessionId), i64)>,
}

impl Held {
    fn of(fence: Uuid, found: &Found) -> Self {
        let mut tenants: Vec<_> = found.epochs.iter().map(|(tenant, epoch)| (*tenant, *epoch)).collect();
        tenants.sort_unstable();
        let setting = tenants_setting(tenants.iter().map(|(tenant, _)| *tenant));
        let told = |tenant| found.told.get(&tenant).copied().unwrap_or(0);
        let tenants =
            tenants.into_iter().map(|(tenant, epoch)| (tenant.uuid(), epoch, told(tenant))).collect();
        let mut runs: Vec<_> = found.runs.iter().map(|(key, state)| (*key, state.clone())).collect();
        runs.sort_unstable_by_key(|(key, _)| *key);
        let mut sessions: Vec<_> = found.sessions.iter().map(|(key, seq)| (*key, *seq)).collect();
        sessions.sort_unstable();
        Self { fence, setting, tenants, runs, sessions }
    }

    fn bind<'q>(self, query: Bound<'q>) -> Bound<'q> {
        let Self { fence, setting, tenants, runs, sessions } = self;
        query
            .bind(fence)
            .bind(setting)
            .bind(column(&tenants, |(tenant, ..)| *tenant))
            .bind(column(&tenants, |(_, epoch, _)| *epoch))
            .bind(column(&tenants, |(.., told)| *told))
            .bind(column(&runs, |((tenant, _), _)| tenant.uuid()))
            .bind(column(&runs, |((_, run), _)| run.uuid()))
            .bind(column(&runs, |(_, state)| state.status.as_str()))
            .bind(column(&runs, |(_, state)| state.replica.map(ReplicaId::uuid)))
            .bind(column(&runs, |(_, state)| state.lease_epoch))
            .bind(column(&runs, |(_, state)| state.last_seq))
            .bind(column(&sessions, |((tenant, _), _)| tenant.uuid()))
            .bind(column(&sessions, |((_, session), _)| session.uuid()))
            .bind(column(&sessions, |(_, seq)| *seq))
    }
}

/// Whether a group was written whose connection broke. Its fence is taken away first, which waits for the group while it is
/// at work, and turns it down if it comes later. One of its events is there, or none.
async fn is_written(pg: &Pg, fence: Uuid, setting: &str, plan: &Plan<'_>) -> Result<bool> {
    let Some(event) = plan.events.first() else { return Ok(false) };
    let mut last = crate::timed_out();
    for _ in 0..LOOKS {
        match look(pg, fence, setting, (event.tenant, event.session, event.seq, event.event.id.uuid())).await
        {
            Ok(is_there) => return Ok(is_there),
            Err(error) => last = error,
        }
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    Err(last)
}

async fn look(
    pg: &Pg,
    fence: Uuid,
    setting: &str,
    (tenant, session, seq, id): (TenantId, SessionId, i64, Uuid),
) -> Result<bool> {
    const DOING: &str = "asking whether a group was written";
    let mut connection = pg.read(setting).await?;
    let (c, presence) = connection.parts();
    let gone = sqlx::query("DELETE FROM log_fences WHERE id = $1").bind(fence).execute(&mut *c);
    presence.in_time(gone).await.map_err(Error::doing(DOING))?;
    let there = sqlx::query_scalar::<_, i64>(
        "SELECT count(*) FROM session_events WHERE tenant_id = $1 AND session_id = $2 AND seq = $3 AND id = $4",
    );
    let there = there.bind(tenant.uuid()).bind(session.uuid()).bind(seq).bind(id).fetch_one(c);
    Ok(presence.in_time(there).await.map_err(Error::doing(DOING))? != 0)
}
