//! Reading runs: the history and one run.

use serde::Deserialize;
use serde_json::value::RawValue;
use sqlx::AssertSqlSafe;
use tw_model::{
    Channel, Code, Effect, Mode, ReplicaId, RunId, RunStatus, SessionId, Source, TenantId, Timestamp, ToolId,
    Usage,
};
use uuid::Uuid;

use crate::{
    bytes::{PAGE_BYTES_MAX, until_full},
    db::on,
    error::{Error, Result},
    filter::{Arg, Conditions, bind_args},
    listing::{Listing, RunFilter, RunPlace},
    row::row,
    scope::{Store, TenantScope},
};

/// A run as stored: its row, and what the events it points at hold.
#[derive(Clone, Debug)]
pub struct Run {
    pub id: RunId,
    pub tenant: TenantId,
    pub session: SessionId,
    pub parent: Option<RunId>,
    pub root: RunId,
    pub tool_id: ToolId,
    pub tool: String,
    pub version: String,
    pub status: RunStatus,
    pub source: Source,
    pub channel: Channel,
    pub mode: Mode,
    pub principal: String,
    /// JSON of who made the call.
    pub actor: String,
    pub effectful: bool,
    pub repeatable: bool,
    pub replica: Option<ReplicaId>,
    pub lease_epoch: i64,
    pub input: Option<Box<RawValue>>,
    pub output: Option<Box<RawValue>>,
    pub summary: Option<String>,
    pub markdown: Option<String>,
    /// What the tool wrote to its log.
    pub logs: Vec<String>,
    pub error: Option<String>,
    pub error_code: Option<Code>,
    pub effect: Option<Effect>,
    pub requested: Timestamp,
    /// When it began; `None` as long as it waits for an approval, or if it never got one.
    pub started: Option<Timestamp>,
    pub finished: Option<Timestamp>,
    pub duration_us: Option<i64>,
    /// What it asked of language models.
    pub usage: Option<Usage>,
}

impl Run {
    /// By which moment lists are in order: when it began, or else when it was asked for.
    #[must_use]
    pub fn listed(&self) -> Timestamp {
        self.started.unwrap_or(self.requested)
    }
}

row! {
    #[derive(Debug)]
    struct RunRow {
        id: Uuid,
        tenant_id: Uuid,
        session_id: Uuid,
        parent_run_id: Option<Uuid>,
        root_run_id: Uuid,
        tool_id: Uuid,
        tool: String,
        version: String,
        status: String,
        source: String,
        channel: String,
        mode: String,
        principal: String,
        actor: String,
        effectful: bool,
        repeatable: bool,
        replica_id: Option<Uuid>,
        lease_epoch: i64,
        summary: Option<String>,
        error: Option<String>,
        error_code: Option<String>,
        effect: Option<String>,
        requested_us: i64,
        started_us: Option<i64>,
        finished_us: Option<i64>,
        duration_us: Option<i64>,
        first: Option<String>,
        last: Option<String>,
    }
}

/// What of an event's payload a run shows.
#[derive(Deserialize, Default)]
struct Payload {
    #[serde(default)]
    input: Option<Box<RawValue>>,
    #[serde(default)]
    output: Option<Box<RawValue>>,
    #[serde(default)]
    markdown: Option<String>,
    #[serde(default)]
    logs: Vec<String>,
    usage: Option<Usage>,
}

const SELECT: &str =
    "SELECT r.id, r.tenant_id, r.session_id, r.parent_run_id, r.root_run_id, r.tool_id, r.tool, r.version,
    r.status, r.source, r.channel, r.mode, r.principal, r.actor, r.effectful, r.repeatable, r.replica_id,
    r.lease_epoch, r.summary, r.error, r.error_code, r.effect, r.requested_us, r.started_us, r.finished_us,
    r.duration_us, i.payload AS first, o.payload AS last
    FROM runs r";
const EVENTS: &str = "
    LEFT JOIN session_events i ON i.session_id = r.session_id AND i.seq = r.input_seq
    LEFT JOIN session_events o ON o.session_id = r.session_id AND o.seq = r.output_seq";

/// How many runs a list counts before it says "many".
pub const COUNT_MAX: i64 = 10_000;

