// The registry of tools of Gemini CLI: discovers toolpost's tools by a command and calls some by another, without a model.

import assert from "node:assert/strict";
import { Config, ToolRegistry } from "@google/gemini-cli-core";

const [toolDiscoveryCommand, toolCallCommand] = process.argv.slice(2);
const config = new Config({
  sessionId: "test",
  model: "none",
  targetDir: process.cwd(),
  cwd: process.cwd(),
  debugMode: false,
  usageStatisticsEnabled: false,
  toolDiscoveryCommand,
  toolCallCommand,
});
const registry = new ToolRegistry(config, config.messageBus);
await registry.discoverAllTools();
const names = registry.getAllTools().map((tool) => tool.name);
assert.equal(names.length, 19, names.join());

const call = (name, args) => {
  const tool = registry.getTool(`discovered_tool_${name}`);
  assert.deepEqual(tool.schema.parametersJsonSchema.type, "object");
  return tool.build(args).execute({ abortSignal: new AbortController().signal });
};

let result = await call("read", { filePath: "README.md", limit: 1 });
assert(!result.error && result.llmContent.startsWith("1: # fixture"), JSON.stringify(result));
result = await call("grep", { pattern: "fn main" });
assert(!result.error && result.llmContent.includes("main.rs"), JSON.stringify(result));
result = await call("edit", { filePath: "src/main.rs", oldString: "fn main() {}", newString: "fn main() { todo!() }" });
assert(!result.error, JSON.stringify(result));
result = await call("read", { filePath: "REDME.md" });
assert(result.error && result.llmContent.includes("nearest: `README.md`"), JSON.stringify(result));
assert(result.llmContent.includes("Exit Code: 1"), JSON.stringify(result));
console.log("ok");
process.exit(0);
