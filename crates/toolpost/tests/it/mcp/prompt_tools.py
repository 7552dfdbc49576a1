"""A client of the Python SDK that calls the tool of an agent, which is a prompt. Arguments: the mode, the server, its workspace,
its flags."""

import asyncio
import sys

from mcp import Client, StdioServerParameters

MODE, SERVER, WORKSPACE, *FLAGS = sys.argv[1:]


async def main():
    server = StdioServerParameters(command=SERVER, args=["mcp", *FLAGS, "--workspace", WORKSPACE])
    async with Client(server, mode=MODE) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert {"research__summarize", "research__broken"} <= set(tools), sorted(tools)
        assert tools["research__summarize"].input_schema["required"] == ["text"], tools["research__summarize"]

        result = await client.call_tool("research__summarize", {"text": "over the wire"})
        assert not result.is_error and result.content[0].text == '{"bullets":["over the wire"]}', result

        result = await client.call_tool("research__broken", {})
        assert result.is_error and "does not fit" in result.content[0].text, result

        prompts = (await client.list_prompts()).prompts
        assert [prompt.name for prompt in prompts] == ["research"], prompts
        prompt = await client.get_prompt("research", {"task": "dig"})
        assert prompt.messages[0].content.text.endswith("dig"), prompt
    print("ok")


asyncio.run(main())
