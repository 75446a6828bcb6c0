//! Hints that something changed: to waiters in this process at once, to other replicas by NOTIFY.
//!
//! A hint is never the truth. Whoever is woken reads the database again, and whoever may not miss
//! anything also looks by itself from time to time, because a hint can be lost.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sqlx::postgres::{PgListener, PgPool};
use tokio::sync::{Notify, broadcast, mpsc};
use tw_model::{ReplicaId, RunId, SessionId, TenantId};

use crate::{
    db::{Db, Pg},
    deaths::Deaths,
};

const CHANNEL: &str = "toolwright";
/// How long hints are gathered before one NOTIFY: a commit that notifies takes a lock that all
/// committers share, so there must be few of them however many calls there are.
const GATHER: Duration = Duration::from_millis(20);
/// How long a task that died rests before it is begun again: one that dies at once must not take a core.
const BEGIN_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// PostgreSQL takes payloads below 8,000 bytes.
const PAYLOAD_MAX: usize = 7_900;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hint {
    Session(SessionId),
    Tenant(TenantId),
    Run(RunId),
    /// Somebody of the tenant is waited for.
    Calls(TenantId),
    Pending,
}

/// Who waits for what.
#[derive(Debug)]
pub struct Wake {
    inner: Arc<Channels>,
    remote: Option<mpsc::UnboundedSender<Hint>>,
    tasks: Vec<tokio::task::AbortHandle>,
}

#[derive(Debug)]
struct Channels {
    sessions: Mutex<HashMap<SessionId, (usize, Arc<Notify>)>>,
    tenants: broadcast::Sender<TenantId>,
    runs: broadcast::Sender<RunId>,
    calls: broadcast::Sender<TenantId>,
    pending: Notify,
    deliveries: Notify,
}

/// Somebody who waits for events of one session, until dropped.
#[derive(Debug)]
pub struct SessionWatch {
    inner: Arc<Channels>,
    session: SessionId,
    notify: Arc<Notify>,
}

impl SessionWatch {
    /// Resolves at the next change after this call. Ask before reading the database, await after.
    pub fn changed(&self) -> impl Future<Output = ()> + '_ {
        let mut waiting = Box::pin(self.notify.notified());
        // Registers now rather than at the first poll, so a change in between is not lost.
        waiting.as_mut().enable();
        waiting
    }
}

impl Drop for SessionWatch {
    fn drop(&mut self) {
        let mut sessions = self.inner.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((watchers, _)) = sessions.get_mut(&self.session) {
            *watchers -= 1;
            if *watchers == 0 {
                sessions.remove(&self.session);
            }
        }
    }
}

impl Wake {
    pub(crate) fn start(db: &Db, replica: ReplicaId, deaths: &Deaths) -> Self {
        match db {
            Db::Sqlite { .. } => Self::alone(),
            Db::Pg(pg) => {
                let inner = Self::alone().inner;
                let (remote, hints) = mpsc::unbounded_channel();
                let send = tokio::spawn(keep_sending(deaths.clone(), pg.clone(), replica, hints));
                let receive = keep_receiving(deaths.clone(), pg.pool.clone(), replica, Arc::clone(&inner));
                let receive = tokio::spawn(receive);
                Self { inner, remote: Some(remote), tasks: vec![send.abort_handle(), receive.abort_handle()] }
            }
        }
    }

    /// For a server that has its database for itself.
    pub(crate) fn alone() -> Self {
        let inner = Channels {
            sessions: Mutex::default(),
            tenants: broadcast::channel(1024).0,
            runs: broadcast::channel(1024).0,
            calls: broadcast::channel(1024).0,
            pending: Notify::new(),
            deliveries: Notify::new(),
        };
        Self { inner: Arc::new(inner), remote: None, tasks: Vec::new() }
    }

    /// Watches one session's events.
    #[must_use]
    pub fn watch(&self, session: SessionId) -> SessionWatch {
        let mut sessions = self.inner.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = sessions.entry(session).or_default();
        entry.0 += 1;
        SessionWatch { inner: Arc::clone(&self.inner), session, notify: Arc::clone(&entry.1) }
    }

    /// Tenants whose catalogue, keys, roles or settings changed. After a lag, take all as changed.
    #[must_use]
    pub fn tenants(&self) -> broadcast::Receiver<TenantId> {
        self.inner.tenants.subscribe()
    }

    /// Runs that ended by another hand than their own, for whoever runs them.
    #[must_use]
    pub fn ended_runs(&self) -> broadcast::Receiver<RunId> {
        self.inner.runs.subscribe()
    }

    /// Tenants that have a new call for a worker or a person. After a lag, take all to have one.
    #[must_use]
    pub fn calls(&self) -> broadcast::Receiver<TenantId> {
        self.inner.calls.subscribe()
    }

    /// Resolves when a pending call may have become ready.
    pub async fn pending(&self) {
        self.inner.pending.notified().await;
    }

    /// Resolves when this server has written something that a webhook is told.
    pub async fn deliveries(&self) {
        self.inner.deliveries.notified().await;
    }

    /// Nobody else is told: the server that wrote it sends it, and the others look by themselves.
    pub(crate) fn deliveries_wait(&self) {
        self.inner.deliveries.notify_one();
    }

    pub(crate) fn session_changed(&self, session: SessionId) {
        self.tell(Hint::Session(session));
    }

    pub(crate) fn tenant_changed(&self, tenant: TenantId) {
        self.tell(Hint::Tenant(tenant));
    }

    pub(crate) fn run_ended(&self, run: RunId) {
        self.tell(Hint::Run(run));
    }

