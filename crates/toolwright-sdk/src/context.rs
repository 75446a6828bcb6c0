//! What a tool is told about the call it serves.

use std::{
    sync::{Arc, atomic::AtomicUsize},
    time::Duration,
};

use serde_json::Value;
use tokio::{sync::mpsc, time::Instant};
use tokio_util::sync::CancellationToken;
use tw_egress::Egress;
use tw_model::{
    Code, PermissionSet, RunId, SessionId, Source, TenantId, TenantSlug, ToolFailure, ToolResult, UserId,
};

use crate::{
    Called, Credential, Credentials, Filters, HeavyPool, InnerCall, InnerCalls, LogLines, Network, Secret,
    Services, ToolProgress, UsageMeter, Wait,
};

/// What a tool is told about the call it serves, and what it may use while it works.
///
/// Tenant and user stand here and never in an input: who calls was settled by the door's check of
/// credentials. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolContext {
    pub(crate) parts: Arc<ContextParts>,
    settings: Option<Arc<Value>>,
}

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
    /// Where reports of how far the tool is go; `None` when nobody shows them.
    pub progress: Option<mpsc::Sender<ToolProgress>>,
    /// Where lines of the run's log go.
    pub log: LogLines,
    /// How many pieces of blocking work are under way, so that abandoned ones can be reported.
    pub blocking_in_flight: Arc<AtomicUsize>,
    /// What upstream services know repeated requests by, where the caller sent a key of its own: derived from
    /// that key and from who sent it where. `None` where it is to be the run.
    pub idempotency: Option<String>,
    /// The `traceparent` of requests to others; `None` where the caller sent none.
    pub trace: Option<String>,
    /// What of the server the tool may use; empty in tests of tools that need nothing.
    pub services: Services,
    /// How the tool calls others; `None` for one that declares no calls.
    pub inner: Option<Arc<dyn InnerCalls>>,
    /// Where the tool says that it has to wait. Whoever listens ends this call of it, and makes it again later.
    pub waits: Option<mpsc::Sender<Wait>>,
    /// Counts what the tool asks of language models.
    pub usage: UsageMeter,
}

