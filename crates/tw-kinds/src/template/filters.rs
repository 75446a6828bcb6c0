//! The filters and tests of expressions: those of minijinja, each with a bound on what it makes.

use minijinja::{
    Environment, Error, ErrorKind, HtmlEscape, State, Value, filters, tests,
    value::{Kwargs, Rest, ValueKind, ValueOrKwargs},
};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize as _;
use serde_json::{Serializer, ser::PrettyFormatter};

use super::language::{Bounded, OUTPUT_BYTES_MAX, check_bytes, text_of, to_json, too_large};

/// How wide a number or a text is made, and how far a line is moved.
const WIDTH_MAX: usize = 1_000;
/// As the library has it: a slash stays, so that a path can be encoded as a whole.
const URL: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// A list and not everything there is: a filter that pads, repeats or formats makes gigabytes of a
/// number, and one that is new in the next version of the library is for somebody to look at first.
pub(super) fn add(environment: &mut Environment<'static>) {
    let mut add = |name: &'static str, filter: Value| {
        environment.add_filter(name, move |state: &mut State<'_, '_>, arguments: Rest<ValueOrKwargs>| {
            let arguments = arguments.into_values();
            let mut budget = OUTPUT_BYTES_MAX;
            arguments.iter().try_for_each(|argument| weigh(argument, &mut budget))?;
            filter.call(state, &arguments)
        });
    };
    add("abs", Value::from_function(filters::abs));
    add("attr", Value::from_function(filters::attr));
    add("batch", Value::from_function(batch));
    add("bool", Value::from_function(filters::bool));
    add("capitalize", Value::from_function(filters::capitalize));
    add("chain", Value::from_function(filters::chain));
    add("count", Value::from_function(filters::length));
    add("d", Value::from_function(filters::default));
    add("default", Value::from_function(filters::default));
    add("dictsort", Value::from_function(filters::dictsort));
    add("e", Value::from_function(escape));
    add("escape", Value::from_function(escape));
    add("first", Value::from_function(filters::first));
    add("float", Value::from_function(filters::float));
    add("format", Value::from_function(format));
    add("groupby", Value::from_function(filters::groupby));
    add("indent", Value::from_function(indent));
    add("int", Value::from_function(filters::int));
    add("items", Value::from_function(filters::items));
    add("join", Value::from_function(join));
    add("last", Value::from_function(filters::last));
    add("length", Value::from_function(filters::length));
    add("lines", Value::from_function(filters::lines));
    add("list", Value::from_function(filters::list));
    add("lower", Value::from_function(filters::lower));
    add("map", Value::from_function(map));
    add("max", Value::from_function(filters::max));
    add("min", Value::from_function(filters::min));
    add("reject", Value::from_function(filters::reject));
    add("rejectattr", Value::from_function(filters::rejectattr));
    add("replace", Value::from_function(replace));
    add("reverse", Value::from_function(filters::reverse));
    add("round", Value::from_function(filters::round));
    // Nothing here is escaped unless an author says so.
    add("safe", Value::from_function(|value: Value| value));
    add("select", Value::from_function(filters::select));
    add("selectattr", Value::from_function(filters::selectattr));
    add("slice", Value::from_function(slice));
    add("sort", Value::from_function(filters::sort));
    add("split", Value::from_function(filters::split));
    add("string", Value::from_function(|value: &Value| text_of(value)));
    add("sum", Value::from_function(sum));
    add("title", Value::from_function(filters::title));
    add("tojson", Value::from_function(tojson));
    add("trim", Value::from_function(filters::trim));
    add("truncate", Value::from_function(truncate));
    add("unique", Value::from_function(filters::unique));
    add("upper", Value::from_function(filters::upper));
    add("urlencode", Value::from_function(urlencode));
    add("zip", Value::from_function(filters::zip));
    add_tests(environment);
}

