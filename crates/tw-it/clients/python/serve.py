"""A server made with the official Python SDK, for the tests of our client. Prints its address, unless it is `stdio`.

It serves both generations, or as `earlier` those alone that open with `initialize` and get a session.
"""

import asyncio
import base64
import socket
import sys
from typing import TypedDict

import uvicorn
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("garden", instructions="Dig gently.")


class Sum(TypedDict):
    sum: float


@server.tool()
def add(a: float, b: float) -> Sum:
    """Adds two numbers."""
    return {"sum": a + b}


@server.tool(structured_output=False)
def echo(text: str) -> str:
    """Gives a text back."""
    return text


@server.tool()
def fail() -> str:
    """Fails."""
    raise ToolError("the cellar is locked")


@server.tool()
def picture() -> Image:
    """A picture of one pixel."""
    dot = (
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    return Image(data=base64.b64decode(dot), format="png")


@server.tool(structured_output=False)
async def dig(ctx: Context) -> str:
    """Reports how far it is."""
    await ctx.report_progress(1, 2, "digging")
    return "a hole"


@server.tool(structured_output=False)
def replant() -> str:
    """Makes `add` another tool."""
    server.remove_tool("add")
    server.add_tool(add, name="add", description="Adds two numbers, and more.")
    return "done"


class Earlier:
    """Refuses what a server did not know before the present revision."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if (b"mcp-protocol-version", b"2026-07-28") not in scope.get("headers", []):
            return await self.app(scope, receive, send)
        head = {"status": 400, "headers": [(b"content-type", b"text/plain")]}
        await send({"type": "http.response.start", **head})
        await send({"type": "http.response.body", "body": b"Bad Request: unsupported protocol version"})


async def main(answers: str) -> None:
    if answers == "stdio":
        return await server.run_stdio_async()
    app = server.streamable_http_app(json_response=answers == "json")
    if answers == "earlier":
        app = Earlier(app)
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve([listener])


asyncio.run(main(sys.argv[1]))
