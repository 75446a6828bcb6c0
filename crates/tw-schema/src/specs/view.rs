//! Views and output sections.

use serde_json::Value;

use super::{
    reader::{Object, Reader},
    target::{Finder, Target, tokens},
};
use crate::{Fault, Violation, words::cut};

const VERSION: u64 = 1;

const SECTIONS: &[&str] = &["summary", "table", "chart", "radar", "ranking", "custom"];
const BLOCKS: &[&str] = &["summary", "table", "chart", "radar", "ranking", "markdown", "json", "custom"];

/// All faults of a tool's view.
///
/// A path that the output schema does not describe is refused only where the schema leaves no room
/// for it. Without a schema every path may lead somewhere.
#[must_use]
pub fn check_view_spec(spec: &Value, output_schema: Option<&Value>) -> Vec<Fault> {
    let mut check = View { reader: Reader::default(), schema: output_schema.map(Finder::new) };
    if let Some(object) = check.reader.object(spec, "", &["version", "blocks"]) {
        check.reader.version(object, VERSION);
        match object.get("blocks") {
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

/// All faults of a tool's output sections. As with views, a key is refused only where the output schema
/// leaves no room for it.
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
        let Some(object) = self.reader.object(section, at, &["key", "label", "type", "config", "i18n"])
        else {
            return;
        };
        self.kind(object, SECTIONS);
        self.reader.needed_text(object, "label");
        self.reader.translations(object, &["label"]);
        self.config(object);
        self.key(object);
    }

    fn block(&mut self, block: &Value, at: &str) {
        let known = ["type", "key", "path", "label", "config", "i18n"];
        let Some(object) = self.reader.object(block, at, &known) else { return };
        self.kind(object, BLOCKS);
        self.reader.text(object, "label");
        self.reader.translations(object, &["label"]);
        self.config(object);
        match (object.get("key"), object.get("path")) {
            (Some(_), None) => self.key(object),
            (None, Some(_)) => self.path(object),
            _ => self.reader.say(at, Violation::one_member(["key", "path"])),
        }
    }

    fn kind(&mut self, object: Object<'_>, kinds: &[&str]) {
        if object.get("type").is_none() {
            self.reader.say(object.pointer("type"), Violation::required());
        }
        self.reader.word(object, "type", kinds);
    }

    fn config(&mut self, object: Object<'_>) {
        if let Some(config) = object.get("config").filter(|config| !config.is_object()) {
            self.reader.say(object.pointer("config"), Violation::typed(&["object"], config));
        }
    }

    /// A key of the output itself.
    fn key(&mut self, object: Object<'_>) {
        let Some(key) = self.reader.needed_text(object, "key") else { return };
        self.leads_somewhere(object, "key", key, &[key.to_owned()]);
    }

    /// A path into the output; the empty one is the whole of it.
    fn path(&mut self, object: Object<'_>) {
        let Some(path) = self.reader.text(object, "path") else { return };
        match tokens(path) {
            Some(tokens) => self.leads_somewhere(object, "path", path, &tokens),
            None => {
                self.reader.say(object.pointer("path"), Violation::pointer());
            }
        }
    }

    fn leads_somewhere(&mut self, object: Object<'_>, name: &str, shown: &str, tokens: &[String]) {
        let violation = match self.schema.as_ref().map(|schema| schema.find(tokens)) {
            None | Some(Target::Described | Target::Possible) => return,
            Some(Target::Nowhere) => Violation::not_in_schema(cut(shown), "output"),
            Some(Target::Unknown) => Violation::schema_unsearchable(cut(shown)),
        };
        self.reader.say(object.pointer(name), violation);
    }
}
