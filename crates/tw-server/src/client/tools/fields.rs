//! Flags that a tool's own schema gives: `--initial-investment 10000`.

use std::{collections::BTreeMap, ffi::OsString, fs, path::Path};

use anyhow::{Context, Result};
use clap::{
    Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches as _, builder::PossibleValuesParser,
};
use serde_json::{Value, value::RawValue};

use super::{RunOptions, json_text};
use crate::{
    client::Server,
    fail::{Hint, refusal},
};

/// One property of an input, as a flag.
#[derive(Debug)]
struct Flag {
    property: String,
    flag: String,
    takes: Takes,
}

/// What stands behind a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Text,
    YesNo,
    /// A list: the flag may be given several times, each time with one item.
    Texts,
    Values,
    /// Any JSON; a text that is no JSON where the schema takes texts too.
    Json {
        or_text: bool,
    },
}

/// The command `tools run SLUG` with the fields of its tool.
pub(super) struct Fields {
    flags: Vec<Flag>,
    command: Command,
}

/// What stands behind the slug about the server. It has to be known before the tool, and with it the other flags, can be
/// read.
pub(super) fn server_in(rest: &[String]) -> Server {
    let typed = |flag: &str| {
        let inline = format!("{flag}=");
        rest.iter().enumerate().find_map(|(index, word)| match word.strip_prefix(&inline) {
            Some(value) => Some(value.to_owned()),
            None => rest.get(index + 1).filter(|_| word == flag).cloned(),
        })
    };
    Server {
        url: typed("--url"),
        key: typed("--key"),
        profile: typed("--profile"),
        json: rest.iter().any(|word| word == "--json"),
    }
}

fn base(name: &str) -> Command {
    Command::new(name.to_owned()).no_binary_name(true).disable_help_flag(true)
}

fn words(rest: &[String]) -> impl Iterator<Item = OsString> + '_ {
    rest.iter().map(OsString::from)
}

impl Fields {
    pub(super) fn of(tool: &Value) -> Self {
        let slug = tool["slug"].as_str().unwrap_or_default();
        let schema = &tool["input_schema"];
        let mut command =
            RunOptions::augment_args(Server::augment_args(base(&format!("toolwright tools run {slug}"))))
                .override_usage(format!("toolwright tools run {slug} [FIELDS] [OPTIONS]"));
        if let Some(about) = tool["description"].as_str() {
            command = command.about(about.to_owned());
        }
        let taken: Vec<String> =
            command.get_arguments().filter_map(|arg| arg.get_long().map(str::to_owned)).collect();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut flags: Vec<Flag> = Vec::new();
        for (property, described) in schema["properties"].as_object().into_iter().flatten() {
            let mut flag = kebab(property);
            if taken.contains(&flag) || flags.iter().any(|other| other.flag == flag) {
                flag = format!("field-{flag}");
            }
            // Names that make no flag are left to --input.
            if flag.is_empty() || flags.iter().any(|other| other.flag == flag) {
                continue;
            }
            let flag = Flag { takes: takes(described), property: property.clone(), flag };
            command = command.arg(flag.arg(described, required.contains(&property.as_str())));
            flags.push(flag);
        }
        Self { flags, command }
    }

    pub(super) fn help(&self) -> String {
        self.command.clone().render_help().to_string()
    }

    /// Reads what stood behind the slug: our own flags, and the fields.
    pub(super) fn read(&self, rest: &[String]) -> Result<(RunOptions, BTreeMap<String, Box<RawValue>>)> {
        let matches = self.command.clone().try_get_matches_from(words(rest)).map_err(|error| {
            let text = error.to_string();
            let text = text.trim_start_matches("error: ").trim_end();
            let what = text.split("\n\nUsage:").next().unwrap_or(text).to_owned();
            refusal(what, format!("`{} --help` lists the fields", self.command.get_name()))
        })?;
        let args = RunOptions::from_arg_matches(&matches)?;
        let mut given = BTreeMap::new();
        for flag in &self.flags {
            if let Some(value) = flag.value(&matches)? {
                given.insert(flag.property.clone(), value);
            }
        }
        Ok((args, given))
    }
}

