"""What a client from Python does with our server: list, call, error, approval, pending.

Run as `check.py sdk|sdk-legacy|fastmcp|stdio`, with TW_URL, TW_AGENT_KEY and TW_ADMIN_KEY in the environment.
"""

import asyncio
import json
import os
import sys
import urllib.request

URL, AGENT, ADMIN = (os.environ[name] for name in ("TW_URL", "TW_AGENT_KEY", "TW_ADMIN_KEY"))
NOTE = {"file": os.environ["TW_LEDGER"], "line": "from python"}


def rest(method, path, body=None):
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": f"Bearer {ADMIN}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


async def approve_soon(seen):
    """Approves the first call that waits and is not in `seen`."""
    for _ in range(100):
        waiting = await asyncio.to_thread(rest, "GET", "/api/approvals")
        new = [item["id"] for item in waiting["items"] if item["id"] not in seen]
        if new:
            return await asyncio.to_thread(rest, "POST", f"/api/approvals/{new[0]}/approve", {})
        await asyncio.sleep(0.1)
    raise AssertionError("nothing waits for an approval")


async def scenario(list_names, call):
    """`call` answers (structured content, is_error, text)."""
    names = await list_names()
    assert names == sorted(names) and "get_run" in names, names
    assert "test.echo" in names and "test.write" in names, names

    content, is_error, _ = await call("test.echo", {"value": {"a": [1, 2.5, None, "ä"]}})
    assert content == {"value": {"a": [1, 2.5, None, "ä"]}} and not is_error, content
    _, is_error, text = await call("test.write", {"file": 7})
    assert is_error and "MISSING_PARAM" in text or "/file" in text, text

    approving = asyncio.create_task(approve_soon(set()))
    content, is_error, _ = await call("test.write", NOTE)
    await approving
    assert not is_error and "status" not in content, content

    content, is_error, _ = await call("test.write", NOTE)
    assert not is_error and content["status"] == "needs_approval", content
    assert content["url"].endswith(f"/approvals/{content['approval_id']}"), content
    decided = rest("POST", f"/api/approvals/{content['approval_id']}/approve", {"wait_ms": 10000})
    assert decided["status"] == "success", decided
    collected, _, _ = await call("get_run", {"run_id": content["run_id"]})
    assert collected["status"] == "success", collected
    assert rest("GET", f"/api/runs/{content['run_id']}")["channel"] == "mcp"


async def sdk(mode):
    import httpx2
    from mcp import Client, MCPError
    from mcp.client.streamable_http import streamable_http_client

    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}, timeout=60)
    async with Client(streamable_http_client(f"{URL}/mcp", http_client=http), mode=mode) as client:
        wanted = "2026-07-28" if mode == "auto" else "2025-11-25"
        assert client.protocol_version == wanted, client.protocol_version

        async def list_names():
            return [tool.name for tool in (await client.list_tools()).tools]

        async def call(name, arguments):
            result = await client.call_tool(name, arguments)
            text = "".join(block.text for block in result.content if block.type == "text")
            return result.structured_content, bool(result.is_error), text

        await scenario(list_names, call)
        try:
            await client.call_tool("no.such.tool", {})
        except MCPError as error:
            assert error.error.code == -32602, error
        else:
            raise AssertionError("a tool that does not exist was called")


async def fastmcp(over_stdio=False):
    from fastmcp import Client
    from fastmcp.client.transports import StdioTransport, StreamableHttpTransport

    if over_stdio:
        settings = {"TOOLWRIGHT_URL": URL, "TOOLWRIGHT_KEY": AGENT}
        transport = StdioTransport(command=os.environ["TW_PROGRAM"], args=["mcp"], env=settings)
    else:
        transport = StreamableHttpTransport(f"{URL}/mcp", headers={"Authorization": f"Bearer {AGENT}"})
    async with Client(transport) as client:

        async def list_names():
            return [tool.name for tool in await client.list_tools()]

        async def call(name, arguments):
            result = await client.call_tool(name, arguments, raise_on_error=False)
            text = "".join(block.text for block in result.content if block.type == "text")
            return result.structured_content, result.is_error, text

        await scenario(list_names, call)


WAYS = {
    "sdk": lambda: sdk("auto"),
    "sdk-legacy": lambda: sdk("legacy"),
    "fastmcp": fastmcp,
    "stdio": lambda: fastmcp(over_stdio=True),
}
asyncio.run(WAYS[sys.argv[1]]())
