"""google-adk as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import os
import sys

# Otherwise it asks for the prices of models.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.models.lite_llm import LiteLlm  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams  # noqa: E402
from mcp import StdioServerParameters  # noqa: E402

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]


async def main():
    server = StdioConnectionParams(server_params=StdioServerParameters(command=COMMAND, args=ARGUMENTS), timeout=120)
    tools = McpToolset(connection_params=server)
    model = LiteLlm(model="openai/played", api_base=MODEL, api_key="none")
    runner = InMemoryRunner(agent=LlmAgent(name="host", model=model, tools=[tools]))
    try:
        await runner.run_debug(TASK)
    finally:
        await tools.close()


asyncio.run(main())
