//! One text of a template.

use std::collections::BTreeSet;

use minijinja::ErrorKind;
use serde_json::Value;
use tw_exec::Lookup;
use tw_model::ToolFailure;
use tw_schema::Violation;

use super::{
    Absent, Context,
    language::{Block, CheckedExpression, Cost, Manner},
    meter::{VALUE_BYTES_MAX, too_large},
    pieces::{SecretReferences, TextPart, has_statements, split},
};

const TEXT_BYTES_MAX: usize = 64 << 10;

/// A text, compiled. It knows where it stands, so that a failure can say it.
#[derive(Debug)]
pub(crate) struct Text {
    at: String,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Plain(String),
    /// One expression and nothing else, which yields a value of any type.
    One(CheckedExpression),
    Joined(Vec<Piece>),
    Block(Box<Block>),
}

#[derive(Debug)]
pub(crate) enum Piece {
    Literal(String),
    Code(CheckedExpression),
    Secret(String),
}

impl Piece {
    /// Compiles the parts of a text without statements.
    pub(crate) fn read_all(
        text: &str,
        names: &[&str],
        references: SecretReferences,
    ) -> Result<Vec<Self>, Violation> {
        let parts = split(text, references)?;
        parts.into_iter().map(|part| Self::read(part, names)).collect()
    }

    fn read(part: TextPart<'_>, names: &[&str]) -> Result<Self, Violation> {
        Ok(match part {
            TextPart::Literal(text) => Self::Literal(text.to_owned()),
            TextPart::Code(code) => Self::Code(CheckedExpression::read(code, Manner::Value, names)?),
            TextPart::Secret(label) => Self::Secret(label.to_owned()),
        })
    }

    /// What an expression says, for a failure.
    pub(crate) fn source(&self) -> Option<&str> {
        match self {
            Self::Code(code) => Some(code.source()),
            Self::Literal(_) | Self::Secret(_) => None,
        }
    }

    pub(crate) fn cost(&self) -> Cost {
        match self {
            Self::Code(code) => code.cost(),
            Self::Literal(_) | Self::Secret(_) => Cost::default(),
        }
    }

    /// What it is within a longer text, where something has to stand.
    pub(crate) fn text(&self, at: &str, context: &Context) -> Result<String, ToolFailure> {
        match (self.text_if_any(at, context)?, self) {
            (None, Self::Code(code)) => Err(missing(at, code)),
            (text, _) => Ok(text.unwrap_or_default()),
        }
    }

    fn text_if_any(&self, at: &str, context: &Context) -> Result<Option<String>, ToolFailure> {
        match self {
            Self::Literal(text) => Ok(Some(text.clone())),
            Self::Secret(label) => context.secret(label).map(|secret| Some(secret.to_owned())),
            Self::Code(code) => code.text(context).map_err(|error| failure(at, code, &error)),
        }
    }
}

impl Text {
    pub(crate) fn read(
        text: &str,
        at: &str,
        names: &[&str],
        references: SecretReferences,
    ) -> Result<Self, Violation> {
        if TEXT_BYTES_MAX < text.len() {
            return Err(Violation::max_bytes(TEXT_BYTES_MAX));
        }
        let form = if has_statements(text) {
            if references == SecretReferences::Secrets && text.contains("secret:") {
                return Err(Violation::secret_statements());
            }
            Form::Block(Box::new(Block::read(text, names)?))
        } else {
            let mut pieces = Piece::read_all(text, names, references)?;
            match (pieces.pop(), pieces.is_empty()) {
                (None, _) => Form::Plain(String::new()),
                (Some(Piece::Literal(text)), true) => Form::Plain(text),
                (Some(Piece::Code(code)), true) => Form::One(code),
                (Some(last), _) => {
                    pieces.push(last);
                    Form::Joined(pieces)
                }
            }
        };
        Ok(Self { at: at.to_owned(), form })
    }

    pub(crate) fn labels(&self, into: &mut BTreeSet<String>) {
        if let Form::Joined(pieces) = &self.form {
            into.extend(pieces.iter().filter_map(|piece| match piece {
                Piece::Secret(label) => Some(label.clone()),
                _ => None,
            }));
        }
    }