fn add_tests(environment: &mut Environment<'static>) {
    environment.add_test("!=", tests::is_ne);
    environment.add_test("<", tests::is_lt);
    environment.add_test("<=", tests::is_le);
    environment.add_test("==", tests::is_eq);
    environment.add_test(">", tests::is_gt);
    environment.add_test(">=", tests::is_ge);
    environment.add_test("boolean", tests::is_boolean);
    environment.add_test("defined", tests::is_defined);
    environment.add_test("divisibleby", tests::is_divisibleby);
    environment.add_test("endingwith", tests::is_endingwith);
    environment.add_test("eq", tests::is_eq);
    environment.add_test("equalto", tests::is_eq);
    environment.add_test("even", tests::is_even);
    environment.add_test("false", tests::is_false);
    environment.add_test("float", tests::is_float);
    environment.add_test("ge", tests::is_ge);
    environment.add_test("greaterthan", tests::is_gt);
    environment.add_test("gt", tests::is_gt);
    environment.add_test("in", tests::is_in);
    environment.add_test("int", tests::is_integer);
    environment.add_test("integer", tests::is_integer);
    environment.add_test("iterable", tests::is_iterable);
    environment.add_test("le", tests::is_le);
    environment.add_test("lessthan", tests::is_lt);
    environment.add_test("lower", tests::is_lower);
    environment.add_test("lt", tests::is_lt);
    environment.add_test("mapping", tests::is_mapping);
    environment.add_test("ne", tests::is_ne);
    environment.add_test("none", tests::is_none);
    environment.add_test("number", tests::is_number);
    environment.add_test("odd", tests::is_odd);
    environment.add_test("sameas", tests::is_sameas);
    environment.add_test("sequence", tests::is_sequence);
    environment.add_test("startingwith", tests::is_startingwith);
    environment.add_test("string", tests::is_string);
    environment.add_test("true", tests::is_true);
    environment.add_test("undefined", tests::is_undefined);
    environment.add_test("upper", tests::is_upper);
}

fn wrong(why: impl Into<String>) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.into())
}

