//! Reading a source: everything that is wrong with it, and the JavaScript in it.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement};
use oxc_parser::{Parser, ParserReturn};
use oxc_span::{GetSpan, SourceType, Span};

use super::{ScriptFault, strip};
use crate::language::ScriptLanguage;

/// How many faults are told.
const FAULTS_MAX: usize = 20;

/// The JavaScript of a source, line by line where it stood, or what is wrong with the source.
///
/// It recurses as deeply as the source is nested, so it is for a worker alone.
pub(crate) fn read(language: ScriptLanguage, source: &str) -> Result<String, Vec<ScriptFault>> {
    let allocator = Allocator::default();
    let kind = match language {
        ScriptLanguage::JavaScript => SourceType::mjs(),
        ScriptLanguage::TypeScript => SourceType::ts().with_module(true),
    };
    let read = Parser::new(&allocator, source, kind).parse();
    let mut faults = unread(source, &read);
    let mut text = source.to_owned();
    if faults.is_empty() {
        faults.extend(imports(source, &read.program));
        if language == ScriptLanguage::TypeScript {
            let (stripped, unsupported) = strip::types(source, &read.program);
            text = stripped;
            faults.extend(unsupported.into_iter().map(|(span, why)| fault(source, span, why)));
        }
        if !has_default(&read.program) {
            faults.push(ScriptFault::NoExport);
        }
    }
    faults.truncate(FAULTS_MAX);
    if faults.is_empty() { Ok(text) } else { Err(faults) }
}

fn unread(source: &str, read: &ParserReturn<'_>) -> Vec<ScriptFault> {
    let told = read.diagnostics.iter().map(|error| {
        let at = error.labels.first().map_or(0, |label| label.offset());
        syntax(source, at as usize, lower(&error.message))
    });
    let mut faults: Vec<_> = told.collect();
    if faults.is_empty() && read.panicked {
        faults.push(syntax(source, 0, "it cannot be read".to_owned()));
    }
    faults
}

/// There are no modules beside a script.
fn imports(source: &str, program: &Program<'_>) -> Vec<ScriptFault> {
    let from_others = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) if !import.import_kind.is_type() => Some(import.span),
        Statement::ExportAllDeclaration(export) if !export.export_kind.is_type() => Some(export.span),
        Statement::ExportFromDeclaration(export) if !export.export_kind.is_type() => Some(export.span),
        _ => None,
    });
    from_others.map(|span| fault(source, span, "`import` and `include` are not supported")).collect()
}

fn has_default(program: &Program<'_>) -> bool {
    program.body.iter().any(|statement| match statement {
        Statement::ExportDefaultDeclaration(export) => !export.declaration.is_typescript_syntax(),
        Statement::ExportNamedDeclaration(export) => {
            !export.export_kind.is_type()
                && export.specifiers.iter().any(|specifier| specifier.exported.name() == "default")
        }
        _ => false,
    })
}

fn fault(source: &str, span: Span, why: &str) -> ScriptFault {
    syntax(source, span.span().start as usize, why.to_owned())
}

fn syntax(source: &str, at: usize, why: String) -> ScriptFault {
    let (line, column) = place_of(source, at);
    ScriptFault::Syntax { line, column, why }
}

/// The line of a byte and its column, both from 1. A column is a character, as editors count.
fn place_of(source: &str, at: usize) -> (u32, u32) {
    let before = source.get(..at).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
}

/// A message goes on a sentence here.
fn lower(message: &str) -> String {
    let mut letters = message.chars();
    let first = letters.next().map(|first| first.to_lowercase().collect::<String>());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests;
