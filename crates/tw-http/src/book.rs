//! The book: every page of `docs/`, as part of the program.

use std::sync::LazyLock;

use serde::Serialize;

/// Every page, by its path below `docs/`, with its text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/book.rs"));

/// The name of a folder's own page.
const FOLDER_PAGE: &str = "README";

/// A page of the book.
#[derive(Debug, Serialize)]
pub(crate) struct BookPage {
    /// Where the app shows it.
    path: String,
    /// Where its Markdown is.
    markdown: String,
    section: Section,
    title: String,
    /// The first sentence of its text.
    summary: String,
    headings: Vec<Heading>,
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    pub(crate) text: &'static str,
}

#[derive(Debug, Serialize)]
pub(crate) struct Heading {
    level: usize,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Section {
    Guide,
    Tools,
    Errors,
    Decisions,
}

impl Section {
    const ALL: [Self; 4] = [Self::Guide, Self::Tools, Self::Errors, Self::Decisions];

    fn of(file: &str) -> Self {
        match file.split_once('/') {
            Some(("tools", _)) => Self::Tools,
            Some(("errors", _)) => Self::Errors,
            Some(("adr", _)) => Self::Decisions,
            _ => Self::Guide,
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Guide => "Guide",
            Self::Tools => "Shipped tools",
            Self::Errors => "Error codes",
            Self::Decisions => "Decisions",
        }
    }
}

/// Every page, by section; the guide in the order of the tables that end its first page.
pub(crate) static PAGES: LazyLock<Vec<BookPage>> = LazyLock::new(|| {
    let mut pages: Vec<BookPage> = FILES.iter().map(|(file, text)| BookPage::read(file, text)).collect();
    let first = FILES.iter().find(|(file, _)| *file == "README.md").map_or("", |(_, text)| text);
    let place = |page: &BookPage| match page.section {
        Section::Guide if !page.name.is_empty() => {
            first.rfind(&format!("]({}.md)", page.name)).unwrap_or(usize::MAX)
        }
        _ => 0,
    };
    pages.sort_by(|a, b| (a.section, place(a), &a.name).cmp(&(b.section, place(b), &b.name)));
    pages
});

/// The page at a path below `/docs`, with or without `.md`, in whatever case.
pub(crate) fn find(path: &str) -> Option<&'static BookPage> {
    let name = name_of(path.trim_matches('/'));
    PAGES.iter().find(|page| page.name.eq_ignore_ascii_case(name))
}

/// The list of all pages that programs look for first (`/llms.txt`).
pub(crate) fn list() -> String {
    let mut list = String::from(
        "# Toolwright\n\n> Define a tool once; people get a form, agents a function, programs an endpoint, and every \
         call goes through one governed, durable path.\n",
    );
    for section in Section::ALL {
        list += &format!("\n## {}\n\n", section.title());
        for page in PAGES.iter().filter(|page| page.section == section) {
            list += &format!("- [{}]({}): {}\n", page.title, page.markdown, page.summary);
        }
    }
    list += "\n## HTTP API\n\n- [Operations](/docs/api.md): every operation in a line\n\
             - [OpenAPI 3.1](/api/openapi.json): the whole description\n";
    list
}

impl BookPage {
    fn read(file: &'static str, text: &'static str) -> Self {
        let name = name_of(file);
        let mut headings: Vec<Heading> = outside_code(text).filter_map(Heading::read).collect();
        let title = if headings.is_empty() { name.to_owned() } else { headings.remove(0).text };
        Self {
            path: if name.is_empty() { "/docs".to_owned() } else { format!("/docs/{name}") },
            markdown: format!("/docs/{file}"),
            section: Section::of(file),
            title,
            summary: summary(text),
            headings,
            name: name.to_owned(),
            text,
        }
    }
}

impl Heading {
    fn read(line: &str) -> Option<Self> {
        let text = line.trim_start_matches('#');
        let level = line.len() - text.len();
        let text = text.strip_prefix(' ')?;
        (0 < level).then(|| Self { level, text: plain(text) })
    }
}

/// The name of a page: its path without what every path has.
fn name_of(path: &str) -> &str {
    let name = strip_end(path, ".md");
    if name.eq_ignore_ascii_case(FOLDER_PAGE) {
        return "";
    }
    strip_end(name, "/readme")
}

fn strip_end<'a>(text: &'a str, end: &str) -> &'a str {
    let cut = text.len().saturating_sub(end.len());
    match text.get(cut..) {
        Some(last) if last.eq_ignore_ascii_case(end) => &text[..cut],
        _ => text,
    }
}