impl TenantScope {
    pub async fn run(&self, id: RunId) -> Result<Option<Run>> {
        let mut conditions = Conditions::default();
        conditions.and("r.tenant_id =", Arg::Id(self.tenant.uuid()));
        conditions.and("r.id =", Arg::Id(id.uuid()));
        let sql = format!("{SELECT}{EVENTS}{}", conditions.sql());
        let mut conn = self.read().await?;
        let row: Option<RunRow> =
            on!(conn, c => bind_args!(sqlx::query_as(AssertSqlSafe(sql)), conditions.args())
            .fetch_optional(c).await)
            .map_err(Error::doing("reading runs"))?;
        row.map(RunRow::run).transpose()
    }

    /// Runs, newest first, from the one behind `behind`.
    pub async fn runs(
        &self,
        filter: &RunFilter,
        behind: Option<RunPlace>,
        offset: i64,
        limit: i64,
    ) -> Result<Vec<Run>> {
        self.select_runs(filter, behind, offset, limit, usize::MAX).await.map(|(runs, _)| runs)
    }

    /// As [`Self::runs`], for a page: of large runs fewer, at least two, and then it says that it left some out.
    pub async fn run_page(
        &self,
        filter: &RunFilter,
        behind: Option<RunPlace>,
        offset: i64,
        limit: i64,
    ) -> Result<(Vec<Run>, bool)> {
        self.select_runs(filter, behind, offset, limit, PAGE_BYTES_MAX).await
    }

    /// How many runs there are, up to [`COUNT_MAX`]; `None` beyond.
    pub async fn count_runs(&self, filter: &RunFilter) -> Result<Option<i64>> {
        let (found, args) = Listing { tenant: self.tenant, filter, behind: None }.sql(COUNT_MAX + 1);
        let sql = format!(
            "SELECT count(*) FROM (SELECT 1 AS one FROM ({found}) AS l LIMIT {}) AS counted",
            COUNT_MAX + 1
        );
        let mut conn = self.read_in_order().await?;
        let count: i64 = on!(conn, c => bind_args!(sqlx::query_scalar(AssertSqlSafe(sql)), args)
            .persistent(false).fetch_one(c).await)
        .map_err(Error::doing("counting runs"))?;
        Ok((count <= COUNT_MAX).then_some(count))
    }

    /// Of these runs, those that have ended: asked by the replica that runs them.
    pub async fn ended_of(&self, runs: &[RunId]) -> Result<Vec<RunId>> {
        let mut ended = Vec::new();
        let mut conn = self.read().await?;
        for run in runs {
            let status: Option<String> = on!(conn, c => sqlx::query_scalar(
                "SELECT status FROM runs WHERE tenant_id = $1 AND id = $2")
                .bind(self.tenant.uuid()).bind(run.uuid()).fetch_optional(c).await)
            .map_err(Error::doing("asking whether a run has ended"))?;
            // One that still waits is about to be taken up by whoever asks.
            let status = status.as_deref().and_then(RunStatus::parse);
            if status.is_some_and(|status| !status.is_open()) {
                ended.push(*run);
            }
        }
        Ok(ended)
    }

    /// How many runs a run has led to.
    pub async fn count_below(&self, run: RunId) -> Result<usize> {
        // CROSS JOIN tells SQLite to begin with what was found last. Else it would walk all runs of the tenant.
        const Q: &str = "WITH RECURSIVE below (id) AS (
                SELECT id FROM runs WHERE tenant_id = $1 AND parent_run_id = $2
                UNION ALL
                SELECT r.id FROM below CROSS JOIN runs r WHERE r.tenant_id = $1 AND r.parent_run_id = below.id)
            SELECT count(*) FROM below";
        let mut conn = self.read().await?;
        let count: i64 = on!(conn, c => sqlx::query_scalar(Q).bind(self.tenant.uuid()).bind(run.uuid())
            .fetch_one(c).await)
        .map_err(Error::doing("counting runs"))?;
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// Reads until there are too many bytes, and says whether it stopped for that.
    async fn select_runs(
        &self,
        filter: &RunFilter,
        behind: Option<RunPlace>,
        offset: i64,
        limit: i64,
        bytes_max: usize,
    ) -> Result<(Vec<Run>, bool)> {
        let (found, args) = Listing { tenant: self.tenant, filter, behind }.sql(offset + limit);
        // All numbers are our own; nothing from outside is spelled out here.
        let sql = format!(
            "{SELECT} JOIN (SELECT id, listed_us FROM ({found}) AS f ORDER BY listed_us DESC, id DESC
             LIMIT {limit} OFFSET {offset}) AS l ON r.tenant_id = $1 AND r.id = l.id{EVENTS}
             ORDER BY l.listed_us DESC, l.id DESC"
        );
        let mut conn = self.read_in_order().await?;
        let (rows, is_cut): (Vec<RunRow>, bool) = on!(conn, c => async {
            let found = bind_args!(sqlx::query_as::<_, RunRow>(AssertSqlSafe(sql)), args)
                .persistent(false).fetch(c);
            until_full(found, bytes_max, RunRow::bytes).await
        }.await)
        .map_err(Error::doing("reading runs"))?;
        Ok((rows.into_iter().map(RunRow::run).collect::<Result<_>>()?, is_cut))
    }
}

