//! Views and output sections.

use serde_json::Value;

use super::{
    reader::{Part, Reader},
    target::{Finder, Found, steps},
};
use crate::{Fault, Violation, words::cut};

const VERSION: u64 = 1;

const SECTIONS: &[&str] = &["summary", "table", "chart", "radar", "ranking", "custom"];
const BLOCKS: &[&str] = &["summary", "table", "chart", "radar", "ranking", "markdown", "json", "custom"];

/// Everything that is wrong with the view of a tool.
///
/// A path that the output schema does not describe is refused only where the schema leaves no room
/// for it. Without a schema every path may lead somewhere.
#[must_use]
pub fn check_view_spec(spec: &Value, output_schema: Option<&Value>) -> Vec<Fault> {
    let mut check = View { reader: Reader::default(), schema: output_schema.map(Finder::new) };
    if let Some(part) = check.reader.object(spec, "", &["version", "blocks"]) {
        check.reader.version(part, VERSION);
        match part.get("blocks") {
            None => check.reader.say("/blocks", Violation::required()),
            Some(blocks) => {
                for (block, at) in check.reader.list(blocks, "/blocks") {
                    check.block(block, &at);
                }
            }
        }
    }
    check.reader.told()
}

/// Everything that is wrong with the output sections of a tool. As with views, a key is refused only
/// where the output schema leaves no room for it.
#[must_use]
pub fn check_sections(sections: &Value, output_schema: Option<&Value>) -> Vec<Fault> {
    let mut check = View { reader: Reader::default(), schema: output_schema.map(Finder::new) };
    for (section, at) in check.reader.list(sections, "") {
        check.section(section, &at);
    }
    check.reader.told()
}

struct View<'a> {
    reader: Reader,
    schema: Option<Finder<'a>>,
}

impl View<'_> {
    fn section(&mut self, section: &Value, at: &str) {
        let Some(part) = self.reader.object(section, at, &["key", "label", "type", "config"]) else { return };
        self.kind(part, SECTIONS);
        self.reader.needed_text(part, "label");
        self.config(part);
        self.key(part);
    }

    fn block(&mut self, block: &Value, at: &str) {
        let known = ["type", "key", "path", "label", "config"];
        let Some(part) = self.reader.object(block, at, &known) else { return };
        self.kind(part, BLOCKS);
        self.reader.text(part, "label");
        self.config(part);
        match (part.get("key"), part.get("path")) {
            (Some(_), None) => self.key(part),
            (None, Some(_)) => self.path(part),
            _ => self.reader.say(at, Violation::one_member(["key", "path"])),
        }
    }

    fn kind(&mut self, part: Part<'_>, kinds: &[&str]) {
        if part.get("type").is_none() {
            self.reader.say(part.place("type"), Violation::required());
        }
        self.reader.word(part, "type", kinds);
    }

    fn config(&mut self, part: Part<'_>) {
        if let Some(config) = part.get("config").filter(|config| !config.is_object()) {
            self.reader.say(part.place("config"), Violation::typed(&["object"], config));
        }
    }

    /// A key of the output itself.
    fn key(&mut self, part: Part<'_>) {
        let Some(key) = self.reader.needed_text(part, "key") else { return };
        self.leads_somewhere(part, "key", key, &[key.to_owned()]);
    }

    /// A path into the output; the empty one is the whole of it.
    fn path(&mut self, part: Part<'_>) {
        let Some(path) = self.reader.text(part, "path") else { return };
        match steps(path) {
            Some(steps) => self.leads_somewhere(part, "path", path, &steps),
            None => {
                self.reader.say(part.place("path"), Violation::pointer());
            }
        }
    }

    fn leads_somewhere(&mut self, part: Part<'_>, name: &str, shown: &str, steps: &[String]) {
        let violation = match self.schema.as_ref().map(|schema| schema.find(steps)) {
            None | Some(Found::Described | Found::Possible) => return,
            Some(Found::Nowhere) => Violation::not_in_schema(cut(shown), "output"),
            Some(Found::Unknown) => Violation::schema_unsearchable(cut(shown)),
        };
        self.reader.say(part.place(name), violation);
    }
}
