//! Query strings and path segments, with errors that say what is wrong.

use std::{collections::BTreeMap, str::FromStr};

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use tw_engine::PageRequest;
use tw_model::{Code, Slug, Timestamp};
use tw_schema::Violation;

use crate::{App, problem::Problem};

/// The parameters of a query string, each at most once.
#[derive(Debug)]
pub(crate) struct Params(BTreeMap<String, String>);

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut params = BTreeMap::new();
        let query = parts.uri.query().unwrap_or_default();
        // The parser below would put replacement characters where something else was meant.
        if percent_encoding::percent_decode_str(query).decode_utf8().is_err() {
            return Err(Problem::new(Code::BadRequest, "the query is not UTF-8"));
        }
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            if value.contains('\0') || name.contains('\0') {
                return Err(Problem::new(Code::BadRequest, "the query holds a NUL character"));
            }
            if params.insert(name.clone().into_owned(), value.into_owned()).is_some() {
                return Err(Problem::invalid(format!("/{name}"), Violation::given_twice()));
            }
        }
        Ok(Self(params))
    }
}

impl Params {
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.0.get(name).filter(|value| !value.is_empty()).cloned()
    }

    pub(crate) fn parsed<T: FromStr>(&self, name: &str, expected: Violation) -> Result<Option<T>, Problem> {
        self.text(name)
            .map(|text| text.parse().map_err(|_| Problem::invalid(format!("/{name}"), expected)))
            .transpose()
    }

    /// One of a closed set of words.
    pub(crate) fn word<T>(
        &self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Result<Option<T>, Problem> {
        self.text(name)
            .map(|text| {
                parse(&text)
                    .ok_or_else(|| Problem::invalid(format!("/{name}"), Violation::words(words.split(", "))))
            })
            .transpose()
    }

    pub(crate) fn moment(&self, name: &str) -> Result<Option<Timestamp>, Problem> {
        self.parsed(name, Violation::timestamp())
    }

    /// The size of a page, for lists whose cursor is not the engine's.
    pub(crate) fn limit(&self) -> Result<i64, Problem> {
        Ok(PageRequest::new(self.parsed("limit", Violation::wrong_type("integer", "string"))?, None, None)?
            .limit)
    }

    pub(crate) fn page(&self) -> Result<PageRequest, Problem> {
        let limit = self.parsed("limit", Violation::wrong_type("integer", "string"))?;
        let offset = match self.parsed("offset", Violation::wrong_type("integer", "string"))? {
            Some(offset) => Some(offset),
            None => self.parsed("skip", Violation::wrong_type("integer", "string"))?,
        };
        Ok(PageRequest::new(limit, offset, self.text("cursor"))?)
    }
}

/// An id in the path. What is no id names nothing, so it is not found.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr + Send> FromRequestParts<App> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let missing = || Problem::new(Code::NotFound, "there is no such thing: the path holds no id");
        let Path(text) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| missing())?;
        text.parse().map(Self).map_err(|_| missing())
    }
}

/// A tool's slug or id in the path.
#[derive(Debug)]
pub(crate) struct ToolName(pub(crate) String);

impl FromRequestParts<App> for ToolName {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let bad = || Problem::new(Code::BadRequest, "the path is not UTF-8");
        let Path(text) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| bad())?;
        Self::checked(&text).map(Self)
    }
}

impl ToolName {
    pub(crate) fn checked(text: &str) -> Result<String, Problem> {
        if text.contains('\0') {
            return Err(Problem::new(Code::BadRequest, "the path holds a NUL character"));
        }
        // No name is longer, and what is not found is repeated in the answer and in the audit log.
        Ok(text.chars().take(Slug::LEN_MAX + 1).collect())
    }
}
