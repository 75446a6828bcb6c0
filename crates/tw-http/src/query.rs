//! Query strings and path segments, with errors that say what is wrong.

use std::{collections::BTreeMap, str::FromStr};

use axum::{
    extract::{FromRequestParts, Path},
    http::request::Parts,
};
use tw_base::{Error, PageRequest};
use tw_model::{Code, Slug, Timestamp};
use tw_schema::{Fault, Violation};

use crate::{App, problem::Problem};

/// The parameters of a query string, each at most once.
///
/// What does not fit is collected, so that all of it is told at once: by [`Params::page`], [`Params::limit`] or
/// [`Params::check`], one of which every reader asks last.
#[derive(Debug)]
pub(crate) struct Params {
    values: BTreeMap<String, String>,
    faults: Vec<Fault>,
}

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
        Ok(Self { values: params, faults: Vec::new() })
    }
}

impl Params {
    /// Free text. An empty one names nothing, and does not count as absent.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        let text = self.values.get(name).cloned()?;
        if text.is_empty() {
            self.faults.push(Violation::not_empty().at(format!("/{name}")));
            return None;
        }
        Some(text)
    }

    /// Whatever is given, for those who judge it themselves.
    pub(crate) fn given(&self, name: &str) -> Option<String> {
        self.values.get(name).cloned()
    }

    /// Words to search for. Nothing to search for is everything.
    pub(crate) fn search(&self, name: &str) -> Option<String> {
        self.given(name).filter(|words| !words.is_empty())
    }

    /// Something with a form. An empty value has none, and does not count as absent.
    pub(crate) fn parsed<T: FromStr>(&mut self, name: &str, expected: Violation) -> Option<T> {
        self.read(name, |text| text.parse().ok(), expected)
    }

    /// One of a closed set of words.
    pub(crate) fn word<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        words: &str,
    ) -> Option<T> {
        self.read(name, parse, Violation::words(words.split(", ")))
    }

    pub(crate) fn read<T>(
        &mut self,
        name: &str,
        parse: impl Fn(&str) -> Option<T>,
        expected: Violation,
    ) -> Option<T> {
        let read = parse(self.values.get(name)?);
        if read.is_none() {
            self.faults.push(expected.at(format!("/{name}")));
        }
        read
    }

    pub(crate) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        self.parsed(name, Violation::timestamp())
    }

    /// Tells everything that does not fit.
    pub(crate) fn check(self) -> Result<(), Problem> {
        if self.faults.is_empty() { Ok(()) } else { Err(Problem::faulty(self.faults)) }
    }

    /// The size of a page, for lists whose cursor is not the engine's.
    pub(crate) fn limit(mut self) -> Result<i64, Problem> {
        // What else a page has is not read here.
        self.values.retain(|name, _| name == "limit");
        Ok(self.page()?.limit)
    }

    pub(crate) fn page(mut self) -> Result<PageRequest, Problem> {
        let number = || Violation::wrong_type("integer", "string");
        let limit = self.parsed("limit", number());
        let (offset, skip): (Option<i64>, _) =
            (self.parsed("offset", number()), self.parsed("skip", number()));
        let cursor = self.text("cursor");
        match PageRequest::new(limit, offset.or(skip), cursor) {
            Ok(page) => self.check().map(|()| page),
            Err(Error::InvalidParams { mut faults, .. }) => {
                // What is wrong is told of the parameter that was sent.
                for fault in faults.iter_mut().filter(|fault| offset.is_none() && fault.path == "/offset") {
                    "/skip".clone_into(&mut fault.path);
                }
                self.faults.extend(faults);
                Err(Problem::faulty(self.faults))
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// What is no id names nothing, so it is not found.
pub(crate) fn no_id(text: &str) -> Problem {
    const SHOWN_MAX: usize = 100;
    let shown: String = text.chars().take(SHOWN_MAX).collect();
    Problem::new(Code::NotFound, format!("nothing has the id `{shown}`: an id must be a UUID"))
}

/// An id in the path.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<T: FromStr + Send> FromRequestParts<App> for Id<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(text) = Path::<String>::from_request_parts(parts, app).await.map_err(|_| no_id(""))?;
        text.parse().map(Self).map_err(|_| no_id(&text))
    }
}

/// Two ids in the path, of a thing and of a part of it.
#[derive(Debug)]
pub(crate) struct TwoIds<T, U>(pub(crate) T, pub(crate) U);

impl<T: FromStr + Send, U: FromStr + Send> FromRequestParts<App> for TwoIds<T, U> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let path = Path::<(String, String)>::from_request_parts(parts, app).await;
        let Path((first, second)) = path.map_err(|_| no_id(""))?;
        Ok(Self(first.parse().map_err(|_| no_id(&first))?, second.parse().map_err(|_| no_id(&second))?))
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

#[cfg(test)]
mod tests {
    use tw_model::RunStatus;

    use super::*;

    #[test]
    fn every_parameter_that_does_not_fit_is_told() {
        let mut params = params("status=gone&since=soon&limit=0&offset=");
        assert!(
            params.word("status", RunStatus::parse, "running").is_none() && params.moment("since").is_none()
        );
        assert_eq!(params.page().unwrap_err().paths(), ["/status", "/since", "/offset", "/limit"]);
    }

    #[test]
    fn number_that_does_not_fit_is_told_of_the_parameter_that_was_sent() {
        assert_eq!(params("skip=-1").page().unwrap_err().paths(), ["/skip"]);
        assert_eq!(params("offset=-1").page().unwrap_err().paths(), ["/offset"]);
        assert_eq!(params("skip=x").page().unwrap_err().paths(), ["/skip"]);
        assert_eq!(params("offset=-1&skip=-1").page().unwrap_err().paths(), ["/offset"]);
    }

    #[test]
    fn empty_value_is_no_word_no_number_and_no_name_but_a_search_for_everything() {
        let mut empty = params("q=&tool=&status=&limit=&cursor=");
        assert_eq!(empty.search("q"), None);
        assert_eq!((empty.text("tool"), empty.text("error_code")), (None, None));
        assert!(empty.word("status", RunStatus::parse, "running").is_none());
        assert_eq!(empty.page().unwrap_err().paths(), ["/tool", "/status", "/limit", "/cursor"]);
        assert_eq!(params("q=").page().unwrap().limit, PageRequest::LIMIT_DEFAULT);
        assert_eq!(params("limit=7&cursor=x").limit().unwrap(), 7);
    }

    fn params(query: &str) -> Params {
        let values = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        Params { values, faults: Vec::new() }
    }
}
