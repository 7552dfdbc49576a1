"""MCP servers over HTTP, good and bad: the path says which. GET /log tells what was asked of it so far.

Usage: http_server.py MARK [CERTIFICATE KEY]; prints the port that it listens at."""

import json
import queue
import ssl
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LOG = []
SESSIONS = {}
ANSWERS = queue.Queue()
CHANGED = threading.Event()
META = "io.modelcontextprotocol/"


def text(words, **more):
    return dict({"content": [{"type": "text", "text": words}]}, **more)


def tools(mode):
    region = {"region": {"type": "string", "x-mcp-header": "Region"}}
    names = ["echo", "ask", "slow", "silent", "cut", "flood", "change"] + (["new"] if CHANGED.is_set() else [])
    every = [{"name": name, "description": "Does a thing.", "inputSchema": {"type": "object", "properties": region}} for name in names]
    return every


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, body=b"", kind="text/plain", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def begin(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, message):
        self.chunk(b"event: message\r\ndata: " + json.dumps(dict(message, jsonrpc="2.0")).encode() + b"\r\n\r\n")

    def end(self):
        self.chunk(b"")

    def do_DELETE(self):
        LOG.append({"delete": self.headers.get("Mcp-Session-Id")})
        SESSIONS.pop(self.headers.get("Mcp-Session-Id"), None)
        self.plain(200)

    def do_GET(self):
        if self.path == "/log":
            return self.plain(200, LOG, "application/json")
        LOG.append({"get": self.path})
        if self.path != "/sse":
            return self.plain(405)
        self.begin()
        try:
            while not CHANGED.wait(0.05):
                self.chunk(b": still here\n\n")
            self.event({"method": "notifications/tools/list_changed"})
            time.sleep(2)
            self.end()
        except OSError:
            pass

    def do_POST(self):
        mode = self.path.strip("/")
        length = int(self.headers.get("Content-Length", 0))
        message = json.loads(self.rfile.read(length))
        method = message.get("method")
        kept = {name.lower(): value for name, value in self.headers.items()}
        LOG.append({"mode": mode, "method": method, "headers": kept, "params": message.get("params")})
        if mode == "moved":
            return self.plain(307, Location="http://127.0.0.1:%d/json" % self.server.server_address[1])
        if mode == "locked" and self.headers.get("Authorization") != "Bearer sesame":
            return self.plain(401, b"go away")
        if mode == "garbage":
            return self.plain(200, b"<html>hello</html>", "text/html")
        if mode == "broken":
            return self.plain(500, b"boom")
        if method is None:
            ANSWERS.put(message)
            return self.plain(202)
        if "id" not in message:
            return self.plain(202)
        if mode == "modern":
            return self.modern(message, method)
        return self.legacy(mode, message, method)

    def answer(self, message, result, **headers):
        self.plain(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, "application/json", **headers)

    def refuse(self, message, status, code, why):
        self.plain(status, {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": code, "message": why}}, "application/json")

    def modern(self, message, method):
        params = message["params"]
        meta = params.get("_meta", {})
        if self.headers.get("MCP-Protocol-Version") != meta.get(META + "protocolVersion") or self.headers.get("Mcp-Method") != method:
            return self.refuse(message, 400, -32020, "header mismatch")
        if method == "server/discover":
            return self.answer(message, {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": True}}})
        if method == "tools/list":
            return self.answer(message, {"resultType": "complete", "tools": tools("modern")})
        if method == "subscriptions/listen":
            self.begin()
            try:
                while not CHANGED.wait(0.05):
                    self.chunk(b": still here\n\n")
                self.event({"method": "notifications/tools/list_changed", "params": {}})
                time.sleep(2)
                return self.end()
            except OSError:
                return None
        if method == "tools/call":
            if self.headers.get("Mcp-Name") != params["name"]:
                return self.refuse(message, 400, -32020, "header mismatch")
            if params["arguments"].get("region") != self.headers.get("Mcp-Param-Region"):
                return self.refuse(message, 400, -32020, "header mismatch")
            return self.call(message, params)
        return self.refuse(message, 404, -32601, "no such method")

    def legacy(self, mode, message, method):
        session = self.headers.get("Mcp-Session-Id")
        if method == "initialize":
            session = "session-%d" % len(LOG)
            SESSIONS[session] = 0
            about = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "test", "version": "1.0.0"}}
            return self.answer(message, about, Mcp_Session_Id=session)
        if session is None:
            return self.plain(400, b"no session")
        if session not in SESSIONS:
            return self.plain(404, b"no such session")
        if self.headers.get("MCP-Protocol-Version") != "2025-11-25":
            return self.plain(400, b"no version")
        if method == "tools/list":
            return self.answer(message, {"tools": tools(mode)})
        if method == "tools/call":
            SESSIONS[session] += 1
            if mode == "expires" and SESSIONS[session] > 1:
                del SESSIONS[session]
                return self.plain(404, b"no such session")
            return self.call(message, message["params"], streams=mode != "json")
        if method == "ping":
            return self.answer(message, {})
        return self.refuse(message, 200, -32601, "no such method")

    def call(self, message, params, streams=True):
        name = params["name"]
        done = {"id": message["id"], "result": text("called " + name)}
        if name == "silent":
            time.sleep(5)
            return None
        if name == "change":
            CHANGED.set()
        if not streams:
            return self.answer(message, done["result"])
        self.begin()
        try:
            if name == "slow":
                for step in range(3):
                    token = params["_meta"]["progressToken"]
                    self.event({"method": "notifications/progress", "params": {"progressToken": token, "progress": step, "message": "step"}})
                    time.sleep(0.1)
            if name == "ask":
                self.event({"id": "q", "method": "elicitation/create", "params": {"message": "Really?", "requestedSchema": {"type": "object", "properties": {}}}})
                done["result"] = text(json.dumps(ANSWERS.get(timeout=5)["result"]))
            if name == "cut":
                self.chunk(b"data: {\"jsonrpc\"")
                self.close_connection = True
                return self.connection.close()
            if name == "flood":
                while True:
                    self.chunk(b"data: flood\n\n" * 5000)
            self.event(done)
            return self.end()
        except OSError:
            LOG.append({"hung up": name})


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