    /// Everything that is looked up, such as `input.city`.
    pub(crate) fn reads(&self, into: &mut BTreeSet<String>) {
        match &self.form {
            Form::Plain(_) => {}
            Form::One(code) => into.extend(code.reads().iter().cloned()),
            Form::Joined(pieces) => {
                for piece in pieces {
                    if let Piece::Code(code) = piece {
                        into.extend(code.reads().iter().cloned());
                    }
                }
            }
            Form::Block(block) => into.extend(block.reads().iter().cloned()),
        }
    }

    /// The same, with the place of the text.
    pub(crate) fn lookups(&self, into: &mut Vec<Lookup>) {
        let mut reads = BTreeSet::new();
        self.reads(&mut reads);
        into.extend(reads.into_iter().map(|name| Lookup { path: self.at.clone(), name }));
    }

    pub(crate) fn cost(&self) -> Cost {
        match &self.form {
            Form::Plain(_) => Cost::default(),
            Form::One(code) => code.cost(),
            Form::Joined(pieces) => pieces.iter().map(Piece::cost).fold(Cost::default(), Cost::and),
            Form::Block(block) => block.cost(),
        }
    }

    /// How a failure names the text where it yields nothing.
    pub(crate) fn missing(&self) -> ToolFailure {
        match &self.form {
            Form::One(code) => missing(&self.at, code),
            _ => ToolFailure::invalid(format!("`{}` has no value", self.at)),
        }
    }

    /// The value; `None` where the text is one expression and what it reads is absent.
    pub(crate) fn value(&self, context: &Context) -> Result<Option<Value>, ToolFailure> {
        self.filled(context, Absent::LeftOut)
    }

    /// Within a longer text something has to stand, unless what is absent is taken for null.
    pub(super) fn filled(&self, context: &Context, absent: Absent) -> Result<Option<Value>, ToolFailure> {
        match &self.form {
            Form::Plain(text) => Ok(Some(Value::String(text.clone()))),
            Form::One(code) => one(&self.at, code, context),
            Form::Joined(pieces) => {
                let mut joined = String::new();
                for piece in pieces {
                    joined.push_str(&match absent {
                        Absent::LeftOut => piece.text(&self.at, context)?,
                        Absent::Null => piece.text_if_any(&self.at, context)?.unwrap_or_default(),
                    });
                    if VALUE_BYTES_MAX < joined.len() {
                        return Err(ToolFailure::invalid(format!("`{}`: {}", self.at, told(&too_large()))));
                    }
                }
                Ok(Some(Value::String(joined)))
            }
            Form::Block(block) => {
                let text = block.render(context);
                let text = text.map_err(|error| {
                    ToolFailure::invalid(format!("`{}` cannot be filled in: {}", self.at, told(&error)))
                })?;
                Ok(Some(Value::String(text)))
            }
        }
    }
}

/// The value of one expression; `None` where what it reads is absent.
pub(crate) fn one(
    at: &str,
    code: &CheckedExpression,
    context: &Context,
) -> Result<Option<Value>, ToolFailure> {
    code.json(context).map_err(|error| failure(at, code, &error))
}

pub(crate) fn missing(at: &str, code: &CheckedExpression) -> ToolFailure {
    ToolFailure::invalid(format!("`{}` has no value, but `{at}` requires one", code.source()))
}

pub(crate) fn failure(at: &str, code: &CheckedExpression, error: &minijinja::Error) -> ToolFailure {
    ToolFailure::invalid(format!("`{}` in `{at}` cannot be evaluated: {}", code.source(), told(error)))
}

fn told(error: &minijinja::Error) -> String {
    match error.kind() {
        ErrorKind::OutOfFuel => "it takes too many steps".to_owned(),
        ErrorKind::UndefinedError => "something in it has no value".to_owned(),
        kind => error.detail().map_or_else(|| kind.to_string(), ToOwned::to_owned),
    }
}
