//! Row structs for both databases, written once.

/// Declares a struct and reads it, by column name, from a row of either database.
///
/// sqlx's own derive would compile both drivers and the SQLite library a second time for the build host.
macro_rules! row {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($(#[$field_meta:meta])* $fvis:vis $field:ident : $type:ty),+ $(,)? }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$field_meta])* $fvis $field: $type),+ }

        impl<'r> sqlx::FromRow<'r, sqlx::sqlite::SqliteRow> for $name {
            fn from_row(row: &'r sqlx::sqlite::SqliteRow) -> sqlx::Result<Self> {
                Ok(Self { $($field: sqlx::Row::try_get(row, stringify!($field))?),+ })
            }
        }

        impl<'r> sqlx::FromRow<'r, sqlx::postgres::PgRow> for $name {
            fn from_row(row: &'r sqlx::postgres::PgRow) -> sqlx::Result<Self> {
                Ok(Self { $($field: sqlx::Row::try_get(row, stringify!($field))?),+ })
            }
        }
    };
}
pub(crate) use row;
