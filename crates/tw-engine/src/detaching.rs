//! Work that whoever waits for it does, and that goes on in a task of its own once nobody waits.
//!
//! A task for each call would cost two hand-overs between threads, and most callers wait until the end.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll},
};

use tokio::runtime::Handle;

/// A panic of the work, as its payload.
pub(crate) type Panicked = Box<dyn Any + Send>;

/// Polled where it is awaited. Dropped before its end, it goes on in the background.
#[must_use = "the work begins when it is first awaited"]
pub(crate) struct Detaching<F: Future<Output: Send> + Send + 'static> {
    work: Option<Pin<Box<F>>>,
    runtime: Handle,
}

impl<F: Future<Output: Send> + Send + 'static> Detaching<F> {
    /// Must be called within a runtime, in which the work goes on.
    pub(crate) fn new(work: F) -> Self {
        Self { work: Some(Box::pin(work)), runtime: Handle::current() }
    }
}

impl<F: Future<Output: Send> + Send + 'static> Future for Detaching<F> {
    type Output = Result<F::Output, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let work = self.work.as_mut().expect("not polled after its end");
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        let ended = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(panic) => Err(panic),
        };
        self.work = None;
        Poll::Ready(ended)
    }
}

impl<F: Future<Output: Send> + Send + 'static> Drop for Detaching<F> {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            self.runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_is_done_by_who_waits_for_it() {
        let waiter = tokio::spawn(async {
            let by = Detaching::new(async { tokio::task::id() }).await.unwrap();
            assert_eq!(by, tokio::task::id());
        });
        waiter.await.unwrap();
    }

    #[tokio::test]
    async fn work_goes_on_when_nobody_waits_any_more() {
        let ((go, may_go), (done, is_done)) = (oneshot::channel::<()>(), oneshot::channel());
        let mut work = Detaching::new(async move {
            may_go.await.unwrap();
            done.send(7).unwrap();
        });
        assert!((&mut work).now_or_never().is_none());
        drop(work);
        go.send(()).unwrap();
        assert_eq!(is_done.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn work_that_was_never_awaited_is_done_all_the_same() {
        let (done, is_done) = oneshot::channel();
        drop(Detaching::new(async move { done.send(7).unwrap() }));
        assert_eq!(is_done.await.unwrap(), 7);
    }

    #[tokio::test]
    async fn panic_is_an_outcome() {
        let ended = Detaching::new(async { panic!("a bug") }).await;
        assert!(ended.is_err());
    }
}
