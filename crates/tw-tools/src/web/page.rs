//! From a page of HTML to what a person would read of it.
//!
//! A page is read once, from left to right, piece by piece, and never as a tree. Pages are written by
//! strangers: a tree of a hundred thousand levels costs a stack, or the square of its size in time,
//! and this costs what the page is long. The price is that tags that nobody closed are guessed at.

use html5gum::{DefaultEmitter, HtmlString, StartTag, Token, Tokenizer};
use url::Url;

use super::{
    hidden::is_hidden,
    open::Open,
    sheet::{Gap, Mark, Sheet, Style},
    table::Tables,
};

/// A link that is longer says nothing to anybody.
const LINK_BYTES_MAX: usize = 2_000;
const TITLE_CHARS_MAX: usize = 500;
/// How many pieces are read between two looks at whether anybody still waits.
const PIECES: usize = 4_096;

/// What is for programs, or is asked of the reader.
const NEVER_READ: &[&str] = &[
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "canvas", "audio", "video",
    "select", "textarea", "button", "datalist", "dialog",
];
/// What stands around the text on every page of a site.
const AROUND: &[&str] = &["nav", "header", "footer", "aside"];
/// Often hidden until a script has run, which shows them to everybody who reads with a browser.
const WHOLE: &[&str] = &["html", "body"];

#[derive(Debug)]
pub(super) struct Page {
    pub(super) title: Option<String>,
    pub(super) text: String,
    /// Whether the page goes on behind what was read.
    pub(super) cut: bool,
}

/// How a page is to be read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    pub(super) style: Style,
    /// Where the page is, for its links.
    pub(super) base: &'a Url,
    /// About how much text is wanted. Reading stops soon behind it.
    pub(super) bytes_max: usize,
}

/// Reads a page. `stop` is asked now and then, and ends it.
pub(super) fn read(html: &str, reading: Reading<'_>, stop: impl Fn() -> bool) -> Page {
    let page = Reader::new(reading, Keep::Content).read(html, &stop);
    if !page.text.trim().is_empty() {
        return page;
    }
    // A page may be all header, or never close one.
    Reader::new(reading, Keep::All).read(html, &stop)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Content,
    All,
}

struct Reader<'a> {
    reading: Reading<'a>,
    keep: Keep,
    base: Option<Url>,
    sheet: Sheet,
    tables: Tables,
    title: Option<String>,
    in_title: bool,
    open: Open,
    /// Whether what is left out only stands around the text.
    is_around: bool,
    /// How many of `main` and `article` are open.
    content: usize,
    verbatim: Option<Verbatim>,
}

#[derive(Default)]
struct Verbatim {
    text: String,
    language: String,
}

impl<'a> Reader<'a> {
    fn new(reading: Reading<'a>, keep: Keep) -> Self {
        Self {
            reading,
            keep,
            base: None,
            sheet: Sheet::new(reading.style),
            tables: Tables::new(reading.style),
            title: None,
            in_title: false,
            open: Open::default(),
            is_around: false,
            content: 0,
            verbatim: None,
        }
    }

    fn read(mut self, html: &str, stop: impl Fn() -> bool) -> Page {
        let mut emitter = DefaultEmitter::default();
        emitter.naively_switch_states(true);
        let mut cut = false;
        for (count, Ok(token)) in Tokenizer::new_with_emitter(html, emitter).enumerate() {
            if self.reading.bytes_max < self.len() || count % PIECES == 0 && stop() {
                cut = true;
                break;
            }
            match token {
                Token::StartTag(tag) => self.start(&tag),
                Token::EndTag(tag) => self.end(&text(&tag.name)),
                Token::String(words) => self.words(&text(&words.value)),
                Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
            }
        }
        self.end_verbatim();
        self.tables.end_all(&mut self.sheet);
        Page { title: self.title, text: self.sheet.finish(), cut }
    }

