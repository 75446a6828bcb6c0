//! What an author wrote, looked through and rebuilt so that every operation pays before it runs.
//!
//! The library runs `~`, `*`, `==`, `in` and slices itself, where no filter of ours is asked. In the rebuilt tree
//! each of their operands goes through a filter that pays for it. The names of these filters cannot be written.

use std::collections::BTreeSet;

use minijinja::{
    Value,
    machinery::{
        Span,
        ast::{self, BinOpKind, CallArg, Expr, Spanned, Stmt},
    },
};

use super::vocabulary;

/// Pays for an operand and gives it back.
pub(super) const WEIGH: &str = "#weigh";
/// As [`WEIGH`], for something that is looked up in: only what has to be walked through costs.
pub(super) const LOOK_INTO: &str = "#look-into";
/// As [`WEIGH`], for something that is sliced.
pub(super) const SLICE: &str = "#slice";
/// Multiplies, after paying for the product.
pub(super) const MULTIPLY: &str = "#multiply";

/// What is known about an expression or a text with statements before it runs.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Everything that is looked up, such as `input.city`.
    pub(super) reads: BTreeSet<String>,
    /// The names that it needs from outside.
    pub(super) names: BTreeSet<String>,
    /// Why it can never run.
    pub(super) problem: Option<String>,
    /// Whether it does nothing but look something up.
    pub(super) is_path: bool,
    /// Whether what it makes can be much larger than what it reads.
    pub(super) can_grow: bool,
    pub(super) operations: usize,
}

pub(super) fn expression<'a>(expression: &Expr<'a>) -> (Expr<'a>, Facts) {
    let mut rebuild = Rebuild::default();
    let rebuilt = rebuild.expr(expression);
    (rebuilt, rebuild.facts)
}

pub(super) fn text<'a>(text: &Stmt<'a>) -> (Stmt<'a>, Facts) {
    let mut rebuild = Rebuild::default();
    let rebuilt = rebuild.statement(text);
    (rebuilt, Facts { is_path: false, can_grow: true, ..rebuild.facts })
}

struct Rebuild<'a> {
    facts: Facts,
    /// The variables of the loops around.
    bound: Vec<&'a str>,
}

impl Default for Rebuild<'_> {
    fn default() -> Self {
        Self { facts: Facts { is_path: true, ..Facts::default() }, bound: Vec::new() }
    }
}

fn spanned<T>(node: T) -> Spanned<T> {
    Spanned::new(node, Span::default())
}

fn filtered<'a>(name: &'a str, expr: Expr<'a>, args: Vec<CallArg<'a>>) -> Expr<'a> {
    Expr::Filter(spanned(ast::Filter { name, expr: Some(expr), args }))
}

impl<'a> Rebuild<'a> {
    fn expr(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        if let Some(path) = self.path_of(expr) {
            self.facts.reads.insert(path);
            return self.path(expr);
        }
        self.facts.operations += 1;
        match expr {
            Expr::Var(_) | Expr::GetAttr(_) | Expr::GetItem(_) => self.path(expr),
            Expr::Const(constant) => Expr::Const(spanned(ast::Const { value: constant.value.clone() })),
            other => {
                self.facts.is_path = false;
                self.operation(other)
            }
        }
    }

    /// `input.a.b` for a chain of names that begins outside.
    fn path_of(&self, expr: &Expr<'a>) -> Option<String> {
        match expr {
            Expr::Var(var) if !self.bound.contains(&var.id) => Some(var.id.to_owned()),
            Expr::GetAttr(attr) => self.path_of(&attr.expr).map(|path| format!("{path}.{}", attr.name)),
            _ => None,
        }
    }

    fn path(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        match expr {
            Expr::Var(var) => {
                if !self.bound.contains(&var.id) {
                    self.facts.names.insert(var.id.to_owned());
                }
                Expr::Var(spanned(ast::Var { id: var.id }))
            }
            Expr::GetAttr(attr) => {
                // A part of a path that was told as a whole is not told again.
                let within = if self.path_of(&attr.expr).is_some() {
                    self.path(&attr.expr)
                } else {
                    self.expr(&attr.expr)
                };
                Expr::GetAttr(spanned(ast::GetAttr { expr: within, name: attr.name }))
            }
            Expr::GetItem(item) => {
                let (within, subscript) = (self.expr(&item.expr), self.weighed(&item.subscript_expr));
                let within = if matches!(item.expr, Expr::Var(_) | Expr::GetAttr(_)) {
                    within
                } else {
                    filtered(LOOK_INTO, within, Vec::new())
                };
                Expr::GetItem(spanned(ast::GetItem { expr: within, subscript_expr: subscript }))
            }
            other => self.expr(other),
        }
    }

