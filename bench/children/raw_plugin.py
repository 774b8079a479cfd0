"""A plugin without an SDK and without threads, which lets 64 calls wait in its pipe."""

import json
import os
import sys

_MANIFEST = {
    "id": "raw",
    "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
    "hooks": [],
    "protocol": {"concurrency": 64, "maxLineBytes": 10 * 1024 * 1024},
}


def _answer(line: bytes) -> bytes:
    request = json.loads(line)
    result: object = _MANIFEST
    if request["method"] != "initialize":
        result = {"content": request["params"]["args"]["text"]}
    reply = {"jsonrpc": "2.0", "id": request["id"], "result": result}
    return json.dumps(reply, separators=(",", ":")).encode() + b"\n"


def main() -> None:
    """Answer all lines that a read gave with one write."""
    rest = b""
    while data := os.read(0, 64 * 1024):
        *lines, rest = (rest + data).split(b"\n")
        replies = b"".join(map(_answer, lines))
        while replies:
            replies = replies[os.write(1, replies) :]
    sys.exit(0)
