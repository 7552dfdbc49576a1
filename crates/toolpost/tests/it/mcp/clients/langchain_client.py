"""A client of LangChain's adapter: initialise, list, read, grep, edit, structured result, error, question, progress, 100
calls in flight. It tells a server neither of a cancelled call nor does it hear of list changes. Arguments: the workspace,
and where the server is: an address and its token, or a command."""

import asyncio
import os
import pathlib
import sys

from langchain_mcp_adapters.callbacks import Callbacks
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from mcp.shared.exceptions import McpError
from mcp.types import ElicitResult

WORKSPACE, *PLACE = sys.argv[1:]
ROOT = pathlib.Path(WORKSPACE)
TOLD = []


async def hear(value, total, message, context):
    TOLD.append(message or "")


async def agree(mcp_context, params, context):
    return ElicitResult(action="accept", content={"answer": "once"})


def server():
    if PLACE[0].startswith("http"):
        headers = {"Authorization": f"Bearer {PLACE[1]}"}
        return {"transport": "streamable_http", "url": PLACE[0], "headers": headers}
    return {"transport": "stdio", "command": PLACE[0], "args": PLACE[1:], "env": dict(os.environ)}


def call(name, **args):
    """What a model sends."""
    return {"type": "tool_call", "id": "1", "name": name, "args": args}


def text(message):
    return message.content[0]["text"]


async def main():
    callbacks = Callbacks(on_progress=hear, on_elicitation=agree)
    client = MultiServerMCPClient({"toolpost": server()}, callbacks=callbacks)
    async with client.session("toolpost") as session:
        tools = await load_mcp_tools(session, callbacks=callbacks, server_name="toolpost")
        tools = {tool.name: tool for tool in tools}
        assert {"read", "grep", "edit", "bash"} <= set(tools), sorted(tools)
        assert tools["read"].metadata["readOnlyHint"] is True, tools["read"].metadata
        command = call("bash", command="echo one; sleep 1; echo two; sleep 1; echo three")
        running = asyncio.create_task(tools["bash"].ainvoke(command))

        message = await tools["read"].ainvoke(call("read", filePath="README.md"))
        assert message.status == "success" and "# fixture" in text(message), message
        assert message.artifact["structured_content"]["totalLines"] == 7, message

        message = await tools["grep"].ainvoke(call("grep", pattern="fn main"))
        assert "main.rs" in text(message), message

        edit = {"filePath": "src/main.rs", "oldString": "fn main() {}", "newString": "fn main() { greet() }"}
        message = await tools["edit"].ainvoke(call("edit", **edit))
        assert message.status == "success" and "greet()" in (ROOT / "src/main.rs").read_text(), message

        message = await tools["read"].ainvoke(call("read", filePath="REDME.md"))
        assert message.status == "error" and "README.md" in text(message), message
        try:
            await session.call_tool("raed", {})
            raise AssertionError("a tool that is not there was called")
        except McpError as error:
            assert error.error.code == -32602, error

        # The policy asks about this file, and the callback agrees.
        message = await tools["write"].ainvoke(call("write", filePath=".mcp.json", content="{}"))
        assert message.status == "success" and (ROOT / ".mcp.json").exists(), message

        async def line(number):
            message = await tools["read"].ainvoke(call("read", filePath="lines", offset=number, limit=1))
            assert text(message).startswith(f"{number}: line {number}\n"), message

        await asyncio.gather(*(line(number) for number in range(1, 101)))

        message = await running
        assert "three" in text(message), message
        assert any(told.endswith("one") for told in TOLD), TOLD

    # Without a session of ours, the adapter opens one for each call.
    tools = {tool.name: tool for tool in await client.get_tools()}
    message = await tools["read"].ainvoke(call("read", filePath="README.md"))
    assert message.status == "success", message
    print("ok")


asyncio.run(main())
