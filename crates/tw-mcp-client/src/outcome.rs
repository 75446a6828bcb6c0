//! What a tool of a server gave.

use serde_json::{Map, Value, json};
use toolwright_sdk::Redactor;
use tw_model::{ToolFailure, with_content};

/// The result of a call, without the credentials that the server was sent.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// Blocks of text, pictures, sound and resources, as they came.
    pub content: Vec<Value>,
    pub structured_content: Option<Value>,
    /// Whether the tool says that it failed.
    pub is_error: bool,
    pub meta: Option<Value>,
}

impl CallResult {
    pub(crate) fn read(mut result: Map<String, Value>, redactor: &Redactor) -> Result<Self, &'static str> {
        let structured_content = result.remove("structuredContent");
        let content = match result.remove("content") {
            Some(Value::Array(blocks)) if blocks.iter().all(is_block) => blocks,
            Some(_) => return Err("`content` must be a list of objects with a `type`"),
            None if structured_content.is_some() => Vec::new(),
            None => return Err("it has neither `content` nor `structuredContent`"),
        };
        let is_error = match result.get("isError") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(is_error)) => *is_error,
            Some(_) => return Err("`isError` must be true or false"),
        };
        Ok(Self {
            content: content.into_iter().map(|block| redactor.value(block)).collect(),
            structured_content: structured_content.map(|content| redactor.value(content)),
            is_error,
            meta: result.remove("_meta").map(|meta| redactor.value(meta)),
        })
    }

    /// The result, unless the tool says that it failed.
    pub fn succeeded(self) -> Result<Self, ToolFailure> {
        if !self.is_error {
            return Ok(self);
        }
        Err(ToolFailure::new(match self.text().trim() {
            "" => "The tool reported a failure and did not say why",
            text => text,
        }))
    }

    /// The structured content, else the text.
    #[must_use]
    pub fn data(&self) -> Value {
        self.structured_content.clone().unwrap_or_else(|| Value::String(self.text()))
    }

    /// The data with pictures, sound and resources beside it; `None` where there are none, or no place for them.
    #[must_use]
    pub fn data_with_content(&self) -> Option<Value> {
        self.others().next()?;
        match &self.structured_content {
            Some(data) => with_content(data, &self.content),
            None => with_content(&json!({ "text": self.text() }), &self.content),
        }
    }

    /// The texts of its blocks, one below the other.
    #[must_use]
    pub fn text(&self) -> String {
        let texts = self
            .content
            .iter()
            .filter_map(|block| (block["type"] == "text").then(|| block["text"].as_str()).flatten());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The blocks that are no text.
    pub fn others(&self) -> impl Iterator<Item = &Value> {
        self.content.iter().filter(|block| block["type"] != "text")
    }
}

fn is_block(block: &Value) -> bool {
    block.get("type").is_some_and(Value::is_string)
}
