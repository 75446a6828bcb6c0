//! The floors: a bare axum server that reads JSON and answers with a body like ours, and the library's own
//! MCP server with the same tools, checked by nobody and written down nowhere.

mod mcp;

use std::{
    io::{Read, Write},
    process::ExitCode,
};

use axum::{
    Json, Router,
    extract::Request,
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::post,
};
use clap::Parser;
use serde_json::{Value, json};
use tokio::net::TcpListener;

#[derive(Debug, Parser)]
struct Args {
    /// How many tools there are over MCP beside the two that can be called
    #[arg(long, default_value_t = 0)]
    tools: u32,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.and_then(|runtime| runtime.block_on(serve(&args))) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "floor: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(args: &Args) -> std::io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "{}", json!({ "port": listener.local_addr()?.port(), "key": null }))?;
    let earlier = Router::new().route_service("/earlier", mcp::service(args.tools));
    let router = Router::new().route("/echo", post(echo)).route_service("/mcp", mcp::service(args.tools));
    let router = router.merge(earlier.layer(middleware::from_fn(without_discovery)));
    let server = axum::serve(listener, router);
    tokio::select! {
        ended = server => ended,
        closed = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())) => {
            closed.map_err(std::io::Error::other)?.map(drop)
        }
    }
}

/// As a server that knows the revisions with a handshake alone.
async fn without_discovery(request: Request, next: Next) -> Response {
    match request.headers().get("mcp-method") {
        Some(method) if method == "server/discover" => StatusCode::NOT_FOUND.into_response(),
        _ => next.run(request).await,
    }
}

async fn echo(Json(mut body): Json<Value>) -> Json<Value> {
    Json(json!({
        "run_id": "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11",
        "tool": "echo",
        "version": "1.0.0",
        "status": "success",
        "success": true,
        "output": body["input"].take(),
        "summary": "as it came",
        "markdown": null,
        "error": null,
        "error_code": null,
        "duration_ms": 0,
        "session_id": "01932c07-5f1a-7cc0-9d3c-2f7a1f0e8a11",
    }))
}
