//! jq: what a filter may call, and from its text to something that can be run.

mod base32;

use std::{
    panic,
    sync::{Mutex, PoisonError},
    thread,
};

use jaq_core::{
    Compiler, compile,
    data::JustLut,
    load::{self, Arena, File, Loader},
};
use jaq_json::Val;

/// How long a filter may be.
///
/// It is also what keeps the reader from the end of its stack. jaq reads and compiles by recursion, so
/// its depth is at most the number of tokens, whichever way they are nested; the deepest that fits in
/// here takes at most three quarters of [`STACK_BYTES`], with optimisation or without. The sign is the
/// one token of a single byte that needs nothing behind it, so there are fewer of them.
pub(crate) const FILTER_BYTES_MAX: usize = 16 << 10;
pub(crate) const SIGNS_MAX: usize = 4 << 10;
/// The stack that filters are compiled on, here and in a worker, and run on in a worker.
pub(crate) const STACK_BYTES: usize = if cfg!(debug_assertions) { 128 << 20 } else { 64 << 20 };

/// What jq has and jaq has not, in jq.
const PRELUDE: &str = include_str!("jq/prelude.jq");
/// What jq has and a filter here has not: the environment of the process, and the end of it.
const WITHHELD: [&str; 3] = ["env", "halt", "halt_error"];

pub(crate) type Data = JustLut<Val>;
pub(crate) type Filter = jaq_core::Filter<Data>;

/// Whether a filter can be read and everything it calls exists. Runs nothing of it.
///
/// The message says what is wrong in plain words, with the place. It takes some milliseconds, and up to
/// half a second for a filter made to be slow, so it is not for a thread that others wait for.
///
/// # Example
///
/// ```
/// assert_eq!(tw_sandbox::check_jq(".users | map(.name)"), Ok(()));
///
/// let refused = tw_sandbox::check_jq(".users | nap(.name)").unwrap_err();
/// assert_eq!(refused, "line 1, column 10: there is no filter `nap` with 1 argument");
/// ```
pub fn check(filter: &str) -> Result<(), String> {
    // One at a time, because a filter of the worst shape uses much of the stack while it is read.
    static READER: Mutex<()> = Mutex::new(());
    let _reader = READER.lock().unwrap_or_else(PoisonError::into_inner);
    let read = thread::scope(|scope| {
        let builder = thread::Builder::new().name("jq-check".to_owned()).stack_size(STACK_BYTES);
        let reader = builder.spawn_scoped(scope, || compile(filter).map(drop));
        reader.map(|reader| reader.join())
    });
    match read {
        Ok(Ok(read)) => read,
        Ok(Err(panic)) => panic::resume_unwind(panic),
        Err(_) => Err("the server is too busy to check it; try again".to_owned()),
    }
}

/// Needs a stack of [`STACK_BYTES`].
pub(crate) fn compile(text: &str) -> Result<Filter, String> {
    if let Some(message) = too_long(text) {
        return Err(message);
    }
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs());
    let funs = jaq_core::funs::<Data>().chain(jaq_std::funs()).chain(jaq_json::funs()).chain(base32::funs());
    let prelude = load::parse(PRELUDE, |parser| parser.defs()).expect("the prelude is jq");
    let arena = Arena::default();
    let loader = Loader::new(defs.filter(|def| !WITHHELD.contains(&def.name)).chain(prelude));
    let modules =
        loader.load(&arena, File { code: text, path: () }).map_err(|errors| unread(text, errors))?;
    load::import(&modules, |_| Err(String::new())).map_err(|errors| unread(text, errors))?;
    let compiler = Compiler::default().with_funs(funs.filter(|fun| !WITHHELD.contains(&fun.0)));
    compiler.compile(modules).map_err(|errors| unknown(text, errors))
}

pub(crate) fn too_long(text: &str) -> Option<String> {
    if FILTER_BYTES_MAX < text.len() {
        return Some(format!("it is over {FILTER_BYTES_MAX} bytes long"));
    }
    let signs = text.bytes().filter(|&byte| byte == b'-').count();
    (SIGNS_MAX < signs).then(|| format!("it has more than {SIGNS_MAX} of `-`"))
}

fn unread(text: &str, errors: load::Errors<&str, ()>) -> String {
    let first = errors.into_iter().next().map(|(_, error)| error);
    let (place, what) = match first {
        Some(load::Error::Lex(errors)) => {
            errors.into_iter().next().map(|(expected, at)| (at, wanted(expected.as_str(), at)))
        }
        Some(load::Error::Parse(errors)) => {
            errors.into_iter().next().map(|(expected, at)| (at, wanted(expected.as_str(), at)))
        }
        Some(load::Error::Io(errors)) => errors
            .into_iter()
            .next()
            .map(|(at, _)| (at, "`import` and `include` are not supported".to_owned())),
        None => None,
    }
    .unwrap_or((text, "it is not jq".to_owned()));
    format!("{}: {what}", position(text, place))
}

fn wanted(expected: &str, at: &str) -> String {
    match at.chars().next() {
        None => format!("expected {expected}, but the filter ends"),
        Some(found) => format!("expected {expected}, found `{found}`"),
    }
}

fn unknown(text: &str, errors: compile::Errors<&str, ()>) -> String {
    let first = errors.into_iter().flat_map(|(_, errors)| errors).next();
    let Some((name, undefined)) = first else { return "it does not compile".to_owned() };
    let what = match undefined {
        compile::Undefined::Filter(0) => format!("there is no filter `{name}`"),
        compile::Undefined::Filter(1) => format!("there is no filter `{name}` with 1 argument"),
        compile::Undefined::Filter(count) => format!("there is no filter `{name}` with {count} arguments"),
        other => format!("there is no {} `{name}`", other.as_str()),
    };
    format!("{}: {what}", position(text, name))
}

/// `place` is a part of `text`.
fn position(text: &str, place: &str) -> String {
    let before = text.get(..load::span(text, place).start).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    format!("line {line}, column {column}")
}

#[cfg(test)]
mod tests;
