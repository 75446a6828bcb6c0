//! What a run asked of language models, in tokens and in money.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An amount of money in billionths, in the currency of the configured prices. JSON has it as a plain number.
///
/// Whole numbers, so that a thousand small amounts make exactly their sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Money(u64);

impl Money {
    const PER_UNIT: f64 = 1e9;

    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// An amount as people write it; `None` where it is negative or no number.
    #[must_use]
    pub fn from_units(units: f64) -> Option<Self> {
        let nanos = (units * Self::PER_UNIT).round();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked")]
        (0.0..=1e18).contains(&nanos).then_some(Self(nanos as u64))
    }

    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }

    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "money is shown with far fewer digits")]
    pub fn units(self) -> f64 {
        self.0 as f64 / Self::PER_UNIT
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.units())
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let units = f64::deserialize(deserializer)?;
        Self::from_units(units).ok_or_else(|| serde::de::Error::custom("must be an amount of money"))
    }
}

/// What one or several requests to models took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub provider: String,
    /// As the provider calls it.
    pub model: String,
    /// All of them, also those that the provider had in its cache or wrote to it.
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cached_tokens: u64,
    pub cache_write_tokens: u64,
    /// `None` where the model has no price.
    pub cost: Option<Money>,
    /// Whether the provider reported nothing, so that the tokens are bytes divided by four.
    pub estimated: bool,
}

impl Usage {
    /// Both together, under the model of the later one. Without one price there is no sum.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        Self {
            provider: later.provider,
            model: later.model,
            input_tokens: self.input_tokens.saturating_add(later.input_tokens),
            output_tokens: self.output_tokens.saturating_add(later.output_tokens),
            cached_tokens: self.cached_tokens.saturating_add(later.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(later.cache_write_tokens),
            cost: self.cost.zip(later.cost).map(|(first, second)| first.plus(second)),
            estimated: self.estimated || later.estimated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amount_is_a_plain_number_and_exact() {
        let tenth = Money::from_units(0.1).unwrap();
        let sum = (0..10).fold(Money::default(), |sum, _| sum.plus(tenth));
        assert_eq!(serde_json::to_string(&sum).unwrap(), "1.0");
        assert_eq!(serde_json::from_str::<Money>("0.00000175").unwrap(), Money::from_nanos(1750));
        assert!(serde_json::from_str::<Money>("-1").is_err());
        assert_eq!(Money::from_units(f64::NAN), None);
    }

    #[test]
    fn usage_without_a_price_leaves_the_sum_without_one() {
        let usage = |cost| Usage {
            provider: "openai".to_owned(),
            model: "m".to_owned(),
            input_tokens: 1,
            output_tokens: 2,
            cached_tokens: 0,
            cache_write_tokens: 0,
            cost,
            estimated: false,
        };
        let one = Some(Money::from_nanos(1));
        assert_eq!(usage(one).and(usage(one)).cost, Some(Money::from_nanos(2)));
        assert_eq!(usage(one).and(usage(None)).cost, None);
        assert_eq!(usage(one).and(usage(None)).input_tokens, 2);
    }
}
