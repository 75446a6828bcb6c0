//! Limits of numbers, lengths and counts; patterns and formats.

use std::cmp::Ordering;

use serde_json::{Number, Value};

use super::{Effect, layers::Layers, walk::Walk};
use crate::{canonical, words::cut};

/// Formats that are checked. Any other is a hint for forms.
const FORMATS: &[&str] = &[
    "date",
    "date-time",
    "time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "uri-template",
    "iri",
    "iri-reference",
    "uuid",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// A limit and whether it is itself out of reach.
type Limit<'a> = (&'a Number, bool);

impl<'a> Walk<'a> {
    pub(super) fn numbers(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        let keywords = ("minimum", "exclusiveMinimum");
        let least = |layers: &Layers<'a>| tightest(layers, keywords, Ordering::Greater);
        self.limit(least(from), least(to), at, Ordering::Greater, ("be at least", ""));
        let keywords = ("maximum", "exclusiveMaximum");
        let most = |layers: &Layers<'a>| tightest(layers, keywords, Ordering::Less);
        self.limit(most(from), most(to), at, Ordering::Less, ("be at most", ""));
        self.multiples(from, to, at);
    }

    /// Compares two limits of one kind. `tighter` is how a tighter one compares to a looser one.
    fn limit(
        &mut self,
        from: Option<Limit<'a>>,
        to: Option<Limit<'a>>,
        at: &str,
        tighter: Ordering,
        (must, unit): (&str, &str),
    ) {
        let shown = |(number, exclusive): Limit<'a>| match exclusive {
            true => format!("{number} (exclusive)"),
            false => number.to_string(),
        };
        let (order, message) = match (from, to) {
            (None, None) => return,
            (None, Some(to)) => (tighter, format!("must {must} {}{unit} now", shown(to))),
            (Some(from), None) => (tighter.reverse(), format!("need no longer {must} {}{unit}", shown(from))),
            (Some(from), Some(to)) => {
                let message = format!("must {must} {}{unit}, before {}", shown(to), shown(from));
                (by_limit(to, from, tighter), message)
            }
        };
        if order == tighter {
            self.say(at, "bound_tightened", Effect::Narrower, message);
        } else if order == tighter.reverse() {
            self.say(at, "bound_loosened", Effect::Wider, message);
        }
    }

    fn multiples(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        let of = |layers: &Layers<'a>| layers.every("multipleOf").collect::<Vec<_>>();
        let (kind, effect) = match (of(from).as_slice(), of(to).as_slice()) {
            ([], []) => return,
            ([], _) => ("bound_tightened", Effect::Narrower),
            (_, []) => ("bound_loosened", Effect::Wider),
            (from, to) if texts(from) == texts(to) => return,
            ([from], [to]) => match (from.as_u64(), to.as_u64()) {
                (Some(from), Some(to)) if to != 0 && from % to == 0 => ("bound_loosened", Effect::Wider),
                (Some(from), Some(to)) if from != 0 && to % from == 0 => {
                    ("bound_tightened", Effect::Narrower)
                }
                _ => ("bound_tightened", Effect::Both),
            },
            _ => ("bound_tightened", Effect::Both),
        };
        self.say(at, kind, effect, "must be a multiple of another number");
    }

    /// Lengths and counts, which start at nothing.
    pub(super) fn counts(
        &mut self,
        from: &Layers<'a>,
        to: &Layers<'a>,
        at: &str,
        least: &'a str,
        most: &'a str,
        noun: &str,
    ) {
        let unit = format!(" {noun}s");
        let limit = |layers: &Layers<'a>, keyword, tighter| {
            let limit = tightest(layers, (keyword, ""), tighter);
            limit.filter(|(number, _)| tighter == Ordering::Less || number.as_f64() != Some(0.0))
        };
        let tighter = Ordering::Greater;
        self.limit(
            limit(from, least, tighter),
            limit(to, least, tighter),
            at,
            tighter,
            ("have at least", &unit),
        );
        let tighter = Ordering::Less;
        self.limit(
            limit(from, most, tighter),
            limit(to, most, tighter),
            at,
            tighter,
            ("have at most", &unit),
        );
    }

    /// A keyword that is true or not there.
    pub(super) fn switch(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str, keyword: &'a str) {
        let on = |layers: &Layers<'a>| layers.every(keyword).any(|value| value == true);
        match (on(from), on(to)) {
            (false, true) => {
                self.say(at, "bound_tightened", Effect::Narrower, format!("`{keyword}` is `true` now"));
            }
            (true, false) => {
                self.say(at, "bound_loosened", Effect::Wider, format!("`{keyword}` is no longer `true`"));
            }
            _ => {}
        }
    }

    pub(super) fn texts(&mut self, from: &Layers<'a>, to: &Layers<'a>, at: &str) {
        self.counts(from, to, at, "minLength", "maxLength", "character");
        let all = |layers: &Layers<'a>, keyword| layers.every(keyword).collect::<Vec<_>>();
        let (old, new) = (all(from, "pattern"), all(to, "pattern"));
        self.demands(&old, &new, at, "pattern_changed", "pattern");
        let checked = |format: &&&Value| format.as_str().is_some_and(|format| FORMATS.contains(&format));
        let (old, new) = (all(from, "format"), all(to, "format"));
        let before = self.found.len();
        let only_checked =
            |formats: &[&'a Value]| formats.iter().filter(checked).copied().collect::<Vec<_>>();
        self.demands(&only_checked(&old), &only_checked(&new), at, "format_changed", "format");
        if self.found.len() == before && texts(&old) != texts(&new) {
            self.say(at, "format_changed", Effect::Same, "has another format, which is only a hint");
        }
    }

    /// Demands that either hold or do not, with nothing in between.
    fn demands(&mut self, from: &[&'a Value], to: &[&'a Value], at: &str, kind: &'static str, noun: &str) {
        let (known, kept) = (texts(from), texts(to));
        let dropped = known.iter().any(|text| !kept.contains(text));
        let added = kept.iter().any(|text| !known.contains(text));
        let shown = || to.iter().filter_map(|text| text.as_str()).map(cut).collect::<Vec<_>>().join("`, `");
        let (effect, message) = match (dropped, added) {
            (false, false) => return,
            (true, false) => (Effect::Wider, format!("no longer has a {noun}")),
            (false, true) => (Effect::Narrower, format!("has the {noun} `{}` now", shown())),
            (true, true) => (Effect::Both, format!("has another {noun}: `{}`", shown())),
        };
        self.say(at, kind, effect, message);
    }
}

