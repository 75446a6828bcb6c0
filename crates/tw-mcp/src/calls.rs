//! The calls under way on this replica, for those who change their mind.
//!
//! In the present era whoever hangs up has changed their mind. Earlier clients hang up and come back, and say
//! by a notification of its own which request is not wanted any more. The numbers of requests are the client's,
//! so one counts only among the calls of the same key, and only where a single call goes by it: the calls of two
//! clients with one key are never mixed up.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;
use tw_model::KeyId;

type Named = (Option<KeyId>, Box<str>);
/// The calls that go by one name, each with a number of ours.
type Open = HashMap<Named, Vec<(u64, CancellationToken)>>;

#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    open: Arc<Mutex<Open>>,
    next: Arc<AtomicU64>,
}

/// A call under way, until dropped.
#[derive(Debug)]
pub(crate) struct Entered {
    calls: Calls,
    named: Named,
    number: u64,
    unwanted: CancellationToken,
}

impl Calls {
    pub(crate) fn enter(&self, key: Option<KeyId>, id: &RawValue) -> Entered {
        let named = (key, id.get().into());
        let unwanted = CancellationToken::new();
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.lock().entry(named.clone()).or_default().push((number, unwanted.clone()));
        Entered { calls: self.clone(), named, number, unwanted }
    }

    /// Takes back a call by its number.
    pub(crate) fn take_back(&self, key: Option<KeyId>, id: &str) {
        if let Some([(_, only)]) = self.lock().get(&(key, id.into())).map(Vec::as_slice) {
            only.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Entered {
    /// Fires when the call is not wanted any more.
    pub(crate) fn unwanted(&self) -> CancellationToken {
        self.unwanted.clone()
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut open = self.calls.lock();
        if let Some(same) = open.get_mut(&self.named) {
            same.retain(|(number, _)| *number != self.number);
            if same.is_empty() {
                open.remove(&self.named);
            }
        }
    }
}
