//! The language of expressions: minijinja, with what could reach outside or grow without end left out.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, LazyLock},
};

use minijinja::{
    Environment, Error, ErrorKind, Expression, Output, State, UndefinedBehavior, Value,
    functions::range,
    machinery::{Token, tokenize},
    value::{Object, ValueKind},
};
use serde_json::{Map, Number, Value as Json};

use super::filters;

/// How many steps one text may take. A page of loops over a list needs some thousand.
const FUEL: u64 = 50_000;
/// How large what a template yields may be, all its texts together.
pub(crate) const OUTPUT_BYTES_MAX: usize = 8 << 20;
const CODE_BYTES_MAX: usize = 4 << 10;
/// Fuel counts steps and not bytes, and each of these makes a text as long as both its sides.
const JOINS_MAX: usize = 32;
/// Each of these may repeat a text up to the library's own bound, 100 MB.
const PRODUCTS_MAX: usize = 4;
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

/// One compiled expression.
pub(crate) struct Code {
    source: String,
    expression: Expression<'static, 'static>,
    /// For what is inside something absent, where the author has foreseen it.
    foreseen: Option<Expression<'static, 'static>>,
}

/// Whether a text says what is to be where something is absent.
fn foresees(source: &str) -> bool {
    let filter = |name: &str| name == "d" || name == "default";
    source.contains("defined")
        || source.split('|').skip(1).any(|rest| {
            rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric()).next().is_some_and(filter)
        })
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{{ {} }}}}", self.source)
    }
}

impl Code {
    /// Compiles an expression over some names, or says why it is none.
    pub(crate) fn read(source: &str, manner: Manner, names: &[&str]) -> Result<Self, String> {
        check_size(source)?;
        check_depth(source, true)?;
        let environment = match manner {
            Manner::Value => &VALUES,
            Manner::Condition => &CONDITIONS,
        };
        let source = source.trim().to_owned();
        let expression =
            environment.compile_expression_owned(source.clone()).map_err(|error| syntax(&error))?;
        check_names(expression.undeclared_variables(false), names)?;
        let foreseen = match manner {
            Manner::Value if foresees(&source) => CONDITIONS.compile_expression_owned(source.clone()).ok(),
            _ => None,
        };
        match expression.eval(stand_ins(names)) {
            Err(error) if is_unknown(&error) => Err(syntax(&error)),
            _ => Ok(Self { source, expression, foreseen }),
        }
    }

    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self) -> BTreeSet<String> {
        self.expression.undeclared_variables(true).into_iter().collect()
    }

    /// The value, which may be undefined.
    pub(crate) fn value(&self, context: &Value) -> Result<Value, Error> {
        let is_absent = |value: &Result<Value, Error>| matches!(value, Err(error) if error.kind() == ErrorKind::UndefinedError);
        let mut value = self.expression.eval(context.clone());
        if let (Some(foreseen), true) = (&self.foreseen, is_absent(&value)) {
            value = foreseen.eval(context.clone());
        }
        // Something on the way was absent, so what is at its end is absent as well.
        if is_absent(&value) { Ok(Value::UNDEFINED) } else { value }
    }
}

