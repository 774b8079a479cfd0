"""Words for scripts that are MCP servers behind HTTP, at $PORT. Nothing is checked."""

import json
import os
import time  # noqa: F401  (for the scripts)
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

INFO = {"name": "peer", "version": "1.5"}
SEEN = os.environ.get("SEEN", os.devnull)


def see(line):
    """Write a line where the test reads it."""
    with Path(SEEN).open("a") as file:
        file.write(line + "\n")


class Http(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        self.message = json.loads(body)
        self.id = self.message.get("id")
        self.method = self.message.get("method", "answer")
        see(f"POST {self.method}")
        self.server.post(self)

    def do_GET(self):
        see("GET")
        self.server.get(self)

    def do_DELETE(self):
        see(f"DELETE {self.headers['mcp-session-id']}")
        self.status(200)

    def status(self, code, text="", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def result(self, result, **headers):
        text = json.dumps({"jsonrpc": "2.0", "id": self.id, "result": result})
        self.status(200, text, content_type="application/json", **headers)

    def error(self, code, message, status=200, **more):
        error = {"code": code, "message": message, **more}
        text = json.dumps({"jsonrpc": "2.0", "id": self.id, "error": error})
        self.status(status, text, content_type="application/json")

    def open_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, message, **fields):
        head = "".join(f"{name}: {value}\n" for name, value in fields.items())
        self.wfile.write(f"{head}data: {json.dumps(message)}\n\n".encode())
        self.wfile.flush()

    def answer_event(self, result):
        self.event({"jsonrpc": "2.0", "id": self.id, "result": result})


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def legacy(http, call, session=None):
    """Be a server of 2025-11-25 with one tool t."""
    if http.method == "initialize":
        told = {"mcp-session-id": session} if session else {}
        capabilities = {"tools": {}}
        said = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": INFO}
        http.result(said, **told)
    elif http.id is None or http.method == "answer":
        http.status(202)
    elif http.method == "tools/list":
        http.result({"tools": [{"name": "t", "inputSchema": {"type": "object"}}]})
    elif http.method == "tools/call":
        call(http)
    else:
        http.error(-32601, "Method not found", 400)


def modern(http, call):
    """Be a server of 2026-07-28 with one tool t, whose argument `where` goes into a header."""
    if http.method == "server/discover":
        meta = {"io.modelcontextprotocol/serverInfo": INFO}
        said = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "_meta": meta}
        http.result(said)
    elif http.method == "tools/list":
        where = {"where": {"type": "string", "x-mcp-header": "Where"}}
        bad = {"where": {"type": "number", "x-mcp-header": "Where"}}
        tools = [
            {"name": "t", "inputSchema": {"type": "object", "properties": where}},
            {"name": "bad", "inputSchema": {"type": "object", "properties": bad}},
        ]
        http.result({"tools": tools})
    elif http.method == "tools/call":
        call(http)
    else:
        http.error(-32601, "Method not found", 404)


def run(post, get=lambda http: http.status(405)):
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Http)
    server.daemon_threads = True
    server.post, server.get = post, get
    server.serve_forever()
