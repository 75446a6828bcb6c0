//! Tasks of the store's own that die: they are begun again, and whoever looks after the server is told.

use std::{
    fmt,
    panic::AssertUnwindSafe,
    sync::{Arc, OnceLock},
};

use futures::FutureExt as _;

type Tell = Box<dyn Fn(&'static str) + Send + Sync>;

/// Whom to tell. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Deaths {
    tell: Arc<OnceLock<Tell>>,
}

impl fmt::Debug for Deaths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deaths").finish_non_exhaustive()
    }
}

impl Deaths {
    /// Names the one who is told of every death from now on. Only the first counts.
    pub(crate) fn are_told_to(&self, tell: impl Fn(&'static str) + Send + Sync + 'static) {
        let _ = self.tell.set(Box::new(tell));
    }

    /// Whether a task's work came to its end in order. If not, that is told, and the work has to be begun again: a
    /// server that has met one bad entry can still do everything else.
    pub(crate) async fn are_none(&self, name: &'static str, work: impl Future<Output = ()>) -> bool {
        if AssertUnwindSafe(work).catch_unwind().await.is_ok() {
            return true;
        }
        tracing::error!(name, "a task of the store died; it is begun again");
        if let Some(tell) = self.tell.get() {
            tell(name);
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn only_a_task_that_panicked_is_told() {
        let (deaths, told) = (Deaths::default(), Arc::new(Mutex::new(Vec::new())));
        assert!(!deaths.are_none("early", async { panic!("nobody listens yet") }).await);
        let heard = Arc::clone(&told);
        deaths.are_told_to(move |name| heard.lock().unwrap().push(name));

        assert!(deaths.are_none("orderly", async {}).await);
        assert!(!deaths.are_none("broken", async { panic!("a bad row") }).await);

        assert_eq!(*told.lock().unwrap(), ["broken"]);
    }
}