/// A text with statements in it, which the library renders as a whole.
#[derive(Debug)]
pub(crate) struct Block(Environment<'static>);

const BLOCK: &str = "text";
const STATEMENTS: &[&str] = &["if", "elif", "else", "endif", "for", "endfor", "raw", "endraw"];

impl Block {
    pub(crate) fn read(source: &str, names: &[&str]) -> Result<Self, String> {
        check_operators(source)?;
        check_depth(source, false)?;
        // Wherever a statement could begin. What binds names is left out: a text that is doubled forty
        // times costs eighty steps.
        for (at, _) in source.match_indices("{%") {
            let rest = source[at + 2..].trim_start_matches(['-', '+']).trim_start();
            let word = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("");
            if !STATEMENTS.contains(&word) {
                return Err(format!("only `if` and `for` can stand in `{{% … %}}`, not `{word}`"));
            }
        }
        let mut environment = if foresees(source) { CONDITIONS.clone() } else { VALUES.clone() };
        environment.add_template_owned(BLOCK, source.to_owned()).map_err(|error| syntax(&error))?;
        let template = environment.get_template(BLOCK).map_err(|error| syntax(&error))?;
        check_names(template.undeclared_variables(false), names)?;
        let block = Self(environment);
        match block.render(&stand_ins(names)) {
            Err(error) if is_unknown(&error) => Err(syntax(&error)),
            _ => Ok(block),
        }
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self) -> BTreeSet<String> {
        let template = self.0.get_template(BLOCK);
        template.map(|template| template.undeclared_variables(true)).into_iter().flatten().collect()
    }

    pub(crate) fn render(&self, context: &Value) -> Result<String, Error> {
        let mut text = Bounded(Vec::new());
        let rendered = self.0.get_template(BLOCK)?.render_captured_to(context.clone(), &mut text);
        rendered.map(drop).map_err(|error| match error.kind() {
            ErrorKind::WriteFailure => too_large(),
            _ => error,
        })?;
        String::from_utf8(text.0)
            .map_err(|_| Error::new(ErrorKind::BadSerialization, "the text is not UTF-8"))
    }
}

pub(super) struct Bounded(pub(super) Vec<u8>);

impl std::io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if OUTPUT_BYTES_MAX < self.0.len() + bytes.len() {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// A value as JSON. Integers are exact or an error, and what is absent inside a list or an object is
/// an error too.
pub(crate) fn to_json(value: &Value, budget: &mut usize) -> Result<Json, Error> {
    let cost = 8 + value.as_str().map_or(0, str::len);
    *budget = budget.checked_sub(cost).ok_or_else(too_large)?;
    Ok(match value.kind() {
        ValueKind::None => Json::Null,
        ValueKind::Bool => Json::Bool(value.is_true()),
        ValueKind::Number => Json::Number(number(value)?),
        ValueKind::String => Json::String(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?;
            Json::Array(items.map(|item| to_json(&item, budget)).collect::<Result<_, _>>()?)
        }
        ValueKind::Map => {
            let mut members = Map::new();
            for key in value.try_iter()? {
                let member = to_json(&value.get_item(&key)?, budget)?;
                members.insert(text_of(&key)?, member);
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

/// A value as it stands in a longer text: a text as it is, everything else as JSON.
pub(crate) fn text_of(value: &Value) -> Result<String, Error> {
    match value.kind() {
        ValueKind::String => Ok(value.as_str().unwrap_or_default().to_owned()),
        ValueKind::None => Err(Error::new(ErrorKind::InvalidOperation, "null cannot stand within a text")),
        _ => Ok(to_json(value, &mut { OUTPUT_BYTES_MAX })?.to_string()),
    }
}

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(50);
    environment.set_formatter(write_text);
    filters::add(&mut environment);
    environment.add_function("range", range);
    environment
}

fn write_text(out: &mut Output<'_>, _: &mut State<'_, '_>, value: &Value) -> Result<(), Error> {
    out.write_str(&text_of(value)?).map_err(Error::from)
}

pub(super) fn check_bytes(bytes: usize) -> Result<(), Error> {
    if OUTPUT_BYTES_MAX < bytes { Err(too_large()) } else { Ok(()) }
}

pub(crate) fn too_large() -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("what it makes is over {OUTPUT_BYTES_MAX} bytes"))
}

fn check_size(source: &str) -> Result<(), String> {
    if CODE_BYTES_MAX < source.len() {
        return Err(format!("an expression has at most {CODE_BYTES_MAX} bytes"));
    }
    check_operators(source)
}

fn check_operators(source: &str) -> Result<(), String> {
    if JOINS_MAX < source.matches(['~', '+']).count() {
        return Err(format!("has more than {JOINS_MAX} of `~` and `+`"));
    }
    if PRODUCTS_MAX < source.matches('*').count() {
        return Err(format!("has more than {PRODUCTS_MAX} of `*`"));
    }
    Ok(())
}

/// By the library's own tokens, up to the first that is none: it reads no further either.
fn check_depth(source: &str, is_expression: bool) -> Result<(), String> {
    let (mut tokens, mut branches) = (0, 0);
    for token in tokenize(source, is_expression, Default::default()) {
        match token {
            Err(_) => break,
            Ok((Token::VariableStart | Token::BlockStart, _)) => tokens = 0,
            Ok((Token::Ident("elif"), _)) => branches += 1,
            Ok(_) => tokens += 1,
        }
        if TOKENS_MAX < tokens {
            return Err(format!("an expression has at most {TOKENS_MAX} names, values and signs"));
        }
        if BRANCHES_MAX < branches {
            return Err(format!("has more than {BRANCHES_MAX} of `elif`"));
        }
    }
    Ok(())
}

fn check_names(used: impl IntoIterator<Item = String>, names: &[&str]) -> Result<(), String> {
    let unknown = |name: &String| !names.contains(&name.as_str()) && name != "range";
    let Some(name) = used.into_iter().filter(unknown).min() else { return Ok(()) };
    let known: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    Err(format!("`{name}` is not known here; {} is", known.join(" or ")))
}

/// Why an expression does not compile, without where: the place is known better by who reads it.
fn syntax(error: &Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), ToOwned::to_owned)
}

/// The library looks filters up when they are used. So that a misspelt one is found when a tool is saved,
/// each expression is tried once on something that has every member.
fn is_unknown(error: &Error) -> bool {
    use ErrorKind::{UnknownFilter, UnknownFunction, UnknownMethod, UnknownTest};
    matches!(error.kind(), UnknownFilter | UnknownFunction | UnknownMethod | UnknownTest)
}

#[derive(Debug)]
struct StandIn;

impl Object for StandIn {
    fn get_value(self: &Arc<Self>, _: &Value) -> Option<Value> {
        Some(Value::from_dyn_object(Arc::clone(self)))
    }
}

fn stand_ins(names: &[&str]) -> Value {
    Value::from_pairs(names.iter().map(|name| (*name, Value::from_object(StandIn))))
}
