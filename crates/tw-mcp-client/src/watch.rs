//! Who hears that what a server lists may be other than it was.

use std::fmt;

use tw_model::TenantId;

/// Hears of servers that say that their tools have changed, and of those that a call has met anew.
pub trait ListWatch: fmt::Debug + Send + Sync {
    /// The server at this address may list something else now, as this tenant calls it. Must not wait.
    fn may_have_changed(&self, tenant: TenantId, url: &str);
}
