//! The rules for texts in a declaration, as in `tw_model`.
//!
//! They are written again here because a macro that depends on the model would compile the model and
//! all it needs once more for the compiler's side. A test below holds the two together.

const SLUG_LEN_MAX: usize = 128;
const SLUGS_RESERVED: [&str; 8] =
    ["builtins", "new", "session", "import", "image-models", "get_run", "search_tools", "run_tool"];
const PERMISSION_LEN_MAX: usize = 64;
const TENANT_LEN_MAX: usize = 63;

pub(crate) const LEVELS: [(&str, &str); 4] =
    [("read", "Read"), ("draft", "Draft"), ("write", "Write"), ("destructive", "Destructive")];

pub(crate) const POLICIES: [(&str, &str); 2] = [("auto", "Auto"), ("always_ask", "AlwaysAsk")];

pub(crate) const SECTION_KINDS: [(&str, &str); 6] = [
    ("summary", "Summary"),
    ("table", "Table"),
    ("chart", "Chart"),
    ("radar", "Radar"),
    ("ranking", "Ranking"),
    ("custom", "Custom"),
];

pub(crate) fn slug(text: &str) -> Result<(), String> {
    if text.is_empty() || SLUG_LEN_MAX < text.len() {
        return Err(format!("a slug must have 1 to {SLUG_LEN_MAX} characters"));
    }
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if let Some(found) = text.chars().find(|c| !allowed(*c)) {
        return Err(format!("a slug cannot contain {found:?}: use letters a-z, digits, `.`, `_` and `-`"));
    }
    if text.split('.').any(|part| !part.starts_with(|c: char| c.is_ascii_alphabetic())) {
        return Err("every part of a slug between dots must start with a letter".to_owned());
    }
    if text.contains("__") {
        return Err("a slug cannot contain `__`, which stands for a dot in function names".to_owned());
    }
    if SLUGS_RESERVED.iter().any(|word| word.eq_ignore_ascii_case(text)) || looks_like_a_uuid(text) {
        return Err(format!("`{text}` is reserved"));
    }
    Ok(())
}

/// Both spellings that a slug's alphabet can write: 32 digits, with or without the four hyphens.
fn looks_like_a_uuid(text: &str) -> bool {
    let hyphens: Vec<usize> = text.match_indices('-').map(|(at, _)| at).collect();
    let digits = text.chars().filter(|c| *c != '-');
    (hyphens.is_empty() || hyphens == [8, 13, 18, 23])
        && digits.clone().count() == 32
        && digits.clone().all(|c| c.is_ascii_hexdigit())
}

pub(crate) fn permission(text: &str) -> Result<(), String> {
    if text.is_empty() || PERMISSION_LEN_MAX < text.len() {
        return Err(format!("a permission must have 1 to {PERMISSION_LEN_MAX} bytes"));
    }
    let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.');
    if let Some(found) = text.chars().find(|c| !allowed(*c)) {
        return Err(format!("a permission cannot contain {found:?}"));
    }
    if text.split('.').any(|group| !group.starts_with(|c: char| c.is_ascii_lowercase())) {
        return Err("every group of a permission must start with a letter".to_owned());
    }
    Ok(())
}

pub(crate) fn tenant(text: &str) -> Result<(), String> {
    let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    let fits = !text.is_empty() && text.len() <= TENANT_LEN_MAX && !text.starts_with('-');
    if fits && text.chars().all(allowed) {
        return Ok(());
    }
    Err(format!("a tenant is named with 1 to {TENANT_LEN_MAX} of a-z, 0-9 and `-`, not starting with `-`"))
}

/// Names of Lucide icons, such as `grid-2x2`. Whether the icon exists is not known here.
pub(crate) fn icon(text: &str) -> Result<(), String> {
    let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '-');
    if text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(allowed) {
        return Ok(());
    }
    Err("an icon is the name of a Lucide icon, such as `grid-2x2`".to_owned())
}

