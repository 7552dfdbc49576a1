"""strands-agents as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import sys

from mcp import StdioServerParameters
from mcp.client.stdio import stdio_client
from strands import Agent
from strands.models.openai import OpenAIModel
from strands.tools.mcp import MCPClient

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]

server = MCPClient(lambda: stdio_client(StdioServerParameters(command=COMMAND, args=ARGUMENTS)), startup_timeout=120)
with server:
    model = OpenAIModel(client_args={"base_url": MODEL, "api_key": "none"}, model_id="played")
    agent = Agent(model=model, tools=server.list_tools_sync())
    print(asyncio.run(agent.invoke_async(TASK)))
