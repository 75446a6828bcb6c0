//! The language of expressions: minijinja, with what could reach outside or grow without end left out.

use std::{collections::BTreeSet, fmt, sync::LazyLock};

use minijinja::{
    AutoEscape, Environment, Error, ErrorKind, Expression, Output, State, UndefinedBehavior, Value,
    functions::range,
    machinery::{CodeGenerator, Token, eval, make_string_output, parse, parse_expr, tokenize},
    syntax::SyntaxConfig,
    value::ValueKind,
};
use serde_json::{Map, Number, Value as Json};
use tw_schema::Violation;

use crate::apart::INLINE_BYTES_MAX;

use super::{
    Context,
    meter::{VALUE_BYTES_MAX, pay, pay_for_making, too_large, weigh},
    syntax::{self, Facts},
    vocabulary,
};

/// How many steps one text may take. A page of loops over a list needs some thousand.
const FUEL: u64 = 50_000;
/// What these steps cost beside what they handle: they take about as long.
const STEPS_BYTES: usize = 256 << 10;
const CODE_BYTES_MAX: usize = 4 << 10;
/// The library reads signs, operators and branches by recursion and counts only some of it. These keep it
/// far from the end of any stack: one token is at most one level.
const TOKENS_MAX: usize = 400;
const BRANCHES_MAX: usize = 64;

/// For values: what is absent has to be met with a test before it is used.
static VALUES: LazyLock<Environment<'static>> = LazyLock::new(|| environment(UndefinedBehavior::SemiStrict));
/// For conditions: what is absent is false, and so is what would be inside it. Also for values that say
/// what they are where something is absent.
static CONDITIONS: LazyLock<Environment<'static>> =
    LazyLock::new(|| environment(UndefinedBehavior::Chainable));

#[derive(Clone, Copy, Debug)]
pub(crate) enum Manner {
    Value,
    Condition,
}

/// One expression, read and checked.
pub(crate) struct CheckedExpression {
    source: String,
    manner: Manner,
    /// A path alone, which has no operation to pay for, is compiled once. The library cannot keep a rebuilt tree
    /// beyond the text that it was made of, so everything else is compiled when it runs, in some microseconds.
    path: Option<Expression<'static, 'static>>,
    /// Whether the author has foreseen that something is absent.
    foresees: bool,
    facts: Facts,
}

/// Whether a text says what is to be where something is absent.
fn foresees(source: &str) -> bool {
    let filter = |name: &str| name == "d" || name == "default";
    source.contains("defined")
        || source.split('|').skip(1).any(|rest| {
            rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().is_some_and(filter)
        })
}

impl fmt::Debug for CheckedExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{ {} }}}}", self.source)
    }
}

impl CheckedExpression {
    /// Reads an expression over some names, or says why it is none.
    pub(crate) fn read(source: &str, manner: Manner, names: &[&str]) -> Result<Self, Violation> {
        if CODE_BYTES_MAX < source.len() {
            return Err(Violation::expression_bytes(CODE_BYTES_MAX));
        }
        check_depth(source, true)?;
        let source = source.trim().to_owned();
        let (_, facts) = syntax::expression(&parse_expr(&source).map_err(|error| syntax_of(&error))?);
        check(&facts, names)?;
        let path = match facts.is_path {
            true => manner.environment().compile_expression_owned(source.clone()).ok(),
            false => None,
        };
        let foresees = matches!(manner, Manner::Value) && foresees(&source);
        Ok(Self { source, manner, path, foresees, facts })
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self) -> &BTreeSet<String> {
        &self.facts.reads
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost::of(&self.facts)
    }

    /// The value, which may be undefined.
    pub(crate) fn value(&self, context: &Context) -> Result<Value, Error> {
        let is_absent = |value: &Result<Value, Error>| matches!(value, Err(error) if error.kind() == ErrorKind::UndefinedError);
        context.meter().during(|| {
            let mut value = match &self.path {
                Some(path) => path.eval(context.found().clone()),
                None => evaluate(&self.source, self.manner.environment(), context.found()),
            };
            if self.foresees && is_absent(&value) {
                value = evaluate(&self.source, &CONDITIONS, context.found());
            }
            // Something on the way was absent, so what is at its end is absent as well.
            if is_absent(&value) { Ok(Value::UNDEFINED) } else { value }
        })
    }

