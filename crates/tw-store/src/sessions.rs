//! Sessions and their events, for reading. Events are only ever written by the log.

use serde_json::value::RawValue;
use tw_model::{EventId, EventKind, RunId, SessionId, Timestamp};
use uuid::Uuid;

use crate::{
    bytes::{PAGE_BYTES_MAX, until_full},
    db::{on, within},
    error::{Error, Result},
    row::row,
    scope::{TenantScope, now_us},
};

/// What a reader of a stream is given at a time. Less than a page: it is held in memory for as long as the reader takes,
/// and there can be many of them.
const STREAM_BYTES_MAX: usize = 1 << 20;

/// A session: an ordered log of events.
#[derive(Clone, Debug)]
pub struct Session {
    pub id: SessionId,
    pub kind: String,
    pub title: Option<String>,
    pub status: String,
    /// Whose session it is.
    pub principal: String,
    pub last_seq: i64,
    pub created: Timestamp,
    pub updated: Timestamp,
}

/// An event as stored.
#[derive(Clone, Debug)]
pub struct Event {
    pub id: EventId,
    pub seq: i64,
    pub kind: EventKind,
    /// What it is about, where that is a run of a tool.
    pub run: Option<RunId>,
    pub session: SessionId,
    pub tool: Option<String>,
    /// JSON.
    pub actor: Box<RawValue>,
    pub payload: Box<RawValue>,
    pub at: Timestamp,
}

row! {
    #[derive(Debug)]
    struct SessionRow {
        id: Uuid,
        kind: String,
        title: Option<String>,
        status: String,
        principal: String,
        last_seq: i64,
        created_us: i64,
        updated_us: i64,
    }
}

row! {
    #[derive(Debug)]
    struct EventRow {
        id: Uuid,
        seq: i64,
        type_: String,
        run_id: Option<Uuid>,
        session_id: Uuid,
        tool: Option<String>,
        actor: String,
        payload: String,
        at_us: i64,
    }
}

impl TenantScope {
    pub async fn create_session(&self, kind: &str, title: Option<&str>, principal: &str) -> Result<Session> {
        const Q: &str = "INSERT INTO sessions (id, tenant_id, kind, title, principal, created_us, updated_us)
            VALUES ($1, $2, $3, $4, $5, $6, $6)
            RETURNING id, kind, title, status, principal, last_seq, created_us, updated_us";
        let mut tx = self.begin().await?;
        let row: SessionRow = within!(&mut tx, c => sqlx::query_as(Q)
            .bind(SessionId::new().uuid()).bind(self.tenant.uuid()).bind(kind).bind(title).bind(principal)
            .bind(now_us()).fetch_one(c).await)
        .map_err(Error::doing("creating a session"))?;
        tx.commit().await?;
        Ok(row.session())
    }

    /// A stored session, or the one that a run outside any session is.
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>> {
        // Events do not touch the row more than they have to; the newest of them says when it last changed.
        const STORED: &str = "SELECT id, kind, title, status, principal, last_seq, created_us,
            coalesce((SELECT at_us FROM session_events WHERE session_id = $2 AND tenant_id = $1
                ORDER BY seq DESC LIMIT 1), updated_us) AS updated_us
            FROM sessions WHERE tenant_id = $1 AND id = $2";
        const OWN: &str =
            "SELECT id, 'api' AS kind, tool AS title, CASE WHEN finished_us IS NULL THEN 'active'
            ELSE 'completed' END AS status, principal, last_seq, requested_us AS created_us,
            coalesce(finished_us, listed_us) AS updated_us
            FROM runs WHERE tenant_id = $1 AND id = $2 AND session_id = $2";
        let mut conn = self.read().await?;
        for sql in [STORED, OWN] {
            let row: Option<SessionRow> = on!(conn, c => sqlx::query_as(sql)
                .bind(self.tenant.uuid()).bind(id.uuid()).fetch_optional(c).await)
            .map_err(Error::doing("reading a session"))?;
            if let Some(row) = row {
                return Ok(Some(row.session()));
            }
        }
        Ok(None)
    }

    /// Events of a session after a sequence number, in order: at most so many, and of large ones fewer.
    pub async fn events(&self, session: SessionId, after: i64, limit: i64) -> Result<Vec<Event>> {
        self.select_events(session, after, limit, STREAM_BYTES_MAX).await.map(|(events, _)| events)
    }

    /// As [`Self::events`], for a page: of large events at least two, and then it says that it left some out.
    pub async fn event_page(&self, session: SessionId, after: i64, limit: i64) -> Result<(Vec<Event>, bool)> {
        self.select_events(session, after, limit, PAGE_BYTES_MAX).await
    }

    async fn select_events(
        &self,
        session: SessionId,
        after: i64,
        limit: i64,
        bytes_max: usize,
    ) -> Result<(Vec<Event>, bool)> {
        const Q: &str = "SELECT id, seq, type AS type_, run_id, session_id, tool, actor, payload, at_us FROM session_events
            WHERE session_id = $2 AND seq > $3 AND tenant_id = $1 ORDER BY seq LIMIT $4";
        let mut conn = self.read().await?;
        let (rows, is_cut): (Vec<EventRow>, bool) = on!(conn, c => {
            let found = sqlx::query_as(Q)
                .bind(self.tenant.uuid()).bind(session.uuid()).bind(after).bind(limit).fetch(c);
            until_full(found, bytes_max, EventRow::bytes).await
        })
        .map_err(Error::doing("reading events"))?;
        Ok((rows.into_iter().map(EventRow::event).collect::<Result<_>>()?, is_cut))
    }

    /// The number of the newest event; 0 before the first.
    pub async fn last_seq(&self, session: SessionId) -> Result<i64> {
        const Q: &str = "SELECT seq FROM session_events WHERE session_id = $2 AND tenant_id = $1
            ORDER BY seq DESC LIMIT 1";
        let mut conn = self.read().await?;
        let seq: Option<i64> = on!(conn, c => sqlx::query_scalar(Q)
            .bind(self.tenant.uuid()).bind(session.uuid()).fetch_optional(c).await)
        .map_err(Error::doing("reading events"))?;
        Ok(seq.unwrap_or(0))
    }
}

impl SessionRow {
    fn session(self) -> Session {
        Session {
            id: SessionId::from_uuid(self.id),
            kind: self.kind,
            title: self.title,
            status: self.status,
            principal: self.principal,
            last_seq: self.last_seq,
            created: Timestamp::from_micros(self.created_us),
            updated: Timestamp::from_micros(self.updated_us),
        }
    }
}

impl EventRow {
    /// What varies, as far as it can be large.
    fn bytes(&self) -> usize {
        self.payload.len() + self.actor.len()
    }

    fn event(self) -> Result<Event> {
        let corrupt = |what: &str| Error::Corrupt { what: format!("{what} of event {}", self.id) };
        Ok(Event {
            id: EventId::from_uuid(self.id),
            seq: self.seq,
            kind: EventKind::parse(&self.type_).ok_or_else(|| corrupt("the type"))?,
            run: self.run_id.map(RunId::from_uuid),
            session: SessionId::from_uuid(self.session_id),
            actor: RawValue::from_string(self.actor.clone()).map_err(|_| corrupt("the actor"))?,
            payload: RawValue::from_string(self.payload.clone()).map_err(|_| corrupt("the payload"))?,
            tool: self.tool,
            at: Timestamp::from_micros(self.at_us),
        })
    }
}
