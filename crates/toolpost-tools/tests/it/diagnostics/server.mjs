// A language server for tests. A line with `BAD name` has an error. How it behaves is its argument.
import { writeFileSync, readSync, writeSync } from "node:fs";

const behaviour = process.argv[2];
const files = new Map();
let retries = 0;

function send(message) {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
  writeSync(1, Buffer.concat([Buffer.from(`Content-Length: ${bytes.length}\r\n\r\n`), bytes]));
}

function errors(text) {
  return text.split("\n").flatMap((line, at) => {
    const found = line.indexOf("BAD ");
    if (found < 0) return [];
    const range = { start: { line: at, character: found }, end: { line: at, character: found + 3 } };
    const message = `bad thing: ${line.slice(found + 4)}`;
    const warning = { range, message: "only a warning", severity: 2 };
    return [{ range, message, severity: 1, code: "B1" }, warning];
  });
}

function told(uri, version, diagnostics) {
  const params = { uri, diagnostics };
  if (behaviour !== "sent-without-version") params.version = version;
  send({ method: "textDocument/publishDiagnostics", params });
}

function lie(uri, version) {
  for (const path of ["b.txt", "new.txt", "a.x"]) {
    for (const folder of [process.cwd(), decodeURIComponent(new URL(".", uri).pathname)]) {
      try { writeFileSync(`${folder}/${path}`, "lies"); } catch { }
    }
  }
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const edit = { changes: { [uri]: [{ range, newText: "lies" }] } };
  send({ id: "x", method: "workspace/applyEdit", params: { edit } });
  send({ id: 4711, result: "nobody asked" });
  send({ id: null, error: 7 });
  told(uri.replace("a.x", "b.txt"), version, [{ range, message: "of another file" }]);
  told(uri, version - 1, [{ range, message: "of another text" }]);
  const far = { start: { line: 999999999999, character: 1e300 } };
  told(uri, version, [
    { range: far, message: "far" }, { range, message: "bad\u001b[2J \u0007thing" },
    { range: "nowhere", message: 7 }, null, 7, { message: "no place" },
  ]);
}

function opened(uri, version, text) {
  files.set(uri, text);
  switch (behaviour) {
    case "hangs-later": return setInterval(() => { }, 1000);
    case "dies-later": return process.exit(3);
    case "floods":
      for (;;) send({ method: "window/logMessage", params: { message: "x".repeat(10000) } });
    case "floods-without-messages":
      for (;;) writeSync(1, "x".repeat(10000));
    case "huge": return void writeSync(1, "Content-Length: 99999999999\r\n\r\n{");
    case "lies": return text.includes("BAD") ? lie(uri, version) : told(uri, version, []);
    case "sent": case "sent-without-version":
      // What is not known yet comes later.
      told(uri, version, []);
      return void setTimeout(() => told(uri, version, errors(text)), 50);
  }
}

function hear({ id, method, params }) {
  switch (method) {
    case "initialize": {
      if (behaviour === "hangs") return;
      if (behaviour === "dies") { writeSync(2, "\nout of cheese\n"); process.exit(1); }
      if (behaviour === "refuses") return send({ id, error: { code: -1, message: "not today" } });
      const capabilities = { textDocumentSync: 1 };
      if (["asked", "interrupted", "slow-start"].includes(behaviour)) capabilities.diagnosticProvider = {};
      const commands = ["typescript.tsserverRequest"];
      if (behaviour === "typescript") capabilities.executeCommandProvider = { commands };
      const wait = behaviour === "slow-start" ? 2500 : 0;
      return void setTimeout(() => {
        send({ id: 1, method: "workspace/configuration", params: { items: [{ section: "x" }] } });
        send({ id, result: { capabilities } });
      }, wait);
    }
    case "textDocument/didOpen": {
      const { uri, version, text } = params.textDocument;
      return opened(uri, version, text);
    }
    case "textDocument/didChange":
      return opened(params.textDocument.uri, params.textDocument.version, params.contentChanges[0].text);
    case "textDocument/didClose":
      files.delete(params.textDocument.uri);
      return told(params.textDocument.uri, undefined, []);
    case "textDocument/diagnostic": {
      if (behaviour === "interrupted" && retries++ % 2 === 0) return send({ id, error: { code: -32802, message: "later" } });
      return send({ id, result: { kind: "full", items: errors(files.get(params.textDocument.uri)) } });
    }
    case "workspace/executeCommand": {
      const [command, { file }] = params.arguments;
      const [, text] = [...files].find(([uri]) => decodeURIComponent(new URL(uri).pathname) === file);
      const body = command === "syntacticDiagnosticsSync" ? [] : errors(text).map((error) => ({
        start: { line: error.range.start.line + 1, offset: error.range.start.character + 1 },
        text: error.message, category: error.severity === 1 ? "error" : "warning", code: error.code,
      }));
      return send({ id, result: { success: true, body } });
    }
  }
}

if (behaviour === "never-reads") {
  setInterval(() => { }, 1000);
} else {
  let bytes = Buffer.alloc(0);
  process.stdin.on("data", (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    for (;;) {
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      const length = Number(/content-length: *(\d+)/i.exec(bytes.subarray(0, end).toString())[1]);
      if (bytes.length < end + 4 + length) return;
      const message = JSON.parse(bytes.subarray(end + 4, end + 4 + length).toString());
      bytes = bytes.subarray(end + 4 + length);
      if (message.method) hear(message);
    }
  });
  process.stdin.on("end", () => process.exit(0));
}