/// `tojson`, and `tojson(indent=2)` for people.
fn tojson(value: &Value, indent: Option<Value>, named: Kwargs) -> Result<String, Error> {
    let indent = match indent {
        Some(indent) => Some(indent),
        None => named.get("indent")?,
    };
    named.assert_all_used()?;
    let json = to_json(value, &mut { OUTPUT_BYTES_MAX })?;
    let width = match indent {
        Some(indent) if indent.kind() == ValueKind::Bool => 2 * usize::from(indent.is_true()),
        Some(indent) => indent.as_usize().ok_or_else(|| wrong("`indent` is a number"))?,
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

/// `map(attribute="name")`, and `map("upper")` with whatever the filter takes. What goes into the filter and
/// comes out of it counts together, since each of many items could be made into much.
fn map(state: &mut State<'_, '_>, value: Value, given: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let given = given.into_values();
    let (filter, arguments) = match given.split_first() {
        Some((first, arguments)) if !first.is_kwargs() => (first, arguments),
        _ => {
            let arguments: Vec<_> = std::iter::once(value).chain(given).collect();
            return Value::from_function(filters::map).call(state, &arguments);
        }
    };
    let filter = filter.as_str().ok_or_else(|| wrong("the name of a filter is a text"))?;
    if filter == "map" {
        return Err(wrong("`map` does not take itself"));
    }
    // Also where there is nothing to map, as when a tool is saved.
    if matches!(state.apply_filter(filter, &[]), Err(error) if error.kind() == ErrorKind::UnknownFilter) {
        return Err(Error::new(ErrorKind::UnknownFilter, format!("filter {filter} is unknown")));
    }
    let mut budget = OUTPUT_BYTES_MAX;
    let mut mapped = Vec::new();
    for item in value.try_iter()? {
        let arguments: Vec<_> = std::iter::once(item).chain(arguments.iter().cloned()).collect();
        arguments.iter().try_for_each(|argument| weigh(argument, &mut budget))?;
        let made = state.apply_filter(filter, &arguments)?;
        weigh(&made, &mut budget)?;
        mapped.push(made);
    }
    Ok(Value::from(mapped))
}

/// `sum` and `sum(attribute="price")`, of numbers. From a text on, it would join texts.
fn sum(state: &mut State<'_, '_>, value: Value, named: Kwargs) -> Result<Value, Error> {
    let attribute: Option<Value> = named.get("attribute")?;
    named.assert_all_used()?;
    let arguments = Kwargs::from_iter(attribute.map(|attribute| ("attribute", attribute)));
    Value::from_function(filters::sum).call(state, &[value, Value::from(arguments)])
}

fn join(
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
        check_bytes(joined.len())?;
    }
    Ok(joined)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    check_bytes(text.len() + text.matches(from).count().saturating_mul(to.len()))?;
    Ok(text.replace(from, to))
}

fn escape(value: &Value) -> Result<String, Error> {
    let text = text_of(value)?;
    // The longest of what stands for a character has six.
    check_bytes(text.len() + 5 * text.matches(['<', '>', '&', '"', '\'', '/']).count())?;
    Ok(HtmlEscape(&text).to_string())
}

/// A text as a part of a path, or the members of an object as a query.
fn urlencode(value: &Value) -> Result<String, Error> {
    let encoded = |value: &Value| {
        let text = text_of(value)?;
        check_bytes(3 * text.len())?;
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
fn truncate(
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

fn batch(state: &mut State<'_, '_>, value: Value, count: usize, fill: Option<Value>) -> Result<Value, Error> {
    grouped(state, Value::from_function(filters::batch), value, count, fill)
}

fn slice(state: &mut State<'_, '_>, value: Value, count: usize, fill: Option<Value>) -> Result<Value, Error> {
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
        return Err(wrong(format!("a list is divided by at most {WIDTH_MAX}")));
    }
    let arguments: Vec<_> = [value, Value::from(count)].into_iter().chain(fill).collect();
    filter.call(state, &arguments)
}

/// `"%s has %05.2f" | format(name, amount)`. A width is written in the text or, as `*`, an argument.
fn format(state: &mut State<'_, '_>, text: Value, given: Rest<ValueOrKwargs>) -> Result<Value, Error> {
    let pattern = text.as_str().ok_or_else(|| wrong("what is formatted is a text"))?;
    let numbers = pattern.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let widest = numbers.map(|digits| digits.parse().unwrap_or(usize::MAX)).max().unwrap_or(0);
    if pattern.contains('*') {
        return Err(wrong("a width is written in the text, not `*`"));
    }
    let given = given.into_values();
    let mut budget = OUTPUT_BYTES_MAX;
    given.iter().try_for_each(|argument| weigh(argument, &mut budget))?;
    let places = pattern.matches('%').count();
    let each = within_width(widest)?.saturating_add(OUTPUT_BYTES_MAX - budget);
    check_bytes(places.saturating_mul(each).saturating_add(pattern.len()))?;
    let arguments: Vec<_> = std::iter::once(text.clone()).chain(given).collect();
    Value::from_function(filters::format).call(state, &arguments)
}

fn indent(
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
    check_bytes(text.len() + (text.matches('\n').count() + 1).saturating_mul(width))?;
    let spaces = " ".repeat(width);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let moved = text.split('\n').enumerate().map(|(index, line)| {
        let stays = if index == 0 { !first } else { !blank && line.trim_end_matches('\r').is_empty() };
        if stays { line.to_owned() } else { format!("{spaces}{line}") }
    });
    Ok(moved.collect::<Vec<_>>().join("\n"))
}

fn within_width(width: usize) -> Result<usize, Error> {
    if WIDTH_MAX < width { Err(wrong(format!("a width is at most {WIDTH_MAX}"))) } else { Ok(width) }
}

/// A list can be a promise of more than fits into memory, or one long text a million times.
fn weigh(value: &Value, budget: &mut usize) -> Result<(), Error> {
    let cost = 8 + value.as_str().map_or(0, str::len);
    *budget = budget.checked_sub(cost).ok_or_else(too_large)?;
    match value.kind() {
        ValueKind::Seq | ValueKind::Iterable => value.try_iter()?.try_for_each(|item| weigh(&item, budget)),
        ValueKind::Map => value.try_iter()?.try_for_each(|key| weigh(&value.get_item(&key)?, budget)),
        _ => Ok(()),
    }
}
