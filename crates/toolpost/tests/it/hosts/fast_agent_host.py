"""fast-agent as a host. Arguments: where the model is, the task, the command of the server."""

import asyncio
import json
import sys
from pathlib import Path

from fast_agent import FastAgent

MODEL, TASK, COMMAND, *ARGUMENTS = sys.argv[1:]

# JSON is YAML.
settings = {
    "default_model": "openai.gpt-4o",
    "openai": {"base_url": MODEL, "api_key": "none"},
    "mcp": {"servers": {"toolpost": {"command": COMMAND, "args": ARGUMENTS}}},
}
Path("fast-agent.yaml").write_text(json.dumps(settings))
fast = FastAgent("host", config_path="fast-agent.yaml", parse_cli_args=False, quiet=True)


@fast.agent(servers=["toolpost"])
async def main():
    async with fast.run() as agent:
        print(await agent.send(TASK))


asyncio.run(main())
