//! The server under test with 1,600 more tools in its catalogue.

use std::process::ExitCode;

use toolwright_sdk::{BoxFuture, CodeTool, Place, ToolContext, ToolFailure, ToolId, ToolResult};

fn main() -> ExitCode {
    tw_bench::subject::main()
}
