//! The tools of the program, as they registered themselves.

use std::fmt;

use serde_json::Value;
use tw_model::{ToolDef, ToolFailure, ToolResult};

use crate::{BoxFuture, ToolContext};

/// Runs a tool on an input that fits its schema.
pub type RunFn = fn(ToolContext, Value) -> BoxFuture<'static, Result<ToolResult, ToolFailure>>;

/// Combines what several people submitted into one output.
pub type AggregateFn = fn(Vec<Submission>) -> Result<Value, ToolFailure>;

/// One person's run of a collaborative tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Submission {
    pub input: Value,
    pub output: Value,
}

/// Where in the source a tool is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    pub file: &'static str,
    pub line: u32,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A tool defined in code: registered by [`macro@crate::tool`], collected by the engine.
#[derive(Debug)]
pub struct CodeTool {
    pub location: Location,
    /// Builds the definition, schemas included. Not cheap: call it once and keep the answer.
    pub define: fn() -> ToolDef,
    pub run: RunFn,
    pub aggregate: Option<AggregateFn>,
    /// Declared to take no input at all.
    pub input_less: bool,
    /// Tools of the kind `function` may be made of it.
    pub callable: bool,
    /// Tools of the kind `internal` may be made of it, by its slug.
    pub builtin: bool,
    /// It calls other tools, so it may have to wait, and is then run again from its beginning.
    pub calls: bool,
    /// What the author of such a tool may write beside `builtin_key`, by name.
    pub settings: &'static [&'static str],
}

inventory::collect!(CodeTool);

/// Two tools claim one slug. Nobody can say which of them a caller means, so the program must not
/// start.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("two tools claim the slug `{slug}`: {first} and {second}")]
pub struct DuplicateSlug {
    pub slug: String,
    pub first: Location,
    pub second: Location,
}

/// Every tool of the program by slug; or the two places that claim one name, as a slug or an alias, ignoring case.
///
/// Only crates that are linked in count: the program has to refer to something in a crate of tools.
pub fn registered() -> Result<Vec<&'static CodeTool>, DuplicateSlug> {
    let (mut tools, mut names) = (Vec::new(), Vec::new());
    for tool in inventory::iter::<CodeTool> {
        let def = (tool.define)();
        names.extend(def.authored.aliases.iter().map(|alias| (alias.clone(), tool)));
        tools.push((def.slug.to_string(), tool));
    }
    names.extend(tools.iter().cloned());
    sorted(names)?;
    sorted(tools)
}

fn sorted(mut tools: Vec<(String, &CodeTool)>) -> Result<Vec<&CodeTool>, DuplicateSlug> {
    // The order of registration is the linker's; the place makes the message the same every time.
    tools.sort_by_cached_key(|(slug, tool)| (slug.to_ascii_lowercase(), tool.location));
    for pair in tools.windows(2) {
        let [(slug, first), (other, second)] = pair else { continue };
        if slug.eq_ignore_ascii_case(other) {
            return Err(DuplicateSlug { slug: slug.clone(), first: first.location, second: second.location });
        }
    }
    Ok(tools.into_iter().map(|(_, tool)| tool).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(line: u32) -> CodeTool {
        CodeTool {
            location: Location { file: "src/text.rs", line },
            define: || unreachable!("the slug is given beside the tool"),
            run: |_, _| unreachable!("nothing runs here"),
            aggregate: None,
            input_less: false,
            callable: false,
            builtin: false,
            calls: false,
            settings: &[],
        }
    }

    #[test]
    fn tools_come_sorted_by_slug_ignoring_case() {
        let (a, b, c) = (tool(1), tool(2), tool(3));
        let tools = vec![("zip".to_owned(), &a), ("Copy".to_owned(), &b), ("archive".to_owned(), &c)];
        let lines: Vec<_> = sorted(tools).unwrap().iter().map(|tool| tool.location.line).collect();
        assert_eq!(lines, [3, 2, 1]);
    }

    #[test]
    fn slug_claimed_twice_names_both_places_whatever_the_order() {
        let (a, b) = (tool(10), tool(20));
        for tools in [
            vec![("word_count".to_owned(), &a), ("Word_Count".to_owned(), &b)],
            vec![("Word_Count".to_owned(), &b), ("word_count".to_owned(), &a)],
        ] {
            let problem = sorted(tools).unwrap_err();
            assert_eq!(
                problem.to_string(),
                "two tools claim the slug `word_count`: src/text.rs:10 and src/text.rs:20"
            );
        }
    }
}
