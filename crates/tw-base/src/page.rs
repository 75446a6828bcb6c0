//! Lists, a page at a time.

use tw_schema::Violation;
use uuid::Uuid;

use crate::{
    error::{Error, Result},
    secrets::Secrets,
};

/// Which part of a list.
#[derive(Clone, Debug, Default)]
pub struct PageRequest {
    pub limit: i64,
    pub offset: i64,
    pub cursor: Option<String>,
}

impl PageRequest {
    pub const LIMIT_DEFAULT: i64 = 50;
    pub const LIMIT_MAX: i64 = 200;
    pub const OFFSET_MAX: i64 = 10_000;

    /// Checks the numbers a caller has sent.
    pub fn new(limit: Option<i64>, offset: Option<i64>, cursor: Option<String>) -> Result<Self> {
        let limit = limit.unwrap_or(Self::LIMIT_DEFAULT);
        if !(1..=Self::LIMIT_MAX).contains(&limit) {
            return Err(Error::invalid("/limit", Violation::range(1, Self::LIMIT_MAX)));
        }
        let offset = offset.unwrap_or(0);
        if !(0..=Self::OFFSET_MAX).contains(&offset) {
            return Err(Error::invalid("/offset", Violation::offset_range(Self::OFFSET_MAX)));
        }
        Ok(Self { limit, offset, cursor })
    }

    /// What is left of the page where its rows were too large: `rows` were read, and the last one is over.
    #[must_use]
    pub fn cut(&self, rows: usize, is_cut: bool) -> Self {
        let limit = i64::try_from(rows.saturating_sub(1)).unwrap_or(self.limit);
        Self { limit: if is_cut { limit } else { self.limit }, ..self.clone() }
    }
}

/// A part of a list.
#[derive(Clone, Debug)]
pub struct Page<T> {
    pub items: Vec<T>,
    pub next_cursor: Option<String>,
    /// `None` when there are too many to count.
    pub total: Option<i64>,
}

impl<T> Page<T> {
    pub fn map<U>(self, view: impl FnMut(T) -> U) -> Page<U> {
        Page {
            items: self.items.into_iter().map(view).collect(),
            next_cursor: self.next_cursor,
            total: self.total,
        }
    }

    pub fn try_map<U, E>(self, view: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        let items = self.items.into_iter().map(view).collect::<Result<_, _>>()?;
        Ok(Page { items, next_cursor: self.next_cursor, total: self.total })
    }
}

impl Secrets {
    /// The id after which a page begins; `list` names the list that the cursor must have been made for.
    pub fn open_cursor(&self, list: &str, page: &PageRequest) -> Result<Option<Uuid>> {
        let Some(cursor) = &page.cursor else { return Ok(None) };
        let id = self.read_cursor(list, cursor);
        id.map(Some).ok_or_else(|| Error::invalid("/cursor", Violation::cursor()))
    }

    /// Cuts one row too many into a page and the cursor of the next.
    pub fn page<T>(
        &self,
        mut rows: Vec<T>,
        page: &PageRequest,
        list: &str,
        total: Option<i64>,
        id: impl Fn(&T) -> Uuid,
    ) -> Page<T> {
        let limit = usize::try_from(page.limit).unwrap_or(0);
        let more = limit < rows.len();
        rows.truncate(limit);
        let next = rows.last().filter(|_| more).map(|row| self.cursor(list, id(row)));
        Page { items: rows, next_cursor: next, total }
    }
}
