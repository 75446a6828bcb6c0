//! TypeScript without its types: each is replaced by as much white space, so that lines stay what they were.

use oxc_ast::ast::{
    AccessorProperty, ArrowFunctionExpression, Class, ClassElement, Declaration,
    ExportDefaultDeclarationKind, ExportSpecifier, ExpressionStatement, FormalParameter, Function,
    MethodDefinition, MethodDefinitionType, Program, PropertyDefinition, PropertyDefinitionType, Statement,
    TSAsExpression, TSNonNullExpression, TSSatisfiesExpression, TSThisParameter, TSTypeAnnotation,
    TSTypeAssertion, TSTypeParameterDeclaration, TSTypeParameterInstantiation, VariableDeclaration,
    VariableDeclarator,
};
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

/// Words before a member of a class, or a class, that only types know.
const MODIFIERS: [&str; 7] =
    ["abstract", "declare", "override", "private", "protected", "public", "readonly"];

const ENUM: &str = "`enum` is not supported (types are only removed, not compiled); use an object, such as `const Color = { Red: 1 } as const`";
const NAMESPACE: &str = "`namespace` is not supported; use plain functions and objects";
const PARAMETER: &str =
    "parameter properties are not supported; declare the member and assign it in the constructor";
const REQUIRE: &str = "`import … =` and `export =` are not supported; use `export default`";

/// The source without its types, and what of it cannot be left out.
pub(crate) fn types(source: &str, program: &Program<'_>) -> (String, Vec<(Span, &'static str)>) {
    let mut blank = Blank { source, text: source.as_bytes().to_vec(), unsupported: Vec::new() };
    blank.visit_program(program);
    let text = String::from_utf8(blank.text).unwrap_or_else(|_| source.to_owned());
    (text, blank.unsupported)
}

struct Blank<'s> {
    source: &'s str,
    text: Vec<u8>,
    unsupported: Vec<(Span, &'static str)>,
}

impl Blank<'_> {
    fn out(&mut self, start: u32, end: u32) {
        for byte in &mut self.text[start as usize..end as usize] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn span(&mut self, span: Span) {
        self.out(span.start, span.end);
    }

    /// A whole statement. The line before it must not go on with the line behind it.
    fn statement(&mut self, span: Span) {
        self.span(span);
        self.text[span.start as usize] = b';';
    }

    /// Ends what ended with a type and a new line, as it did.
    fn ended(&mut self, span: Span) {
        let last = span.end as usize - 1;
        if self.source.as_bytes()[last] != b';' && self.text[last] == b' ' {
            self.text[last] = b';';
        }
    }

    fn unsupported(&mut self, span: Span, why: &'static str) {
        self.unsupported.push((span, why));
    }

    /// The mark behind a name, over white space and comments.
    fn mark(&mut self, from: u32, mark: u8) {
        let rest = &self.source.as_bytes()[from as usize..];
        let at = from as usize + blanks(rest, b"]");
        if self.text.get(at) == Some(&mark) {
            self.text[at] = b' ';
        }
    }

    /// Words between two places that only types know.
    fn modifiers(&mut self, from: u32, until: u32) {
        let (mut at, until) = (from as usize, until as usize);
        while at < until {
            let rest = &self.source.as_bytes()[at..until];
            at += blanks(rest, b"");
            let word = self.source[at.min(until)..until]
                .find(|letter: char| !letter.is_ascii_alphabetic())
                .unwrap_or(until.saturating_sub(at));
            if word == 0 {
                at += 1;
                continue;
            }
            if MODIFIERS.contains(&&self.source[at..at + word]) {
                self.out(at as u32, (at + word) as u32);
            }
            at += word;
        }
    }

    /// With the comma behind it.
    fn entry(&mut self, span: Span) {
        self.span(span);
        let at = span.end as usize + blanks(&self.source.as_bytes()[span.end as usize..], b"");
        if self.text.get(at) == Some(&b',') {
            self.text[at] = b' ';
        }
    }

    /// Whether a declaration is gone without its types.
    fn declares_types(&mut self, declaration: &Declaration<'_>) -> bool {
        match declaration {
            Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSGlobalDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_) => true,
            Declaration::FunctionDeclaration(function) => function.declare || function.body.is_none(),
            Declaration::ClassDeclaration(class) => class.declare,
            Declaration::VariableDeclaration(variables) => variables.declare,
            Declaration::TSEnumDeclaration(declared) => {
                self.makes_code(declared.span, declared.declare, ENUM)
            }
            Declaration::TSNamespaceDeclaration(declared) => {
                self.makes_code(declared.span, declared.declare, NAMESPACE)
            }
            Declaration::TSImportEqualsDeclaration(import) => self.makes_code(import.span, false, REQUIRE),
        }
    }

    fn makes_code(&mut self, span: Span, is_declared: bool, why: &'static str) -> bool {
        if !is_declared {
            self.unsupported(span, why);
        }
        true
    }

    fn is_gone(&mut self, statement: &Statement<'_>) -> bool {
        match statement {
            Statement::ExportDeclaration(export) => self.declares_types(&export.declaration),
            Statement::ImportDeclaration(import) => import.import_kind.is_type(),
            Statement::ExportNamedDeclaration(export) => export.export_kind.is_type(),
            Statement::ExportFromDeclaration(export) => export.export_kind.is_type(),
            Statement::ExportAllDeclaration(export) => export.export_kind.is_type(),
            Statement::ExportDefaultDeclaration(export) => match &export.declaration {
                ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                ExportDefaultDeclarationKind::FunctionDeclaration(function) => function.body.is_none(),
                _ => false,
            },
            Statement::TSExportAssignment(export) => self.makes_code(export.span, false, REQUIRE),
            Statement::TSNamespaceExportDeclaration(_) => true,
            _ => statement.as_declaration().is_some_and(|declaration| self.declares_types(declaration)),
        }
    }
}

