//! Filters of expressions that need a bound on what they make: those of minijinja, and none beside them.

use std::sync::{Arc, LazyLock};

use minijinja::{
    Environment, Error, ErrorKind, HtmlEscape, State, Value, filters,
    value::{Kwargs, Rest, ValueKind, ValueOrKwargs},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize as _;
use serde_json::{Serializer, ser::PrettyFormatter};

use super::{
    language::{Bounded, text_of, to_json},
    meter::{ITEM_BYTES, VALUE_BYTES_MAX, pay, pay_for_making, too_large, weigh, weight},
    vocabulary::is_filter,
};

/// How wide a number or a text is made, and how far a line is moved.
const WIDTH_MAX: usize = 1_000;
/// As the library has it: a slash stays, so that a path can be encoded as a whole.
const URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// The operator `*`. The library repeats a text up to 100 MB, and a list without end.
pub(super) fn multiply(left: Value, right: Value) -> Result<Value, Error> {
    static PRODUCT: LazyLock<Environment<'static>> = LazyLock::new(Environment::empty);
    let repeated = [(&left, &right), (&right, &left)]
        .into_iter()
        .find(|(value, _)| matches!(value.kind(), ValueKind::String | ValueKind::Seq | ValueKind::Iterable));
    if let Some((value, times)) = repeated {
        let each = value.as_str().map_or_else(|| weight(value), |text| Ok(text.len()))?;
        pay_for_making(each.saturating_mul(times.as_usize().unwrap_or(1)))?;
    }
    let product = PRODUCT.compile_expression("left * right")?;
    product.eval(Value::from_pairs([("left", left), ("right", right)]))
}

/// As the library has it, with the list paid for.
pub(super) fn split(text: &str, by: Option<Arc<str>>, times: Option<i64>) -> Result<Value, Error> {
    let parts = match &by {
        Some(by) => text.matches(&**by).count(),
        None => text.split_whitespace().count(),
    };
    pay_for_making(text.len().saturating_add((parts + 1).saturating_mul(ITEM_BYTES)))?;
    filters::split(&Value::from(text), by, times)
}

pub(super) fn lines(text: &str) -> Result<Value, Error> {
    pay_for_making(text.len().saturating_add((text.lines().count() + 1).saturating_mul(ITEM_BYTES)))?;
    filters::lines(&Value::from(text))
}

fn wrong(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
}

/// `tojson`, and `tojson(indent=2)` for people.
pub(super) fn tojson(value: &Value, indent: Option<Value>, named: Kwargs) -> Result<String, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => named.get("indent")?,
    };
    named.assert_all_used()?;
    let json = to_json(value)?;
    let width = match indent {
        Some(indent) if indent.kind() == ValueKind::Bool => 2 * usize::from(indent.is_true()),
        Some(indent) => indent.as_usize().ok_or_else(|| wrong("`indent` must be a number"))?,
        None => 0,
    };
    if width == 0 {
        return Ok(json.to_string());
    }
    let spaces = " ".repeat(within_width(width)?);
    let mut text = Bounded(Vec::new());
    let formatter = PrettyFormatter::with_indent(spaces.as_bytes());
    json.serialize(&mut Serializer::with_formatter(&mut text, formatter)).map_err(|_| too_large())?;
    String::from_utf8(text.0).map_err(|_| wrong("the text is not UTF-8"))
}

/// `map(attribute="name")`, and `map("upper")` with whatever the filter takes. What comes out of it counts together,
/// since each of many items could be made into much; what goes into it, the filter pays for.
pub(super) fn map(
    state: &mut State<'_, '_>,
    value: Value,
    given: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    let given = given.into_values();
    let (filter, arguments) = match given.split_first() {
        Some((first, arguments)) if !first.is_kwargs() => (first, arguments),
        _ => {
            let arguments: Vec<_> = std::iter::once(value).chain(given).collect();
            return Value::from_function(filters::map).call(state, &arguments);
        }
    };
    let filter = filter.as_str().ok_or_else(|| wrong("the name of a filter must be a text"))?;
    if filter == "map" {
        return Err(wrong("`map` must not be used with the filter `map`"));
    }
    // Also where there is nothing to map.
    if !is_filter(filter) {
        return Err(Error::new(ErrorKind::UnknownFilter, format!("filter {filter} is unknown")));
    }
    let mut left = VALUE_BYTES_MAX;
    let mut mapped = Vec::new();
    for item in value.try_iter()? {
        let arguments: Vec<_> = std::iter::once(item).chain(arguments.iter().cloned()).collect();
        let made = state.apply_filter(filter, &arguments)?;
        left = left.checked_sub(weigh(&made)?).ok_or_else(too_large)?;
        mapped.push(made);
    }
    Ok(Value::from(mapped))
}

/// `sum` and `sum(attribute="price")`, of numbers. From a text on, it would join texts.
pub(super) fn sum(state: &mut State<'_, '_>, value: Value, named: Kwargs) -> Result<Value, Error> {
    let attribute: Option<Value> = named.get("attribute")?;
    named.assert_all_used()?;
    let arguments = Kwargs::from_iter(attribute.map(|attribute| ("attribute", attribute)));
    Value::from_function(filters::sum).call(state, &[value, Value::from(arguments)])
}

pub(super) fn join(
    value: &Value,
    between: Option<&str>,
    attribute: Option<&str>,
    named: Kwargs,
) -> Result<String, Error> {
    let between = between.or(named.get("d")?).unwrap_or_default();
    let attribute = attribute.or(named.get("attribute")?);
    named.assert_all_used()?;
    let mut joined = String::new();
    for (index, item) in value.try_iter()?.enumerate() {
        if index > 0 {
            joined.push_str(between);
        }
        let item = match attribute {
            Some(path) => path.split('.').try_fold(item, |item, step| item.get_attr(step))?,
            None => item,
        };
        joined.push_str(&text_of(&item)?);
        if VALUE_BYTES_MAX < joined.len() {
            return Err(too_large());
        }
    }
    pay(joined.len())?;
    Ok(joined)
}

