"""mcp-use as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from langchain_openai import ChatOpenAI
from mcp_use import MCPAgent, MCPClient

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    client = MCPClient({"mcpServers": {"toolpost": {"command": COMMAND, "args": ARGUMENTS}}})
    try:
        model = ChatOpenAI(model="played", base_url=MODEL, api_key="none")
        print(await MCPAgent(llm=model, client=client, max_steps=30).run(TASK))
    finally:
        await client.close_all_sessions()


asyncio.run(main())
