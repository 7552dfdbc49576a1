"""autogen as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from autogen_agentchat.agents import AssistantAgent
from autogen_core.models import ModelFamily
from autogen_ext.models.openai import OpenAIChatCompletionClient
from autogen_ext.tools.mcp import McpWorkbench, StdioServerParams

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]

ABLE = {"vision": True, "function_calling": True, "json_output": True, "structured_output": True}


async def main():
    model = OpenAIChatCompletionClient(
        model="played", base_url=MODEL, api_key="none", model_info={**ABLE, "family": ModelFamily.UNKNOWN}
    )
    server = StdioServerParams(command=COMMAND, args=ARGUMENTS, read_timeout_seconds=120)
    async with McpWorkbench(server) as workbench:
        agent = AssistantAgent("host", model, workbench=workbench, max_tool_iterations=30)
        print((await agent.run(task=TASK)).messages[-1])


asyncio.run(main())
