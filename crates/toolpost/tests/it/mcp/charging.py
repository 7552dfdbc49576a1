"""An MCP server whose one tool asks midway, and writes down what it does: usage `charging.py LEDGER [modern]`.

`charge` writes `begin ID` into the ledger, asks so many questions one after another, and then writes `ID`, unless one of
the answers was no. In the way of 2026-07-28 it writes nothing before its last answer."""

import json
import sys

LEDGER = sys.argv[1]
MODERN = "modern" in sys.argv
META = "io.modelcontextprotocol/"
ASKING = {}
ASKED = 0


def send(message):
    sys.stdout.write(json.dumps(dict(message, jsonrpc="2.0")) + "\n")
    sys.stdout.flush()


def note(line):
    with open(LEDGER, "a") as ledger:
        ledger.write(line + "\n")


def says(request, words, **more):
    result = dict({"content": [{"type": "text", "text": words}]}, **more)
    if MODERN:
        result["resultType"] = "complete"
    send({"id": request["id"], "result": result})


def form(arguments, step):
    message = "pay %s, step %d?" % (arguments["id"], step) if arguments.get("named") else "pay?"
    schema = {"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]}
    return {"mode": "form", "message": message, "requestedSchema": schema}


def goes_on(request, step):
    global ASKED
    arguments = request["params"]["arguments"]
    if step == arguments.get("questions", 0):
        note(arguments["id"])
        says(request, "charged " + arguments["id"])
    elif MODERN:
        asked = {"q%d" % step: {"method": "elicitation/create", "params": form(arguments, step)}}
        send({"id": request["id"], "result": {"resultType": "input_required", "inputRequests": asked, "requestState": str(step)}})
    else:
        ASKED += 1
        ASKING["ask-%d" % ASKED] = (request, step)
        send({"id": "ask-%d" % ASKED, "method": "elicitation/create", "params": form(arguments, step)})


def charge(request):
    params = request["params"]
    if not MODERN:
        note("begin " + params["arguments"]["id"])
        return goes_on(request, 0)
    if "requestState" not in params:
        return goes_on(request, 0)
    step = int(params["requestState"])
    if params["inputResponses"]["q%d" % step]["action"] != "accept":
        return says(request, "declined " + params["arguments"]["id"], isError=True)
    goes_on(request, step + 1)


for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method is None:
        request, step = ASKING.pop(message["id"], (None, 0))
        if request is None:
            continue
        if message.get("result", {}).get("action") == "accept":
            goes_on(request, step + 1)
        else:
            says(request, "declined " + request["params"]["arguments"]["id"], isError=True)
    elif method == "server/discover" and MODERN:
        found = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        found["_meta"] = {META + "serverInfo": {"name": "charging", "version": "1"}}
        send({"id": message["id"], "result": found})
    elif method == "initialize" and not MODERN:
        version = message["params"]["protocolVersion"]
        said = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "charging", "version": "1"}}
        send({"id": message["id"], "result": said})
    elif method == "tools/list":
        properties = {"id": {"type": "string"}, "questions": {"type": "integer"}, "named": {"type": "boolean"}}
        tool = {"name": "charge", "description": "Charges.", "inputSchema": {"type": "object", "properties": properties}}
        result = {"tools": [tool]}
        if MODERN:
            result.update(resultType="complete", ttlMs=60000, cacheScope="private")
        send({"id": message["id"], "result": result})
    elif method == "tools/call":
        charge(message)
    elif method == "notifications/cancelled":
        note("cancelled")
    elif "id" in message and method == "ping":
        send({"id": message["id"], "result": {}})
    elif "id" in message:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
