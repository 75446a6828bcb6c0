//! One request to one model: reserved, sent, read, settled.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, timeout};
use toolwright_sdk::{BoxFuture, HeavyPool, INLINE_BYTES_MAX, Redactor, failure_of};
use tw_egress::{Error, Method, OpenResponse, Request, SseReader};
use tw_model::{Code, ToolFailure, Usage, UsageId};

use crate::{
    ModelAnswer, ModelStop, Reservation, TextSink,
    answer::{AnswerPiece, Draft, TEXT_BYTES_MAX, guess},
    ask::Asked,
    key::Endpoint,
    spec::Tokens,
    wire::{self, Outgoing},
};

/// What a stream may have with everything around its text.
const STREAM_BYTES_MAX: usize = 64 << 20;
/// What one event of a stream may have: more than a model says at once.
const EVENT_BYTES_MAX: usize = 4 << 20;
/// What an answer in one piece may have.
const WHOLE_BYTES_MAX: usize = 8 << 20;
/// How often whoever shows the text hears that nothing has come.
const TICK: Duration = Duration::from_millis(100);
/// How much of what a provider says of an error is told.
const ERROR_CHARS_MAX: usize = 500;

/// Why there is no answer, and whether there may be one in a moment.
#[derive(Debug)]
pub(crate) struct Setback {
    pub(crate) failure: ToolFailure,
    pub(crate) may_pass: bool,
    pub(crate) asked_wait: Option<Duration>,
}

impl Setback {
    fn for_good(failure: ToolFailure) -> Self {
        Self { failure, may_pass: false, asked_wait: None }
    }

    fn passing(message: impl Into<String>) -> Self {
        Self { may_pass: true, ..Self::for_good(ToolFailure::with_code(Code::UpstreamError, message)) }
    }

    fn of(error: &Error) -> Self {
        Self { may_pass: error.is_retryable(), ..Self::for_good(failure_of(error)) }
    }
}

/// Hands text on without the key, and knows whether it has.
pub(crate) struct Relay<'a> {
    sink: &'a mut dyn TextSink,
    key: Option<&'a str>,
    pub(crate) redactor: Redactor,
    /// The beginning of what may become the key.
    held: String,
    told: bool,
}

impl<'a> Relay<'a> {
    pub(crate) fn new(endpoint: &'a Endpoint, sink: &'a mut dyn TextSink) -> Self {
        let key = endpoint.key.as_ref().map(|key| key.value.as_str());
        Self { sink, key, redactor: endpoint.redactor(), held: String::new(), told: false }
    }

    pub(crate) fn has_told(&self) -> bool {
        self.told
    }

    fn text(&mut self, piece: &str) {
        self.held.push_str(piece);
        let kept = self.key.map_or(0, |key| overlap(&self.held, key));
        let rest = self.held.split_off(self.held.len() - kept);
        let whole = std::mem::replace(&mut self.held, rest);
        self.tell(whole);
    }

    fn end(&mut self) {
        let rest = std::mem::take(&mut self.held);
        self.tell(rest);
    }

    fn tell(&mut self, text: String) {
        if !text.is_empty() {
            self.told = true;
            self.sink.text(&self.redactor.text(text));
        }
    }
}

/// How many bytes at the end of a text are the beginning of a key.
fn overlap(text: &str, key: &str) -> usize {
    let most = text.len().min(key.len().saturating_sub(1));
    let fits = |len: &usize| key.is_char_boundary(*len) && text.ends_with(&key[..*len]);
    (1..=most).rev().find(fits).unwrap_or(0)
}

/// A request that is about to be sent.
pub(crate) struct Attempt<'a> {
    pub(crate) asked: &'a Asked<'a>,
    /// Of this question, from 1.
    pub(crate) number: u32,
    pub(crate) silence: Duration,
}

/// What was set aside for a request. Dropped, it is replaced by what the request took, as far as that is known.
struct Open<'a> {
    asked: &'a Asked<'a>,
    id: UsageId,
    worst: Usage,
    draft: Draft,
    asked_bytes: usize,
    /// Whether the provider may have worked for us.
    is_spent: bool,
    is_settled: bool,
}

impl Open<'_> {
    /// Counts what the request took, and settles it.
    fn settled(&mut self) -> BoxFuture<'static, ()> {
        self.is_settled = true;
        let real = self.real();
        let asker = self.asked.asker;
        if self.is_spent {
            asker.usage.add(real.clone());
        }
        asker.ledger.settle(asker.tenant, self.id, self.worst.clone(), real)
    }

    fn real(&self) -> Usage {
        if !self.is_spent {
            return self.asked.spec.usage(&Tokens::default(), false);
        }
        let (tokens, is_guess) = self.draft.tokens(self.asked_bytes);
        self.asked.spec.usage(&tokens, is_guess)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.is_settled {
            // Whoever asked has gone: the run was cancelled, or is out of time.
            tokio::spawn(self.settled());
        }
    }
}

