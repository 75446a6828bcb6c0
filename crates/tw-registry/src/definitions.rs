//! Where the input of a tool holds a definition, or passes one on.

use std::collections::HashSet;

use serde_json::Value;
use tw_exec::Executor;
use tw_vault::DefinitionParts;

use crate::catalogue::{Tool, ToolEntry, View};

impl View {
    /// The parts of an input in which secrets are known by the rule for definitions: those that the tool names itself. A
    /// tool that calls such a tool, directly or by others, may be given anywhere what it passes on.
    #[must_use]
    pub fn definition_parts(&self, tool: &Tool, input: &Value) -> DefinitionParts {
        match tool.executor.definition_parts() {
            [] if self.passes_definitions(&*tool.executor, input) => DefinitionParts::Whole,
            [] => DefinitionParts::None,
            members => DefinitionParts::members(members),
        }
    }

    fn passes_definitions(&self, executor: &dyn Executor, input: &Value) -> bool {
        let mut ahead = executor.calls_with(input);
        let mut known = HashSet::new();
        while let Some(name) = ahead.pop() {
            let Some(entry) = self.tools.get(name) else { continue };
            if !known.insert(entry.id()) {
                continue;
            }
            match entry {
                ToolEntry::Code(tool) if !tool.executor.definition_parts().is_empty() => return true,
                ToolEntry::Code(tool) => ahead.extend(tool.executor.calls_with(input)),
                ToolEntry::Own(own) => ahead.extend(own.calls()),
            }
        }
        false
    }
}
