"""agno as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from agno.agent import Agent
from agno.models.openai import OpenAIChat
from agno.tools.mcp import MCPTools
from mcp import StdioServerParameters

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    server = StdioServerParameters(command=COMMAND, args=ARGUMENTS)
    async with MCPTools(server_params=server, timeout_seconds=120) as tools:
        agent = Agent(model=OpenAIChat(id="played", base_url=MODEL, api_key="none"), tools=[tools], telemetry=False)
        print((await agent.arun(TASK)).content)


asyncio.run(main())
