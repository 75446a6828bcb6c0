//! Slugs, derived from names.

const LEN_MAX: usize = 128;

/// Derives the slug of a tool from its name: the name itself if it is a slug, else its words in kebab
/// case; `None` when the name has no Latin letter and no digit.
///
/// The caller must check whether the slug is reserved or taken.
#[must_use]
pub fn slug_from_name(name: &str) -> Option<String> {
    if is_slug(name) {
        return Some(name.to_owned());
    }
    let folded: String = name.chars().map(folded).collect();
    let words: Vec<String> = words(&folded).iter().map(|word| word.to_lowercase()).collect();
    let mut slug = words.join("-");
    if slug.is_empty() {
        return None;
    }
    if !slug.starts_with(|c: char| c.is_ascii_alphabetic()) {
        slug.insert_str(0, "tool-");
    }
    slug.truncate(LEN_MAX);
    Some(slug.trim_end_matches('-').to_owned())
}

/// The words of a name, which signs and capitals set apart.
///
/// A run of capitals is one word up to the last of them, which begins the next: `HTTPServer` is
/// `HTTP` and `Server`. Digits belong to the word before them, and a capital after one to both:
/// `3D` is one word.
fn words(name: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in name.split(|c: char| !c.is_alphanumeric()) {
        let letters: Vec<char> = part.chars().collect();
        let mut word = String::new();
        for (index, letter) in letters.iter().enumerate() {
            let before = index.checked_sub(1).map(|index| letters[index]);
            let after_small = before.is_some_and(|before| !before.is_uppercase() && !before.is_numeric());
            let before_small = letters.get(index + 1).is_some_and(|next| next.is_lowercase());
            if letter.is_uppercase() && before.is_some() && (after_small || before_small) {
                words.push(std::mem::take(&mut word));
            }
            word.push(*letter);
        }
        words.push(word);
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether a text has the form of a slug.
fn is_slug(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=LEN_MAX).contains(&text.len())
        && text.chars().all(allowed)
        && text.split('.').all(|part| part.starts_with(|c: char| c.is_ascii_alphabetic()))
        && !text.contains("__")
}

/// A Latin letter without its accent, in ASCII; a blank for what has no such form.
fn folded(letter: char) -> &'static str {
    const ASCII: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
    if let Some(at) = ASCII.find(letter) {
        return &ASCII[at..=at];
    }
    match letter {
        'à'..='ã' | 'å' | 'ā' | 'ą' => "a",
        'À'..='Ã' | 'Å' | 'Ā' | 'Ą' => "A",
        'ä' | 'æ' => "ae",
        'Ä' | 'Æ' => "Ae",
        'ç' | 'ć' | 'č' => "c",
        'Ç' | 'Ć' | 'Č' => "C",
        'è'..='ë' | 'ē' | 'ę' | 'ě' => "e",
        'È'..='Ë' | 'Ē' | 'Ę' | 'Ě' => "E",
        'ì'..='ï' | 'ī' => "i",
        'Ì'..='Ï' | 'Ī' => "I",
        'ł' => "l",
        'Ł' => "L",
        'ñ' | 'ń' | 'ň' => "n",
        'Ñ' | 'Ń' | 'Ň' => "N",
        'ò'..='õ' | 'ō' => "o",
        'Ò'..='Õ' | 'Ō' => "O",
        'ö' | 'ø' | 'œ' => "oe",
        'Ö' | 'Ø' | 'Œ' => "Oe",
        'ř' => "r",
        'Ř' => "R",
        'ś' | 'š' => "s",
        'Ś' | 'Š' => "S",
        'ß' => "ss",
        'ù'..='û' | 'ū' | 'ů' => "u",
        'Ù'..='Û' | 'Ū' | 'Ů' => "U",
        'ü' => "ue",
        'Ü' => "Ue",
        'ý' | 'ÿ' => "y",
        'Ý' => "Y",
        'ź' | 'ż' | 'ž' => "z",
        'Ź' | 'Ż' | 'Ž' => "Z",
        // Not a sign between words.
        '\'' | '’' => "",
        _ => " ",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn name_that_is_a_slug_stays_as_it_is() {
        for name in ["confirmAction", "data.searchRecords", "web_search", "roi-calculator", "A"] {
            assert_eq!(slug_from_name(name).as_deref(), Some(name));
        }
    }

    #[test]
    fn other_names_become_kebab_case() {
        for (name, slug) in [
            ("ROI Calculator", "roi-calculator"),
            ("Before & After Visualizer", "before-after-visualizer"),
            ("My Tool v2.0", "my-tool-v2-0"),
            ("parseXMLFile now", "parse-xml-file-now"),
            ("my__tool", "my-tool"),
            ("Node.js runner", "node-js-runner"),
            ("3D Viewer", "tool-3d-viewer"),
            ("Köln Münster", "koeln-muenster"),
            ("Crème brûlée", "creme-brulee"),
            ("Łódź's map", "lodzs-map"),
            ("  --  x  ", "x"),
        ] {
            assert_eq!(slug_from_name(name).as_deref(), Some(slug), "{name}");
        }
    }

    #[test]
    fn words_are_set_apart_by_signs_and_capitals() {
        for (name, expected) in [
            ("annual_budget", "annual budget"),
            ("annual-budget", "annual budget"),
            ("annualBudget", "annual Budget"),
            ("ANNUAL_BUDGET", "ANNUAL BUDGET"),
            ("__annual__budget__", "annual budget"),
            ("data.annualBudget", "data annual Budget"),
            ("HTTPServer", "HTTP Server"),
            ("parseXMLFile", "parse XML File"),
            ("userID", "user ID"),
            ("year2Total", "year2 Total"),
            ("3DViewer", "3D Viewer"),
            ("aB", "a B"),
            ("--", ""),
        ] {
            assert_eq!(words(name).join(" "), expected, "{name}");
        }
    }

    #[test]
    fn name_without_anything_to_spell_gives_no_slug() {
        assert_eq!(slug_from_name(""), None);
        assert_eq!(slug_from_name("!!!"), None);
        assert_eq!(slug_from_name("天気"), None);
    }

    proptest! {
        #[test]
        fn whatever_is_made_has_the_form_of_a_slug(name in ".{0,200}") {
            if let Some(slug) = slug_from_name(&name) {
                prop_assert!(is_slug(&slug), "{:?}", slug);
            }
        }
    }
}
