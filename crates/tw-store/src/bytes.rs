//! Lists whose rows can be large, bounded in bytes.

use futures::{Stream, TryStreamExt as _};

/// What a page may hold of inputs, outputs and the like.
pub const PAGE_BYTES_MAX: usize = 8 << 20;

/// Reads rows until they have more than so many bytes together, at least two, and says whether it stopped for that.
/// Then the last row is over, and belongs to the next page.
pub(crate) async fn until_full<R>(
    mut found: impl Stream<Item = sqlx::Result<R>> + Unpin,
    bytes_max: usize,
    bytes_of: impl Fn(&R) -> usize,
) -> sqlx::Result<(Vec<R>, bool)> {
    let (mut rows, mut bytes) = (Vec::new(), 0);
    while let Some(row) = found.try_next().await? {
        bytes += bytes_of(&row);
        rows.push(row);
        if bytes_max < bytes && 1 < rows.len() {
            return Ok((rows, true));
        }
    }
    Ok((rows, false))
}

#[cfg(test)]
mod tests {
    use futures::{FutureExt as _, stream};

    use super::*;

    #[test]
    fn page_ends_with_the_row_that_is_too_much_and_has_one_at_least() {
        let read = |rows: &[usize]| {
            let rows: Vec<_> = rows.iter().copied().map(sqlx::Result::Ok).collect();
            until_full(stream::iter(rows), 10, |bytes| *bytes).now_or_never().unwrap().unwrap()
        };
        assert_eq!(read(&[]), (vec![], false));
        assert_eq!(read(&[3, 3, 4]), (vec![3, 3, 4], false));
        assert_eq!(read(&[3, 3, 5, 1]), (vec![3, 3, 5], true));
        assert_eq!(read(&[100]), (vec![100], false));
        assert_eq!(read(&[100, 1, 1]), (vec![100, 1], true));
    }
}
