//! The tools of the program that others can be made of, by slug.

use std::sync::LazyLock;

use toolwright_sdk::{CodeTool, registered};

type BySlug = (&'static str, &'static CodeTool);

/// Defining a tool builds its schemas, which is not for every definition that is read.
static TOOLS: LazyLock<Vec<(String, &'static CodeTool)>> = LazyLock::new(|| {
    let tools = registered().unwrap_or_default().into_iter();
    tools.map(|tool| ((tool.define)().slug.to_string(), tool)).collect()
});

/// Those that tools of the kind `internal` can be made of.
pub(crate) fn builtins() -> impl Iterator<Item = BySlug> {
    all().filter(|(_, tool)| tool.builtin)
}

/// Those that tools of the kind `function` can be made of.
pub(crate) fn functions() -> impl Iterator<Item = BySlug> {
    all().filter(|(_, tool)| tool.callable)
}

fn all() -> impl Iterator<Item = BySlug> {
    TOOLS.iter().map(|(slug, tool)| (slug.as_str(), *tool))
}
