"""Makes a server look like one of old: whoever asks in the new way is told that there is no such thing.

Usage: old.py pipe PROGRAM ARGUMENTS… stands between a client and a program on pipes;
       old.py http HOST:PORT listens at an address of its own, which it prints, and passes requests on."""

import http.client
import json
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

REFUSAL = {"code": -32601, "message": "no such method"}


def pipe(words):
    child = subprocess.Popen(words, stdin=subprocess.PIPE)
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if message.get("method") == "server/discover":
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": REFUSAL}) + "\n")
            sys.stdout.flush()
        else:
            child.stdin.write(line)
            child.stdin.flush()
    child.stdin.close()
    child.wait()


class Proxy(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self, body=None):
        there = http.client.HTTPConnection(sys.argv[2])
        headers = {name: value for name, value in self.headers.items() if name.lower() not in ("host", "content-length")}
        there.request(self.command, self.path, body, headers)
        answer = there.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            while True:
                data = answer.read1(65536)
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                self.wfile.flush()
                if not data:
                    return
        except OSError:
            there.close()

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        message = json.loads(body)
        if message.get("method") == "server/discover":
            text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": REFUSAL}).encode()
            self.send_response(400)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
        else:
            self.pass_on(body)

    def do_GET(self):
        self.pass_on()

    def do_DELETE(self):
        self.pass_on()


if sys.argv[1] == "pipe":
    pipe(sys.argv[2:])
else:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.daemon_threads = True
    print(server.server_address[1], flush=True)
    server.serve_forever()