    /// How much is held by now, written or not.
    fn len(&self) -> usize {
        let verbatim = self.verbatim.as_ref().map_or(0, |verbatim| verbatim.text.len());
        self.sheet.len() + self.tables.len() + verbatim
    }

    fn words(&mut self, words: &str) {
        if self.in_title {
            let title = words.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title = Some(title.chars().take(TITLE_CHARS_MAX).collect())
                .filter(|title: &String| !title.is_empty());
            return;
        }
        if self.open.left_out().is_some() {
            return;
        }
        match &mut self.verbatim {
            Some(verbatim) => verbatim.text.push_str(words),
            None => self.sheet().words(words),
        }
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name = &*text(&tag.name);
        // A drawing may be a single tag.
        let is_whole = tag.self_closing && matches!(name, "svg" | "math");
        let place = if is_whole { None } else { self.open.start(name) };
        if name == "title" && self.title.is_none() && self.open.left_out().is_none() {
            self.in_title = true;
        }
        if self.is_left_out(name, tag, place) {
            return;
        }
        if self.verbatim.is_some() {
            return self.start_in_verbatim(name, tag);
        }
        match name {
            "base" if self.base.is_none() => {
                self.base = attribute(tag, "href").and_then(|href| self.reading.base.join(&href).ok());
            }
            "main" | "article" => {
                self.content += 1;
                self.sheet().gap(Gap::Paragraph);
            }
            "pre" | "listing" | "xmp" => {
                let language = language(tag).unwrap_or_default();
                self.verbatim = Some(Verbatim { text: String::new(), language });
            }
            "table" | "tr" | "td" | "th" | "caption" => self.tables.start(name, &mut self.sheet),
            "ol" => {
                let first = attribute(tag, "start").and_then(|start| start.parse().ok()).unwrap_or(1);
                self.sheet().open_list(Some(first));
            }
            "a" => {
                self.sheet().close_mark(|mark| matches!(mark, Mark::Link(_)));
                if let Some(to) = attribute(tag, "href").and_then(|href| self.link(&href)) {
                    self.sheet().open_mark(Mark::Link(to));
                }
            }
            "img" => {
                let alt = attribute(tag, "alt").unwrap_or_default();
                self.sheet().words(&alt);
            }
            name => start_plain(self.sheet(), name),
        }
    }

    fn end(&mut self, name: &str) {
        self.in_title = false;
        let left_out = self.open.left_out();
        let ended = self.open.end(name);
        // The end of what stands around it ends what is left out as well, and is not part of it.
        if left_out.is_some_and(|left_out| ended.is_none_or(|ended| left_out <= ended)) {
            return;
        }
        match name {
            "pre" | "listing" | "xmp" => self.end_verbatim(),
            _ if self.verbatim.is_some() => {}
            "main" | "article" => {
                self.content = self.content.saturating_sub(1);
                self.sheet().gap(Gap::Paragraph);
            }
            "table" | "tr" | "td" | "th" | "caption" => self.tables.end(name, &mut self.sheet),
            name => end_plain(self.sheet(), name),
        }
    }

    /// Where words go at the moment.
    fn sheet(&mut self) -> &mut Sheet {
        self.tables.cell().unwrap_or(&mut self.sheet)
    }

    /// Whether a tag is within what is left out, or begins it at this place.
    fn is_left_out(&mut self, name: &str, tag: &StartTag<()>, place: Option<usize>) -> bool {
        if self.open.left_out().is_some() {
            // The text itself is never part of what stands around it: somebody forgot to close that.
            let forgotten = self.is_around && matches!(name, "main" | "article");
            if !forgotten {
                return true;
            }
            self.open.show();
        }
        let hidden = NEVER_READ.contains(&name) || !WHOLE.contains(&name) && is_hidden(tag);
        let around = AROUND.contains(&name) && !(name == "header" && self.content > 0);
        let begins = hidden || around && self.keep == Keep::Content;
        if begins && let Some(place) = place {
            self.open.leave_out(place);
            self.is_around = !hidden;
        }
        begins
    }

