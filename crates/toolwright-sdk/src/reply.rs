//! What an author's function returns.

use schemars::JsonSchema;
use serde::Serialize;
use tw_model::{Code, ToolFailure, ToolResult};

/// What a tool answers: data, and words about it.
///
/// The data is for programs and models, the summary is one line for the person who watches, the
/// Markdown stands in a prompt where the data would be too long to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply<T> {
    data: T,
    summary: String,
    markdown: Option<String>,
}

impl<T> Reply<T> {
    pub fn new(data: T, summary: impl Into<String>) -> Self {
        Self { data, summary: summary.into(), markdown: None }
    }

    #[must_use]
    pub fn markdown(mut self, text: impl Into<String>) -> Self {
        self.markdown = Some(text.into());
        self
    }

    #[must_use]
    pub fn data(&self) -> &T {
        &self.data
    }

    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }
}

/// What a tool's function may return as its success: a [`Reply`], or the plain output, which then
/// gets a summary made from the tool's name.
#[diagnostic::on_unimplemented(
    message = "a tool cannot answer with `{Self}`",
    label = "return `Reply<Output>` or `Output`, where `Output: Serialize + JsonSchema`",
    note = "derive both: `#[derive(Serialize, JsonSchema)]`"
)]
pub trait IntoReply {
    type Data: Serialize + JsonSchema;

    fn into_reply(self, tool_name: &str) -> Reply<Self::Data>;
}

impl<T: Serialize + JsonSchema> IntoReply for Reply<T> {
    type Data = T;

    fn into_reply(self, _tool_name: &str) -> Reply<T> {
        self
    }
}

impl<T: Serialize + JsonSchema> IntoReply for T {
    type Data = T;

    fn into_reply(self, tool_name: &str) -> Reply<T> {
        Reply::new(self, format!("{tool_name}: done"))
    }
}

impl<T: Serialize> TryFrom<Reply<T>> for ToolResult {
    type Error = ToolFailure;

    fn try_from(reply: Reply<T>) -> Result<Self, ToolFailure> {
        let data = serde_json::to_value(reply.data).map_err(|error| {
            ToolFailure::with_code(Code::OutputInvalid, format!("The tool's output is not JSON: {error}"))
        })?;
        Ok(Self { data, summary: reply.summary, markdown: reply.markdown })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;

    #[test]
    fn plain_output_gets_a_summary_from_the_name_of_the_tool() {
        let reply = vec![1, 2].into_reply("Word count");
        assert_eq!((reply.data(), reply.summary()), (&vec![1, 2], "Word count: done"));
    }

    #[test]
    fn reply_keeps_its_own_words() {
        let reply =
            Reply::new(json!({ "words": 2 }), "2 words").markdown("**2** words").into_reply("Word count");
        let result = ToolResult::try_from(reply).unwrap();
        assert_eq!(result.summary, "2 words");
        assert_eq!(result.markdown.as_deref(), Some("**2** words"));
        assert_eq!(result.data, json!({ "words": 2 }));
    }

    #[test]
    fn output_that_is_not_json_is_a_failure() {
        let reply = Reply::new(BTreeMap::from([((1, 2), 3)]), "pairs are no keys");
        let failure = ToolResult::try_from(reply).unwrap_err();
        assert_eq!(failure.code, Code::OutputInvalid);
    }
}