fn texts(values: &[&Value]) -> Vec<String> {
    let mut texts: Vec<String> = values.iter().map(|value| canonical(value)).collect();
    texts.sort_unstable();
    texts
}

/// The tightest of all limits by a keyword and by its exclusive sister.
fn tightest<'a>(
    layers: &Layers<'a>,
    (keyword, exclusive): (&'a str, &'a str),
    tighter: Ordering,
) -> Option<Limit<'a>> {
    let number = |value: &'a Value| match value {
        Value::Number(number) => Some(number),
        _ => None,
    };
    let limits = layers.every(keyword).filter_map(number).map(|limit| (limit, false));
    let limits = limits.chain(layers.every(exclusive).filter_map(number).map(|limit| (limit, true)));
    limits.reduce(|one, other| if by_limit(other, one, tighter) == tighter { other } else { one })
}

/// Orders limits; of two equal numbers the one that is itself out of reach is tighter.
fn by_limit(left: Limit<'_>, right: Limit<'_>, tighter: Ordering) -> Ordering {
    by_size(left.0, right.0).then(match (left.1, right.1) {
        (true, false) => tighter,
        (false, true) => tighter.reverse(),
        _ => Ordering::Equal,
    })
}

/// Orders numbers exactly, which floats would not do beyond two to the 53rd.
fn by_size(left: &Number, right: &Number) -> Ordering {
    let float = |number: &Number| number.as_f64().unwrap_or_default();
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        (Some(left), None) => whole_to_float(left, float(right)),
        (None, Some(right)) => whole_to_float(right, float(left)).reverse(),
        (None, None) => float(left).total_cmp(&float(right)),
    }
}

fn whole_to_float(whole: i128, float: f64) -> Ordering {
    // A float beyond this range saturates in the cast, and every whole number of JSON is nearer.
    let floor = float.floor() as i128;
    whole.cmp(&floor).then(if float.floor() < float { Ordering::Less } else { Ordering::Equal })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn formats_that_count_are_those_that_are_checked() {
        let refuses = |format: &str| {
            let schema = crate::Schema::compile(&json!({ "format": format })).unwrap();
            !schema.is_valid(&json!("{ ("))
        };
        for format in FORMATS {
            assert!(refuses(format), "{format}");
        }
        for hint in ["password", "idn-email", "idn-hostname", "binary"] {
            assert!(!refuses(hint), "{hint}");
        }
    }

    #[test]
    fn numbers_are_ordered_exactly_whatever_they_are_written_as() {
        let sorted = [
            json!(-1e300),
            json!(i64::MIN),
            json!(-1.5),
            json!(-1),
            json!(0),
            json!(0.5),
            json!(9_007_199_254_740_992_u64),
            json!(9_007_199_254_740_993_u64),
            json!(u64::MAX),
            json!(1e300),
        ];
        let number = |value: &Value| value.as_number().unwrap().clone();
        for (left_index, left) in sorted.iter().enumerate() {
            for (right_index, right) in sorted.iter().enumerate() {
                assert_eq!(
                    by_size(&number(left), &number(right)),
                    left_index.cmp(&right_index),
                    "{left} {right}"
                );
            }
        }
        assert_eq!(by_size(&number(&json!(1)), &number(&json!(1.0))), Ordering::Equal);
        assert_eq!(by_size(&number(&json!(-0.0)), &number(&json!(0))), Ordering::Equal);
    }
}
