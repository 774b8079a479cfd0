"""Words for scripts that are MCP servers, on top of peers/rawplugin.py. Nothing is checked."""

from rawplugin import fail, log, recv, reply, send, sys, time  # noqa: F401

INFO = {"name": "peer", "version": "1.5"}
VERSION = "2026-07-28"


def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


def legacy(version="2025-11-25", **capabilities):
    """Refuse the modern question, and shake hands; returns the initialize request."""
    request = recv()
    fail(request, -32601, "Method not found")
    request = recv()
    offered = {"tools": {}, **capabilities}
    reply(request, {"protocolVersion": version, "capabilities": offered, "serverInfo": INFO})
    recv()
    return request


def modern(**capabilities):
    """Answer the modern question; returns it."""
    request = recv()
    meta = {"io.modelcontextprotocol/serverInfo": INFO}
    offered = {"tools": {}, **capabilities}
    result = {"supportedVersions": [VERSION], "capabilities": offered, "_meta": meta}
    reply(request, {"resultType": "complete", **result})
    return request


def text(words):
    return {"content": [{"type": "text", "text": words}]}


def serve(tools=("t",), call=None, **others):
    """Answer until end-of-file. call(request) and others by method (/ as _) give results."""
    listed = [tool(name) if isinstance(name, str) else name for name in tools]
    while (request := recv()) is not None:
        method = request.get("method")
        if "id" not in request or method is None:
            others.get("noted", lambda _: None)(request)
        elif method == "tools/list" and "tools_list" not in others:
            reply(request, {"tools": listed})
        elif method == "tools/call":
            result = call(request) if call else text("ok")
            if result is not None:
                reply(request, result)
        else:
            handler = others.get(method.replace("/", "_"))
            result = handler(request) if handler else {}
            if result is not None:
                reply(request, result)


def notify(method, **params):
    send({"jsonrpc": "2.0", "method": method, "params": params})