pub(super) fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    pay_for_making(text.len() + text.matches(from).count().saturating_mul(to.len()))?;
    Ok(text.replace(from, to))
}

pub(super) fn escape(value: &Value) -> Result<String, Error> {
    let text = text_of(value)?;
    // The longest of what stands for a character has six.
    pay_for_making(text.len() + 5 * text.matches(['<', '>', '&', '"', '\'', '/']).count())?;
    Ok(HtmlEscape(&text).to_string())
}

/// A text as a part of a path, or the members of an object as a query.
pub(super) fn urlencode(value: &Value) -> Result<String, Error> {
    let encoded = |value: &Value| {
        let text = text_of(value)?;
        pay_for_making(3 * text.len())?;
        Ok::<_, Error>(utf8_percent_encode(&text, URL).to_string())
    };
    if value.kind() != ValueKind::Map {
        return if value.is_none() { Ok(String::new()) } else { encoded(value) };
    }
    let mut pairs = Vec::new();
    for key in value.try_iter()? {
        let member = value.get_item(&key)?;
        if !member.is_none() && !member.is_undefined() {
            pairs.push(format!("{}={}", encoded(&key)?, encoded(&member)?));
        }
    }
    Ok(pairs.join("&"))
}

/// As Jinja has it: cut behind a word, with room for the end, and not at all for a few characters.
pub(super) fn truncate(
    text: &str,
    length: Option<usize>,
    killwords: Option<bool>,
    end: Option<&str>,
    named: Kwargs,
) -> Result<String, Error> {
    let length = length.or(named.get("length")?).unwrap_or(255);
    let killwords = killwords.or(named.get("killwords")?).unwrap_or(false);
    let end = end.or(named.get("end")?).unwrap_or("...");
    let leeway = named.get::<Option<usize>>("leeway")?.unwrap_or(5);
    named.assert_all_used()?;
    if text.chars().count() <= length.saturating_add(leeway) {
        return Ok(text.to_owned());
    }
    let kept: String = text.chars().take(length.saturating_sub(end.chars().count())).collect();
    let kept = if killwords { kept.as_str() } else { kept.rsplit_once(' ').map_or(&*kept, |(kept, _)| kept) };
    Ok(format!("{kept}{end}"))
}

pub(super) fn batch(
    state: &mut State<'_, '_>,
    value: Value,
    count: usize,
    fill: Option<Value>,
) -> Result<Value, Error> {
    grouped(state, Value::from_function(filters::batch), value, count, fill)
}

pub(super) fn slice(
    state: &mut State<'_, '_>,
    value: Value,
    count: usize,
    fill: Option<Value>,
) -> Result<Value, Error> {
    grouped(state, Value::from_function(filters::slice), value, count, fill)
}

/// The count says how much room is made, whatever there is to fill it.
fn grouped(
    state: &mut State<'_, '_>,
    filter: Value,
    value: Value,
    count: usize,
    fill: Option<Value>,
) -> Result<Value, Error> {
    if WIDTH_MAX < count {
        return Err(wrong(format!("a list must be divided into at most {WIDTH_MAX} parts")));
    }
    let arguments: Vec<_> = [value, Value::from(count)].into_iter().chain(fill).collect();
    filter.call(state, &arguments)
}

/// `"%s has %05.2f" | format(name, amount)`. A width is written in the text or, as `*`, an argument.
pub(super) fn format(
    state: &mut State<'_, '_>,
    text: Value,
    given: Rest<ValueOrKwargs>,
) -> Result<Value, Error> {
    let pattern = text.as_str().ok_or_else(|| wrong("`format` must be used on a text"))?;
    let numbers = pattern.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let widest = numbers.map(|digits| digits.parse().unwrap_or(usize::MAX)).max().unwrap_or(0);
    if pattern.contains('*') {
        return Err(wrong("a width must be a number in the text, not `*`"));
    }
    let given = given.into_values();
    let given_bytes = given.iter().map(weight).sum::<Result<usize, _>>()?;
    let places = pattern.matches('%').count();
    let each = within_width(widest)?.saturating_add(given_bytes);
    pay_for_making(places.saturating_mul(each).saturating_add(pattern.len()))?;
    let arguments: Vec<_> = std::iter::once(text.clone()).chain(given).collect();
    Value::from_function(filters::format).call(state, &arguments)
}

pub(super) fn indent(
    text: &str,
    width: Option<usize>,
    first: Option<bool>,
    blank: Option<bool>,
    named: Kwargs,
) -> Result<String, Error> {
    let width = within_width(width.or(named.get("width")?).unwrap_or(4))?;
    let first = first.or(named.get("first")?).unwrap_or(false);
    let blank = blank.or(named.get("blank")?).unwrap_or(false);
    named.assert_all_used()?;
    pay_for_making(text.len() + (text.matches('\n').count() + 1).saturating_mul(width))?;
    let spaces = " ".repeat(width);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let moved = text.split('\n').enumerate().map(|(index, line)| {
        let stays = if index == 0 { !first } else { !blank && line.trim_end_matches('\r').is_empty() };
        if stays { line.to_owned() } else { format!("{spaces}{line}") }
    });
    Ok(moved.collect::<Vec<_>>().join("\n"))
}

fn within_width(width: usize) -> Result<usize, Error> {
    if WIDTH_MAX < width { Err(wrong(format!("a width must be at most {WIDTH_MAX}"))) } else { Ok(width) }
}
