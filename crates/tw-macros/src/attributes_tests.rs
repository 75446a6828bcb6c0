use super::*;

const NEEDED: &str = r#"slug = "text.word_count", name = "Word count", category = "text", icon = "text",
    version = "1.0.0", level = "read""#;

fn read(more: &str) -> Result<Attributes> {
    syn::parse_str(&format!("{NEEDED}, {more}"))
}

#[track_caller]
fn refused(more: &str) -> String {
    read(more).err().expect(more).to_string()
}

#[track_caller]
fn check(more: &str, message: &str) {
    assert_eq!(refused(more), message, "for {more}");
}

#[test]
fn everything_an_author_may_write_is_read() {
    let read = read(
        r##"policy = "always_ask", required_permission = "tools.tenant.run", tenants = ["ims", "demo"], opt_in,
            sections = [("rows", "Rows", "table"), ("sum", "Sum", "chart", r#"{ "x": "year" }"#)],
            collaborative, aggregate = super::combine, visible = false, is_async, timeout_ms = 5_000, pure,
            concurrency_group = "cpu", max_concurrency = 2, tags = ["words"], input_less, builtin,
            aliases = ["wordCount"], settings = ["language"],"##,
    )
    .unwrap();
    assert_eq!((read.slug.value().as_str(), read.level), ("text.word_count", "Read"));
    let more = read.more;
    assert_eq!(more.policy, Some("AlwaysAsk"));
    assert_eq!(more.required_permission.unwrap().value(), "tools.tenant.run");
    assert_eq!(more.tenants.iter().map(LitStr::value).collect::<Vec<_>>(), ["ims", "demo"]);
    let kinds: Vec<_> =
        more.sections.iter().map(|section| (section.kind, section.config.is_some())).collect();
    assert_eq!(kinds, [("Table", false), ("Chart", true)]);
    assert_eq!(more.aggregate.unwrap().segments.len(), 2);
    assert_eq!((more.visible, more.timeout_ms, more.max_concurrency), (Some(false), Some(5_000), Some(2)));
    assert!(more.opt_in && more.collaborative && more.is_async && more.pure && more.input_less);
    assert_eq!(more.tags.len(), 1);
    assert_eq!((more.aliases[0].value(), more.settings[0].value()), ("wordCount".into(), "language".into()));
}

#[test]
fn what_is_left_out_stays_undecided() {
    let more = read("").unwrap().more;
    assert_eq!((more.policy, more.visible, more.timeout_ms), (None, None, None));
    assert!(more.sections.is_empty() && more.tenants.is_empty());
    assert!(!more.opt_in && !more.collaborative && !more.is_async && !more.pure && !more.input_less);
}

#[test]
fn missing_attribute_is_named_with_an_example() {
    let error = syn::parse_str::<Attributes>(r#"slug = "a", name = "A""#).err().unwrap();
    assert_eq!(error.to_string(), r#"a tool needs `category = "text"`"#);
    let error = syn::parse_str::<Attributes>(&NEEDED.replace(r#", level = "read""#, "")).err().unwrap();
    assert_eq!(error.to_string(), r#"a tool needs `level = "read"`"#);
}

#[test]
fn wrong_text_is_refused_with_the_rule_it_breaks() {
    let with = |from: &str, to: &str| {
        syn::parse_str::<Attributes>(&NEEDED.replace(from, to)).err().expect(to).to_string()
    };
    assert!(with("text.word_count", "word count").starts_with("a slug cannot contain ' '"));
    assert!(with("1.0.0", "1.0").starts_with("a version is semantic, such as `1.0.0`"));
    assert!(with(r#""read""#, r#""reed""#).starts_with("a level is one of `read`, `draft`"));
    assert!(with(r#"icon = "text""#, r#"icon = "Text Icon""#).starts_with("an icon is the name"));
    assert_eq!(with("Word count", " "), "`name` must not be empty");
}

#[test]
fn wrong_shape_is_refused_with_the_right_one() {
    check("policy", r#"`policy` needs a value: `policy = "…"`"#);
    check("policy = 3", "`policy` must be a text in quotes");
    check("policy = \"ask\"", "a policy is one of `auto`, `always_ask`");
    check("pure = 1", "`pure` must stand alone, or be `true` or `false`");
    check("timeout_ms = 0", "`timeout_ms` must be at least 1");
    check("timeout_ms = \"5s\"", "`timeout_ms` must be a whole number");
    check("tags = \"a\"", "`tags` is a list of texts: [\"…\", \"…\"]");
    check("tags = [1]", "`tags` must be a list of texts, and this item is not a text");
    check("tenants = []", "`tenants` names at least one; leave it out for all");
    check("required_permission = \"Tools\"", "a permission cannot contain 'T'");
    assert!(refused("aliases = [\"word count\"]").starts_with("a slug cannot contain ' '"));
    check("collaborative, aggregate = \"f\"", "`aggregate` must be the path of a function");
}

#[test]
fn unknown_and_repeated_attributes_are_refused() {
    let message = refused("time_out = 3");
    assert!(message.starts_with("a tool has no attribute `time_out`; it has slug, name,"), "{message}");
    check("pure, pure", "`pure` stands here twice");
}

#[test]
fn wrong_sections_are_refused() {
    let kinds = "a section's kind is one of `summary`, `table`, `chart`, `radar`, `ranking`, `custom`";
    check(r#"sections = [("a", "A", "pie")]"#, kinds);
    assert!(refused(r#"sections = [("a", "A")]"#).starts_with("a section is (\"key\", "));
    assert!(refused(r#"sections = ["a"]"#).ends_with("this item is not one"));
    let message = refused(r#"sections = [("a", "A", "chart", "[1]")]"#);
    assert!(message.starts_with("the configuration of a section is a JSON object"), "{message}");
}

#[test]
fn attributes_that_contradict_each_other_are_refused() {
    check("aggregate = f", "`aggregate` combines submissions: add `collaborative`");
    check("settings = [\"a\"]", "`settings` are for tools that are made of this one: add `builtin`");
    check("max_concurrency = 2", "`max_concurrency` limits a group: add `concurrency_group`");
    let writing = format!("{}, pure", NEEDED.replace(r#""read""#, r#""write""#));
    let error = syn::parse_str::<Attributes>(&writing).err().unwrap();
    assert_eq!(error.to_string(), "a `pure` tool changes nothing: its level must be `read` or `draft`");
}
