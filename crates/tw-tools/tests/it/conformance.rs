//! What every shipped tool is held against. A tool that does not conform fails here, by name.

use serde_json::{Value, json};
use toolwright_sdk::{CodeTool, Level, ToolContext, ToolDef, conformance, registered};

use crate::house::Hut;

/// Tools that ask somebody else. Their examples name sites that tests do not call; the files of their
/// names run them against a server of this machine.
const ASK_OTHERS: [&str; 4] = ["http_request", "mcp_call", "web_fetch", "web_search"];

fn cx() -> ToolContext {
    Hut::near(&[]).context()
}

fn asks_others(tool: &ToolDef) -> bool {
    ASK_OTHERS.contains(&tool.slug.as_str())
}

fn tools() -> Vec<(&'static CodeTool, ToolDef)> {
    tw_tools::link();
    let tools = registered().expect("no slug is claimed twice");
    tools.into_iter().map(|tool| (tool, (tool.define)())).collect()
}

/// A part of a schema, with the definitions of the whole that it may refer to.
fn part(whole: &Value, part: &Value) -> Value {
    let mut part = part.clone();
    if let (Some(part), Some(defs)) = (part.as_object_mut(), whole.get("$defs")) {
        part.insert("$defs".to_owned(), defs.clone());
    }
    part
}

fn examples(schema: &Value) -> Vec<Value> {
    schema.get("examples").and_then(Value::as_array).cloned().unwrap_or_default()
}

#[track_caller]
fn check(schema: &Value, value: &Value, what: &str) {
    let validator = jsonschema::draft202012::new(schema).expect("the schema is valid");
    let errors: Vec<String> =
        validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert!(errors.is_empty(), "{what}: {value} does not fit: {errors:?}");
}

#[test]
fn shipped_tools_are_registered_without_a_list() {
    let slugs: Vec<String> = tools().iter().map(|(_, tool)| tool.slug.to_string()).collect();
    for slug in [
        "ai-readiness-assessment",
        "complexity-estimator",
        "datetime_utils",
        "fte-impact-calculator",
        "function_call",
        "http_request",
        "json_transform",
        "mcp_call",
        "priority-matrix",
        "process-automation-scoper",
        "quick-score",
        "roi-calculator",
        "time-savings-calculator",
        "web_fetch",
        "web_search",
    ] {
        assert!(slugs.iter().any(|found| found == slug), "{slug} is not among {slugs:?}");
    }
}

#[test]
fn every_tool_conforms() {
    for (tool, definition) in tools() {
        let problems = conformance::problems(&definition, tool.input_less);
        assert!(problems.is_empty(), "{} at {}: {problems:?}", definition.slug, tool.location);
    }
}

#[test]
fn everything_that_people_read_has_its_german() {
    for (_, definition) in tools() {
        let missing = conformance::untranslated(&definition, "de");
        assert!(missing.is_empty(), "{} lacks German for: {missing:#?}", definition.slug);
    }
}

#[test]
fn every_form_asks_for_what_its_tool_takes() {
    let mut forms = 0;
    for (_, definition) in tools() {
        let Some(form) = &definition.authored.form_spec else { continue };
        assert_eq!(tw_schema::check_form_spec(form, &definition.input_schema), [], "{}", definition.slug);
        // A field that the form leaves out would stand below its sections, out of order.
        let shown: Vec<&str> =
            form["fields"].as_array().unwrap().iter().filter_map(|field| field["path"].as_str()).collect();
        for name in definition.input_schema["properties"].as_object().unwrap().keys() {
            assert!(
                shown.contains(&format!("/{name}").as_str()),
                "{}: {name} is not in the form",
                definition.slug
            );
        }
        forms += 1;
    }
    assert!(14 <= forms, "{forms} tools have a form");
}

#[test]
fn every_schema_is_valid_draft_2020_12() {
    for (_, definition) in tools() {
        let output = definition.output_schema.as_deref().expect("there is an output schema");
        for schema in [&*definition.input_schema, output] {
            let dialect = json!("https://json-schema.org/draft/2020-12/schema");
            assert_eq!(schema["$schema"], dialect, "{}", definition.slug);
            let valid = jsonschema::draft202012::meta::validate(schema).map_err(|error| error.to_string());
            assert_eq!(valid, Ok(()), "{}", definition.slug);
        }
    }
}

#[test]
fn every_example_and_default_fits_its_schema() {
    for (tool, definition) in tools() {
        let (slug, schema) = (&definition.slug, &*definition.input_schema);
        let whole = examples(schema);
        assert!(tool.input_less || !whole.is_empty(), "{slug} shows no example of its input");
        for example in &whole {
            check(schema, example, slug.as_str());
        }
        let properties = schema["properties"].as_object().cloned().unwrap_or_default();
        for (name, property) in &properties {
            let default = property.get("default").cloned();
            for value in examples(property).iter().chain(&default) {
                check(&part(schema, property), value, &format!("{slug}.{name}"));
            }
        }
    }
}

#[tokio::test]
async fn every_example_of_a_reading_tool_runs_and_its_output_fits_the_schema() {
    for (tool, definition) in tools() {
        if definition.level != Some(Level::Read) || asks_others(&definition) {
            continue;
        }
        let output = definition.output_schema.as_deref().expect("there is an output schema");
        for example in examples(&definition.input_schema) {
            let run = || (tool.run)(cx(), example.clone());
            let result = run().await.expect("an example runs");
            check(output, &result.data, definition.slug.as_str());
            assert!(!result.summary.is_empty(), "{}: {example} has no summary", definition.slug);
            if definition.execution.is_pure {
                assert_eq!(run().await.as_ref(), Ok(&result), "{} is not pure", definition.slug);
            }
        }
    }
}

/// The JSON blocks of a page that are marked with a word after `json`.
fn blocks(page: &str, mark: &str) -> Vec<Value> {
    let opening = format!("```json {mark}\n");
    let blocks = page.split(&opening).skip(1).filter_map(|rest| rest.split("```").next());
    blocks.map(|text| serde_json::from_str(text).expect("a block of the manual is JSON")).collect()
}

#[tokio::test]
async fn every_tool_has_a_page_in_the_manual_whose_examples_are_true() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools");
    for (tool, definition) in tools() {
        let path = format!("{folder}/{}.md", definition.slug);
        let page = std::fs::read_to_string(&path).expect("every tool has a page under docs/tools");
        let (inputs, outputs) = (blocks(&page, "input"), blocks(&page, "output"));
        assert!(!inputs.is_empty() && inputs.len() == outputs.len(), "{path} has no pairs of examples");
        for (input, output) in inputs.into_iter().zip(outputs) {
            check(&definition.input_schema, &input, &path);
            if asks_others(&definition) {
                check(definition.output_schema.as_deref().unwrap(), &output, &path);
                continue;
            }
            let result = (tool.run)(cx(), input).await.expect("an example runs");
            assert_eq!(result.data, output, "{path}");
        }
    }
}
