//! What comes back from a model, put together as it arrives.

use tw_model::Usage;

use crate::spec::Tokens;

/// What one answer may say.
pub(crate) const TEXT_BYTES_MAX: usize = 4 << 20;

/// Why a model stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelStop {
    /// It had said everything.
    Done,
    /// It reached `max_output_tokens`.
    Length,
    /// The provider kept the answer back.
    Filtered,
    /// It wants a tool, and none was offered.
    ToolCall,
}

/// The answer of a model.
#[derive(Clone, Debug)]
pub struct ModelAnswer {
    pub text: String,
    pub stop: ModelStop,
    pub usage: Usage,
}

/// Where the text of an answer goes while it arrives.
pub trait TextSink: Send {
    /// The next piece.
    fn text(&mut self, piece: &str);

    /// Nothing has come for a moment.
    fn idle(&mut self) {}
}

/// One piece of an answer, in nobody's format.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerPiece {
    pub(crate) text: String,
    pub(crate) stop: Option<ModelStop>,
    pub(crate) tokens: PieceTokens,
    /// What the provider says went wrong.
    pub(crate) error: Option<String>,
    /// Nothing follows.
    pub(crate) is_last: bool,
}

/// What a piece says about tokens. Providers report some at the beginning and the rest at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PieceTokens {
    pub(crate) input: Option<u64>,
    pub(crate) cached: Option<u64>,
    pub(crate) cache_write: Option<u64>,
    pub(crate) output: Option<u64>,
}

/// An answer that is still being read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) stop: Option<ModelStop>,
    tokens: PieceTokens,
    pub(crate) is_whole: bool,
}

impl Draft {
    pub(crate) fn take(&mut self, piece: &AnswerPiece) {
        self.text.push_str(&piece.text);
        self.stop = piece.stop.or(self.stop);
        let newer = &piece.tokens;
        self.tokens = PieceTokens {
            input: newer.input.or(self.tokens.input),
            cached: newer.cached.or(self.tokens.cached),
            cache_write: newer.cache_write.or(self.tokens.cache_write),
            output: newer.output.or(self.tokens.output),
        };
        self.is_whole |= piece.is_last;
    }

    /// What the request took, and whether that is a guess: bytes divided by four.
    pub(crate) fn tokens(&self, asked_bytes: usize) -> (Tokens, bool) {
        let PieceTokens { input, cached, cache_write, output } = self.tokens;
        let is_guess = input.is_none() || output.is_none();
        let tokens = Tokens {
            input: input.unwrap_or_else(|| guess(asked_bytes)),
            cached: cached.unwrap_or(0),
            cache_write: cache_write.unwrap_or(0),
            output: output.unwrap_or_else(|| guess(self.text.len())),
        };
        (tokens, is_guess)
    }
}

/// About as many tokens as a text of this size has.
pub(crate) fn guess(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
