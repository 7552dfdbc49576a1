// A conversation with two calls and three faults, served in every wire format: for runs through the command.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 7, logLevel: "silent" });
const append = (id, word) => ({ id, name: "bash", arguments: { command: `echo ${word} >> lines.txt` } });

for (const format of ["gemini", "anthropic", "responses", "chat", "ollama"]) {
  const userMessage = `append for ${format}`;
  const step = (sequenceIndex, answer, options) => mock.on({ userMessage, sequenceIndex }, answer, options);
  step(0, { error: { message: "too many requests", type: "rate_limit_error" }, status: 429 });
  step(1, { toolCalls: [append("call_a", "one"), append("call_b", "two")] });
  step(2, { content: "This answer is long enough for many pieces, and it never ends well." }, { truncateAfterChunks: 3 });
  step(3, { error: { message: "overloaded", type: "overloaded_error" }, status: 529 });
  step(4, { content: "Two lines were appended." });
}

await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