    pub(crate) fn call_waits(&self, tenant: TenantId) {
        self.tell(Hint::Calls(tenant));
    }

    pub(crate) fn pending_ready(&self) {
        self.tell(Hint::Pending);
    }

    fn tell(&self, hint: Hint) {
        self.inner.apply(hint);
        if let Some(remote) = &self.remote {
            // The receiver lives as long as this; a send can only fail while closing.
            let _ = remote.send(hint);
        }
    }

    pub(crate) fn close(&self) {
        self.tasks.iter().for_each(tokio::task::AbortHandle::abort);
    }
}

impl Channels {
    fn apply(&self, hint: Hint) {
        match hint {
            Hint::Session(session) => {
                let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some((_, notify)) = sessions.get(&session) {
                    notify.notify_waiters();
                }
            }
            // Nobody listening is fine.
            Hint::Tenant(tenant) => drop(self.tenants.send(tenant)),
            Hint::Run(run) => drop(self.runs.send(run)),
            Hint::Calls(tenant) => drop(self.calls.send(tenant)),
            Hint::Pending => self.pending.notify_one(),
        }
    }
}

async fn keep_sending(deaths: Deaths, pg: Pg, replica: ReplicaId, mut hints: mpsc::UnboundedReceiver<Hint>) {
    while !deaths.are_none("send_hints", send_hints(&pg, replica, &mut hints)).await {
        tokio::time::sleep(BEGIN_AGAIN_AFTER).await;
    }
}

async fn keep_receiving(deaths: Deaths, pool: PgPool, replica: ReplicaId, inner: Arc<Channels>) {
    while !deaths.are_none("receive_hints", receive_hints(&pool, replica, &inner)).await {
        tokio::time::sleep(BEGIN_AGAIN_AFTER).await;
    }
}

async fn send_hints(pg: &Pg, replica: ReplicaId, hints: &mut mpsc::UnboundedReceiver<Hint>) {
    let mut gathered = HashSet::new();
    while let Some(hint) = hints.recv().await {
        gathered.insert(hint);
        tokio::time::sleep(GATHER).await;
        while let Ok(hint) = hints.try_recv() {
            gathered.insert(hint);
        }
        for payload in payloads(replica, gathered.drain()) {
            if let Err(error) = notify(pg, payload).await {
                // Nothing is lost: every reader also looks by itself.
                tracing::debug!(%error, "a hint to other replicas was not sent");
            }
        }
    }
}

async fn notify(pg: &Pg, payload: String) -> sqlx::Result<()> {
    let mut connection = pg.acquire().await?;
    let (c, presence) = connection.parts();
    let sent = sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(payload).execute(c);
    presence.in_time(sent).await.map(drop)
}

async fn receive_hints(pool: &PgPool, replica: ReplicaId, inner: &Channels) {
    loop {
        match listen(pool, replica, inner).await {
            Ok(()) => return,
            Err(error) => {
                tracing::debug!(%error, "lost the channel of hints; listening again");
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
    }
}

async fn listen(pool: &PgPool, replica: ReplicaId, inner: &Channels) -> sqlx::Result<()> {
    let mut listener = PgListener::connect_with(pool).await?;
    listener.listen(CHANNEL).await?;
    loop {
        let notice = listener.recv().await?;
        if let Some((from, hints)) = parse(notice.payload())
            && from != replica
        {
            hints.for_each(|hint| inner.apply(hint));
        }
    }
}

/// `replica hint hint …`, as many to a payload as PostgreSQL takes.
fn payloads(replica: ReplicaId, hints: impl Iterator<Item = Hint>) -> Vec<String> {
    let mut payloads = Vec::new();
    let mut payload = replica.to_string();
    for hint in hints {
        let word = match hint {
            Hint::Session(session) => format!(" s{session}"),
            Hint::Tenant(tenant) => format!(" t{tenant}"),
            Hint::Run(run) => format!(" r{run}"),
            Hint::Calls(tenant) => format!(" c{tenant}"),
            Hint::Pending => " p".to_owned(),
        };
        if PAYLOAD_MAX < payload.len() + word.len() {
            payloads.push(std::mem::replace(&mut payload, replica.to_string()));
        }
        payload.push_str(&word);
    }
    payloads.push(payload);
    payloads
}

fn parse(payload: &str) -> Option<(ReplicaId, impl Iterator<Item = Hint> + '_)> {
    let mut words = payload.split(' ');
    let from = words.next()?.parse().ok()?;
    let hints = words.filter_map(|word| match word.split_at_checked(1)? {
        ("s", id) => id.parse().ok().map(Hint::Session),
        ("t", id) => id.parse().ok().map(Hint::Tenant),
        ("r", id) => id.parse().ok().map(Hint::Run),
        ("c", id) => id.parse().ok().map(Hint::Calls),
        ("p", _) => Some(Hint::Pending),
        _ => None,
    });
    Some((from, hints))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_survive_the_wire_in_payloads_that_postgres_takes() {
        let replica = ReplicaId::new();
        let hints: HashSet<Hint> = (0..1000)
            .map(|_| Hint::Session(SessionId::new()))
            .chain([Hint::Tenant(TenantId::new()), Hint::Run(RunId::new())])
            .chain([Hint::Calls(TenantId::new()), Hint::Pending])
            .collect();

        let payloads = payloads(replica, hints.iter().copied());

        assert!(payloads.iter().all(|payload| payload.len() < 8000));
        let received: HashSet<Hint> = payloads
            .iter()
            .flat_map(|payload| {
                let (from, hints) = parse(payload).unwrap();
                assert_eq!(from, replica);
                hints
            })
            .collect();
        assert_eq!(received, hints);
    }
}
