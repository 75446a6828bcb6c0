//! What an author may write between the parentheses of `#[tool(…)]`.

use proc_macro2::Span;
use syn::{
    Error, Ident, LitStr, Path, Result, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

use crate::{argument::Argument, grammar};

const SECTION_SHAPE: &str = r#"("key", "Label", "kind") or ("key", "Label", "kind", "{ JSON }")"#;
const TEXTS_SHAPE: &str = r#"("de", "file.de.json")"#;

/// Everything an author said, checked.
pub(crate) struct Attributes {
    pub(crate) slug: LitStr,
    pub(crate) name: LitStr,
    pub(crate) category: LitStr,
    pub(crate) icon: LitStr,
    pub(crate) version: LitStr,
    /// A variant of `Level`.
    pub(crate) level: &'static str,
    pub(crate) more: Optional,
}

/// What may be left out.
#[derive(Default)]
pub(crate) struct Optional {
    /// A variant of `Policy`.
    pub(crate) policy: Option<&'static str>,
    pub(crate) required_permission: Option<LitStr>,
    pub(crate) tenants: Vec<LitStr>,
    pub(crate) opt_in: bool,
    pub(crate) sections: Vec<SectionAttribute>,
    pub(crate) form: Option<LitStr>,
    /// Languages, each with the file of its texts.
    pub(crate) texts: Vec<(LitStr, LitStr)>,
    pub(crate) collaborative: bool,
    pub(crate) aggregate: Option<Path>,
    pub(crate) visible: Option<bool>,
    pub(crate) is_async: bool,
    pub(crate) timeout_ms: Option<u64>,
    pub(crate) pure: bool,
    pub(crate) open_world: Option<bool>,
    pub(crate) callable: bool,
    pub(crate) builtin: bool,
    pub(crate) calls: bool,
    /// Other names of the tool.
    pub(crate) aliases: Vec<LitStr>,
    /// What the author of a tool that is made of this one may write beside `builtin_key`.
    pub(crate) settings: Vec<LitStr>,
    pub(crate) concurrency_group: Option<LitStr>,
    pub(crate) max_concurrency: Option<u32>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) input_less: bool,
}

pub(crate) struct SectionAttribute {
    pub(crate) key: LitStr,
    pub(crate) label: LitStr,
    /// A variant of `SectionKind`.
    pub(crate) kind: &'static str,
    pub(crate) config: Option<LitStr>,
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    slug: Option<LitStr>,
    name: Option<LitStr>,
    category: Option<LitStr>,
    icon: Option<LitStr>,
    version: Option<LitStr>,
    level: Option<&'static str>,
    more: Optional,
}

impl Parse for Attributes {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let entries = Punctuated::<Argument, Token![,]>::parse_terminated(input)?;
        let mut reading = Reading::default();
        for (index, entry) in entries.iter().enumerate() {
            if entries.iter().take(index).any(|earlier| earlier.name == entry.name) {
                return Err(Error::new(entry.name.span(), format!("`{}` stands here twice", entry.name)));
            }
            reading.take(entry)?;
        }
        let find = |name: &str| entries.iter().map(|entry| &entry.name).find(|found| *found == name);
        contradictions(&reading, find)?;
        reading.finish()
    }
}

impl Reading {
    fn take(&mut self, entry: &Argument) -> Result<()> {
        let more = &mut self.more;
        match entry.name.to_string().as_str() {
            "slug" => self.slug = Some(entry.text_that(grammar::slug)?),
            "name" => self.name = Some(entry.text()?),
            "category" => self.category = Some(entry.text()?),
            "icon" => self.icon = Some(entry.text_that(grammar::icon)?),
            "version" => self.version = Some(entry.text_that(grammar::version)?),
            "level" => self.level = Some(word(&entry.text()?, &grammar::LEVELS, "level")?),
            "policy" => more.policy = Some(word(&entry.text()?, &grammar::POLICIES, "policy")?),
            "required_permission" => more.required_permission = Some(entry.text_that(grammar::permission)?),
            "tenants" => more.tenants = tenants(entry)?,
            "opt_in" => more.opt_in = entry.flag()?,
            "sections" => more.sections = sections(entry)?,
            "form" => more.form = Some(entry.text()?),
            "texts" => more.texts = texts(entry)?,
            "collaborative" => more.collaborative = entry.flag()?,
            "aggregate" => more.aggregate = Some(entry.path()?),
            "visible" => more.visible = Some(entry.flag()?),
            "is_async" => more.is_async = entry.flag()?,
            "timeout_ms" => more.timeout_ms = Some(entry.number()?),
            "pure" => more.pure = entry.flag()?,
            "open_world" => more.open_world = Some(entry.flag()?),
            "callable" => more.callable = entry.flag()?,
            "builtin" => more.builtin = entry.flag()?,
            "calls" => more.calls = entry.flag()?,
            "aliases" => more.aliases = aliases(entry)?,
            "settings" => more.settings = entry.texts()?,
            "concurrency_group" => more.concurrency_group = Some(entry.text()?),
            "max_concurrency" => more.max_concurrency = Some(entry.number()?),
            "tags" => more.tags = entry.texts()?,
            "input_less" => more.input_less = entry.flag()?,
            other => return Err(Error::new(entry.name.span(), unknown(other))),
        }
        Ok(())
    }

