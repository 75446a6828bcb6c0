//! The letters that a text is written in.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8};

use crate::{answer::Response, headers::Headers};

/// How the bytes of a text are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charset(&'static Encoding);

impl Default for Charset {
    fn default() -> Self {
        Self(UTF_8)
    }
}

impl Charset {
    /// What a content type names with `charset=`; none where it names nothing that is known.
    ///
    /// ```
    /// use tw_egress::Charset;
    ///
    /// let charset = Charset::named_in("text/plain; charset=\"ISO-8859-1\"").unwrap_or_default();
    /// assert_eq!(charset.decode(b"caf\xe9"), "café");
    /// assert_eq!(Charset::named_in("text/plain; charset=klingon"), None);
    /// ```
    #[must_use]
    pub fn named_in(content_type: &str) -> Option<Self> {
        let parameters = content_type.split([';', ',']).filter_map(|part| part.split_once('='));
        let mut named = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("charset"));
        named.next().and_then(|(_, label)| Self::labelled(label.trim().trim_matches(['"', '\''])))
    }

    /// The one that somebody calls so.
    #[must_use]
    pub fn labelled(label: &str) -> Option<Self> {
        Encoding::for_label_no_replacement(label.as_bytes()).map(Self)
    }

    /// The same as named within the text itself. Whoever could read the name was not reading UTF-16, so a
    /// text that says so is UTF-8 (as the HTML standard has it).
    #[must_use]
    pub fn as_said_by_the_text(self) -> Self {
        Self(self.0.output_encoding())
    }

    /// Reads bytes as text. A mark at the beginning says more than a name and is not part of the text; what
    /// cannot be read is replaced by `U+FFFD`.
    #[must_use]
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        self.0.decode(bytes).0
    }
}

impl Headers {
    /// The letters that the body is said to be written in.
    #[must_use]
    pub fn charset(&self) -> Option<Charset> {
        Charset::named_in(self.get("content-type")?)
    }
}

impl Response {
    /// The body in UTF-8, turned from the letters that its type names, without the mark that some put before
    /// it. As it came where none are named, or where it is not written in those.
    #[must_use]
    pub fn in_utf8(&self) -> Cow<'_, [u8]> {
        if let Some(Charset(named)) = self.headers.charset().filter(|named| *named != Charset::default())
            && let (text, _, false) = named.decode(&self.body)
        {
            return match text {
                Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
                Cow::Owned(text) => Cow::Owned(text.into_bytes()),
            };
        }
        Cow::Borrowed(self.body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.body))
    }
}

#[cfg(test)]
mod tests;
