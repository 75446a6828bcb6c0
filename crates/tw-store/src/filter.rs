//! Conditions put together at run time from fixed pieces of SQL, with every value bound.

use uuid::Uuid;

/// A value for a placeholder.
#[derive(Clone, Debug)]
pub(crate) enum Arg {
    Id(Uuid),
    Text(String),
    Int(i64),
}

/// The conditions of a query, and the values they speak of, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conditions {
    sql: String,
    args: Vec<Arg>,
}

impl Conditions {
    /// Adds `AND <left> <placeholder>`; `left` is never made from outside text.
    pub(crate) fn and(&mut self, left: &'static str, arg: Arg) {
        self.args.push(arg);
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(left);
        self.sql.push_str(" $");
        self.sql.push_str(&self.args.len().to_string());
    }

    /// Ends a parenthesis that the piece before has opened.
    pub(crate) fn close(&mut self) {
        self.sql.push(')');
    }

    /// Adds `AND <left> IN (…)`, of at least one.
    pub(crate) fn any_of(&mut self, left: &'static str, texts: &[String]) {
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(left);
        self.sql.push_str(" IN (");
        for (index, text) in texts.iter().enumerate() {
            self.args.push(Arg::Text(text.clone()));
            self.sql.push_str(if index == 0 { "$" } else { ", $" });
            self.sql.push_str(&self.args.len().to_string());
        }
        self.sql.push(')');
    }

    /// Adds what an index is made for; it speaks of no value from outside.
    pub(crate) fn and_always(&mut self, condition: &'static str) {
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push_str(condition);
    }

    /// Gives out the conditions so far and begins anew; the values stay, so that both can be in one query.
    pub(crate) fn next_part(&mut self) -> String {
        std::mem::take(&mut self.sql)
    }

    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    pub(crate) fn args(&self) -> Vec<Arg> {
        self.args.clone()
    }
}

/// Binds [`Arg`]s to a query of either database.
macro_rules! bind_args {
    ($query:expr, $args:expr) => {{
        let mut query = $query;
        for arg in $args {
            query = match arg {
                $crate::filter::Arg::Id(id) => query.bind(id),
                $crate::filter::Arg::Text(text) => query.bind(text),
                $crate::filter::Arg::Int(number) => query.bind(number),
            };
        }
        query
    }};
}
pub(crate) use bind_args;