impl Flag {
    fn arg(&self, described: &Value, is_required: bool) -> Arg {
        let text = |name: &str| described[name].as_str().map(str::trim).filter(|text| !text.is_empty());
        let mut help = text("description").or(text("title")).unwrap_or_default().to_owned();
        match described.get("default") {
            Some(default) if !default.is_null() => {
                help = format!("{help} [default: {}]", crate::output::plain(default))
            }
            _ if is_required => help = format!("{help} [required]"),
            _ => {}
        }
        let arg = Arg::new(format!("field {}", self.property))
            .long(self.flag.clone())
            .help(help.trim_start().to_owned())
            .help_heading("Fields");
        match self.takes {
            Takes::YesNo => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(["true", "false"]),
            Takes::Texts => arg.action(ArgAction::Append).value_name("TEXT").allow_hyphen_values(true),
            Takes::Values => arg.action(ArgAction::Append).value_name("VALUE").allow_hyphen_values(true),
            Takes::Json { .. } => arg.value_name("JSON").allow_hyphen_values(true),
            Takes::Text => {
                let arg = arg.value_name("TEXT").allow_hyphen_values(true);
                let words: Option<Vec<String>> = described["enum"]
                    .as_array()
                    .map(|words| words.iter().filter_map(Value::as_str).map(str::to_owned).collect());
                match words {
                    Some(words) if !words.is_empty() => arg.value_parser(PossibleValuesParser::new(words)),
                    _ => arg,
                }
            }
        }
    }

    fn value(&self, matches: &ArgMatches) -> Result<Option<Box<RawValue>>> {
        let id = format!("field {}", self.property);
        let Some(mut given) = matches.get_many::<String>(&id) else { return Ok(None) };
        let text = match self.takes {
            Takes::Texts | Takes::Values => {
                let items: Vec<&String> = given.collect();
                return self.list(&items).map(Some);
            }
            _ => given.next().map(String::as_str).unwrap_or_default(),
        };
        self.one(text).map(Some)
    }

    /// One value; `@FILE` stands for what is in the file.
    fn one(&self, text: &str) -> Result<Box<RawValue>> {
        let text = match text.strip_prefix('@') {
            Some(text) if text.starts_with('@') => text.to_owned(),
            Some(file) => fs::read_to_string(Path::new(file))
                .with_context(|| format!("cannot read {file} for --{}", self.flag))
                .hint(
                    "`@FILE` stands for the contents of a file; write `@@` for a text that begins with `@`",
                )?,
            None => text.to_owned(),
        };
        let quoted = |text: &str| serde_json::value::to_raw_value(text).context("a text is JSON");
        match self.takes {
            Takes::Text | Takes::Texts => quoted(&text),
            Takes::Json { or_text: true } => json_text(text.clone()).or_else(|_| quoted(&text)),
            Takes::YesNo | Takes::Values | Takes::Json { or_text: false } => {
                let wrong = format!("`{text}` is not a value for --{}", self.flag);
                json_text(text)
                    .context(wrong)
                    .hint("give a number, or JSON such as '[1, 2]' or '{ \"a\": 1 }'")
            }
        }
    }

    /// A whole list as JSON, or its items one by one.
    fn list(&self, items: &[&String]) -> Result<Box<RawValue>> {
        if let [only] = items
            && let Ok(list) = json_text((*only).clone())
            && list.get().starts_with('[')
        {
            return Ok(list);
        }
        let items: Result<Vec<Box<RawValue>>> = items.iter().map(|item| self.one(item)).collect();
        serde_json::value::to_raw_value(&items?).context("a list is JSON")
    }
}

/// What a flag for a property takes.
fn takes(schema: &Value) -> Takes {
    let is = |schema: &Value, word: &str| match &schema["type"] {
        Value::String(one) => one == word,
        Value::Array(several) => several.iter().any(|one| one == word),
        _ => false,
    };
    let only = |word: &str| {
        is(schema, word)
            && ["string", "number", "integer", "boolean", "array", "object"]
                .iter()
                .all(|other| *other == word || !is(schema, other))
    };
    if only("string") {
        Takes::Text
    } else if only("boolean") {
        Takes::YesNo
    } else if only("array") {
        let items = &schema["items"];
        if is(items, "string") && !is(items, "number") && !is(items, "object") {
            Takes::Texts
        } else {
            Takes::Values
        }
    } else {
        Takes::Json { or_text: schema["type"].is_null() || is(schema, "string") }
    }
}

