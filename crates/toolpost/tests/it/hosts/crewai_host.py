"""crewai as a host. Arguments: where the model is, the task, the command of the server."""

import os
import sys

os.environ["CREWAI_DISABLE_TELEMETRY"] = os.environ["OTEL_SDK_DISABLED"] = "true"

from crewai import LLM, Agent, Crew, Task  # noqa: E402
from crewai_tools import MCPServerAdapter  # noqa: E402
from mcp import StdioServerParameters  # noqa: E402

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]

server = StdioServerParameters(command=COMMAND, args=ARGUMENTS, env=dict(os.environ))
with MCPServerAdapter(server, connect_timeout=120) as tools:
    model = LLM(model="openai/gpt-4o", base_url=MODEL, api_key="none")
    agent = Agent(role="host", goal="Do it.", backstory="None.", tools=tools, llm=model)
    task = Task(description=TASK, expected_output="That it is done.", agent=agent)
    print(Crew(agents=[agent], tasks=[task]).kickoff())
