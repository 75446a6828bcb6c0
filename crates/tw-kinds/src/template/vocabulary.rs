//! The filters and tests that expressions know, and what each of them costs.

use std::{collections::BTreeMap, sync::LazyLock};

use minijinja::{
    Environment, Error, State, Value, filters as library, tests,
    value::{Rest, ValueKind, ValueOrKwargs},
};

use super::{
    filters,
    language::text_of,
    meter::{ITEM_BYTES, pay, pay_for_making, weigh, weight},
    syntax::{LOOK_INTO, MULTIPLY, SLICE, WEIGH},
};

/// What a filter or a test pays for before it runs.
#[derive(Clone, Copy, Debug)]
enum Cost {
    /// It looks at its value and not into it.
    Light,
    /// It goes through all that it is given, once.
    Whole,
    /// It goes through the items of a list some times, or makes a list of a text.
    Items,
}

/// How often a list is gone through to sort it, roughly.
const PASSES: usize = 4;

impl Cost {
    fn pay(self, arguments: &[Value]) -> Result<(), Error> {
        if let Self::Light = self {
            let bytes = arguments.iter().filter_map(Value::as_str).map(str::len).sum::<usize>();
            return pay(ITEM_BYTES + bytes);
        }
        for argument in arguments {
            let weight = weigh(argument)?;
            if let Self::Items = self {
                let characters = argument.as_str().map_or(0, str::len);
                pay(weight.saturating_mul(PASSES - 1))?;
                pay_for_making(characters.saturating_mul(ITEM_BYTES))?;
            }
        }
        Ok(())
    }

    /// A function that pays, and then does what another one does.
    fn before(self, function: Value) -> Value {
        Value::from_function(move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
            let arguments = given.into_values();
            self.pay(&arguments)?;
            function.call(state, &arguments)
        })
    }
}

/// Filters whose result is at most a few times as large as what they are given, however often they are used. One
/// with arguments, such as `tojson(indent=2)` or `default(other)`, may be larger than its value.
const KEEP_SIZE: &[&str] = &[
    "abs",
    "bool",
    "capitalize",
    "count",
    "e",
    "escape",
    "first",
    "float",
    "int",
    "items",
    "last",
    "length",
    "list",
    "lower",
    "max",
    "min",
    "reverse",
    "round",
    "safe",
    "sort",
    "string",
    "sum",
    "title",
    "tojson",
    "trim",
    "unique",
    "upper",
    "urlencode",
];
/// Filters of which this is true with arguments as well.
const KEEP_SIZE_WITH_ARGUMENTS: &[&str] = &["attr", "d", "default", "round", "sort", "sum", "truncate"];

pub(super) fn keeps_size(filter: &str, has_arguments: bool) -> bool {
    (!has_arguments && KEEP_SIZE.contains(&filter)) || KEEP_SIZE_WITH_ARGUMENTS.contains(&filter)
}

static FILTERS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(all_filters);
static TESTS: LazyLock<BTreeMap<&'static str, Value>> = LazyLock::new(all_tests);

pub(super) fn is_filter(name: &str) -> bool {
    FILTERS.contains_key(name)
}

pub(super) fn is_test(name: &str) -> bool {
    TESTS.contains_key(name)
}

pub(super) fn add(environment: &mut Environment<'static>) {
    let called = |function: &Value| {
        let function = function.clone();
        move |state: &mut State<'_, '_>, given: Rest<ValueOrKwargs>| {
            function.call(state, &given.into_values())
        }
    };
    for (name, filter) in &*FILTERS {
        environment.add_filter(*name, called(filter));
    }
    for (name, test) in &*TESTS {
        environment.add_test(*name, called(test));
    }
    environment.add_filter(WEIGH, |value: Value| weigh(&value).map(|_| value));
    environment.add_filter(LOOK_INTO, |value: Value| match value.kind() {
        ValueKind::Iterable => weigh(&value).map(|_| value),
        _ => Ok(value),
    });
    // The library slices a text character by character.
    environment.add_filter(SLICE, |value: Value| {
        pay(weight(&value)?.saturating_mul(2 * PASSES))?;
        Ok::<_, Error>(value)
    });
    environment.add_filter(MULTIPLY, filters::multiply);
}

