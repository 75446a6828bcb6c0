//! Work of a kind that could hold up others, done apart from them.

use serde_json::Value;
use tokio::time::Instant;
use toolwright_sdk::HeavyPool;
use tw_model::{TenantId, ToolFailure};

/// What is read or filled in on the thread that serves others. It takes less than a millisecond.
pub(crate) const INLINE_BYTES_MAX: usize = 256 << 10;

/// For whom something is done, and until when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apart {
    pub(crate) tenant: TenantId,
    pub(crate) deadline: Instant,
}

impl Apart {
    /// Does it on a thread of its own, in the lane of the tenant.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, ToolFailure> + Send + 'static,
    ) -> Result<T, ToolFailure> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        HeavyPool::shared().run(self.tenant, left, work).await?
    }
}

/// About how large a value is, counted as far as it matters here.
pub(crate) fn bytes_of(value: &Value) -> usize {
    let mut left = INLINE_BYTES_MAX;
    if count(value, &mut left) { INLINE_BYTES_MAX - left } else { usize::MAX }
}

fn count(value: &Value, left: &mut usize) -> bool {
    const ITEM: usize = 16;
    let own = ITEM + value.as_str().map_or(0, str::len);
    let Some(rest) = left.checked_sub(own) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| count(item, left)),
        Value::Object(members) => members.iter().all(|(name, member)| {
            *left = left.saturating_sub(name.len());
            count(member, left)
        }),
        _ => true,
    }
}
