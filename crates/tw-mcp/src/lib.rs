//! The MCP door: JSON-RPC in, one call of the engine, JSON-RPC out.
//!
//! Streamable HTTP without sessions: every request carries its key and is answered on its own
//! connection, by any replica. Two eras are spoken. Revision 2026-07-28 says who it is in every request;
//! earlier ones open with `initialize`, of which nothing is kept. The few methods a server of tools needs
//! are answered here rather than by a library, because this is the path that has to be fast; real clients
//! hold it to the protocol in the tests.
//!
//! Start with `post.rs`, the way of one request; `era.rs` has what the revisions differ in, `call.rs` what
//! becomes of a call, `listing.rs` what is on offer.

mod call;
mod calls;
mod era;
mod listing;
mod mirrored;
mod post;
mod reports;
mod room;
mod rpc;

use std::{hash::Hash, sync::Arc};

use axum::{Router, routing::post};
use bytes::Bytes;
use tw_base::Lanes;
use tw_engine::Engine;
use tw_registry::ToolsetKey;

use self::calls::Calls;

/// What the door needs to know beside the engine.
#[derive(Clone, Debug)]
pub struct McpSettings {
    /// Where people reach this server, for links in answers.
    pub base: String,
    /// Bytes of a request's body.
    pub body_limit: usize,
    /// Where the picture of an icon is served, below `base`; `None` for an icon without one.
    pub icon_path: fn(&str) -> Option<String>,
}

/// How many bytes of lists of tools are kept ready, for all tenants together.
const LISTS_BYTES_MAX: u64 = 64 << 20;
/// What an entry takes beside its list.
const LIST_OVERHEAD: usize = 1 << 10;

/// Whom a list is for, and in which era. The epoch is no part of it: a new list takes the place of the old one.
type ListKey = (ToolsetKey, bool);

/// The result of `tools/list` as bytes, and the state of the tenant that it was written from.
#[derive(Clone, Debug)]
pub(crate) struct KeptList {
    epoch: i64,
    bytes: Bytes,
}

#[derive(Clone)]
pub(crate) struct Door {
    pub(crate) engine: Engine,
    pub(crate) settings: Arc<McpSettings>,
    pub(crate) lists: moka::future::Cache<ListKey, KeptList>,
    pub(crate) calls: Calls,
    /// Where the messages of batches are worked on.
    pub(crate) batches: Lanes,
}

/// The door, to be put into the front that all doors share.
pub fn router(engine: Engine, settings: McpSettings) -> Router {
    let batches = Lanes::new(post::BATCH_AT_ONCE);
    let door =
        Door { engine, settings: Arc::new(settings), lists: kept_lists(), calls: Calls::default(), batches };
    Router::new().route("/mcp", post(post::post).fallback(post::only_post)).with_state(door)
}

fn kept_lists<K: Hash + Eq + Send + Sync + 'static>() -> moka::future::Cache<K, KeptList> {
    moka::future::Cache::builder()
        .weigher(|_: &K, list: &KeptList| weight(list))
        .max_capacity(LISTS_BYTES_MAX)
        .build()
}

fn weight(list: &KeptList) -> u32 {
    u32::try_from(list.bytes.len() + LIST_OVERHEAD).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn kept_lists_have_no_more_bytes_than_they_may_however_many_there_are() {
        let lists = kept_lists::<u32>();
        let long = Bytes::from(vec![b'x'; 1 << 20]);
        for (key, epoch) in (0..200).zip(1..) {
            lists.insert(key, KeptList { epoch, bytes: long.clone() }).await;
            lists.run_pending_tasks().await;
            assert!(lists.weighted_size() <= LISTS_BYTES_MAX, "{} after {key}", lists.weighted_size());
        }
        let kept = lists.entry_count();
        assert!((1..=64).contains(&kept), "{kept} lists of a mebibyte");

        let tiny = kept_lists::<u32>();
        for epoch in 0..1000 {
            tiny.insert(7, KeptList { epoch, bytes: Bytes::from_static(b"{}") }).await;
        }
        tiny.run_pending_tasks().await;
        assert_eq!((tiny.entry_count(), tiny.get(&7).await.map(|list| list.epoch)), (1, Some(999)));
    }
}