/// The lines of a page without those of code blocks.
fn outside_code(text: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    })
}

/// The first sentence of a page's text, which begins with a letter; lists and tables come before it on some pages.
fn summary(text: &str) -> String {
    let is_text = |line: &str| line.starts_with(|first: char| first.is_alphabetic() || first == '`');
    let lines: Vec<&str> = outside_code(text)
        .skip(1)
        .skip_while(|line| !is_text(line))
        .take_while(|line| !line.is_empty())
        .collect();
    let paragraph = plain(&lines.join(" "));
    let end = paragraph.find(". ").map_or(paragraph.len(), |place| place + 1);
    paragraph[..end].trim_end_matches(':').to_owned()
}

/// A text without the marks of Markdown: the words of its links, and code without backticks.
fn plain(text: &str) -> String {
    let mut words = String::new();
    let mut rest = text;
    while let Some((before, link)) = rest.split_once("](") {
        words.push_str(before);
        rest = link.split_once(')').map_or("", |(_, after)| after);
    }
    words.push_str(rest);
    words.replace(['`', '[', ']', '*'], "")
}

#[cfg(test)]
mod tests {
    use tw_model::Code;

    use super::*;

    #[test]
    fn every_code_has_its_page() {
        for code in Code::ALL {
            let page = find(&format!("errors/{code}")).unwrap_or_else(|| panic!("{code} has no page"));
            assert!(page.text.starts_with(&format!("# {code}\n")), "{code}");
        }
    }

    #[test]
    fn page_is_found_by_each_of_its_names() {
        for path in ["errors/TIMEOUT", "errors/timeout", "errors/TIMEOUT.md", "/errors/TIMEOUT/"] {
            assert_eq!(find(path).map(|page| page.title.as_str()), Some("TIMEOUT"), "{path}");
        }
        for path in ["errors", "errors/", "errors.md", "errors/README.md", "errors/readme"] {
            assert_eq!(find(path).map(|page| page.title.as_str()), Some("Error codes"), "{path}");
        }
        for path in ["", "/", "README.md"] {
            assert_eq!(find(path).map(|page| page.path.as_str()), Some("/docs"), "{path}");
        }
        for path in ["nothing", "errors/", "../SECURITY", "images/run-dark.png", "é.md", "README/README"] {
            assert_eq!(find(path).is_some(), path == "errors/", "{path}");
        }
    }

    #[test]
    fn page_is_summed_up_by_its_first_sentence() {
        let text = "# Title\n\n- Status: 1\n\nThe [first](a.md) `thing`. More of\nit.\n\n```sh\n# no heading\n```\n\n## Next\n";
        let page = BookPage::read("some/page.md", text);
        assert_eq!((page.title.as_str(), page.summary.as_str()), ("Title", "The first thing."));
        assert_eq!(page.headings.iter().map(|heading| heading.text.as_str()).collect::<Vec<_>>(), ["Next"]);
    }

    #[test]
    fn first_page_names_every_page_of_the_guide() {
        let first = find("").expect("the book has a first page").text;
        for page in PAGES.iter().filter(|page| page.section == Section::Guide && !page.name.is_empty()) {
            assert!(
                first.contains(&format!("]({}.md)", page.name)),
                "docs/README.md does not name {}",
                page.name
            );
        }
    }

    #[test]
    fn every_relative_link_leads_to_a_page_and_a_heading_of_it() {
        for page in PAGES.iter() {
            let links = outside_code(page.text).flat_map(|line| line.split("](").skip(1));
            for target in links.filter_map(|rest| rest.split(')').next()) {
                if target.contains("://") {
                    continue;
                }
                let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
                let path = if file.is_empty() { page.name.clone() } else { resolve(&page.markdown, file) };
                let found = find(&path)
                    .unwrap_or_else(|| panic!("{}: {target} is no page of the book", page.markdown));
                let has = |heading: &Heading| anchor_of(&heading.text) == anchor;
                assert!(
                    anchor.is_empty() || found.headings.iter().any(has),
                    "{}: {target} names no heading",
                    page.markdown
                );
            }
        }
    }

    /// A path that stands on the page at another one.
    fn resolve(from: &str, target: &str) -> String {
        let mut parts: Vec<&str> = from.trim_start_matches("/docs/").split('/').collect();
        parts.pop();
        for part in target.split('/') {
            match part {
                ".." => assert!(parts.pop().is_some(), "{from}: {target} leads out of the book"),
                part => parts.push(part),
            }
        }
        parts.join("/")
    }

    /// The anchor that a heading gets, here and where Markdown is shown elsewhere.
    fn anchor_of(heading: &str) -> String {
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    }
}