/// How many bytes of white space and comments a text begins with; `also` counts as white space.
fn blanks(text: &[u8], also: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match &text[at.min(text.len())..] {
            [byte, ..] if byte.is_ascii_whitespace() || also.contains(byte) => at += 1,
            [b'/', b'/', rest @ ..] => {
                at += 2 + rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            }
            [b'/', b'*', rest @ ..] => {
                let end = rest.windows(2).position(|pair| pair == b"*/");
                at += end.map_or(text.len(), |end| end + 4);
            }
            _ => return at,
        }
    }
}

impl<'a> Visit<'a> for Blank<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        if self.is_gone(it) {
            self.statement(it.span());
        } else {
            walk::walk_statement(self, it);
        }
    }

    fn visit_expression_statement(&mut self, it: &ExpressionStatement<'a>) {
        walk::walk_expression_statement(self, it);
        self.ended(it.span);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        walk::walk_variable_declaration(self, it);
        // In the head of a loop something follows on the same line.
        let behind = &self.source.as_bytes()[it.span.end as usize..];
        if matches!(behind.iter().find(|byte| !matches!(byte, b' ' | b'\t' | b'\r')), None | Some(b'\n')) {
            self.ended(it.span);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.mark(it.id.span().end, b'!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.span(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.span(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.span(it.span);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.entry(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.out(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.out(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.out(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.out(it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        walk::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        walk::walk_arrow_function_expression(self, it);
        // No new line may stand before the arrow, so the bracket moves to the end of a type of several lines.
        if let Some(returned) = &it.return_type
            && returned.span.source_text(self.source).contains('\n')
        {
            self.text[it.params.span.end as usize - 1] = b' ';
            self.text[returned.span.end as usize - 1] = b')';
        }
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.unsupported(it.span, PARAMETER);
        }
        if it.optional {
            self.mark(it.pattern.span().end, b'?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind.is_type() {
            self.entry(it.span);
        }
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        let head = it.id.as_ref().map_or(it.body.span.start, |id| id.span.start);
        self.modifiers(it.span.start, head);
        if let Some(first) = it.implements.first() {
            let before = &self.source[..first.span.start as usize];
            let word = before.rfind("implements").unwrap_or(before.len());
            self.out(word as u32, it.body.span.start);
        }
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        match it {
            ClassElement::TSIndexSignature(signature) => self.statement(signature.span),
            it => walk::walk_class_element(self, it),
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        if it.r#type == MethodDefinitionType::TSAbstractMethodDefinition || it.value.body.is_none() {
            self.statement(it.span);
            return;
        }
        self.modifiers(it.span.start, it.key.span().start);
        if it.optional {
            self.mark(it.key.span().end, b'?');
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        if it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition || it.declare {
            self.statement(it.span);
            return;
        }
        self.modifiers(it.span.start, it.key.span().start);
        if it.optional {
            self.mark(it.key.span().end, b'?');
        } else if it.definite {
            self.mark(it.key.span().end, b'!');
        }
        walk::walk_property_definition(self, it);
        self.ended(it.span);
    }

    fn visit_accessor_property(&mut self, it: &AccessorProperty<'a>) {
        self.modifiers(it.span.start, it.key.span().start);
        walk::walk_accessor_property(self, it);
    }
}