    fn finish(self) -> Result<Attributes> {
        Ok(Attributes {
            slug: needed(self.slug, r#"slug = "text.word_count""#)?,
            name: needed(self.name, r#"name = "Word count""#)?,
            category: needed(self.category, r#"category = "text""#)?,
            icon: needed(self.icon, r#"icon = "calculator""#)?,
            version: needed(self.version, r#"version = "1.0.0""#)?,
            level: needed(self.level, r#"level = "read""#)?,
            more: self.more,
        })
    }
}

fn unknown(name: &str) -> String {
    format!(
        "a tool has no attribute `{name}`; it has slug, name, category, icon, version, level, policy, \
         required_permission, tenants, opt_in, sections, form, texts, collaborative, aggregate, visible, is_async, \
         timeout_ms, pure, open_world, concurrency_group, max_concurrency, tags, input_less, \
         callable, builtin, calls, aliases, settings"
    )
}

fn needed<T>(value: Option<T>, example: &str) -> Result<T> {
    value.ok_or_else(|| Error::new(Span::call_site(), format!("a tool needs `{example}`")))
}

fn word(text: &LitStr, words: &[(&'static str, &'static str)], what: &str) -> Result<&'static str> {
    grammar::word(words, &text.value(), what).map_err(|problem| Error::new(text.span(), problem))
}

fn tenants(entry: &Argument) -> Result<Vec<LitStr>> {
    let tenants = entry.texts()?;
    if tenants.is_empty() {
        // An empty list would read as "nobody" and mean "everybody".
        return Err(Error::new(entry.name.span(), "`tenants` names at least one; leave it out for all"));
    }
    for tenant in &tenants {
        grammar::tenant(&tenant.value()).map_err(|problem| Error::new(tenant.span(), problem))?;
    }
    Ok(tenants)
}

fn aliases(entry: &Argument) -> Result<Vec<LitStr>> {
    let aliases = entry.texts()?;
    for alias in &aliases {
        grammar::slug(&alias.value()).map_err(|problem| Error::new(alias.span(), problem))?;
    }
    Ok(aliases)
}

fn texts(entry: &Argument) -> Result<Vec<(LitStr, LitStr)>> {
    let pairs = entry.tuples(TEXTS_SHAPE)?.into_iter().map(|parts| match <[LitStr; 2]>::try_from(parts) {
        Ok([language, file]) => Ok((language, file)),
        Err(_) => Err(Error::new(entry.name.span(), format!("`texts` holds {TEXTS_SHAPE}"))),
    });
    pairs.collect()
}

fn sections(entry: &Argument) -> Result<Vec<SectionAttribute>> {
    entry.tuples(SECTION_SHAPE)?.into_iter().map(|parts| section(entry, parts)).collect()
}

fn section(entry: &Argument, parts: Vec<LitStr>) -> Result<SectionAttribute> {
    let mut parts = parts.into_iter();
    let (Some(key), Some(label), Some(kind), config, None) =
        (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(Error::new(entry.name.span(), format!("a section is {SECTION_SHAPE}")));
    };
    if let Some(config) = &config {
        grammar::json_object(&config.value()).map_err(|problem| Error::new(config.span(), problem))?;
    }
    let kind = word(&kind, &grammar::SECTION_KINDS, "section's kind")?;
    Ok(SectionAttribute { key, label, kind, config })
}

/// What is right by itself and makes no sense together.
fn contradictions<'a>(reading: &Reading, find: impl Fn(&str) -> Option<&'a Ident>) -> Result<()> {
    let refuse = |name: &str, problem: &str| {
        Err(Error::new(find(name).map_or_else(Span::call_site, Ident::span), problem))
    };
    let more = &reading.more;
    if more.aggregate.is_some() && !more.collaborative {
        return refuse("aggregate", "`aggregate` combines submissions: add `collaborative`");
    }
    if more.pure && matches!(reading.level, Some("Write" | "Destructive")) {
        return refuse("pure", "a `pure` tool changes nothing: its level must be `read` or `draft`");
    }
    if more.max_concurrency.is_some() && more.concurrency_group.is_none() {
        return refuse("max_concurrency", "`max_concurrency` limits a group: add `concurrency_group`");
    }
    if !more.settings.is_empty() && !more.builtin {
        return refuse("settings", "`settings` are for tools that are made of this one: add `builtin`");
    }
    Ok(())
}

#[cfg(test)]
#[path = "attributes_tests.rs"]
mod tests;
