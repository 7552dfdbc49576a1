"""agent-framework as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from agent_framework import Agent, MCPStdioTool
from agent_framework.openai import OpenAIChatClient

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    model = OpenAIChatClient(model="played", base_url=MODEL, api_key="none")
    async with MCPStdioTool(name="toolpost", command=COMMAND, args=ARGUMENTS, approval_mode="never_require") as server:
        async with Agent(client=model, name="host", tools=server, default_options={"store": False}) as agent:
            print(await agent.run(TASK))


asyncio.run(main())
