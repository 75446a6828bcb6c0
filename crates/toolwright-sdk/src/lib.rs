//! What somebody who writes tools in Rust sees: the `#[tool]` macro, the context of a call, the reply.
//!
//! A tool is one async function in one file, and one `mod` line beside it. The function registers
//! itself; no list is edited. This room knows nothing of stores, doors or policies, and must never
//! depend on the crates that do: a tool gets what it may touch through its [`ToolContext`] and
//! through nothing else, the network included.
//!
//! Start with [`macro@tool`], then [`ToolContext`] and [`Reply`]. [`registered`] is what the engine
//! reads at start, [`conformance`] what the tests hold every tool against.
//!
//! ```
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use toolwright_sdk::{Reply, ToolContext, ToolFailure, tool};
//!
//! #[derive(Debug, Deserialize, JsonSchema)]
//! #[serde(deny_unknown_fields)]
//! struct Input {
//!     /// The text to count.
//!     #[schemars(length(max = 100_000))]
//!     text: String,
//! }
//!
//! #[derive(Debug, Serialize, JsonSchema)]
//! struct Output {
//!     /// How many words the text has.
//!     words: usize,
//! }
//!
//! /// Counts the words of a text you already hold. For a file, read it first.
//! #[tool(
//!     slug = "text.word_count",
//!     name = "Word count",
//!     category = "text",
//!     icon = "text",
//!     version = "1.0.0",
//!     level = "read",
//!     pure
//! )]
//! async fn word_count(_cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> {
//!     let words = input.text.split_whitespace().count();
//!     Ok(Reply::new(Output { words }, format!("{words} words")))
//! }
//!
//! let tools = toolwright_sdk::registered()?;
//! assert_eq!((tools[0].define)().slug.as_str(), "text.word_count");
//! # Ok::<(), toolwright_sdk::DuplicateSlug>(())
//! ```

mod blocking;
mod calls;
pub mod conformance;
mod context;
mod declare;
mod future;
mod heavy;
mod log_lines;
mod outside;
mod progress;
mod redact;
mod registry;
mod reply;
mod services;
mod texts;
mod usage;

pub use calls::{Called, InnerCall, InnerCalls, Wait};
pub use context::{ContextParts, ToolContext};
pub use declare::NoInput;
pub use future::BoxFuture;
pub use heavy::{HeavyPool, INLINE_BYTES_MAX, Overload, bytes_of, spawn_yielding};
pub use log_lines::LogLines;
pub use outside::failure_of;
pub use progress::ToolProgress;
pub use redact::Redactor;
pub use registry::{AggregateFn, CodeTool, DuplicateSlug, Location, RunFn, Submission, registered};
pub use reply::{IntoReply, Reply};
pub use services::{Credential, Credentials, Filters, Network, Secret, Services};
pub use tw_egress as egress;
pub use tw_macros::tool;
pub use tw_model::{
    Code, Level, Permission, PermissionSet, Policy, RunId, SessionId, Source, TenantId, TenantSlug, ToolDef,
    ToolFailure, ToolResult, UserId,
};
pub use usage::UsageMeter;

/// What the macro's expansion refers to. No promise is made about it.
#[doc(hidden)]
pub mod __private {
    pub use inventory;
    pub use schemars;
    pub use serde;
    pub use serde_json;
    pub use tw_model::{Level, Policy, SectionKind, ToolDef};

    pub use crate::declare::{Declaration, Section, define, define_input_less, run, run_input_less};
}