impl Store {
    /// Runs that say they run on a replica that has not been heard of since `dead_before`.
    pub async fn orphaned_runs(&self, dead_before: Timestamp, most: i64) -> Result<Vec<(TenantId, RunId)>> {
        const SQLITE: &str = "SELECT r.tenant_id, r.id FROM runs r WHERE r.status = 'running' AND NOT EXISTS
            (SELECT 1 FROM replicas p WHERE p.id = r.replica_id AND p.heartbeat_us > $1) LIMIT $2";
        const PG: &str = "SELECT tenant_id, id FROM tw_orphaned_runs($1, $2)";
        let rows = self.ids(SQLITE, PG, dead_before.micros(), most).await?;
        Ok(rows
            .into_iter()
            .map(|(tenant, run)| (TenantId::from_uuid(tenant), RunId::from_uuid(run)))
            .collect())
    }

    /// Asks for pairs of ids across tenants: one SQL text for each database, two numbers.
    pub(crate) async fn ids(
        &self,
        sqlite: &'static str,
        postgres: &'static str,
        first: i64,
        second: i64,
    ) -> Result<Vec<(Uuid, Uuid)>> {
        let sql = match &self.db {
            crate::db::Db::Sqlite { .. } => sqlite,
            crate::db::Db::Pg(_) => postgres,
        };
        let mut conn = self.db.read("{}").await?;
        on!(conn, c => sqlx::query_as(sql).bind(first).bind(second).fetch_all(c).await)
            .map_err(Error::doing("looking across tenants"))
    }
}

impl RunRow {
    /// What varies, as far as it can be large.
    fn bytes(&self) -> usize {
        let texts = [&self.first, &self.last, &self.error, &self.summary];
        texts.into_iter().flatten().map(String::len).sum()
    }

    fn run(self) -> Result<Run> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("{what} of run {}", self.id) };
        let first = payload(self.first.as_deref()).map_err(|_| corrupt("the first event"))?;
        let last = payload(self.last.as_deref()).map_err(|_| corrupt("the last event"))?;
        let error_code = self.error_code.as_deref().map(str::parse).transpose();
        let error_code = error_code.map_err(|_| corrupt("the error code"))?;
        let effect =
            self.effect.as_deref().map(|effect| Effect::parse(effect).ok_or_else(|| corrupt("the effect")));
        let effect = effect.transpose()?;
        Ok(Run {
            id: RunId::from_uuid(self.id),
            tenant: TenantId::from_uuid(self.tenant_id),
            session: SessionId::from_uuid(self.session_id),
            parent: self.parent_run_id.map(RunId::from_uuid),
            root: RunId::from_uuid(self.root_run_id),
            tool_id: ToolId::from_uuid(self.tool_id),
            status: RunStatus::parse(&self.status).ok_or_else(|| corrupt("the status"))?,
            source: Source::parse(&self.source).ok_or_else(|| corrupt("the source"))?,
            mode: Mode::parse(&self.mode).ok_or_else(|| corrupt("the mode"))?,
            tool: self.tool,
            version: self.version,
            channel: Channel::parse(&self.channel).ok_or_else(|| corrupt("the channel"))?,
            principal: self.principal,
            actor: self.actor,
            effectful: self.effectful,
            repeatable: self.repeatable,
            replica: self.replica_id.map(ReplicaId::from_uuid),
            lease_epoch: self.lease_epoch,
            input: first.input,
            output: last.output,
            summary: self.summary,
            markdown: last.markdown,
            logs: last.logs,
            error: self.error,
            error_code,
            effect,
            requested: Timestamp::from_micros(self.requested_us),
            started: self.started_us.map(Timestamp::from_micros),
            finished: self.finished_us.map(Timestamp::from_micros),
            duration_us: self.duration_us,
            usage: last.usage,
        })
    }
}

fn payload(text: Option<&str>) -> serde_json::Result<Payload> {
    text.map_or_else(|| Ok(Payload::default()), serde_json::from_str)
}
