//! What a tool is told about the call it serves.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use tw_model::{PermissionSet, RunId, SessionId, Source, TenantId, TenantSlug, UserId};

/// What a tool is told about the call it serves, and what it may use while it works.
///
/// Tenant and user stand here and never in an input: who calls was settled by the door's check of
/// credentials. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolContext(pub(crate) Arc<ContextParts>);

/// What a [`ToolContext`] is made of. The engine fills it in for every call.
#[derive(Debug)]
pub struct ContextParts {
    pub tenant: TenantId,
    pub tenant_slug: TenantSlug,
    /// The person behind the call, also when an agent makes it.
    pub user: UserId,
    /// The agent that calls; `None` when a person does.
    pub agent: Option<String>,
    pub session: SessionId,
    pub run: RunId,
    pub source: Source,
    pub permissions: PermissionSet,
    pub deadline: Instant,
    pub cancel: CancellationToken,
    /// Where appended output goes; `None` when nobody shows it.
    pub output: Option<mpsc::Sender<String>>,
    /// How many pieces of blocking work are under way, so that abandoned ones can be reported.
    pub blocking_in_flight: Arc<AtomicUsize>,
}

impl ToolContext {
    #[must_use]
    pub fn new(parts: ContextParts) -> Self {
        Self(Arc::new(parts))
    }

    /// A context for tests of tools: no rights, a deadline in 30 seconds, never cancelled.
    #[must_use]
    pub fn for_test() -> Self {
        let run = RunId::new();
        Self::new(ContextParts {
            tenant: TenantId::new(),
            tenant_slug: "test".parse().expect("the word is a tenant slug"),
            user: UserId::new(),
            agent: None,
            session: run.into(),
            run,
            source: Source::Api,
            permissions: PermissionSet::default(),
            deadline: Instant::now() + Duration::from_secs(30),
            cancel: CancellationToken::new(),
            output: None,
            blocking_in_flight: Arc::default(),
        })
    }

    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.0.tenant
    }

    /// The tenant, under the name that data tools know it by.
    #[must_use]
    pub fn organization_id(&self) -> TenantId {
        self.tenant()
    }

    #[must_use]
    pub fn tenant_slug(&self) -> &str {
        self.0.tenant_slug.as_str()
    }

    /// The person behind the call, also when an agent makes it.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.0.user
    }

    /// The agent that calls; `None` when a person does.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.0.agent.as_deref()
    }

    #[must_use]
    pub fn session(&self) -> SessionId {
        self.0.session
    }

    #[must_use]
    pub fn run(&self) -> RunId {
        self.0.run
    }

    #[must_use]
    pub fn source(&self) -> Source {
        self.0.source
    }

    #[must_use]
    pub fn permissions(&self) -> &PermissionSet {
        &self.0.permissions
    }

    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.0.deadline
    }

    /// The time left until the deadline; zero once it has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.0.deadline.saturating_duration_since(Instant::now())
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.0.cancel.is_cancelled()
    }

    /// Resolves once the call is cancelled, for a `select!` around something long.
    pub async fn cancelled(&self) {
        self.0.cancel.cancelled().await;
    }

    /// A key to send to upstream services that de-duplicate requests. It is the same for every
    /// attempt of one run and never the same for two runs.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        self.0.run.to_string()
    }

    /// Adds text to the run's visible output while the tool works.
    ///
    /// Never waits: a tool must not slow down because somebody watches it over a slow line. The
    /// answer is false when the text was not taken, because nobody listens (any more) or because the
    /// reader is too far behind. The result of the run does not depend on it either way.
    pub fn append(&self, text: impl Into<String>) -> bool {
        self.0.output.as_ref().is_some_and(|output| output.try_send(text.into()).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut ContextParts)) -> ToolContext {
        let mut parts = Arc::into_inner(ToolContext::for_test().0).unwrap();
        change(&mut parts);
        ToolContext::new(parts)
    }

    #[test]
    fn idempotency_key_is_the_run_and_stays_the_same() {
        let cx = ToolContext::for_test();
        assert_eq!(cx.idempotency_key(), cx.run().to_string());
        assert_eq!(cx.clone().idempotency_key(), cx.idempotency_key());
    }

    #[test]
    fn organization_is_another_word_for_tenant() {
        let cx = ToolContext::for_test();
        assert_eq!(cx.organization_id(), cx.tenant());
    }

    #[test]
    fn nothing_remains_after_the_deadline() {
        assert!(Duration::from_secs(29) < ToolContext::for_test().remaining());
        let late = with(|parts| parts.deadline = Instant::now() - Duration::from_secs(1));
        assert_eq!(late.remaining(), Duration::ZERO);
    }

    #[test]
    fn appended_text_is_taken_until_the_reader_is_behind_or_gone() {
        assert!(!ToolContext::for_test().append("nobody listens"));

        let (sender, mut reader) = mpsc::channel(1);
        let cx = with(|parts| parts.output = Some(sender));
        assert!(cx.append("first"));
        assert!(!cx.append("the channel is full"));
        assert_eq!(reader.try_recv().unwrap(), "first");
        assert!(cx.append("second"));
        drop(reader);
        assert!(!cx.append("gone"));
    }

    #[tokio::test]
    async fn cancelling_reaches_every_clone() {
        let cancel = CancellationToken::new();
        let cx = with(|parts| parts.cancel = cancel.clone());
        let clone = cx.clone();
        assert!(!clone.is_cancelled());
        cancel.cancel();
        clone.cancelled().await;
        assert!(cx.is_cancelled() && clone.is_cancelled());
    }
}