impl Attempt<'_> {
    pub(crate) async fn make(&self, relay: &mut Relay<'_>) -> Result<ModelAnswer, Setback> {
        let outcome = self.made(relay).await;
        match outcome {
            Ok(answer) => Ok(ModelAnswer { text: relay.redactor.text(answer.text), ..answer }),
            Err(Setback { failure: ToolFailure { code, message, said }, may_pass, asked_wait }) => {
                // Behind the failure nothing follows that could make a key of it.
                if relay.told {
                    relay.end();
                }
                let failure = ToolFailure { code, message: relay.redactor.text(message), said };
                Err(Setback { failure, may_pass, asked_wait })
            }
        }
    }

    async fn made(&self, relay: &mut Relay<'_>) -> Result<ModelAnswer, Setback> {
        let Asked { spec, endpoint, request, .. } = *self.asked;
        let outgoing = wire::outgoing(spec, &endpoint.base_url, request);
        let mut open = self.reserve(outgoing.body.len()).await.map_err(Setback::for_good)?;
        let outcome = self.exchange(outgoing, &mut open, relay).await;
        open.settled().await;
        outcome
    }

    async fn exchange(
        &self,
        outgoing: Outgoing,
        open: &mut Open<'_>,
        relay: &mut Relay<'_>,
    ) -> Result<ModelAnswer, Setback> {
        let Asked { asker, spec, endpoint, request, .. } = *self.asked;
        let left = asker.deadline.saturating_duration_since(Instant::now()).min(spec.timeout);
        let mut sent = Request::new(Method::Post, format!("{}{}", endpoint.base_url, outgoing.path))
            .header("content-type", "application/json")
            .header("accept", "text/event-stream, application/json")
            .header("x-toolwright-pass", format!("{}/{}/{}", asker.run, request.pass, self.number))
            .body(outgoing.body)
            .timeout(left)
            .body_max(STREAM_BYTES_MAX);
        for (name, value) in outgoing.headers {
            sent = sent.header(name, value);
        }
        if let Some(key) = &endpoint.key {
            let (name, value) = wire::key_header(spec.provider, &key.value);
            sent = sent.header(name, value);
        }
        open.is_spent = true;
        let egress = asker.egress.clone().about(&format!("chat {}", spec.model));
        let answered = timeout(self.silence, egress.open(sent)).await;
        let answered = answered.map_err(|_| self.silent())?;
        let mut response = answered.map_err(|error| {
            open.is_spent = error.effect_possible();
            Setback::of(&error)
        })?;
        if response.status != 200 {
            open.is_spent = false;
            return Err(self.refused(response, &relay.redactor).await);
        }
        self.read(&mut response, &mut open.draft, relay).await?;
        self.answer(open)
    }

    /// Sets aside the most that the request can take.
    async fn reserve(&self, body_bytes: usize) -> Result<Open<'_>, ToolFailure> {
        let Asked { asker, name, spec, request, .. } = *self.asked;
        let output =
            request.max_output_tokens.map_or(spec.max_output_tokens, |max| max.min(spec.max_output_tokens));
        let tokens = Tokens { input: guess(body_bytes), output, ..Tokens::default() };
        let worst = Reservation { run: asker.run, name: name.to_owned(), usage: spec.usage(&tokens, true) };
        let id = asker.ledger.reserve(asker.tenant, &worst).await?;
        let asked_bytes = request.bytes();
        let worst = worst.usage;
        Ok(Open {
            asked: self.asked,
            id,
            worst,
            draft: Draft::default(),
            asked_bytes,
            is_spent: false,
            is_settled: false,
        })
    }

    async fn refused(&self, response: OpenResponse, redactor: &Redactor) -> Setback {
        let status = response.status;
        let asked_wait = response.headers.retry_after();
        let body = timeout(self.silence, response.read()).await;
        let body = body.ok().and_then(Result::ok).map(|response| response.body).unwrap_or_default();
        let said = wire::refusal(&body).unwrap_or_else(|| String::from_utf8_lossy(&body).trim().to_owned());
        // A key could begin before the cut, and be found no more behind it.
        let said: String = redactor.text(said).chars().take(ERROR_CHARS_MAX).collect();
        let hint = match status {
            401 | 403 => format!(" (check the key of `models.{}`)", self.asked.name),
            _ => String::new(),
        };
        let message = format!("HTTP {status}: {said}{hint}");
        let may_pass = matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529);
        Setback { may_pass, asked_wait, ..Setback::passing(message.trim_end().trim_end_matches(':')) }
    }

    async fn read(
        &self,
        response: &mut OpenResponse,
        draft: &mut Draft,
        relay: &mut Relay<'_>,
    ) -> Result<(), Setback> {
        let kind = response.headers.get("content-type").unwrap_or_default();
        let kind = kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "text/event-stream" => self.read_stream(response, draft, relay).await,
            "application/json" => self.read_whole(response, draft, relay).await,
            _ => Err(self.odd(format!(
                "it has the content type `{kind:.100}`, and must have text/event-stream or application/json"
            ))),
        }
    }

    async fn read_stream(
        &self,
        response: &mut OpenResponse,
        draft: &mut Draft,
        relay: &mut Relay<'_>,
    ) -> Result<(), Setback> {
        let mut reader = SseReader::new(EVENT_BYTES_MAX);
        while !draft.is_whole {
            let Some(bytes) = self.next(response, relay).await? else { break };
            let events = reader.feed(&bytes).map_err(|_| self.odd("it has an event that is too large"))?;
            for event in events {
                self.take(&event, draft, relay)?;
            }
        }
        if let Some(event) = reader.rest().filter(|_| !draft.is_whole) {
            self.take(&event, draft, relay)?;
        }
        if !draft.is_whole && draft.stop.is_none() {
            let name = self.asked.name;
            return Err(Setback::passing(format!("the answer of the model `models.{name}` broke off")));
        }
        relay.end();
        Ok(())
    }

    fn take(&self, event: &[u8], draft: &mut Draft, relay: &mut Relay<'_>) -> Result<(), Setback> {
        let piece = wire::event(self.asked.spec.provider, event);
        let piece = piece.map_err(|_| self.odd("it has an event that is not the expected JSON"))?;
        self.add(&piece, draft, relay)
    }

    fn add(&self, piece: &AnswerPiece, draft: &mut Draft, relay: &mut Relay<'_>) -> Result<(), Setback> {
        if let Some(error) = &piece.error {
            let said: String = relay.redactor.text(error.clone()).chars().take(ERROR_CHARS_MAX).collect();
            return Err(Setback::passing(format!("the model `models.{}` reports: {said}", self.asked.name)));
        }
        if TEXT_BYTES_MAX < draft.text.len() + piece.text.len() {
            return Err(self.odd(format!("it has over {TEXT_BYTES_MAX} bytes of text")));
        }
        draft.take(piece);
        relay.text(&piece.text);
        Ok(())
    }

    async fn read_whole(
        &self,
        response: &mut OpenResponse,
        draft: &mut Draft,
        relay: &mut Relay<'_>,
    ) -> Result<(), Setback> {
        let mut body = Vec::new();
        while let Some(bytes) = self.next(response, relay).await? {
            if WHOLE_BYTES_MAX < body.len() + bytes.len() {
                return Err(self.odd(format!("it has over {WHOLE_BYTES_MAX} bytes")));
            }
            body.extend_from_slice(&bytes);
        }
        let (asker, provider) = (self.asked.asker, self.asked.spec.provider);
        let piece = if body.len() <= INLINE_BYTES_MAX {
            wire::whole(provider, &body)
        } else {
            let left = asker.deadline.saturating_duration_since(Instant::now());
            let read =
                HeavyPool::shared().run(asker.tenant, left, move || wire::whole(provider, &body)).await;
            read.map_err(|overload| Setback::for_good(overload.into()))?
        };
        let piece = piece.map_err(|_| self.odd("it is not the expected JSON"))?;
        self.add(&piece, draft, relay)?;
        relay.end();
        Ok(())
    }

    /// The next bytes, unless the model is silent for too long.
    async fn next(
        &self,
        response: &mut OpenResponse,
        relay: &mut Relay<'_>,
    ) -> Result<Option<Bytes>, Setback> {
        let until = Instant::now() + self.silence;
        loop {
            match timeout(TICK.min(self.silence), response.chunk()).await {
                Ok(chunk) => return chunk.map_err(|error| Setback::of(&error)),
                Err(_) if until <= Instant::now() => return Err(self.silent()),
                Err(_) => relay.sink.idle(),
            }
        }
    }

    fn answer(&self, open: &Open<'_>) -> Result<ModelAnswer, Setback> {
        let stop = open.draft.stop.unwrap_or(ModelStop::Done);
        let text = open.draft.text.clone();
        match stop {
            ModelStop::Filtered => Err(self.odd("the provider's content filter blocked it")),
            ModelStop::ToolCall if text.is_empty() => {
                Err(self.odd("it is a call of a tool, and no tools were offered"))
            }
            _ => Ok(ModelAnswer { text, stop, usage: open.real() }),
        }
    }

    fn silent(&self) -> Setback {
        let (name, seconds) = (self.asked.name, self.silence.as_secs());
        Setback::passing(format!("the model `models.{name}` was silent for {seconds} s"))
    }

    fn odd(&self, why: impl std::fmt::Display) -> Setback {
        let message = format!("the answer of the model `models.{}` cannot be used: {why}", self.asked.name);
        Setback::for_good(ToolFailure::with_code(Code::UpstreamError, message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_of_a_key_is_held_back() {
        for (text, kept) in
            [("", 0), ("hello", 0), ("hello sk-1", 4), ("sk-123", 0), ("sk-12", 5), ("ssk", 2)]
        {
            assert_eq!(overlap(text, "sk-123"), kept, "{text}");
        }
        assert_eq!(overlap("aé", "é1"), 2);
    }
}