    fn start_in_verbatim(&mut self, name: &str, tag: &StartTag<()>) {
        let Some(verbatim) = &mut self.verbatim else { return };
        match name {
            "br" => verbatim.text.push('\n'),
            "code" if verbatim.language.is_empty() => {
                verbatim.language = language(tag).unwrap_or_default();
            }
            _ => {}
        }
    }

    fn end_verbatim(&mut self) {
        if let Some(verbatim) = self.verbatim.take() {
            self.sheet().verbatim(&verbatim.text, &verbatim.language);
        }
    }

    /// The address that a link leads to; none where it leads nowhere, or not to a page.
    fn link(&self, href: &str) -> Option<String> {
        if href.starts_with('#') || LINK_BYTES_MAX < href.len() {
            return None;
        }
        let to = self.base.as_ref().unwrap_or(self.reading.base).join(href.trim()).ok()?;
        let shown = matches!(to.scheme(), "http" | "https" | "mailto");
        let to = to.as_str().replace('(', "%28").replace(')', "%29").replace('|', "%7C");
        Some(to).filter(|to| shown && to.len() <= LINK_BYTES_MAX)
    }
}

fn start_plain(sheet: &mut Sheet, name: &str) {
    match name {
        "br" => sheet.line_break(),
        "hr" => {
            sheet.gap(Gap::Paragraph);
            sheet.rule();
        }
        "ul" | "menu" | "dir" => sheet.open_list(None),
        "li" => sheet.item(),
        "blockquote" => sheet.open_quote(),
        "b" | "strong" => sheet.open_mark(Mark::Strong),
        "i" | "em" => sheet.open_mark(Mark::Emphasis),
        "code" | "kbd" | "samp" | "tt" => sheet.open_mark(Mark::Code),
        _ => match (heading(name), gap(name)) {
            (Some(level), _) => sheet.open_heading(level),
            (None, Some(gap)) => sheet.gap(gap),
            (None, None) => {}
        },
    }
}

fn end_plain(sheet: &mut Sheet, name: &str) {
    match name {
        "ul" | "ol" | "menu" | "dir" => sheet.close_list(),
        "li" => sheet.gap(Gap::Line),
        "blockquote" => sheet.close_quote(),
        "a" => sheet.close_mark(|mark| matches!(mark, Mark::Link(_))),
        "b" | "strong" => sheet.close_mark(|mark| *mark == Mark::Strong),
        "i" | "em" => sheet.close_mark(|mark| *mark == Mark::Emphasis),
        "code" | "kbd" | "samp" | "tt" => sheet.close_mark(|mark| *mark == Mark::Code),
        _ if heading(name).is_some() => sheet.close_heading(),
        _ => gap(name).into_iter().for_each(|gap| sheet.gap(gap)),
    }
}

fn heading(name: &str) -> Option<usize> {
    match name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        "h5" => Some(5),
        "h6" => Some(6),
        _ => None,
    }
}

/// How far an element keeps from what is around it. None for one that stands among words.
fn gap(name: &str) -> Option<Gap> {
    match name {
        "p" | "div" | "section" | "figure" | "dl" | "form" | "fieldset" | "details" | "address"
        | "header" | "footer" | "nav" | "aside" | "center" | "hgroup" | "search" | "body" | "html"
        | "head" | "title" => Some(Gap::Paragraph),
        "dt" | "dd" | "figcaption" | "summary" | "legend" | "option" | "optgroup" => Some(Gap::Line),
        _ => None,
    }
}

/// The language of a listing, as highlighters are told it.
fn language(tag: &StartTag<()>) -> Option<String> {
    let classes = attribute(tag, "class")?;
    let named = classes
        .split_whitespace()
        .find_map(|class| class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-")))?;
    let plain = named.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#' | '.' | '_'));
    (plain && named.len() <= 30).then(|| named.to_owned())
}

pub(super) fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    tag.attributes.get(name.as_bytes()).map(|value| text(&value.value).into_owned())
}

fn text(bytes: &HtmlString) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