pub(crate) fn version(text: &str) -> Result<(), String> {
    let checked = semver::Version::parse(text);
    checked.map(|_| ()).map_err(|error| format!("a version is semantic, such as `1.0.0`: {error}"))
}

pub(crate) fn json_object(text: &str) -> Result<(), String> {
    let parsed = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text);
    parsed.map(|_| ()).map_err(|error| format!("the configuration of a section is a JSON object: {error}"))
}

/// The variant that stands for a word, or a sentence that lists the words.
pub(crate) fn word(
    words: &[(&'static str, &'static str)],
    text: &str,
    what: &str,
) -> Result<&'static str, String> {
    words.iter().find(|(word, _)| *word == text).map(|(_, variant)| *variant).ok_or_else(|| {
        let words: Vec<_> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("a {what} is one of {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use tw_model::{Level, Permission, Policy, SectionKind, Slug, TenantSlug};

    use super::*;

    const TEXTS: [&str; 40] = [
        "",
        "a",
        "roi-calculator",
        "manageTools",
        "web_search",
        "data.searchRecords",
        "a__b",
        "a.b.c",
        "a..b",
        ".a",
        "a.",
        "2fast",
        "a.2b",
        "a b",
        "a/b",
        "p\u{430}y",
        "New",
        "builtins",
        "session",
        "image-models",
        "import",
        "imports",
        "a1932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11",
        "a1932c075f1a7cc09d3c2f7a1f0e8a11",
        "a1932c075f1a7cc09d3c2f7a1f0e8a1",
        "a1932c07-5f1a7cc09d3c2f7a1f0e8a11",
        "a1932c07-5f1a-7cc0-9d3c-2f7a1f0e8a1z",
        "-a",
        "a-",
        "_a",
        "9lives",
        "ims",
        "tools.tenant.run",
        "tools..run",
        "tools.9",
        "Tools.tenant",
        "tools-run",
        "a\u{200b}b",
        "A",
        "a.b-c_d",
    ];

    #[test]
    fn rules_agree_with_those_of_the_model() {
        let long = [64, 65, 63, 128, 129].map(|len| "a".repeat(len));
        for text in TEXTS.into_iter().chain(long.iter().map(String::as_str)) {
            assert_eq!(slug(text).is_ok(), text.parse::<Slug>().is_ok(), "slug {text:?}");
            assert_eq!(permission(text).is_ok(), text.parse::<Permission>().is_ok(), "permission {text:?}");
            assert_eq!(tenant(text).is_ok(), text.parse::<TenantSlug>().is_ok(), "tenant {text:?}");
        }
        for word in SLUGS_RESERVED {
            assert!(Slug::RESERVED.contains(&word), "{word}");
        }
        assert_eq!(Slug::RESERVED.len(), SLUGS_RESERVED.len());
    }

    #[test]
    fn words_agree_with_those_of_the_model() {
        let spelled = |words: &[(&'static str, &'static str)]| words.to_vec();
        let of = |text: &'static str, debug: String| (text.to_owned(), debug);
        let ours = |words| -> Vec<(String, String)> {
            spelled(words).into_iter().map(|(word, variant)| (word.to_owned(), variant.to_owned())).collect()
        };
        let levels: Vec<_> = Level::ALL.iter().map(|word| of(word.as_str(), format!("{word:?}"))).collect();
        assert_eq!(ours(&LEVELS), levels);
        let policies: Vec<_> =
            Policy::ALL.iter().map(|word| of(word.as_str(), format!("{word:?}"))).collect();
        assert_eq!(ours(&POLICIES), policies);
        let kinds: Vec<_> =
            SectionKind::ALL.iter().map(|word| of(word.as_str(), format!("{word:?}"))).collect();
        assert_eq!(ours(&SECTION_KINDS), kinds);
    }

    #[test]
    fn wrong_word_is_told_the_right_ones() {
        assert_eq!(word(&POLICIES, "auto", "policy"), Ok("Auto"));
        assert_eq!(word(&POLICIES, "ask", "policy").unwrap_err(), "a policy is one of `auto`, `always_ask`");
    }
}
