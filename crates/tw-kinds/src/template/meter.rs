//! What one rendering may use: bytes that it handles, and time.
//!
//! The library counts steps, and one step can repeat a text a million times or compare two lists of a million
//! items. So every operation pays for its operands before it runs, here, from one budget for the whole rendering.

use std::{
    cell::RefCell,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use minijinja::{Error, ErrorKind, Value, value::ValueKind};

/// How large one value may become on the way, and what a text yields.
pub(crate) const VALUE_BYTES_MAX: usize = 8 << 20;
/// What all operations of a rendering may handle together. A processor needs about a second for it.
const WORK_BYTES_MAX: usize = 64 << 20;
/// Only for a machine that is much too busy: the bytes are used up long before.
const TIME_MAX: Duration = Duration::from_secs(10);
/// What an item of a list costs beside its text: it has this size in memory.
pub(super) const ITEM_BYTES: usize = 16;

/// The budget of one rendering. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Meter(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    left: AtomicUsize,
    /// Set by the first operation, so that waiting for a thread does not count.
    end: OnceLock<Instant>,
}

thread_local! {
    /// Filters are functions without a place for a budget, and a rendering never changes its thread.
    static CURRENT: RefCell<Option<Meter>> = const { RefCell::new(None) };
}

impl Default for Meter {
    fn default() -> Self {
        Self(Arc::new(Budget { left: AtomicUsize::new(WORK_BYTES_MAX), end: OnceLock::new() }))
    }
}

impl Meter {
    /// Runs something that pays from this budget.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Restore(Option<Meter>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0.take());
            }
        }
        let _restore = Restore(CURRENT.replace(Some(self.clone())));
        work()
    }

    fn pay(&self, bytes: usize) -> Result<(), Error> {
        let pay = |left: usize| left.checked_sub(bytes);
        if self.0.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_err() {
            return Err(refused(format!("it handles more than {WORK_BYTES_MAX} bytes in total")));
        }
        let now = Instant::now();
        if *self.0.end.get_or_init(|| now + TIME_MAX) < now {
            return Err(refused(format!("it takes longer than {TIME_MAX:?}")));
        }
        Ok(())
    }
}

/// Pays for an operation of the current rendering that handles so much.
pub(super) fn pay(bytes: usize) -> Result<(), Error> {
    CURRENT.with_borrow(|meter| meter.as_ref().map_or(Ok(()), |meter| meter.pay(bytes)))
}

/// Pays for a value that an operation makes, and refuses one that is too large.
pub(super) fn pay_for_making(bytes: usize) -> Result<(), Error> {
    if VALUE_BYTES_MAX < bytes { Err(too_large()) } else { pay(bytes) }
}

/// Pays for looking at the whole of a value, and refuses one that is too large.
pub(super) fn weigh(value: &Value) -> Result<usize, Error> {
    let weight = weight(value)?;
    pay(weight).map(|()| weight)
}

/// The size of a value. A list can be a promise of more than fits into memory, or one long text a million times,
/// so counting stops where the value is too large.
pub(super) fn weight(value: &Value) -> Result<usize, Error> {
    let mut left = VALUE_BYTES_MAX;
    count(value, &mut left)?;
    Ok(VALUE_BYTES_MAX - left)
}

fn count(value: &Value, left: &mut usize) -> Result<(), Error> {
    let own = ITEM_BYTES + value.as_str().map_or(0, str::len);
    *left = left.checked_sub(own).ok_or_else(too_large)?;
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.try_for_each(|item| count(&item, left)),
        ValueKind::Map => value.try_iter()?.try_for_each(|key| {
            count(&key, left)?;
            count(&value.get_item(&key)?, left)
        }),
        _ => Ok(()),
    }
}

pub(crate) fn too_large() -> Error {
    refused(format!("its result is over {VALUE_BYTES_MAX} bytes"))
}

fn refused(why: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, why)
}