    fn operation(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        match expr {
            Expr::Slice(slice) => self.slice(slice),
            Expr::UnaryOp(unary) => {
                // The library's type can be neither copied nor cloned.
                let is_not = matches!(unary.op, ast::UnaryOpKind::Not);
                let op = if is_not { ast::UnaryOpKind::Not } else { ast::UnaryOpKind::Neg };
                Expr::UnaryOp(spanned(ast::UnaryOp { op, expr: self.expr(&unary.expr) }))
            }
            Expr::BinOp(binary) => self.binary(binary),
            Expr::Compare(compare) => self.compare(compare),
            Expr::IfExpr(choice) => Expr::IfExpr(spanned(ast::IfExpr {
                test_expr: self.expr(&choice.test_expr),
                true_expr: self.expr(&choice.true_expr),
                false_expr: choice.false_expr.as_ref().map(|otherwise| self.expr(otherwise)),
            })),
            Expr::Filter(filter) => self.filter(filter),
            Expr::Test(test) => {
                self.check_test(test.name);
                let expr = self.expr(&test.expr);
                let args = self.arguments(&test.args, Self::expr);
                Expr::Test(spanned(ast::Test { name: test.name, expr, args }))
            }
            Expr::Call(call) => {
                self.facts.can_grow = true;
                let expr = self.expr(&call.expr);
                Expr::Call(spanned(ast::Call { expr, args: self.arguments(&call.args, Self::weighed) }))
            }
            Expr::List(list) => Expr::List(spanned(ast::List { items: self.items(&list.items) })),
            Expr::Tuple(tuple) => Expr::Tuple(spanned(ast::Tuple { items: self.items(&tuple.items) })),
            Expr::Map(map) => Expr::Map(spanned(ast::Map {
                keys: map.keys.iter().map(|key| self.weighed(key)).collect(),
                values: self.items(&map.values),
            })),
            path => self.path(path),
        }
    }

