//! Blocking work, off the threads that serve everybody.

use std::{
    any::Any,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::task::AbortHandle;
use tw_model::{Code, ToolFailure};

use crate::ToolContext;

/// Counts a piece of work from the moment it is handed over until its last line has run, also when
/// nobody waits for it any more.
struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Takes work that still waits for a thread out of the queue when its call is over. Work that has
/// begun cannot be stopped from outside; it has to look at the context.
struct Unqueue(AbortHandle);

impl Drop for Unqueue {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl ToolContext {
    /// Does blocking or CPU-heavy work off the async threads.
    ///
    /// Long work looks at [`ToolContext::is_cancelled`] every few milliseconds. When the call is
    /// cancelled this answers at once with `CANCELLED`; work that goes on regardless is abandoned,
    /// counted until it ends, and its outcome is thrown away. A panic inside becomes a failure with
    /// [`Code::ToolPanicked`], its message goes to the log only.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ToolContext) -> T + Send + 'static,
    ) -> Result<T, ToolFailure> {
        if self.is_cancelled() {
            return Err(cancelled());
        }
        let in_flight = InFlight::new(&self.parts.blocking_in_flight);
        let (cx, span) = (self.clone(), tracing::Span::current());
        let mut task = tokio::task::spawn_blocking(move || {
            let _in_flight = in_flight;
            span.in_scope(|| work(&cx))
        });
        let _unqueue = Unqueue(task.abort_handle());

        let joined = tokio::select! {
            biased;
            joined = &mut task => joined,
            () = self.cancelled() => return Err(cancelled()),
        };
        joined.map_err(|error| match error.try_into_panic() {
            Ok(panic) => panicked(self, panic.as_ref()),
            // The runtime is shutting down and never started the work.
            Err(_) => cancelled(),
        })
    }
}

fn cancelled() -> ToolFailure {
    ToolFailure::with_code(Code::Cancelled, "The run was cancelled")
}

fn panicked(cx: &ToolContext, panic: &(dyn Any + Send)) -> ToolFailure {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(run = %cx.run(), panic = text.unwrap_or("(not a text)"), "blocking work of a tool panicked");
    ToolFailure::with_code(Code::ToolPanicked, "The tool crashed")
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use tokio_util::sync::CancellationToken;

    use super::*;

    fn cancellable() -> (ToolContext, CancellationToken, Arc<AtomicUsize>) {
        let parts = Arc::into_inner(ToolContext::for_test().parts).unwrap();
        let (cancel, count) = (parts.cancel.clone(), Arc::clone(&parts.blocking_in_flight));
        (ToolContext::new(parts), cancel, count)
    }

    #[tokio::test]
    async fn work_gives_its_value_and_is_no_longer_counted() {
        let (cx, _cancel, count) = cancellable();
        let seen = Arc::clone(&count);
        let answer = cx.blocking(move |_| seen.load(Ordering::Relaxed)).await;
        assert_eq!(answer, Ok(1));
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn panic_becomes_a_failure_that_keeps_its_message_to_itself() {
        let cx = ToolContext::for_test();
        let failure = cx.blocking(|_| panic!("password is 1234")).await.unwrap_err();
        assert_eq!(failure, ToolFailure::with_code(Code::ToolPanicked, "The tool crashed"));
    }

    #[tokio::test]
    async fn cancelled_call_answers_at_once_and_its_work_is_counted_until_it_ends() {
        let (cx, cancel, count) = cancellable();
        let (started, has_started) = tokio::sync::oneshot::channel();
        let (finish, may_finish) = mpsc::channel::<()>();
        let (done, is_done) = mpsc::channel::<bool>();
        let work = cx.blocking(move |cx| {
            started.send(()).unwrap();
            may_finish.recv().unwrap();
            done.send(cx.is_cancelled()).unwrap();
        });
        let cancelling = async {
            has_started.await.unwrap();
            cancel.cancel();
        };
        let (answer, ()) = tokio::join!(work, cancelling);
        assert_eq!(answer.unwrap_err().code, Code::Cancelled);
        assert_eq!(count.load(Ordering::Relaxed), 1, "the work has not ended yet");

        finish.send(()).unwrap();
        assert!(is_done.recv().unwrap(), "the work sees that it was cancelled");
        while count.load(Ordering::Relaxed) != 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn nothing_starts_for_a_call_that_was_cancelled_before() {
        let (cx, cancel, count) = cancellable();
        cancel.cancel();
        let answer = cx.blocking(|_| unreachable!("must not start")).await;
        assert_eq!(answer, Err::<(), _>(cancelled()));
        assert_eq!(count.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn work_that_waits_for_a_thread_is_dropped_with_its_call() {
        let runtime = tokio::runtime::Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
        let (finish, may_finish) = mpsc::channel::<()>();
        runtime.block_on(async {
            let (cx, cancel, count) = cancellable();
            let busy = tokio::task::spawn_blocking(move || may_finish.recv().unwrap());
            let work = cx.blocking(|_| unreachable!("must not start"));
            let cancelling = async { cancel.cancel() };
            let (answer, ()) = tokio::join!(work, cancelling);
            assert_eq!(answer, Err::<(), _>(cancelled()));
            finish.send(()).unwrap();
            busy.await.unwrap();
            while count.load(Ordering::Relaxed) != 0 {
                tokio::task::yield_now().await;
            }
        });
    }
}
