"""A client of FastMCP: initialise, list, read, grep, edit, structured result, error, question, progress, cancel, 100 calls
in flight, list change. Arguments: the mode, the workspace, and where the server is: an address and its token, or a
command."""

import asyncio
import os
import pathlib
import sys

from fastmcp import Client
from fastmcp.client.elicitation import ElicitResult
from fastmcp.client.messages import MessageHandler
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from fastmcp.exceptions import ToolError
from mcp import MCPError

MODE, WORKSPACE, *PLACE = sys.argv[1:]
ROOT = pathlib.Path(WORKSPACE)
CHANGED = asyncio.Event()


class Listener(MessageHandler):
    async def on_tool_list_changed(self, message):
        CHANGED.set()


async def agree(message, response_type, params, context):
    return ElicitResult(action="accept", content={"answer": "once"})


def server():
    if PLACE[0].startswith("http"):
        return StreamableHttpTransport(PLACE[0], auth=PLACE[1])
    return StdioTransport(PLACE[0], PLACE[1:], env=dict(os.environ), keep_alive=False)


async def until(what, holds):
    for _ in range(2000):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(what)


async def basics(client):
    tools = {tool.name: tool for tool in await client.list_tools()}
    assert {"read", "grep", "edit", "bash"} <= set(tools), sorted(tools)
    assert tools["read"].annotations.read_only_hint is True, tools["read"]

    result = await client.call_tool("read", {"filePath": "README.md"})
    assert "# fixture" in result.content[0].text, result
    # By the output schema, FastMCP makes an object of its own.
    assert result.structured_content["totalLines"] == 7 and result.data.totalLines == 7, result

    result = await client.call_tool("grep", {"pattern": "fn main"})
    assert "main.rs" in result.content[0].text, result

    edit = {"filePath": "src/main.rs", "oldString": "fn main() {}", "newString": "fn main() { greet() }"}
    await client.call_tool("edit", edit)
    assert "greet()" in (ROOT / "src/main.rs").read_text()

    try:
        await client.call_tool("read", {"filePath": "REDME.md"})
        raise AssertionError("a file that is not there was read")
    except ToolError as error:
        assert "README.md" in str(error), error
    try:
        await client.call_tool("raed", {})
        raise AssertionError("a tool that is not there was called")
    except MCPError as error:
        assert error.error.code == -32602, error

    # The policy asks about this file, and the handler agrees.
    await client.call_tool("write", {"filePath": ".mcp.json", "content": "{}"})
    assert (ROOT / ".mcp.json").exists()


async def progress(client):
    told = []

    async def hear(value, total, message):
        told.append(message or "")

    command = {"command": "echo one; sleep 1; echo two; sleep 1; echo three"}
    result = await client.call_tool("bash", command, progress_handler=hear)
    assert "three" in result.content[0].text, result
    assert any(message.endswith("one") for message in told), told


async def cancel(client):
    call = client.call_tool("bash", {"command": "touch begun; sleep 2; touch made"})
    running = asyncio.create_task(call)
    await until("the command begins", (ROOT / "begun").exists)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert running.cancelled(), running
    await asyncio.sleep(2.5)
    assert not (ROOT / "made").exists(), "the command went on"


async def many(client):
    async def line(number):
        result = await client.call_tool("read", {"filePath": "lines", "offset": number, "limit": 1})
        assert result.content[0].text.startswith(f"{number}: line {number}\n"), result

    await asyncio.gather(*(line(number) for number in range(1, 101)))


async def main():
    async with Client(server(), mode=MODE, message_handler=Listener(), elicitation_handler=agree) as client:
        expected = "2025-11-25" if MODE == "legacy" else "2026-07-28"
        assert client.protocol_version == expected, client.protocol_version
        running = asyncio.gather(progress(client), cancel(client))
        await basics(client)
        await many(client)
        # FastMCP does not listen where there is no handshake.
        if MODE == "legacy":
            await client.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(CHANGED.wait(), 10)
        await running
    print("ok")


asyncio.run(main())
