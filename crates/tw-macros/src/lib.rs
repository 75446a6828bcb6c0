//! `#[tool]`: turns an async function into a tool that registers itself.
//!
//! This room reads attributes and writes code, at compile time. Whatever can be wrong about a
//! declaration is an error here, at the token that is wrong, and never a surprise at start. It must
//! not know what a tool does when it runs, and it refers to `toolwright_sdk` only by name.
//!
//! Start with `attributes.rs`, what an author may write; then `expand.rs`, what becomes of it.

mod argument;
mod attributes;
mod expand;
mod grammar;

use proc_macro::TokenStream;

/// Makes an async function a tool of the program.
///
/// ```ignore
/// /// Counts the words of a text you already hold. For a file, read it first.
/// #[tool(slug = "text.word_count", name = "Word count", category = "text", icon = "text",
///        version = "1.0.0", level = "read", pure)]
/// async fn word_count(cx: ToolContext, input: Input) -> Result<Reply<Output>, ToolFailure> { … }
/// ```
///
/// The function takes the context and one input type (`Deserialize + JsonSchema`) and returns
/// `Result<R, ToolFailure>`, where `R` is `Reply<Output>` or plain `Output` (`Serialize +
/// JsonSchema`). The schemas come from the types. The doc comment is the description: people and
/// models read it, so it says when to use the tool and what to use instead.
///
/// | attribute | what |
/// | --- | --- |
/// | `slug`, `name`, `category`, `icon`, `version` | required texts; the icon is a Lucide name, the version is semantic |
/// | `level` | required: `"read"`, `"draft"`, `"write"` or `"destructive"` |
/// | `policy` | `"auto"` or `"always_ask"`; without it the level decides |
/// | `required_permission` | who lacks it neither sees nor runs the tool |
/// | `tenants = ["…"]` | only these tenants see the tool |
/// | `opt_in` | absent from a catalogue until switched on |
/// | `sections = [("key", "Label", "table")]` | how a person sees parts of the output; a fourth text is JSON configuration |
/// | `form = "name.form.json"` | a file beside this one: how the input is laid out for a person |
/// | `collaborative`, `aggregate = path` | several people may submit; the function combines what they did |
/// | `visible` | a space shows the call |
/// | `is_async`, `timeout_ms = 5000` | how long a call may take, and whether the caller waits |
/// | `pure` | equal input gives equal output, and nothing else happens |
/// | `open_world` | a call may reach what is neither this server nor the people on it; without it, unless `pure` |
/// | `callable` | tools of the kind `function` may be made of it |
/// | `builtin` | tools of the kind `internal` may be made of it |
/// | `calls` | it calls other tools by `ToolContext::call_tool`, and is run again where a call had to wait |
/// | `concurrency_group = "…"`, `max_concurrency = 2` | how many runs of the group may overlap |
/// | `tags = ["…"]` | for searching |
/// | `input_less` | the function takes the context only |
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    expand::tool(attributes.into(), item.into()).into()
}
