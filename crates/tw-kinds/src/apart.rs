//! Work of a kind that could hold up others, done apart from them.

use tokio::time::Instant;
use toolwright_sdk::HeavyPool;
pub(crate) use toolwright_sdk::{INLINE_BYTES_MAX, bytes_of};
use tw_model::{TenantId, ToolFailure};

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