    /// The value as JSON; `None` where what it reads is absent.
    pub(crate) fn json(&self, context: &Context) -> Result<Option<Json>, Error> {
        let value = self.value(context)?;
        let json = || context.meter().during(|| to_json(&value));
        if value.is_undefined() { Ok(None) } else { json().map(Some) }
    }

    /// What stands for it within a longer text; `None` where that is absent or null.
    pub(crate) fn text(&self, context: &Context) -> Result<Option<String>, Error> {
        let value = self.value(context)?;
        let text = || context.meter().during(|| text_of(&value));
        if value.is_undefined() || value.is_none() { Ok(None) } else { text().map(Some) }
    }
}

impl Manner {
    fn environment(self) -> &'static Environment<'static> {
        match self {
            Self::Value => &VALUES,
            Self::Condition => &CONDITIONS,
        }
    }
}

fn evaluate(source: &str, environment: &Environment<'_>, context: &Value) -> Result<Value, Error> {
    pay(source.len())?;
    let (rebuilt, _) = syntax::expression(&parse_expr(source)?);
    let mut code = CodeGenerator::new("expression", source);
    code.compile_expr(&rebuilt);
    let (instructions, blocks) = code.finish();
    let mut nothing = String::new();
    let mut output = make_string_output(&mut nothing);
    let (value, _) =
        eval(environment, &instructions, context.clone(), &blocks, &mut output, AutoEscape::None)?;
    Ok(value.unwrap_or_default())
}

/// What it takes at most to run something on an input, as far as that is known beforehand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    /// Whether it can make much of little.
    can_grow: bool,
    /// How often, at most, the whole input is handled.
    passes: usize,
}

impl Cost {
    /// Of `n` operations each may handle what all before it have made: `n` times the input.
    fn of(facts: &Facts) -> Self {
        let operations = facts.operations.max(1);
        Self { can_grow: facts.can_grow, passes: operations.saturating_mul(operations) }
    }

    pub(crate) fn and(self, other: Self) -> Self {
        Self { can_grow: self.can_grow || other.can_grow, passes: self.passes.saturating_add(other.passes) }
    }

    /// Whether it is certain to be cheap over so many bytes.
    pub(crate) fn is_small(self, bytes: usize) -> bool {
        !self.can_grow && self.passes.saturating_add(1).saturating_mul(bytes) <= INLINE_BYTES_MAX
    }
}

/// A text with statements in it.
#[derive(Debug)]
pub(crate) struct Block {
    source: String,
    foresees: bool,
    facts: Facts,
}

const STATEMENTS: &[&str] = &["if", "elif", "else", "endif", "for", "endfor", "raw", "endraw"];

impl Block {
    pub(crate) fn read(source: &str, names: &[&str]) -> Result<Self, Violation> {
        check_depth(source, false)?;
        // Wherever a statement could begin. What binds names is left out: a text that is doubled forty
        // times costs eighty steps.
        for (at, _) in source.match_indices("{%") {
            let rest = source[at + 2..].trim_start_matches(['-', '+']).trim_start();
            let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
            if !STATEMENTS.contains(&word) {
                return Err(Violation::statement(word));
            }
        }
        let read = parse(source, "text", SyntaxConfig::default()).map_err(|error| syntax_of(&error))?;
        let (_, facts) = syntax::text(&read);
        check(&facts, names)?;
        Ok(Self { source: source.to_owned(), foresees: foresees(source), facts })
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self) -> &BTreeSet<String> {
        &self.facts.reads
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost::of(&self.facts)
    }

    pub(crate) fn render(&self, context: &Context) -> Result<String, Error> {
        context.meter().during(|| {
            pay(STEPS_BYTES)?;
            let environment = if self.foresees { &CONDITIONS } else { &VALUES };
            let (rebuilt, _) = syntax::text(&parse(&self.source, "text", SyntaxConfig::default())?);
            let mut code = CodeGenerator::new("text", &self.source);
            code.compile_stmt(&rebuilt);
            let (instructions, blocks) = code.finish();
            let mut text = String::new();
            let mut output = make_string_output(&mut text);
            let root = context.found().clone();
            eval(environment, &instructions, root, &blocks, &mut output, AutoEscape::None)?;
            if VALUE_BYTES_MAX < text.len() { Err(too_large()) } else { Ok(text) }
        })
    }
}

