//! The header `WWW-Authenticate` of a 401.

/// What a challenge says about signing in.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Challenge {
    /// Where the server says who lets people in.
    pub(super) resource_metadata: Option<String>,
    pub(super) scope: Option<String>,
}

impl Challenge {
    /// Reads the headers of an answer. Schemes other than `Bearer` are left out; of a parameter that comes twice the
    /// first counts.
    pub(super) fn read<'a>(headers: impl Iterator<Item = &'a str>) -> Self {
        let mut challenge = Self::default();
        for header in headers {
            let mut is_bearer = false;
            let mut rest = header;
            while let Some((word, after)) = word(rest) {
                let value = after.trim_start().strip_prefix('=').and_then(|after| value(after.trim_start()));
                let Some((value, after)) = value else {
                    is_bearer = word.eq_ignore_ascii_case("bearer");
                    rest = after;
                    continue;
                };
                rest = after;
                let place = match word.to_ascii_lowercase().as_str() {
                    "resource_metadata" => &mut challenge.resource_metadata,
                    "scope" => &mut challenge.scope,
                    _ => continue,
                };
                if is_bearer {
                    place.get_or_insert(value);
                }
            }
        }
        challenge
    }
}

/// The next word, and what follows it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches([' ', '\t', ',', '=', '"']);
    let end = text.find([' ', '\t', ',', '=', '"']).unwrap_or(text.len());
    (0 < end).then(|| text.split_at(end))
}

/// The value of a parameter, as it stands or in quotes. Nothing where there is none, as behind `Basic abc=`.
fn value(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([' ', '\t', ',', '=', '"']).unwrap_or(text.len());
        return (0 < end).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let (mut value, mut is_escaped) = (String::new(), false);
    for (at, c) in quoted.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => {
                is_escaped = true;
                continue;
            }
            '"' => return Some((value, &quoted[at + 1..])),
            _ => {}
        }
        value.push(c);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(header: &str, resource_metadata: Option<&str>, scope: Option<&str>) {
        let expected = Challenge {
            resource_metadata: resource_metadata.map(str::to_owned),
            scope: scope.map(str::to_owned),
        };
        assert_eq!(Challenge::read([header].into_iter()), expected, "{header}");
    }

    #[test]
    fn parameters_of_bearer_are_read_and_no_others() {
        check("Bearer", None, None);
        check("Bearer resource_metadata=\"https://a.test/m\"", Some("https://a.test/m"), None);
        check(
            "bearer realm=\"a, b=c\", Resource_Metadata = \"https://a.test/m\" ,scope=\"read \\\"all\\\"\"",
            Some("https://a.test/m"),
            Some("read \"all\""),
        );
        check("Basic realm=x, Bearer scope=one", None, Some("one"));
        check(
            "Bearer scope=one, DPoP scope=two, resource_metadata=\"https://evil.test/\"",
            None,
            Some("one"),
        );
        check("Basic abc==, Bearer scope=a", None, Some("a"));
        for broken in ["", ",", "Bearer scope=\"open", "Bearer scope=", "=\"\"=", "Bearer \"\" = scope"] {
            check(broken, None, None);
        }
        let both = ["Basic realm=x", "Bearer scope=a"];
        assert_eq!(Challenge::read(both.into_iter()).scope.as_deref(), Some("a"));
    }
}
