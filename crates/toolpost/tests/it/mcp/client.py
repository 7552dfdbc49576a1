"""A client of the Python SDK: initialise, list, read, grep, edit, structured result, error, progress, cancel, list
change, 100 calls in flight. Arguments: the mode, where the server is, its workspace, its flags."""

import asyncio
import pathlib
import sys

import anyio
from mcp import Client, MCPError, StdioServerParameters, types

MODE, PLACE, WORKSPACE, *FLAGS = sys.argv[1:]
ROOT = pathlib.Path(WORKSPACE)


async def answer(context, params):
    return types.ElicitResult(action="accept", content={"answer": "once"})


def server():
    if PLACE.startswith("http"):
        return PLACE
    return StdioServerParameters(command=PLACE, args=["mcp", *FLAGS, "--workspace", WORKSPACE])


async def main():
    changed = asyncio.Event()

    async def heard(message):
        if "list_changed" in repr(message) or "ToolListChanged" in type(message).__name__:
            changed.set()

    async with Client(server(), mode=MODE, message_handler=heard, elicitation_callback=answer) as client:
        expected = "2025-11-25" if MODE == "legacy" else "2026-07-28"
        assert client.protocol_version == expected, client.protocol_version

        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"read", "grep", "edit", "bash"} <= set(tools), sorted(tools)
        assert tools["read"].annotations.read_only_hint is True

        result = await client.call_tool("read", {"filePath": "README.md"})
        assert not result.is_error and "# fixture" in result.content[0].text, result
        assert result.structured_content["totalLines"] == 7, result.structured_content
        assert result.structured_content["output"] == result.content[0].text, result.structured_content

        result = await client.call_tool("grep", {"pattern": "fn main"})
        assert "main.rs" in result.content[0].text, result

        edit = {"filePath": "src/main.rs", "oldString": "fn main() {}", "newString": "fn main() { greet() }"}
        result = await client.call_tool("edit", edit)
        assert not result.is_error, result
        assert "greet()" in (ROOT / "src/main.rs").read_text()

        result = await client.call_tool("read", {"filePath": "REDME.md"})
        assert result.is_error and "README.md" in result.content[0].text, result
        try:
            await client.call_tool("raed", {})
            raise AssertionError("a tool that is not there was called")
        except MCPError as error:
            assert error.error.code == -32602, error

        told = []

        async def progress(value, total, message):
            told.append((value, message))

        command = {"command": "echo one; sleep 1; echo two; sleep 1; echo three"}
        result = await client.call_tool("bash", command, progress_callback=progress)
        assert "three" in result.content[0].text, result
        assert any(message and message.endswith("one") for _, message in told), told

        # The policy asks about this file, and the callback agrees.
        result = await client.call_tool("write", {"filePath": ".mcp.json", "content": "{}"})
        assert not result.is_error and (ROOT / ".mcp.json").exists(), result

        with anyio.CancelScope() as scope:

            async def cancel():
                while not (ROOT / "begun").exists():
                    await asyncio.sleep(0.01)
                scope.cancel()

            async with anyio.create_task_group() as group:
                group.start_soon(cancel)
                await client.call_tool("bash", {"command": "touch begun; sleep 1.5; touch made"})
                raise AssertionError("the call was not cancelled")
        await asyncio.sleep(2)
        assert (ROOT / "begun").exists() and not (ROOT / "made").exists(), list(ROOT.iterdir())

        async def line(number):
            result = await client.call_tool("read", {"filePath": "lines", "offset": number, "limit": 1})
            assert result.content[0].text.startswith(f"{number}: line {number}\n"), result

        await asyncio.gather(*(line(number) for number in range(1, 101)))

        if MODE == "legacy":
            await client.call_tool("test_trigger_tool_change", {})
            await asyncio.wait_for(changed.wait(), 5)
        else:
            async with client.listen(tools_list_changed=True) as events:
                await client.call_tool("test_trigger_tool_change", {})
                event = await asyncio.wait_for(anext(events), 5)
                assert "ToolsListChanged" in type(event).__name__, event
    print("ok")


asyncio.run(main())
