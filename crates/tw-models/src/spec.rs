//! One model, as the operator configured it.

use std::{fmt, time::Duration};

use tw_model::{Money, Usage};
use zeroize::Zeroizing;

/// Whose format a model speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provider {
    /// OpenAI, or any server with its chat completions.
    OpenAi,
    Anthropic,
    Gemini,
    /// Ollama, by its chat completions in the format of OpenAI.
    Ollama,
}

impl Provider {
    pub const ALL: [Self; 4] = [Self::OpenAi, Self::Anthropic, Self::Gemini, Self::Ollama];

    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|provider| provider.as_str() == text)
    }

    /// Where its own service is.
    #[must_use]
    pub const fn base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
            Self::Ollama => "http://127.0.0.1:11434/v1",
        }
    }

    /// Whether it refuses requests without a key.
    #[must_use]
    pub const fn needs_key(self) -> bool {
        !matches!(self, Self::Ollama)
    }
}

/// The operator's key for a model.
#[derive(Clone, Default)]
pub enum ModelKey {
    #[default]
    None,
    Text(Zeroizing<String>),
    /// The environment variable that was to hold it is not set.
    Unset {
        variable: String,
    },
}

impl fmt::Debug for ModelKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Text(_) => f.write_str("Text(…)"),
            Self::Unset { variable } => write!(f, "Unset({variable})"),
        }
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelPrice {
    pub input: Money,
    /// Of input that the provider had in its cache.
    pub cached: Money,
    /// Of input that the provider wrote to its cache.
    pub cache_write: Money,
    pub output: Money,
}

const MILLION: u128 = 1_000_000;

impl ModelPrice {
    /// What tokens cost, rounded up to a billionth.
    #[must_use]
    pub fn of(&self, tokens: &Tokens) -> Money {
        let special = tokens.cached.saturating_add(tokens.cache_write);
        let plain = tokens.input.saturating_sub(special);
        let parts = [
            (plain, self.input),
            (tokens.cached, self.cached),
            (tokens.cache_write, self.cache_write),
            (tokens.output, self.output),
        ];
        let sum = parts.into_iter().fold(0_u128, |sum, (tokens, price)| {
            sum.saturating_add(u128::from(tokens).saturating_mul(u128::from(price.nanos())))
        });
        Money::from_nanos(u64::try_from(sum.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

/// The tokens of one request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// All of them, also those of the next two.
    pub input: u64,
    pub cached: u64,
    pub cache_write: u64,
    pub output: u64,
}

/// A model under a name, checked by [`crate::Models::new`].
#[derive(Clone, Debug)]
pub struct ModelSpec {
    pub provider: Provider,
    /// As the provider calls it.
    pub model: String,
    pub base_url: String,
    pub key: ModelKey,
    pub context_tokens: u64,
    pub max_output_tokens: u64,
    /// Of one request.
    pub timeout: Duration,
    /// Whether tenants without a key of their own use the operator's.
    pub shared: bool,
    pub price: Option<ModelPrice>,
    /// The name of the model that is asked when this one is away.
    pub fallback: Option<String>,
}

impl ModelSpec {
    pub const CONTEXT_TOKENS: u64 = 128_000;
    pub const MAX_OUTPUT_TOKENS: u64 = 4_096;
    pub const TIMEOUT: Duration = Duration::from_secs(120);

    pub(crate) fn usage(&self, tokens: &Tokens, estimated: bool) -> Usage {
        Usage {
            provider: self.provider.as_str().to_owned(),
            model: self.model.clone(),
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cached_tokens: tokens.cached,
            cache_write_tokens: tokens.cache_write,
            cost: self.price.map(|price| price.of(tokens)),
            estimated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cached_and_written_tokens_have_prices_of_their_own() {
        let money = |units| Money::from_units(units).unwrap();
        let price = ModelPrice {
            input: money(0.25),
            cached: money(0.03),
            cache_write: money(0.31),
            output: money(2.0),
        };
        let tokens = Tokens { input: 1000, cached: 400, cache_write: 100, output: 10 };
        // 500 × 0.25 + 400 × 0.03 + 100 × 0.31 + 10 × 2, per million.
        assert_eq!(price.of(&tokens).nanos(), 188_000);
        let one = Tokens { input: 1, ..Tokens::default() };
        let tiny = ModelPrice { input: Money::from_nanos(1), ..price };
        assert_eq!(tiny.of(&one).nanos(), 1, "rounded up");
        let all = Tokens { input: u64::MAX, cached: 0, cache_write: 0, output: u64::MAX };
        assert_eq!(price.of(&all).nanos(), u64::MAX);
    }
}
