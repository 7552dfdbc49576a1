"""LangChain with its adapter as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    client = MultiServerMCPClient({"toolpost": {"transport": "stdio", "command": COMMAND, "args": ARGUMENTS}})
    async with client.session("toolpost") as session:
        model = ChatOpenAI(model="played", base_url=MODEL, api_key="none")
        agent = create_agent(model, await load_mcp_tools(session))
        answer = await agent.ainvoke({"messages": [{"role": "user", "content": TASK}]})
        print(answer["messages"][-1].content)


asyncio.run(main())