/// A list and not everything there is: a filter that pads, repeats or formats makes gigabytes of a
/// number, and one that is new in the next version of the library is for somebody to look at first.
fn all_filters() -> BTreeMap<&'static str, Value> {
    let mut all = BTreeMap::new();
    let mut add = |name, cost: Cost, filter| drop(all.insert(name, cost.before(filter)));
    add("abs", Cost::Light, Value::from_function(library::abs));
    add("attr", Cost::Light, Value::from_function(library::attr));
    add("batch", Cost::Items, Value::from_function(filters::batch));
    add("bool", Cost::Light, Value::from_function(library::bool));
    add("capitalize", Cost::Whole, Value::from_function(library::capitalize));
    add("chain", Cost::Items, Value::from_function(library::chain));
    add("count", Cost::Light, Value::from_function(library::length));
    add("d", Cost::Light, Value::from_function(library::default));
    add("default", Cost::Light, Value::from_function(library::default));
    add("dictsort", Cost::Items, Value::from_function(library::dictsort));
    add("e", Cost::Whole, Value::from_function(filters::escape));
    add("escape", Cost::Whole, Value::from_function(filters::escape));
    add("first", Cost::Light, Value::from_function(library::first));
    add("float", Cost::Light, Value::from_function(library::float));
    add("format", Cost::Whole, Value::from_function(filters::format));
    add("groupby", Cost::Items, Value::from_function(library::groupby));
    add("indent", Cost::Whole, Value::from_function(filters::indent));
    add("int", Cost::Light, Value::from_function(library::int));
    add("items", Cost::Whole, Value::from_function(library::items));
    add("join", Cost::Whole, Value::from_function(filters::join));
    add("last", Cost::Light, Value::from_function(library::last));
    add("length", Cost::Light, Value::from_function(library::length));
    add("lines", Cost::Whole, Value::from_function(filters::lines));
    add("list", Cost::Items, Value::from_function(library::list));
    add("lower", Cost::Whole, Value::from_function(library::lower));
    add("map", Cost::Whole, Value::from_function(filters::map));
    add("max", Cost::Items, Value::from_function(library::max));
    add("min", Cost::Items, Value::from_function(library::min));
    add("reject", Cost::Items, Value::from_function(library::reject));
    add("rejectattr", Cost::Items, Value::from_function(library::rejectattr));
    add("replace", Cost::Whole, Value::from_function(filters::replace));
    add("reverse", Cost::Items, Value::from_function(library::reverse));
    add("round", Cost::Light, Value::from_function(library::round));
    add("safe", Cost::Light, Value::from_function(|value: Value| value));
    add("select", Cost::Items, Value::from_function(library::select));
    add("selectattr", Cost::Items, Value::from_function(library::selectattr));
    add("slice", Cost::Items, Value::from_function(filters::slice));
    add("sort", Cost::Items, Value::from_function(library::sort));
    add("split", Cost::Whole, Value::from_function(filters::split));
    add("string", Cost::Whole, Value::from_function(|value: &Value| text_of(value)));
    add("sum", Cost::Whole, Value::from_function(filters::sum));
    add("title", Cost::Whole, Value::from_function(library::title));
    add("tojson", Cost::Whole, Value::from_function(filters::tojson));
    add("trim", Cost::Whole, Value::from_function(library::trim));
    add("truncate", Cost::Whole, Value::from_function(filters::truncate));
    add("unique", Cost::Items, Value::from_function(library::unique));
    add("upper", Cost::Whole, Value::from_function(library::upper));
    add("urlencode", Cost::Whole, Value::from_function(filters::urlencode));
    add("zip", Cost::Items, Value::from_function(library::zip));
    all
}

fn all_tests() -> BTreeMap<&'static str, Value> {
    let mut all = BTreeMap::new();
    let mut add = |name, cost: Cost, test| drop(all.insert(name, cost.before(test)));
    add("!=", Cost::Whole, Value::from_function(tests::is_ne));
    add("<", Cost::Whole, Value::from_function(tests::is_lt));
    add("<=", Cost::Whole, Value::from_function(tests::is_le));
    add("==", Cost::Whole, Value::from_function(tests::is_eq));
    add(">", Cost::Whole, Value::from_function(tests::is_gt));
    add(">=", Cost::Whole, Value::from_function(tests::is_ge));
    add("boolean", Cost::Light, Value::from_function(tests::is_boolean));
    add("defined", Cost::Light, Value::from_function(tests::is_defined));
    add("divisibleby", Cost::Light, Value::from_function(tests::is_divisibleby));
    add("endingwith", Cost::Whole, Value::from_function(tests::is_endingwith));
    add("eq", Cost::Whole, Value::from_function(tests::is_eq));
    add("equalto", Cost::Whole, Value::from_function(tests::is_eq));
    add("even", Cost::Light, Value::from_function(tests::is_even));
    add("false", Cost::Light, Value::from_function(tests::is_false));
    add("float", Cost::Light, Value::from_function(tests::is_float));
    add("ge", Cost::Whole, Value::from_function(tests::is_ge));
    add("greaterthan", Cost::Whole, Value::from_function(tests::is_gt));
    add("gt", Cost::Whole, Value::from_function(tests::is_gt));
    add("in", Cost::Whole, Value::from_function(tests::is_in));
    add("int", Cost::Light, Value::from_function(tests::is_integer));
    add("integer", Cost::Light, Value::from_function(tests::is_integer));
    add("iterable", Cost::Light, Value::from_function(tests::is_iterable));
    add("le", Cost::Whole, Value::from_function(tests::is_le));
    add("lessthan", Cost::Whole, Value::from_function(tests::is_lt));
    add("lower", Cost::Whole, Value::from_function(tests::is_lower));
    add("lt", Cost::Whole, Value::from_function(tests::is_lt));
    add("mapping", Cost::Light, Value::from_function(tests::is_mapping));
    add("ne", Cost::Whole, Value::from_function(tests::is_ne));
    add("none", Cost::Light, Value::from_function(tests::is_none));
    add("number", Cost::Light, Value::from_function(tests::is_number));
    add("odd", Cost::Light, Value::from_function(tests::is_odd));
    add("sameas", Cost::Light, Value::from_function(tests::is_sameas));
    add("sequence", Cost::Light, Value::from_function(tests::is_sequence));
    add("startingwith", Cost::Whole, Value::from_function(tests::is_startingwith));
    add("string", Cost::Light, Value::from_function(tests::is_string));
    add("true", Cost::Light, Value::from_function(tests::is_true));
    add("undefined", Cost::Light, Value::from_function(tests::is_undefined));
    add("upper", Cost::Whole, Value::from_function(tests::is_upper));
    all
}
