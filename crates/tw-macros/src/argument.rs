//! One `name` or `name = value` between the parentheses of `#[tool(…)]`, and how values are read.

use syn::{
    Error, Expr, ExprLit, ExprPath, Ident, Lit, LitStr, Path, Result, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

pub(crate) struct Argument {
    pub(crate) name: Ident,
    value: Option<Expr>,
}

impl Parse for Argument {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name = input.parse()?;
        let value = if input.peek(Token![=]) {
            input.parse::<Token![=]>()?;
            Some(input.parse()?)
        } else {
            None
        };
        Ok(Self { name, value })
    }
}

impl Argument {
    /// `name` alone or `name = true`.
    pub(crate) fn flag(&self) -> Result<bool> {
        match &self.value {
            None => Ok(true),
            Some(Expr::Lit(ExprLit { lit: Lit::Bool(value), .. })) => Ok(value.value),
            Some(other) => Err(self.expects(other, "must stand alone, or be `true` or `false`")),
        }
    }

    pub(crate) fn text(&self) -> Result<LitStr> {
        let value = self.value("= \"…\"")?;
        let text = text_of(value).ok_or_else(|| self.expects(value, "must be a text in quotes"))?;
        if text.value().trim().is_empty() {
            return Err(Error::new(text.span(), format!("`{}` must not be empty", self.name)));
        }
        Ok(text)
    }

    /// A text that keeps a rule.
    pub(crate) fn text_that(&self, rule: impl Fn(&str) -> std::result::Result<(), String>) -> Result<LitStr> {
        let text = self.text()?;
        rule(&text.value()).map_err(|problem| Error::new(text.span(), problem))?;
        Ok(text)
    }

    /// A whole number, at least one.
    pub(crate) fn number<N>(&self) -> Result<N>
    where
        N: std::str::FromStr<Err: std::fmt::Display> + From<u8> + PartialOrd,
    {
        let value = self.value("= 1")?;
        let Expr::Lit(ExprLit { lit: Lit::Int(number), .. }) = value else {
            return Err(self.expects(value, "must be a whole number"));
        };
        let number: N = number.base10_parse()?;
        if number < N::from(1) {
            return Err(self.expects(value, "must be at least 1"));
        }
        Ok(number)
    }

    pub(crate) fn texts(&self) -> Result<Vec<LitStr>> {
        let value = self.value("= [\"…\"]")?;
        let Expr::Array(array) = value else {
            return Err(self.expects(value, "is a list of texts: [\"…\", \"…\"]"));
        };
        let texts = array.elems.iter().map(|item| {
            text_of(item)
                .ok_or_else(|| self.expects(item, "must be a list of texts, and this item is not a text"))
        });
        texts.collect()
    }

    pub(crate) fn path(&self) -> Result<Path> {
        let value = self.value("= path::to::function")?;
        match value {
            Expr::Path(ExprPath { path, qself: None, .. }) => Ok(path.clone()),
            other => Err(self.expects(other, "must be the path of a function")),
        }
    }

    /// The tuples of a list, each with the texts in it.
    pub(crate) fn tuples(&self, shape: &str) -> Result<Vec<Vec<LitStr>>> {
        let value = self.value("= […]")?;
        let Expr::Array(array) = value else {
            return Err(self.expects(value, &format!("is a list of {shape}")));
        };
        let tuples = array.elems.iter().map(|item| {
            let wrong =
                || self.expects(item, &format!("must be a list of {shape}, and this item is not one"));
            let Expr::Tuple(tuple) = item else { return Err(wrong()) };
            tuple.elems.iter().map(|part| text_of(part).ok_or_else(wrong)).collect()
        });
        tuples.collect()
    }

    fn value(&self, example: &str) -> Result<&Expr> {
        self.value.as_ref().ok_or_else(|| {
            Error::new(self.name.span(), format!("`{0}` needs a value: `{0} {example}`", self.name))
        })
    }

    fn expects(&self, at: &Expr, what: &str) -> Error {
        Error::new(at.span(), format!("`{}` {what}", self.name))
    }
}

fn text_of(value: &Expr) -> Option<LitStr> {
    match value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.clone()),
        _ => None,
    }
}
