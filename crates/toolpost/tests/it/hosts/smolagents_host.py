"""smolagents as a host. Arguments: where the model is, the task, the command of the server."""

import os
import sys

from mcp import StdioServerParameters
from smolagents import MCPClient, OpenAIModel, ToolCallingAgent

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]

server = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=dict(os.environ))
patience = {"connect_timeout": 120, "client_session_timeout_seconds": 120.0}
with MCPClient(server, adapter_kwargs=patience, structured_output=True) as tools:
    model = OpenAIModel("played", api_base=MODEL, api_key="none")
    print(ToolCallingAgent(tools=tools, model=model).run(TASK))
