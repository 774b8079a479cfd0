"""A bare plugin for tests: reads and writes lines by hand, so that it can misbehave.

A test writes the body of a script; this module gives it the words. Nothing here checks
anything: what the host makes of it is the test's business.
"""

import json
import os
import sys
import time  # noqa: F401  (for the scripts)

_buffer = b""


def recv():
    """The next request as a dict, or None at end-of-file."""
    global _buffer
    while b"\n" not in _buffer:
        data = os.read(0, 65536)
        if not data:
            return None
        _buffer += data
    line, _, _buffer = _buffer.partition(b"\n")
    return json.loads(line)


def send(data):
    """Write bytes, text or a message to standard output."""
    if isinstance(data, dict):
        data = json.dumps(data) + "\n"
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    while data:
        data = data[os.write(1, data) :]


def reply(request, result):
    send({"jsonrpc": "2.0", "id": request["id"], "result": result})


def fail(request, code, message):
    send({"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}})


def handshake(tools=("t",), hooks=(), **more):
    """Answer initialize; returns the request."""
    request = recv()
    manifest = {"id": "raw", "tools": [{"name": name} for name in tools], "hooks": list(hooks)}
    reply(request, {**manifest, **more})
    return request


def serve(on_tool=None, on_hook=None):
    """Answer everything until end-of-file; a handler returns the result."""
    while (request := recv()) is not None:
        params = request.get("params", {})
        if request["method"] == "tool/call":
            reply(request, on_tool(params) if on_tool else {"content": "ok"})
        elif request["method"] == "hook/invoke":
            reply(request, on_hook(params) if on_hook else {})


def log(text):
    print(text, file=sys.stderr, flush=True)
