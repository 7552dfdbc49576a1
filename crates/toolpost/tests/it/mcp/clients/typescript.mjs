// A client of the TypeScript SDK, 1.x or 2.x: initialise, list, read, grep, edit, structured result, error, question,
// progress, cancel, 100 calls in flight, list change. Arguments: the SDK's version, the era, the workspace, and where the
// server is: an address and its token, or a command.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const [version, era, root, ...place] = process.argv.slice(2);
const isHttp = place[0].startsWith("http");
const packages = {
  1: ["sdk/client/index.js", "sdk/client/stdio.js", "sdk/client/streamableHttp.js", "sdk/types.js"],
  2: ["client", "client/stdio"],
}[version];
const modules = await Promise.all(packages.map((name) => import(`@modelcontextprotocol/${name}`)));
const { Client, StdioClientTransport, StreamableHTTPClientTransport, ElicitRequestSchema } = Object.assign({}, ...modules);

const transport = isHttp
  ? new StreamableHTTPClientTransport(new URL(place[0]), { requestInit: { headers: { Authorization: `Bearer ${place[1]}` } } })
  : new StdioClientTransport({ command: place[0], args: place.slice(1), env: { ...process.env } });

let tellChanged;
const changed = new Promise((resolve) => (tellChanged = resolve));
const mode = { legacy: "legacy", auto: "auto", modern: { pin: "2026-07-28" } }[era];
const client = new Client(
  { name: "test", version: "1" },
  {
    capabilities: { elicitation: { form: {} } },
    versionNegotiation: { mode },
    listChanged: { tools: { onChanged: (error, tools) => tellChanged(error ?? tools) } },
  },
);
const agree = async () => ({ action: "accept", content: { answer: "once" } });
client.setRequestHandler(version === "1" ? ElicitRequestSchema : "elicitation/create", agree);
await client.connect(transport);
// 1.x knows one era only, and does not tell the revision.
if (version === "2") assert.equal(client.getProtocolEra(), era === "legacy" ? "legacy" : "modern");
assert.equal(client.getServerVersion().name, "toolpost");

// 1.x has the schema of the result between the two.
const call = (name, args, options) =>
  client.callTool({ name, arguments: args }, ...(version === "1" ? [undefined, options] : [options]));
const until = async (what, holds) => {
  for (const end = Date.now() + 20_000; !holds(); await sleep(10)) assert(Date.now() < end, what);
};

async function basics() {
  const tools = Object.fromEntries((await client.listTools()).tools.map((tool) => [tool.name, tool]));
  for (const name of ["read", "grep", "edit", "bash"]) assert(tools[name], name);
  assert.equal(tools.read.annotations.readOnlyHint, true);

  let result = await call("read", { filePath: "README.md" });
  assert(!result.isError && result.content[0].text.includes("# fixture"), JSON.stringify(result));
  assert.equal(result.structuredContent.totalLines, 7);

  result = await call("grep", { pattern: "fn main" });
  assert(result.content[0].text.includes("main.rs"), JSON.stringify(result));

  result = await call("edit", { filePath: "src/main.rs", oldString: "fn main() {}", newString: "fn main() { greet() }" });
  assert(!result.isError && readFileSync(`${root}/src/main.rs`, "utf8").includes("greet()"), JSON.stringify(result));

  result = await call("read", { filePath: "REDME.md" });
  assert(result.isError && result.content[0].text.includes("README.md"), JSON.stringify(result));
  await assert.rejects(call("raed", {}), (error) => error.code === -32602);

  // The policy asks about this file, and the handler agrees.
  result = await call("write", { filePath: ".mcp.json", content: "{}" });
  assert(!result.isError && existsSync(`${root}/.mcp.json`), JSON.stringify(result));
}

async function progress() {
  const told = [];
  const onprogress = (progress) => told.push(progress.message ?? "");
  const result = await call("bash", { command: "echo one; sleep 1; echo two; sleep 1; echo three" }, { onprogress });
  assert(result.content[0].text.includes("three"), JSON.stringify(result));
  assert(told.some((message) => message.endsWith("one")), JSON.stringify(told));
}

async function cancel() {
  const stop = new AbortController();
  const running = call("bash", { command: "touch begun; sleep 2; touch made" }, { signal: stop.signal, onprogress() {} });
  const ended = assert.rejects(running);
  await until("the command begins", () => existsSync(`${root}/begun`));
  stop.abort("enough");
  await ended;
  await sleep(2500);
  assert(!existsSync(`${root}/made`), "the command went on");
}

async function many() {
  const line = async (number) => {
    const result = await call("read", { filePath: "lines", offset: number, limit: 1 });
    assert(result.content[0].text.startsWith(`${number}: line ${number}\n`), JSON.stringify(result));
  };
  await Promise.all(Array.from({ length: 100 }, (_, index) => line(index + 1)));
}

async function listChange() {
  await call("test_trigger_tool_change", {});
  const tools = await Promise.race([changed, sleep(10_000, "nothing was told", { ref: false })]);
  assert(Array.isArray(tools) && tools.some((tool) => tool.name === "read"), String(tools));
}

const running = Promise.all([progress(), cancel()]);
await basics();
await many();
await listChange();
await running;
await client.close();
console.log("ok");
