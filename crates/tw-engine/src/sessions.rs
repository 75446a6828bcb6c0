//! Sessions and their events.

use std::time::Duration;

use tw_base::{Error, Result};
use tw_identity::rights::{Permit, ReadRuns, RunTools};
use tw_model::{Caller, SessionId};
use tw_store::{Event, Session, SessionWatch};

use crate::{Engine, run_log::look_again};

/// Where a reader of events starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamStart {
    /// After this number; 0 for the beginning.
    After(i64),
    /// What comes from now on.
    Latest,
}

/// A reader of one session's events, in order and without a gap.
#[derive(Debug)]
pub struct EventReader {
    scope: tw_store::TenantScope,
    session: SessionId,
    watch: SessionWatch,
    after: i64,
}

/// How often a reader looks by itself, behind the hints.
const LOOK_EVERY: Duration = Duration::from_secs(1);

impl Engine {
    pub async fn create_session(&self, permit: &Permit<RunTools>, title: Option<&str>) -> Result<Session> {
        let caller = permit.caller();
        let scope = self.inner.store.tenant(caller.tenant);
        scope
            .create_session("api", title, &caller.principal.label())
            .await
            .map_err(Error::store("creating a session"))
    }

    pub async fn session(&self, permit: &Permit<ReadRuns>, id: SessionId) -> Result<Session> {
        self.visible_session(permit.caller(), id).await
    }

    async fn visible_session(&self, caller: &Caller, id: SessionId) -> Result<Session> {
        let session = self.inner.store.tenant(caller.tenant).session(id).await;
        let session = session.map_err(Error::store("reading a session"))?;
        let mine = |session: &Session| session.principal == caller.principal.label();
        session
            .filter(|session| caller.permissions.has("runs.tenant.read") || mine(session))
            .ok_or(Error::SessionNotFound)
    }

    /// A page of a session's events after a sequence number, and whether there are more.
    pub async fn events(
        &self,
        permit: &Permit<ReadRuns>,
        id: SessionId,
        after: i64,
        limit: i64,
    ) -> Result<(Vec<Event>, bool)> {
        self.visible_session(permit.caller(), id).await?;
        let scope = self.inner.store.tenant(permit.caller().tenant);
        let read = scope.event_page(id, after, limit + 1).await;
        let (mut events, is_cut) = read.map_err(Error::store("reading events"))?;
        let has_more = is_cut || usize::try_from(limit).is_ok_and(|limit| limit < events.len());
        if has_more {
            events.pop();
        }
        Ok((events, has_more))
    }

    /// Follows a session as it grows.
    pub async fn follow(
        &self,
        permit: &Permit<ReadRuns>,
        id: SessionId,
        from: StreamStart,
    ) -> Result<EventReader> {
        let session = self.visible_session(permit.caller(), id).await?;
        let scope = self.inner.store.tenant(permit.caller().tenant);
        let watch = self.inner.store.wake().watch(id);
        let last = scope.last_seq(id).await.map_err(Error::store("reading events"))?;
        let after = match from {
            StreamStart::Latest => last,
            StreamStart::After(seq) if last < seq => {
                return Err(Error::invalid("/after", tw_schema::Violation::beyond_last(last)));
            }
            StreamStart::After(seq) => seq,
        };
        Ok(EventReader { scope, session: session.id, watch, after })
    }
}

/// Whether a caller's runs may go into a session: their own, or anybody's for those who may end anybody's
/// runs. To read everybody's runs is not enough, since what is written in a session looks like part of its
/// owner's work.
///
/// Who owns an agent's key has no way into the agent's sessions by that alone: an agent is its slug, several
/// people may have keys for it, and a session does not say by whose key it was opened.
pub(crate) fn may_write(owner: &str, caller: &Caller) -> bool {
    *owner == *caller.principal.label() || caller.permissions.has("runs.tenant.cancel")
}

impl EventReader {
    /// The next events; waits until there are some.
    pub async fn next(&mut self) -> Result<Vec<Event>> {
        loop {
            let changed = self.watch.changed();
            let events = self.scope.events(self.session, self.after, 100).await;
            let events = events.map_err(Error::store("reading events"))?;
            if let Some(last) = events.last() {
                self.after = last.seq;
                return Ok(events);
            }
            look_again(changed, LOOK_EVERY, None).await;
        }
    }
}
