"""A server made with the official Python SDK, for the tests of our client. Prints its address.

It serves both generations; a client that opens with `initialize` gets a session.
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


async def main(answers: str) -> None:
    app = server.streamable_http_app(json_response=answers == "json")
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve([listener])


asyncio.run(main(sys.argv[1]))
