"""toolpost's tools in LangChain, without a model: what an agent would be given, and what its calls come to."""

import asyncio
import sys

from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

WORKSPACE = sys.argv[1] if len(sys.argv) > 1 else "."

SERVERS = {
    "toolpost": {
        "transport": "stdio",
        "command": "toolpost",
        # Without --structured a result is its text alone.
        "args": ["mcp", "--structured", "--workspace", WORKSPACE, "--policy", "read-only"],
    }
}


async def main():
    client = MultiServerMCPClient(SERVERS)
    # One session for all calls; without it, each call would start a server of its own.
    async with client.session("toolpost") as session:
        tools = {tool.name: tool for tool in await load_mcp_tools(session)}
        print("tools:", ", ".join(tools))

        # A model calls a tool by such a message, and is answered by another.
        call = {"type": "tool_call", "id": "1", "name": "read", "args": {"filePath": "README.md", "limit": 1}}
        answer = await tools["read"].ainvoke(call)
        print("text:", answer.content[0]["text"].splitlines()[0])
        print("data:", answer.artifact["structured_content"]["kind"])

        call = {"type": "tool_call", "id": "2", "name": "read", "args": {"filePath": "REDME.md"}}
        answer = await tools["read"].ainvoke(call)
        print(answer.status + ":", answer.content[0]["text"])


if __name__ == "__main__":
    asyncio.run(main())
