"""pydantic-ai as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    model = OpenAIChatModel("played", provider=OpenAIProvider(base_url=MODEL, api_key="none"))
    agent = Agent(model, toolsets=[MCPToolset(StdioTransport(COMMAND, ARGUMENTS), init_timeout=120, read_timeout=120)])
    async with agent:
        print((await agent.run(TASK)).output)


asyncio.run(main())