    fn slice(&mut self, slice: &ast::Slice<'a>) -> Expr<'a> {
        let mut bound = |bound: &Option<Expr<'a>>| bound.as_ref().map(|bound| self.expr(bound));
        let (start, stop, step) = (bound(&slice.start), bound(&slice.stop), bound(&slice.step));
        let expr = filtered(SLICE, self.expr(&slice.expr), Vec::new());
        Expr::Slice(spanned(ast::Slice { expr, start, stop, step }))
    }

    fn compare(&mut self, compare: &ast::Compare<'a>) -> Expr<'a> {
        let expr = self.weighed(&compare.expr);
        let each = |op: &ast::CompareOp<'a>| ast::CompareOp { op: op.op, expr: self.weighed(&op.expr) };
        let ops = compare.ops.iter().map(each).collect();
        Expr::Compare(spanned(ast::Compare { expr, ops }))
    }

    fn binary(&mut self, binary: &ast::BinOp<'a>) -> Expr<'a> {
        let (left, right) = match binary.op {
            BinOpKind::Mul => {
                self.facts.can_grow = true;
                let (left, right) = (self.expr(&binary.left), self.expr(&binary.right));
                return filtered(MULTIPLY, left, vec![CallArg::Pos(right)]);
            }
            BinOpKind::ScAnd | BinOpKind::ScOr => (self.expr(&binary.left), self.expr(&binary.right)),
            _ => (self.weighed(&binary.left), self.weighed(&binary.right)),
        };
        Expr::BinOp(spanned(ast::BinOp { op: binary.op, left, right }))
    }

    fn filter(&mut self, filter: &ast::Filter<'a>) -> Expr<'a> {
        self.check_filter(filter.name);
        let has_arguments = !filter.args.is_empty();
        self.facts.can_grow |= !vocabulary::keeps_size(filter.name, has_arguments);
        // `map` and its like take the name of another filter or test.
        if let Some(CallArg::Pos(Expr::Const(name))) = filter.args.first()
            && let Some(name) = name.value.as_str()
        {
            match filter.name {
                "map" => self.check_filter(name),
                "select" | "reject" => self.check_test(name),
                _ => {}
            }
        }
        let expr = filter.expr.as_ref().map(|expr| self.expr(expr));
        let args = self.arguments(&filter.args, Self::expr);
        Expr::Filter(spanned(ast::Filter { name: filter.name, expr, args }))
    }

    fn check_filter(&mut self, name: &str) {
        if !vocabulary::is_filter(name) {
            self.facts.problem.get_or_insert_with(|| format!("filter {name} is unknown"));
        }
    }

    fn check_test(&mut self, name: &str) {
        if !vocabulary::is_test(name) {
            self.facts.problem.get_or_insert_with(|| format!("test {name} is unknown"));
        }
    }

    fn items(&mut self, items: &[Expr<'a>]) -> Vec<Expr<'a>> {
        items.iter().map(|item| self.expr(item)).collect()
    }

    fn arguments(
        &mut self,
        given: &[CallArg<'a>],
        each: fn(&mut Self, &Expr<'a>) -> Expr<'a>,
    ) -> Vec<CallArg<'a>> {
        let argument = |argument: &CallArg<'a>| match argument {
            CallArg::Pos(expr) => CallArg::Pos(each(self, expr)),
            CallArg::Kwarg(name, expr) => CallArg::Kwarg(name, each(self, expr)),
            CallArg::PosSplat(expr) => CallArg::PosSplat(self.weighed(expr)),
            CallArg::KwargSplat(expr) => CallArg::KwargSplat(self.weighed(expr)),
        };
        given.iter().map(argument).collect()
    }

    /// A constant is small, and the library works out what is made of constants before anything runs.
    fn weighed(&mut self, expr: &Expr<'a>) -> Expr<'a> {
        match self.expr(expr) {
            constant @ Expr::Const(_) => constant,
            operand => filtered(WEIGH, operand, Vec::new()),
        }
    }

    fn statement(&mut self, statement: &Stmt<'a>) -> Stmt<'a> {
        match statement {
            Stmt::Template(template) => {
                let children = self.statements(&template.children);
                Stmt::Template(spanned(ast::Template { children }))
            }
            Stmt::EmitExpr(emit) => Stmt::EmitExpr(spanned(ast::EmitExpr { expr: self.expr(&emit.expr) })),
            // As a value, since the library does not count what it copies.
            Stmt::EmitRaw(raw) => {
                let value = Value::from(raw.raw);
                Stmt::EmitExpr(spanned(ast::EmitExpr { expr: Expr::Const(spanned(ast::Const { value })) }))
            }
            Stmt::IfCond(condition) => Stmt::IfCond(spanned(ast::IfCond {
                expr: self.expr(&condition.expr),
                true_body: self.statements(&condition.true_body),
                false_body: self.statements(&condition.false_body),
            })),
            Stmt::ForLoop(every) => self.each(every),
            _ => {
                let problem = || "only `if` and `for` can stand in `{% … %}`".to_owned();
                self.facts.problem.get_or_insert_with(problem);
                Stmt::Template(spanned(ast::Template { children: Vec::new() }))
            }
        }
    }

    fn statements(&mut self, statements: &[Stmt<'a>]) -> Vec<Stmt<'a>> {
        statements.iter().map(|statement| self.statement(statement)).collect()
    }

    fn each(&mut self, every: &ast::ForLoop<'a>) -> Stmt<'a> {
        // What it goes through costs a step each.
        let iter = self.expr(&every.iter);
        let outer = self.bound.len();
        self.bound.push("loop");
        let target = self.target(&every.target);
        let filter_expr = every.filter_expr.as_ref().map(|filter| self.expr(filter));
        let body = self.statements(&every.body);
        self.bound.truncate(outer);
        let else_body = self.statements(&every.else_body);
        let recursive = every.recursive;
        Stmt::ForLoop(spanned(ast::ForLoop { target, iter, filter_expr, recursive, body, else_body }))
    }

    /// The variables of a loop, which it binds.
    fn target(&mut self, target: &Expr<'a>) -> Expr<'a> {
        match target {
            Expr::Var(var) => {
                self.bound.push(var.id);
                Expr::Var(spanned(ast::Var { id: var.id }))
            }
            Expr::List(list) => {
                let items = list.items.iter().map(|item| self.target(item)).collect();
                Expr::List(spanned(ast::List { items }))
            }
            Expr::Tuple(tuple) => {
                let items = tuple.items.iter().map(|item| self.target(item)).collect();
                Expr::Tuple(spanned(ast::Tuple { items }))
            }
            other => self.expr(other),
        }
    }
}
