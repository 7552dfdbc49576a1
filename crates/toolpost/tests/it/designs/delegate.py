import asyncio, sys
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

SERVER = {"transport": "stdio", "command": "toolpost", "args": ["mcp", "--structured", "--workspace", sys.argv[1]]}
SERVER["env"] = {"PATH": sys.argv[2], "HOME": sys.argv[3], "XDG_DATA_HOME": sys.argv[4]}


async def ask(prompt, session_id=None):
    # A server of its own for each question, as a program that is started again has.
    client = MultiServerMCPClient({"toolpost": SERVER})
    async with client.session("toolpost") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        args = {"description": "a part", "prompt": prompt, "subagent_type": "helper"}
        if session_id is not None:
            args["session_id"] = session_id
        call = {"type": "tool_call", "id": "1", "name": "task", "args": args}
        answer = await tools["task"].ainvoke(call)
        data = answer.artifact["structured_content"]
        print(answer.content[0]["text"].splitlines()[0])
        return data["session_id"]


async def main():
    session_id = await ask("one")
    assert await ask("two", session_id) == session_id


asyncio.run(main())
