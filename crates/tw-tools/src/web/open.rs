//! Which elements of a page are open.
//!
//! Many elements end without a tag of their own: a paragraph where the next block begins, an item where the
//! next one does, all of them with what they stand in. The rules are those of the HTML standard
//! ("tree construction"), as far as a reader of text needs them.

/// How many nested elements are known by name. A search looks at no more, whatever a page does.
const DEPTH_MAX: usize = 256;

const VOID: &[&str] = &[
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track",
    "wbr",
];
/// There is one of each, whatever the tags say.
const OUTERMOST: &[&str] = &["html", "head", "body"];
/// Their end tags reach past blocks, and end nothing but themselves.
const FORMATTING: &[&str] =
    &["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"];
const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6"];
const RUBY_PARTS: &[&str] = &["rt", "rp", "rb"];
/// What cannot be ended from within, other than by its own tag.
const WALLS: &[&str] = &["table", "td", "th", "caption", "template", "object", "marquee", "applet"];
/// What begins behind a paragraph and not within it.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hgroup",
    "hr",
    "li",
    "listing",
    "main",
    "menu",
    "nav",
    "ol",
    "p",
    "pre",
    "search",
    "section",
    "summary",
    "table",
    "ul",
    "xmp",
];
/// What is as solid as a block, and may begin within a paragraph.
const SOLID: &[&str] = &[
    "audio", "button", "canvas", "datalist", "iframe", "math", "noscript", "script", "select", "style",
    "svg", "textarea", "video",
];
/// The parts of a table, the smallest first. Each ends those before it and its own kind.
const TABLE_PARTS: &[&str] = &["caption", "colgroup", "td", "th", "tr", "tbody", "thead", "tfoot"];

/// The open elements, the outermost first. One of them may be left out, with all that is within.
#[derive(Debug, Default)]
pub(super) struct Open {
    elements: Vec<Element>,
    /// How many are open beyond those with a name.
    deeper: usize,
    left_out: Option<usize>,
}

#[derive(Debug)]
struct Element {
    name: String,
    is_block: bool,
    is_wall: bool,
}

impl Open {
    /// The place of what is left out.
    pub(super) fn left_out(&self) -> Option<usize> {
        self.left_out
    }

    /// Leaves out the element at this place until it ends.
    pub(super) fn leave_out(&mut self, place: usize) {
        self.left_out = Some(place);
    }

    /// Shows again what is left out, although it has not ended.
    pub(super) fn show(&mut self) {
        self.left_out = None;
    }

    /// Starts an element and ends those that it ends. Returns its place; none where it has nothing within.
    pub(super) fn start(&mut self, name: &str) -> Option<usize> {
        if let Some(place) = self.ended_by_start_of(name) {
            self.close_to(place);
        }
        if !self.can_hold(name) {
            return None;
        }
        if self.elements.len() < DEPTH_MAX {
            self.elements.push(Element::new(name));
        } else {
            self.deeper += 1;
        }
        Some(self.len() - 1)
    }

    /// Ends an element and what is open within. Returns the place it had; none where no such element can be
    /// ended from here.
    pub(super) fn end(&mut self, name: &str) -> Option<usize> {
        if self.deeper > 0 {
            // Down there, every tag is taken for the end of what began last.
            let place = self.len() - 1;
            self.close_to(place);
            return Some(place);
        }
        let place = self.ended_by_end_of(name)?;
        if FORMATTING.contains(&name) {
            self.remove(place)
        } else {
            self.close_to(place)
        }
        Some(place)
    }

    fn len(&self) -> usize {
        self.elements.len() + self.deeper
    }

    fn close_to(&mut self, place: usize) {
        self.deeper = place.saturating_sub(self.elements.len());
        self.elements.truncate(place);
        self.left_out = self.left_out.filter(|left_out| *left_out < place);
    }

    /// Takes one out and keeps what is open within.
    fn remove(&mut self, place: usize) {
        self.elements.remove(place);
        self.left_out = match self.left_out {
            Some(left_out) if left_out == place => None,
            Some(left_out) if place < left_out => Some(left_out - 1),
            left_out => left_out,
        };
    }

    /// Whether a tag opens something. A part of a table counts within a table alone.
    fn can_hold(&self, name: &str) -> bool {
        let fits = || !TABLE_PARTS.contains(&name) || self.elements.iter().any(|open| open.name == "table");
        !VOID.contains(&name) && !OUTERMOST.contains(&name) && fits()
    }

    /// The innermost of these, unless a wall is before it.
    fn find(&self, names: &[&str], is_wall: impl Fn(&Element) -> bool) -> Option<usize> {
        let place = self.elements.iter().rposition(|open| open.is(names) || is_wall(open))?;
        self.elements[place].is(names).then_some(place)
    }

    /// The outermost of these parts within the innermost table.
    fn find_in_table(&self, parts: &[&str]) -> Option<usize> {
        let table = self.elements.iter().rposition(|open| open.name == "table")?;
        let within = self.elements[table..].iter().position(|open| open.is(parts))?;
        Some(table + within)
    }

    fn ended_by_start_of(&self, name: &str) -> Option<usize> {
        if self.deeper > 0 {
            return None;
        }
        let of_its_kind = match name {
            "li" => self.find(&["li"], Element::is_wall_of_items),
            "dt" | "dd" => self.find(&["dt", "dd"], Element::is_wall_of_items),
            "option" | "optgroup" => self.find(&["option"], |_| true),
            "a" => self.find(&["a"], |open| open.is_wall),
            "button" => self.find(&["button"], |open| open.is_wall),
            "td" | "th" => self.find_in_table(&TABLE_PARTS[..4]),
            "tr" => self.find_in_table(&TABLE_PARTS[..5]),
            _ if TABLE_PARTS.contains(&name) => self.find_in_table(TABLE_PARTS),
            _ if HEADINGS.contains(&name) => self.find(HEADINGS, |_| true),
            _ if RUBY_PARTS.contains(&name) => {
                self.find(RUBY_PARTS, |open| open.is_block || open.name == "ruby")
            }
            _ => None,
        };
        of_its_kind.or_else(|| BLOCKS.contains(&name).then(|| self.paragraph()).flatten())
    }

    fn ended_by_end_of(&self, name: &str) -> Option<usize> {
        match name {
            "p" => self.paragraph(),
            "li" => self.find(&["li"], |open| open.is_wall || open.is(&["ul", "ol"])),
            _ if HEADINGS.contains(&name) => self.find(HEADINGS, |open| open.is_wall),
            _ if name == "table" || TABLE_PARTS.contains(&name) => {
                self.find(&[name], |open| open.name == "table")
            }
            _ if is_block(name) || FORMATTING.contains(&name) => self.find(&[name], |open| open.is_wall),
            // The end of one that stands among words does not reach past a block.
            _ => self.find(&[name], |open| open.is_block),
        }
    }

    fn paragraph(&self) -> Option<usize> {
        self.find(&["p"], |open| open.is_wall || open.name == "button")
    }
}

impl Element {
    fn new(name: &str) -> Self {
        Self { name: name.to_owned(), is_block: is_block(name), is_wall: WALLS.contains(&name) }
    }

    fn is(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }

    /// An item ends where the next one of its list begins, however many `div` are open between.
    fn is_wall_of_items(&self) -> bool {
        self.is_block && !self.is(&["address", "div", "p"])
    }
}

fn is_block(name: &str) -> bool {
    [BLOCKS, WALLS, TABLE_PARTS, SOLID].iter().any(|names| names.contains(&name))
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
