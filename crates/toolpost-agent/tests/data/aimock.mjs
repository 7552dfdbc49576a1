// Scripted conversations for the tests of models: one set of fixtures, served in every wire format.
import { LLMock } from "@copilotkit/aimock";

const mock = new LLMock({ port: 0, host: "127.0.0.1", chunkSize: 7, logLevel: "silent" });
const weather = (id, city) => ({ id, name: "get_weather", arguments: { city } });

// Two calls at once, one more after their results, then the answer.
const results = (count) => ({
  userMessage: "three cities",
  predicate: (request) => request.messages.filter((message) => message.role === "tool").length === count,
});
mock.on(results(0), { toolCalls: [weather("call_a", "Paris"), weather("call_b", "Zürich")] });
mock.on(results(2), { toolCalls: [weather("call_c", "東京")] });
mock.on(results(3), { content: "Paris 7°, Zürich 3°, 東京 12°." });

const fault = (word, status) => {
  const error = { error: { message: `${word} for a moment`, type: "server_error" }, status };
  mock.on({ userMessage: word, sequenceIndex: 0 }, error);
  mock.on({ userMessage: word, sequenceIndex: 1 }, { toolCalls: [weather("call_d", "Oslo")] });
};
for (const format of ["gemini", "anthropic", "responses", "chat", "ollama"]) {
  fault(`limited ${format}`, 429);
  fault(`overloaded ${format}`, 529);
  const long = { content: "This answer is long enough for many pieces, and it never ends well." };
  mock.on({ userMessage: `cut ${format}`, sequenceIndex: 0 }, long, { truncateAfterChunks: 3 });
  mock.on({ userMessage: `cut ${format}`, sequenceIndex: 1 }, { content: "All of it." });
  mock.on({ userMessage: `hung ${format}`, sequenceIndex: 0 }, long, { latency: 60_000 });
  mock.on({ userMessage: `hung ${format}`, sequenceIndex: 1 }, { content: "All of it." });
}
mock.on({ userMessage: "always broken" }, { error: { message: "broken", type: "server_error" }, status: 503 });

await mock.start();
console.log(mock.url);
process.stdin.resume();
process.stdin.on("end", () => process.exit(0));