pub(super) struct Bounded(pub(super) Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if VALUE_BYTES_MAX < self.0.len() + bytes.len() {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A value as JSON, paid for. Integers are exact or an error, and what is absent inside a list or an object is
/// an error too.
pub(super) fn to_json(value: &Value) -> Result<Json, Error> {
    weigh(value)?;
    json_of(value)
}

fn json_of(value: &Value) -> Result<Json, Error> {
    Ok(match value.kind() {
        ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => Json::Number(number(value)?),
        ValueKind::String => Json::String(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Seq | ValueKind::Iterable => {
            Json::Array(value.try_iter()?.map(|item| json_of(&item)).collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut members = Map::new();
            for key in value.try_iter()? {
                members.insert(plain_text(&key)?, json_of(&value.get_item(&key)?)?);
            }
            Json::Object(members)
        }
        ValueKind::Undefined => return Err(Error::from(ErrorKind::UndefinedError)),
        kind => return Err(Error::new(ErrorKind::BadSerialization, format!("{kind} is no JSON"))),
    })
}

fn number(value: &Value) -> Result<Number, Error> {
    let wrong = |why| Error::new(ErrorKind::BadSerialization, why);
    if let Some(whole) = value.as_i64().filter(|_| value.is_integer()) {
        return Ok(Number::from(whole));
    }
    if value.is_integer() {
        let whole = u64::try_from(value.clone()).map_err(|_| wrong("the integer is beyond 64 bits"))?;
        return Ok(Number::from(whole));
    }
    let real = f64::try_from(value.clone()).map_err(|_| wrong("the number is no number of JSON"))?;
    Number::from_f64(real).ok_or_else(|| wrong("the number is not finite"))
}

/// A value as it stands in a longer text, paid for: a text as it is, everything else as JSON.
pub(super) fn text_of(value: &Value) -> Result<String, Error> {
    weigh(value)?;
    let text = plain_text(value)?;
    pay_for_making(text.len())?;
    Ok(text)
}

fn plain_text(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::None => Err(Error::new(
            ErrorKind::InvalidOperation,
            "null must not be inserted into a text; use `default`",
        )),
        _ => Ok(json_of(value)?.to_string()),
    }
}

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    environment.set_formatter(write_text);
    vocabulary::add(&mut environment);
    environment.add_function("range", |lower: isize, upper: Option<isize>, step: Option<isize>| {
        let list = range(lower, upper, step)?;
        weigh(&list).map(|_| list)
    });
    environment
}

fn write_text(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    out.write_str(&text_of(value)?).map_err(Error::from)
}

/// By the library's own tokens, up to the first that is none: it reads no further either.
fn check_depth(source: &str, is_expression: bool) -> Result<(), Violation> {
    let (mut tokens, mut branches) = (0, 0);
    for token in tokenize(source, is_expression, Default::default()) {
        match token {
            Err(_) => break,
            Ok((Token::VariableStart | Token::BlockStart, _)) => tokens = 0,
            Ok((Token::Ident("elif"), _)) => branches += 1,
            Ok(_) => tokens += 1,
        }
        if TOKENS_MAX < tokens {
            return Err(Violation::expression_parts(TOKENS_MAX));
        }
        if BRANCHES_MAX < branches {
            return Err(Violation::expression_count(BRANCHES_MAX, "elif"));
        }
    }
    Ok(())
}

fn check(facts: &Facts, names: &[&str]) -> Result<(), Violation> {
    let unknown = |name: &&String| !names.contains(&name.as_str()) && *name != "range";
    if let Some(name) = facts.names.iter().find(unknown) {
        return Err(Violation::unknown_name_in_expression(name.as_str(), names));
    }
    facts.problem.clone().map_or(Ok(()), |problem| Err(Violation::expression(problem)))
}

/// Why an expression does not compile, without where: the place is known better by who reads it.
fn syntax_of(error: &Error) -> Violation {
    Violation::expression(error.detail().map_or_else(|| error.kind().to_string(), ToOwned::to_owned))
}
