"""A plugin that counts words, written as one is by hand, without a library."""

# Such plugins are written for any Python.
# ruff: noqa: PTH118, PTH123, PTH208, UP031

import json
import os
import sys
import traceback

PROTOCOL = 6


def write(message):
    message["jsonrpc"] = "2.0"
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def count(cwd, path):
    with open(os.path.join(cwd, path), encoding="utf-8") as file:
        return len(file.read().split())


def table(path, words):
    return {"kind": "table", "headers": ["file", "words"], "rows": [[path, str(words)]]}


def handshake():
    return {
        "protocol": PROTOCOL,
        "name": "wordcount",
        "version": "0.1.0",
        "tools": [
            {
                "name": "count",
                "description": "Counts the words in a file.",
                "inputSchema": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}},
                    "required": ["path"],
                },
            }
        ],
        "commands": [
            {
                "name": "wordcount",
                "hint": "count the words in a file",
                "family": "plugin",
                "args": {"kind": "free", "hint": "<path>"},
                "instant": True,
            }
        ],
    }


def tool_call(params):
    path = params["input"]["path"]
    tail = {"callId": params["callId"], "tail": "reading %s" % path}
    write({"method": "tool/progress", "params": tail})
    try:
        words = count(params["cwd"], path)
    except OSError as error:
        parts = [{"type": "text", "text": "cannot read %s: %s" % (path, error)}]
        return {"output": {"parts": parts, "isError": True}}
    parts = [{"type": "text", "text": "%d words in %s" % (words, path)}]
    return {"output": {"parts": parts, "display": table(path, words)}}


def serve(message):
    method, params, id = message["method"], message.get("params") or {}, message["id"]
    if method == "initialize":
        write({"id": id, "result": handshake()})
    elif method == "tool/call":
        write({"id": id, "result": tool_call(params)})
    elif method == "command/run":
        try:
            view = table(params["args"], count(params["cwd"], params["args"]))
        except OSError as error:
            said = "cannot read %s: %s" % (params["args"], error)
            write({"id": id, "error": {"code": -32000, "message": said}})
            return
        write({"id": id, "result": {"outcome": {"kind": "view", "view": view}}})
    elif method == "command/complete":
        names = sorted(n for n in os.listdir(params["cwd"]) if n.startswith(params["partial"]))
        write({"id": id, "result": {"completions": [{"value": n} for n in names[:20]]}})
    else:
        write({"id": id, "error": {"code": -32601, "message": "no method %s" % method}})


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    try:
        serve(message)
    except Exception:
        traceback.print_exc()
