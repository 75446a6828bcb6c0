//! Tools as files: out of a server, and into one.

use std::{
    collections::BTreeSet,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::{Map, Value, json};
use tw_model::{Definition, Execution, OutputSection, Switches, ToolDef, redacted};
use tw_schema::{Fault, canonical, canonical_manifest};

use super::legacy;
use crate::{
    client::{Client, field, items, problem::Problem},
    fail::Hint,
    output,
};

/// What a file says about a tool, in this order. All of it is written down, also what says nothing: a
/// file that is imported takes back what it does not have.
const WRITTEN: &[&str] = &[
    "slug",
    "name",
    "description",
    "i18n",
    "version",
    "category",
    "icon",
    "tags",
    "aliases",
    "implementation_type",
    "implementation",
    "execution_spec",
    "execution",
    "input_schema",
    "output_schema",
    "output_sections",
    "form_spec",
    "view_spec",
    "permission_level",
    "permission_policy",
    "required_permission",
    "tenant_slugs",
    "collaborative",
    "visible",
    "is_async",
    "timeout_ms",
    "enabled",
    "is_active",
];

/// Members that are changed by a way of their own.
const OWN_WAY: &[&str] = &["slug", "version"];

pub(super) async fn export(client: &Client, out: &Path, as_json: bool) -> Result<()> {
    let own = [("kind", Some("tenant_custom".to_owned()))];
    let tools = client.list(&["tools"], &own, None).await?;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut written = Vec::new();
    for tool in items(&tools) {
        let tool = client.get(&["tools", &field(tool, "id")], &[]).await?;
        let slug = field(&tool, "slug");
        let file = out.join(format!("{slug}.json"));
        let text = format!("{}\n", serde_json::to_string_pretty(&exported(&tool))?);
        // A file that says so already keeps its time.
        if fs::read(&file).ok().as_deref() != Some(text.as_bytes()) {
            fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        written.push((file, slug));
    }
    if as_json {
        let items: Vec<_> =
            written.iter().map(|(file, slug)| json!({ "file": file, "tool": slug })).collect();
        output::json(&json!({ "items": items }))?;
    } else {
        for (file, _) in &written {
            output::say(&output::clean(&file.display().to_string()))?;
        }
    }
    let names: BTreeSet<&PathBuf> = written.iter().map(|(file, _)| file).collect();
    for other in definitions(out)?.iter().filter(|file| !names.contains(file)) {
        output::note(&format!("{} is not a tool of this tenant; the file was not touched", other.display()));
    }
    Ok(())
}

/// A tool as its file says it.
fn exported(tool: &Value) -> Value {
    let mut file = Map::new();
    for key in WRITTEN {
        file.insert((*key).to_owned(), tool[*key].clone());
    }
    if let Some(implementation) = file.get_mut("implementation") {
        without_artifact(implementation);
    }
    // Whether a tool is live is the server's to say; that it should not be used is its author's.
    if tool["status"] == "disabled" || tool["status"] == "deprecated" {
        file.insert("status".to_owned(), tool["status"].clone());
    }
    Value::Object(file)
}

/// Takes out which artifact a script is: another server has others. The source is there.
fn without_artifact(implementation: &mut Value) {
    let Some(members) = implementation.as_object_mut().filter(|members| members.contains_key("source"))
    else {
        return;
    };
    for key in ["artifact_id", "artifact_version"] {
        members.shift_remove(key);
    }
}

/// The definitions in a folder, by name.
fn definitions(dir: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read the folder {}", dir.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.with_context(|| format!("cannot read the folder {}", dir.display()))?.path();
        if path.extension() == Some(OsStr::new("json")) && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Created,
    Changed,
    Unchanged,
    Failed,
}

/// What became of a file.
#[derive(Debug, Serialize)]
struct Line {
    file: String,
    tool: Option<String>,
    outcome: Outcome,
    published: bool,
    notes: Vec<String>,
    error: Option<String>,
}

pub(super) async fn import(client: &Client, dir: &Path, as_json: bool) -> Result<ExitCode> {
    let files = definitions(dir)?;
    if files.is_empty() {
        let nothing = Err(anyhow::anyhow!("there is no *.json in {}", dir.display()));
        return nothing.hint("`toolwright tools export --out DIR` writes such files");
    }
    let mut lines = Vec::new();
    let mut left = files;
    // A tool that calls another one can come in once that is there, so what failed is tried again for as long as
    // something else came in.
    while !left.is_empty() {
        let mut failed = Vec::new();
        let round = left.len();
        for path in left {
            let line = brought_in(client, &path).await;
            match line.outcome {
                Outcome::Failed => failed.push((path, line)),
                _ => lines.push(line),
            }
        }
        if failed.len() == round {
            lines.extend(failed.into_iter().map(|(_, line)| line));
            break;
        }
        left = failed.into_iter().map(|(path, _)| path).collect();
    }
    lines.sort_by(|a, b| a.file.cmp(&b.file));
    if !as_json {
        lines.iter().try_for_each(say)?;
    }
    let count = |outcome| lines.iter().filter(|line| line.outcome == outcome).count();
    let failed = count(Outcome::Failed);
    let (created, changed, unchanged) =
        (count(Outcome::Created), count(Outcome::Changed), count(Outcome::Unchanged));
    if as_json {
        output::json(&json!({
            "items": lines, "created": created, "changed": changed, "unchanged": unchanged, "failed": failed,
        }))?;
    } else {
        output::note(&format!(
            "created {created}, changed {changed}, unchanged {unchanged}, failed {failed}"
        ));
    }
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn brought_in(client: &Client, path: &Path) -> Line {
    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut line = Line {
        file,
        tool: None,
        outcome: Outcome::Unchanged,
        published: false,
        notes: Vec::new(),
        error: None,
    };
    if let Err(error) = bring_in(client, path, &mut line).await {
        line.outcome = Outcome::Failed;
        line.error = Some(format!("{error:#}"));
    }
    line
}

fn say(line: &Line) -> Result<()> {
    let outcome = format!("{:?}", line.outcome).to_lowercase();
    let published = if line.published { ", published" } else { "" };
    let mut text = format!("{outcome:9}  {}{published}", line.file);
    for said in line.notes.iter().chain(&line.error) {
        text = format!("{text}\n  {}", said.replace('\n', "\n  "));
    }
    output::say(&output::clean(&text))
}

/// A definition out of a file, in the words that the server shows one in.
struct Wanted {
    members: Map<String, Value>,
    was_live: bool,
}

fn read(path: &Path, notes: &mut Vec<String>) -> Result<Wanted> {
    let bytes = fs::read(path).context("cannot read the file")?;
    let Value::Object(mut members) = tw_schema::parse(&bytes).context("the file is not JSON")? else {
        bail!("a definition must be a JSON object");
    };
    let mut was_live = false;
    if let Some(row) = legacy::row(&members) {
        (members, was_live) = (row.definition, row.was_live);
        notes.extend(row.notes);
    }
    if members.shift_remove("publish") == Some(Value::Bool(true)) {
        notes.push("`publish` is ignored: an import creates drafts".to_owned());
    }
    // What is live is said by publishing.
    if members.get("status").is_some_and(|status| status == "draft" || status == "published") {
        members.shift_remove("status");
    }
    match canonical_manifest(&Value::Object(members)) {
        Ok(Value::Object(members)) => Ok(Wanted { members, was_live }),
        Ok(_) => bail!("a definition must be a JSON object"),
        Err(faults) => bail!("the definition cannot be read{}", told(&faults)),
    }
}

fn told(faults: &[Fault]) -> String {
    faults.iter().map(|Fault { path, message, .. }| format!("\n  {path}: {message}")).collect()
}

async fn bring_in(client: &Client, path: &Path, line: &mut Line) -> Result<()> {
    let Wanted { mut members, was_live } = read(path, &mut line.notes)?;
    let slug = members.get("slug").and_then(Value::as_str).map(str::to_owned);
    line.tool.clone_from(&slug);
    let found = match &slug {
        Some(slug) => found(client, slug).await?,
        // The server says what is missing, and everything else that is.
        None => None,
    };
    let is_published = found.as_ref().is_some_and(|tool| tool["status"] == "published");
    if !is_published && members.get("status").is_some_and(|status| status == "deprecated") {
        members.shift_remove("status");
        line.notes.push("`deprecated` is ignored: only a published tool can be deprecated".to_owned());
    }
    let Some(tool) = found else {
        let made = client.post(&["tools"], Value::Object(members).to_string(), None).await?;
        line.outcome = Outcome::Created;
        line.tool = Some(field(&made, "slug"));
        if was_live {
            go_live(client, &field(&made, "slug"), line).await?;
        }
        return Ok(());
    };
    let slug = field(&tool, "slug");
    let differing = differing(&members, &tool);
    if !differing.is_empty() {
        let body = Value::Object(differing).to_string();
        client.patch(&["tools", &slug], body, tool["etag"].as_str()).await?;
        line.outcome = Outcome::Changed;
    }
    number(client, &slug, &members, &tool, line).await?;
    if line.outcome == Outcome::Unchanged && hides_secrets(&members) {
        line.notes.push(format!(
            "its secrets cannot be compared, so they were not sent; to replace them: toolwright tools patch {slug} FILE"
        ));
    }
    let changed = line.outcome == Outcome::Changed && tool["status"] == "published";
    if was_live && (changed || tool["status"] == "draft") {
        go_live(client, &slug, line).await?;
    }
    Ok(())
}

/// The tenant's tool of this slug.
async fn found(client: &Client, slug: &str) -> Result<Option<Value>> {
    let tool = match client.get(&["tools", slug], &[]).await {
        Ok(tool) => tool,
        Err(error) if code(&error) == Some("TOOL_NOT_FOUND") => return Ok(None),
        Err(error) => return Err(error),
    };
    // Found by another name: the server says whose it is.
    if !field(&tool, "slug").eq_ignore_ascii_case(slug) {
        return Ok(None);
    }
    if tool["kind"] != "tenant_custom" {
        bail!(
            "`{slug}` is a built-in tool and cannot be imported; change it with `toolwright tools patch {slug} FILE`"
        );
    }
    Ok(Some(tool))
}

fn code(error: &anyhow::Error) -> Option<&str> {
    error.downcast_ref::<Problem>().and_then(Problem::code)
}

/// Gives a tool the number of its file, if that is a later one.
async fn number(
    client: &Client,
    slug: &str,
    wanted: &Map<String, Value>,
    tool: &Value,
    line: &mut Line,
) -> Result<()> {
    let Some(number) = wanted.get("version").and_then(Value::as_str) else { return Ok(()) };
    let shown = field(tool, "version");
    if number == shown {
        return Ok(());
    }
    let later = match (semver::Version::parse(number), semver::Version::parse(&shown)) {
        (Ok(wanted), Ok(shown)) => wanted.cmp_precedence(&shown).is_gt(),
        _ => true,
    };
    if !later {
        line.notes.push(format!("the version stays {shown}: {number} in the file is not greater"));
        return Ok(());
    }
    let query = [("new_version", Some(number.to_owned()))];
    client.post_query(&["tools", slug, "version"], &query).await?;
    line.outcome = Outcome::Changed;
    Ok(())
}

/// Publishes what was live where it comes from.
async fn go_live(client: &Client, slug: &str, line: &mut Line) -> Result<()> {
    match client.post_query(&["tools", slug, "publish"], &[]).await {
        Ok(_) => {
            line.published = true;
            line.notes.push("published, because it had no status and was active".to_owned());
            if line.outcome == Outcome::Unchanged {
                line.outcome = Outcome::Changed;
            }
        }
        Err(error) if code(&error) == Some("NOT_PERMITTED") => {
            line.notes.push("imported as a draft: the key may not publish".to_owned());
        }
        Err(error) => return Err(error.context("imported as a draft, but publishing failed")),
    }
    Ok(())
}

fn hides_secrets(wanted: &Map<String, Value>) -> bool {
    let hides = |part: &str| wanted.get(part).is_some_and(|part| redacted(part) != *part);
    hides("implementation") || hides("execution_spec")
}

/// What a file says otherwise than the server.
fn differing(wanted: &Map<String, Value>, shown: &Value) -> Map<String, Value> {
    let defaults = [
        serde_json::to_value(Definition::default()).unwrap_or_default(),
        serde_json::to_value(Switches::default()).unwrap_or_default(),
    ];
    let default = |key: &str| defaults.iter().find_map(|defaults| defaults.get(key)).unwrap_or(&Value::Null);
    let differs = |key: &str, value: &Value| {
        let value = if value.is_null() { default(key) } else { value };
        let mut shown = shown[key].clone();
        if key == "implementation" && value.get("artifact_id").is_none() {
            without_artifact(&mut shown);
        }
        !same(&as_shown(key, value), &shown)
    };
    let compared = wanted
        .iter()
        .filter(|(key, _)| !OWN_WAY.contains(&key.as_str()) && !ToolDef::READ_ONLY.contains(&key.as_str()));
    compared
        .filter(|(key, value)| differs(key, value))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect()
}

/// A value as the server would show it.
fn as_shown(key: &str, value: &Value) -> Value {
    fn by<T: serde::de::DeserializeOwned + Serialize>(value: &Value) -> Option<Value> {
        serde_json::to_value(serde_json::from_value::<T>(value.clone()).ok()?).ok()
    }
    let shown = match key {
        "execution" => by::<Execution>(value),
        "output_sections" => by::<Vec<OutputSection>>(value),
        "implementation" | "execution_spec" => Some(redacted(value)),
        // Nobody has said: then the tenant has its own tools.
        "enabled" if value.is_null() => Some(Value::Bool(true)),
        _ => None,
    };
    shown.unwrap_or_else(|| value.clone())
}

fn same(one: &Value, other: &Value) -> bool {
    one == other || canonical(one) == canonical(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Value {
        json!({
            "id": "0", "slug": "greet", "name": "Greet", "description": "Greets", "category": "general",
            "icon": "wrench", "tags": [], "aliases": [], "version": "1.0.0", "status": "draft", "has_draft": true,
            "implementation_type": "internal", "implementation": { "headers": { "X": "***" } },
            "execution": { "is_pure": false, "concurrency_group": "default", "max_concurrency": null, "timeout_s": null },
            "execution_spec": null, "input_schema": { "type": "object", "maxProperties": 3 }, "output_schema": null,
            "output_sections": [], "form_spec": null, "view_spec": null, "fields": [], "permission_level": null,
            "permission_policy": null, "required_permission": null, "tenant_slugs": [], "collaborative": false,
            "visible": null, "is_async": false, "timeout_ms": 30000, "enabled": true, "is_active": true,
            "etag": "\"1\"", "revision": 1, "published_at": null, "available": false,
        })
    }

    fn keys(wanted: Value) -> Vec<String> {
        let Value::Object(wanted) = wanted else { panic!("a definition must be a JSON object") };
        differing(&wanted, &shown()).keys().cloned().collect()
    }

    #[test]
    fn what_was_exported_differs_in_nothing() {
        let file = exported(&shown());
        assert_eq!(keys(file.clone()), Vec::<String>::new());
        let text = file.to_string();
        for word in ["\"id\"", "etag", "revision", "published_at", "status", "fields"] {
            assert!(!text.contains(word), "{word} is in {text}");
        }
    }

    #[test]
    fn what_says_the_same_in_other_words_differs_in_nothing() {
        let wanted = json!({
            "category": null, "timeout_ms": 30000.0, "execution": { "is_pure": false }, "enabled": null, "tags": null,
            "implementation": { "headers": { "X": "other" } }, "input_schema": { "maxProperties": 3.0, "type": "object" },
        });
        assert_eq!(keys(wanted), Vec::<String>::new());
    }

    #[test]
    fn what_says_something_else_is_sent() {
        let wanted = json!({
            "name": "Greet them", "category": "people", "permission_level": "write", "tags": ["a"], "enabled": false,
            "implementation": { "headers": {} }, "unheard_of": 1,
        });
        let expected =
            ["name", "category", "permission_level", "tags", "enabled", "implementation", "unheard_of"];
        assert_eq!(keys(wanted), expected);
    }

    #[test]
    fn status_is_written_where_an_author_has_withdrawn_the_tool() {
        let mut tool = shown();
        tool["status"] = json!("deprecated");
        assert_eq!(exported(&tool)["status"], "deprecated");
    }
}