impl ToolContext {
    #[must_use]
    pub fn new(parts: ContextParts) -> Self {
        Self { parts: Arc::new(parts), settings: None }
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
            progress: None,
            log: LogLines::default(),
            blocking_in_flight: Arc::default(),
            idempotency: None,
            trace: None,
            services: Services::default(),
            inner: None,
            waits: None,
            usage: UsageMeter::default(),
        })
    }

    #[must_use]
    pub fn tenant(&self) -> TenantId {
        self.parts.tenant
    }

    /// The tenant, under the name that data tools know it by.
    #[must_use]
    pub fn organization_id(&self) -> TenantId {
        self.tenant()
    }

    #[must_use]
    pub fn tenant_slug(&self) -> &str {
        self.parts.tenant_slug.as_str()
    }

    /// The person behind the call, also when an agent makes it.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.parts.user
    }

    /// The agent that calls; `None` when a person does.
    #[must_use]
    pub fn agent(&self) -> Option<&str> {
        self.parts.agent.as_deref()
    }

    #[must_use]
    pub fn session(&self) -> SessionId {
        self.parts.session
    }

    #[must_use]
    pub fn run(&self) -> RunId {
        self.parts.run
    }

    #[must_use]
    pub fn source(&self) -> Source {
        self.parts.source
    }

    #[must_use]
    pub fn permissions(&self) -> &PermissionSet {
        &self.parts.permissions
    }

    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.parts.deadline
    }

    /// The time left until the deadline; zero once it has passed.
    #[must_use]
    pub fn remaining(&self) -> Duration {
        self.parts.deadline.saturating_duration_since(Instant::now())
    }

    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.parts.cancel.is_cancelled()
    }

    /// Resolves once the call is cancelled, for a `select!` around something long.
    pub async fn cancelled(&self) {
        self.parts.cancel.cancelled().await;
    }

    /// A key to send to upstream services that de-duplicate requests. It is the same for every attempt of one
    /// run, and of another run that the caller makes under the same idempotency key. Otherwise two runs never
    /// share one.
    #[must_use]
    pub fn idempotency_key(&self) -> String {
        self.parts.idempotency.clone().unwrap_or_else(|| self.parts.run.to_string())
    }

    /// The `traceparent` of requests to others, for a protocol that carries it beside its headers. `None` where the caller
    /// sent none.
    #[must_use]
    pub fn trace(&self) -> Option<&str> {
        self.parts.trace.as_deref()
    }

    /// Does work whose cost somebody else chooses, such as reading a large answer, in the lane of the tenant.
    /// It cannot be stopped from outside, so it must have an end of its own; see [`HeavyPool::run`]. For work that
    /// waits, or looks at whether it is cancelled, there is [`ToolContext::blocking`].
    pub async fn heavy<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ToolFailure> {
        Ok(HeavyPool::shared().run(self.tenant(), self.remaining(), work).await?)
    }

    /// The client for requests to others. It goes nowhere that the operator has not opened.
    pub fn http(&self) -> Result<Egress, ToolFailure> {
        let egress = self.service::<dyn Network>()?.egress(self.tenant());
        Ok(match &self.parts.trace {
            Some(trace) => egress.traced(trace),
            None => egress,
        })
    }

    /// Everything that a jq filter gives for a value. It runs where it cannot hurt.
    pub async fn jq(&self, filter: &str, input: &Value) -> Result<Vec<Value>, ToolFailure> {
        self.service::<dyn Filters>()?.jq(self.tenant(), filter, input).await
    }

    /// The tenant's credential of this label or id.
    pub async fn credential(&self, label: &str) -> Result<Credential, ToolFailure> {
        let found = self.service::<dyn Credentials>()?.credential(self.tenant(), label).await;
        found.map_err(|failure| match failure.code {
            Code::CredentialMissing => {
                let looked = "looked among the tenant's credentials by label and by id";
                ToolFailure { message: format!("{}: {looked}", failure.message), ..failure }
            }
            _ => failure,
        })
    }

    /// What stands for `secret:<reference>`, with the hosts that it may be sent to: the value of the credential of this label or id, or, where
    /// there is none, the field behind the last dot of the credential before it.
    pub async fn secret(&self, reference: &str) -> Result<Secret, ToolFailure> {
        let missing = |message: String| ToolFailure::with_code(Code::CredentialMissing, message);
        let failure = match self.credential(reference).await {
            Ok(credential) => {
                return credential.secret().ok_or_else(|| {
                    let fields: Vec<_> = credential.fields.keys().map(|field| format!("`{field}`")).collect();
                    let fields = fields.join(", ");
                    missing(format!(
                        "the credential `{reference}` has no value that could be inserted; \
                         name one of its fields, as in `{reference}.<field>`: {fields}"
                    ))
                });
            }
            Err(failure) if failure.code != Code::CredentialMissing => return Err(failure),
            Err(failure) => failure,
        };
        // A label may hold dots itself, so the field comes second.
        let Some((label, field)) = reference.rsplit_once('.') else { return Err(failure) };
        let why = match self.credential(label).await {
            Ok(credential) => match credential.field_secret(field) {
                Some(found) => return Ok(found),
                None => format!("and `{label}` has no field `{field}`"),
            },
            Err(other) if other.code == Code::CredentialMissing => {
                format!("and there is no `{label}` whose field `{field}` it could be")
            }
            Err(other) => return Err(other),
        };
        Err(missing(format!("{}, {why}", failure.message)))
    }

    /// The credential that the tenant has for a provider, if it has one.
    pub async fn credential_for(
        &self,
        provider: &str,
        variant: Option<&str>,
    ) -> Result<Option<Credential>, ToolFailure> {
        self.service::<dyn Credentials>()?.credential_for(self.tenant(), provider, variant).await
    }

    /// Counts what the tool asks of language models.
    #[must_use]
    pub fn usage(&self) -> &UsageMeter {
        &self.parts.usage
    }

    /// A service of the server, by its type.
    pub fn service<T: ?Sized + Send + Sync + 'static>(&self) -> Result<&Arc<T>, ToolFailure> {
        self.parts.services.get::<T>().ok_or_else(|| {
            let name = std::any::type_name::<T>();
            ToolFailure::with_code(Code::Internal, format!("the service `{name}` is not available here"))
        })
    }

    /// Calls another tool in the name of whoever called this one, and returns its result.
    ///
    /// A call that has to wait, for an approval for instance, ends this run of the function: it is run again from its
    /// beginning once there is a result, and every call that it has made under the same `name` answers as it did. So
    /// nothing before a call may have an effect of its own. Only for a tool that declares `calls`.
    pub async fn call_tool(&self, name: &str, tool: &str, input: &Value) -> Result<ToolResult, ToolFailure> {
        let inner = self.parts.inner.as_ref().ok_or_else(|| {
            ToolFailure::with_code(Code::Internal, "a tool that calls others must declare `calls`")
        })?;
        match inner.call(InnerCall { name, tool, input, settings: None }).await? {
            Called::Ended(ended) => ended,
            Called::Open(wait) => {
                if let Some(waits) = &self.parts.waits {
                    // Whoever listens drops this future.
                    let _ = waits.send(wait).await;
                }
                std::future::pending().await
            }
        }
    }

    /// What the author of a tool wrote beside `builtin_key`, where this one runs under another name.
    #[must_use]
    pub fn settings(&self) -> Option<&Value> {
        self.settings.as_deref()
    }

    /// The same, with settings.
    #[must_use]
    pub fn with_settings(self, settings: Arc<Value>) -> Self {
        Self { settings: Some(settings), ..self }
    }

    /// Adds a line to the log of the run, which is read with the run once it has ended.
    pub fn log(&self, line: impl Into<String>) {
        self.parts.log.add(line.into());
    }

    /// Forgets the log, for a tool that begins again.
    pub fn clear_log(&self) {
        drop(self.parts.log.take());
    }

    /// Adds text to the run's visible output while the tool works.
    ///
    /// Never waits: a tool must not slow down because somebody watches it over a slow line. The
    /// answer is false when the text was not taken, because nobody listens (any more) or because the
    /// reader is too far behind. The result of the run does not depend on it either way.
    pub fn append(&self, text: impl Into<String>) -> bool {
        self.parts.output.as_ref().is_some_and(|output| output.try_send(text.into()).is_ok())
    }

    /// Tells whoever watches the run how far it is. As with [`ToolContext::append`] this never waits. Of many reports
    /// some are left out, and so is one whose number is not higher than the one before.
    pub fn progress(&self, report: ToolProgress) -> bool {
        self.reports().is_some_and(|reports| reports.try_send(report).is_ok())
    }

    /// Where [`ToolContext::progress`] sends what it is given.
    #[must_use]
    pub fn reports(&self) -> Option<&mpsc::Sender<ToolProgress>> {
        self.parts.progress.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(change: impl FnOnce(&mut ContextParts)) -> ToolContext {
        let mut parts = Arc::into_inner(ToolContext::for_test().parts).unwrap();
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
    fn idempotency_key_is_that_of_the_caller_where_there_is_one() {
        let under = || with(|parts| parts.idempotency = Some("k-1".to_owned()));
        assert_eq!(under().idempotency_key(), "k-1");
        assert_ne!(under().run(), under().run());
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
