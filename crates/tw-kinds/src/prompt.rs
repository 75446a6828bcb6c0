//! Tools that are a question to a language model.
//!
//! [`PromptSpec`] is what an author wrote, read once. A run fills it in, asks the model, and gives its text back, or the
//! JSON in it. Which models there are, and by which key one is asked, is for `tw-models` to know.

mod json;
mod kind;
mod spec;
mod stream;

pub(crate) use kind::Prompt;
