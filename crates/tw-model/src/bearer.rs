//! The API key of a request, as every door reads it.

/// Why the `Authorization` headers of a request bring no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BearerError {
    /// Somebody between us and the caller may believe the other one.
    #[error("there is more than one `Authorization` header")]
    Doubled,
    #[error("the `Authorization` header is not `Bearer <API key>`")]
    NoBearer,
}

/// The key in the `Authorization` headers of a request; `None` where there is no such header.
pub fn bearer<'a>(mut values: impl Iterator<Item = &'a [u8]>) -> Result<Option<&'a str>, BearerError> {
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(BearerError::Doubled);
    }
    let text = std::str::from_utf8(value).ok().and_then(|text| text.split_once(' '));
    let key = text.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")).map(|(_, key)| key.trim());
    key.map(Some).ok_or(BearerError::NoBearer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_header_brings_one_key() {
        let read = |values: &[&'static str]| bearer(values.iter().map(|value| value.as_bytes()));
        assert_eq!(read(&[]), Ok(None));
        assert_eq!(read(&["Bearer tw_a"]), Ok(Some("tw_a")));
        assert_eq!(read(&["bEARER  tw_a "]), Ok(Some("tw_a")));
        assert_eq!(read(&["Basic tw_a"]), Err(BearerError::NoBearer));
        assert_eq!(read(&["Bearer"]), Err(BearerError::NoBearer));
        assert_eq!(read(&["Bearer tw_a", "Bearer tw_a"]), Err(BearerError::Doubled));
    }
}