/// A property's name as a flag: `initialInvestment` is `initial-investment`, `baseURL` is `base-url`.
fn kebab(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    let mut flag = String::new();
    for (index, c) in letters.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| letters.get(before));
        let after = letters.get(index + 1);
        let begins = c.is_ascii_uppercase()
            && (before.is_some_and(|before| before.is_ascii_lowercase() || before.is_ascii_digit())
                || before.is_some_and(char::is_ascii_uppercase)
                    && after.is_some_and(char::is_ascii_lowercase));
        if (begins || !c.is_ascii_alphanumeric()) && !flag.is_empty() && !flag.ends_with('-') {
            flag.push('-');
        }
        if c.is_ascii_alphanumeric() {
            flag.push(c.to_ascii_lowercase());
        }
    }
    flag.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields() -> Fields {
        Fields::of(&json!({ "slug": "plan", "description": "Plans.", "input_schema": {
            "type": "object", "required": ["initialInvestment"],
            "properties": {
                "initialInvestment": { "type": "number", "description": "What is paid once." },
                "currency": { "type": "string", "enum": ["USD", "EUR"], "default": "USD" },
                "isFinal": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "years": { "type": "array", "items": { "type": "integer" } },
                "extra": {},
                "json": { "type": "object" },
                "note": { "type": ["string", "null"] },
                "URLPath_2": { "type": "string" },
            },
        } }))
    }

    fn read(line: &str) -> Result<Value> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let (_, given) = fields().read(&words)?;
        Ok(serde_json::from_str(&serde_json::to_string(&given)?)?)
    }

    #[test]
    fn fields_are_flags_in_the_types_of_the_schema() {
        let input = read(
            "--initial-investment 18446744073709551615 --currency EUR --is-final --tags a --tags 7 --years 1 --years 2 --url-path-2 -x",
        );
        let expected = json!({ "initialInvestment": 18_446_744_073_709_551_615_u64, "currency": "EUR", "isFinal": true,
            "tags": ["a", "7"], "years": [1, 2], "URLPath_2": "-x" });
        assert_eq!(input.unwrap(), expected);
        assert_eq!(
            read("--is-final=false --tags [\"a\"]").unwrap(),
            json!({ "isFinal": false, "tags": ["a"] })
        );
        assert_eq!(read("--extra word --note 5").unwrap(), json!({ "extra": "word", "note": "5" }));
        assert_eq!(read("--field-json {\"a\":1}").unwrap(), json!({ "json": { "a": 1 } }));
    }

    #[test]
    fn value_that_does_not_fit_is_refused_with_its_flag() {
        let text = |line: &str| crate::fail::text(&read(line).unwrap_err());
        let much = text("--initial-investment much");
        assert!(much.contains("`much` is not a value for --initial-investment"), "{much}");
        assert!(text("--currency GBP").contains("USD, EUR"), "{}", text("--currency GBP"));
        let unknown = text("--initial-investmnt 5");
        assert!(
            unknown.contains("--initial-investment") && unknown.contains("--help` lists the fields"),
            "{unknown}"
        );
    }

    #[test]
    fn own_flags_stay_what_they_are_behind_the_slug() {
        let rest: Vec<String> =
            ["--initial-investment", "5", "--json", "--url", "http://127.0.0.1:9", "--wait", "7"]
                .map(str::to_owned)
                .into();
        let (args, given) = fields().read(&rest).unwrap();
        assert_eq!((args.wait, given.len()), (Some(7), 1));
        let server = server_in(&rest);
        assert!(server.json && server.url.as_deref() == Some("http://127.0.0.1:9"));
    }

    #[test]
    fn help_names_every_field_with_its_default() {
        let help = fields().help();
        for part in [
            "--initial-investment <JSON>",
            "What is paid once. [required]",
            "[default: USD]",
            "--tags <TEXT>",
        ] {
            assert!(help.contains(part), "{part}\n{help}");
        }
    }

    #[test]
    fn text_of_a_file_may_stand_for_a_value() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("note.txt");
        fs::write(&file, "from a file").unwrap();
        assert_eq!(
            read(&format!("--url-path-2 @{}", file.display())).unwrap(),
            json!({ "URLPath_2": "from a file" })
        );
        assert_eq!(read("--url-path-2 @@home").unwrap(), json!({ "URLPath_2": "@home" }));
    }
}
