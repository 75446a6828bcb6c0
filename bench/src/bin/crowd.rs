//! The server under test with 1,600 more tools in its catalogue.

use std::{process::ExitCode, sync::Arc};

use serde_json::{Value, json};
use toolwright_sdk::{BoxFuture, CodeTool, Place, ToolContext, ToolFailure, ToolResult};
use tw_model::{Execution, Implementation, Layer, Level, Listing, Origin, ToolDef, ToolId, ToolStatus};

fn main() -> ExitCode {
    tw_bench::subject::main()
}

/// A tool whose number is known when the program is built, because that is when tools register.
const fn tool<const N: u32>() -> CodeTool {
    CodeTool {
        place: Place { file: file!(), line: N },
        define: || definition(N),
        run,
        aggregate: None,
        input_less: false,
    }
}

fn definition(number: u32) -> ToolDef {
    let slug = tw_bench::crowd_slug(number);
    ToolDef {
        id: ToolId::of_code(&slug),
        slug: slug.parse().expect("a category, a dot and a name"),
        name: format!("Tool number {number}"),
        description: format!(
            "Takes a text and gives it back, as number {number} of many tools that do the same."
        ),
        category: "crowd".to_owned(),
        icon: "users".to_owned(),
        tags: vec!["crowd".to_owned()],
        version: "1.0.0".parse().expect("a version"),
        layer: Layer::Code,
        origin: Origin::Code,
        status: ToolStatus::Published,
        enabled: None,
        is_active: true,
        listing: Listing::OptOut,
        level: Some(Level::Read),
        policy: None,
        required_permission: None,
        tenant_slugs: Vec::new(),
        output_sections: Vec::new(),
        collaborative: false,
        visible: None,
        is_async: false,
        timeout_ms: ToolDef::TIMEOUT_MS_DEFAULT,
        execution: Execution::default(),
        // Every tool has a schema of its own, as tools do.
        input_schema: Arc::new(json!({
            "type": "object",
            "required": ["text"],
            "properties": { "text": { "type": "string", "maxLength": 1000 + number } },
        })),
        output_schema: None,
        implementation: Implementation::Code,
        authored: tw_model::Authored::none(),
        published_at: None,
        has_draft: false,
    }
}

fn run(_cx: ToolContext, input: Value) -> BoxFuture<'static, Result<ToolResult, ToolFailure>> {
    Box::pin(async move { Ok(ToolResult { data: input, summary: "as it came".to_owned(), markdown: None }) })
}

macro_rules! ten {
    ($($ten:expr),+) => { $(
        inventory::submit! { tool::<{ $ten * 10 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 1 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 2 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 3 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 4 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 5 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 6 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 7 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 8 }>() }
        inventory::submit! { tool::<{ $ten * 10 + 9 }>() }
    )+ };
}

macro_rules! hundred {
    ($($hundred:expr),+) => { $(
        ten!(
            $hundred * 10, $hundred * 10 + 1, $hundred * 10 + 2, $hundred * 10 + 3, $hundred * 10 + 4,
            $hundred * 10 + 5, $hundred * 10 + 6, $hundred * 10 + 7, $hundred * 10 + 8, $hundred * 10 + 9
        );
    )+ };
}

hundred!(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
