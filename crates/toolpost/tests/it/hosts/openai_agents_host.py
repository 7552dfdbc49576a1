"""openai-agents as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from agents import Agent, OpenAIResponsesModel, Runner, set_tracing_disabled
from agents.mcp import MCPServerStdio
from openai import AsyncOpenAI

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    set_tracing_disabled(True)
    model = OpenAIResponsesModel("played", AsyncOpenAI(base_url=MODEL, api_key="none"))
    params = {"command": COMMAND, "args": ARGUMENTS}
    async with MCPServerStdio(params, name="toolpost", client_session_timeout_seconds=120) as server:
        agent = Agent(name="host", model=model, mcp_servers=[server])
        print((await Runner.run(agent, TASK)).final_output)


asyncio.run(main())
