"""A bingo plugin for tests, as one is written by hand: a loop over the lines of stdin.

The configuration decides what it declares and how it behaves; what a tool is given decides
what the tool does.
"""

import json
import os
import sys

CONFIG = {}
BACKLOG = []
CANCELLED = []
OBSERVED = []
STORE = {}
NUMBERS = iter(range(1, 1_000_000))


def send(message):
    sys.stdout.write(json.dumps({**message, "jsonrpc": "2.0"}) + "\n")
    sys.stdout.flush()


def notify(method, params):
    send({"method": method, "params": params})


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask_host(params, method="service/call"):
    """A request to the host; what comes meanwhile waits. The whole answer, without its id."""
    id = CONFIG.get("idPrefix", "") + str(next(NUMBERS)) if "idPrefix" in CONFIG else next(NUMBERS)
    send({"id": id, "method": method, "params": params})
    while True:
        message = receive()
        if message.get("id") == id and "method" not in message:
            return {key: message[key] for key in ("result", "error") if key in message}
        take_note(message)
        if "id" in message:
            BACKLOG.append(message)


def take_note(message):
    if message.get("method") in ("tool/cancel", "provider/cancel"):
        CANCELLED.append(message["params"])
    elif message.get("method") == "hook/observe":
        OBSERVED.append(message["params"])


DECLARED = {
    "tools": [{"name": "echo", "description": "Says it back", "inputSchema": {"type": "object"}}],
    "commands": [
        {
            "name": "stub",
            "aliases": ["st"],
            "hint": "what the stub does",
            "args": {"kind": "free", "hint": "<what>"},
            "instant": True,
            "family": "plugin",
        }
    ],
    "contributors": [
        {"id": "notes", "placement": {"kind": "roundStart"}},
        {"id": "after", "placement": {"kind": "barrier"}},
    ],
    "compactors": [{"id": "cut"}],
    "providers": [{"id": "stub", "models": [{"id": "stub-1"}], "endpoint": {"images": True}}],
    "hooks": [
        {"id": "guard", "points": ["beforeTool"], "tool": "Bash"},
        {"id": "late", "points": ["afterTool"], "tool": "Bash"},
        {"id": "prefix", "points": ["submit"]},
        {"id": "watch", "points": ["session", "turn"]},
        {"id": "last", "points": ["stop"]},
    ],
    "services": {"kv": {"methods": {"set": {}, "get": {}}}},
}


def initialize(params):
    CONFIG.update(params["config"] or {})
    if "announce" in CONFIG:
        STORE["announced"] = ask_host(CONFIG["announce"])
    STORE["initialize"] = params
    declared = {key: DECLARED[key] for key in CONFIG.get("kinds", DECLARED)}
    return {
        "protocol": CONFIG.get("protocol", 6),
        "name": CONFIG.get("name", "stub"),
        "version": "1.0",
        **declared,
        **CONFIG.get("declare", {}),
    }


def text(said, error=False):
    return {"output": {"parts": [{"type": "text", "text": said}], "isError": error}}


def tool_call(params):
    given = params["input"]
    for tail in given.get("progress", ()):
        notify("tool/progress", {"callId": "another", "tail": "not for this one"})
        notify("tool/progress", {"callId": params["callId"], "tail": tail})
    if "die" in given:
        os._exit(given["die"])
    if "silent" in given:
        return None
    if "env" in given:
        return text(os.environ.get(given["env"], ""))
    if "call" in given:
        return text(json.dumps(ask_host(given["call"])))
    if "method" in given:
        return text(json.dumps(ask_host({}, given["method"])))
    if "question" in given:
        call = given.get("of", params["callId"])
        asked = {"call": call, "question": given["question"]}
        return text(json.dumps(ask_host({"key": "bingo.host", "method": "ask", "params": asked})))
    if "show" in given:
        seen = {"cancelled": CANCELLED, "observed": OBSERVED, "store": STORE}
        return text(json.dumps(seen[given["show"]]))
    if "output" in given:
        return {"output": given["output"]}
    return text(json.dumps(params), given.get("isError", False))


def command_run(params):
    if params["args"] == "fail":
        return {"error": {"code": -32000, "message": "it will not"}}
    outcome = {
        "applied": {"kind": "applied", "message": "done"},
        "prompt": {"kind": "prompt", "text": "do it"},
        "record": {"kind": "record", "body": {"kind": "assistant", "text": "I said so"}},
    }.get(params["args"])
    rows = [[key, value] for key, value in params.items()]
    return {"outcome": outcome or {"kind": "view", "view": {"kind": "keyValue", "rows": rows}}}


def complete(params):
    names = sorted(os.listdir(params["cwd"]))  # noqa: PTH208
    names = [name for name in names if name.startswith(params["partial"])]
    return {"completions": [{"value": name} for name in names]}


def contribute(params):
    if CONFIG.get("contribute") == "silent":
        return None
    said = f"{params['id']} of {params['query']['session']['id']}"
    return {
        "pieces": [
            {"kind": "system", "text": said},
            {"kind": "user", "parts": [{"type": "text", "text": "more"}], "label": "notes"},
        ]
    }


def compact(params):
    context = params["context"]
    model = context["request"]["model"] if CONFIG.get("protocol", 6) == 6 else context["model"]
    STORE["compact"] = sorted(context)
    usage = {"inputTokens": 101, "outputTokens": 17, "cacheReadTokens": 23}
    if model == "fail":
        error = {"error": {"code": "OFFLINE", "message": "no net"}, "usage": usage}
        return {"kind": "failed", "error": error}
    after = 10 if model == "useless" else 4
    compaction = {"summary": model, "boundary": "itm_1", "before": 10, "after": after}
    compaction["usage"] = usage
    if CONFIG.get("protocol", 6) == 5:
        return {"compaction": compaction}
    return {"kind": "completed", "compaction": compaction}


def stream(params):
    words = params["request"]["messages"][-1]["parts"][0]["text"].split()
    call = params["call"]

    def delta(event):
        notify("provider/delta", {"call": call, "event": event})

    delta({"type": "streamStart"})
    for word in words:
        if word == "die":
            os._exit(3)
        if word == "hold":
            return None
        if word == "fail":
            return {"error": {"kind": "rateLimited", "retryAfterMs": 1500}}
        delta({"type": "textDelta", "id": "1", "delta": word})
    usage = {"inputTokens": 1, "outputTokens": len(words)}
    delta({"type": "finish", "usage": usage, "finishReason": {"unified": "stop"}})
    return {}


def decide(params):
    OBSERVED.append({**params, "decided": True})
    answer = CONFIG.get("decide", {}).get(params["id"])
    if answer == "silent":
        return None
    if answer is not None:
        return answer
    if params["id"] == "prefix":
        given = params["payload"]["input"]
        value = {"kind": "input", "input": {**given, "text": "please " + given["text"]}}
        return {"outcome": {"kind": "continue"}, "value": value}
    return {"outcome": {"kind": "continue"}}


def serve(params):
    if params["method"] == "set":
        STORE[params["params"]["name"]] = params["params"]["value"]
        return {"result": None}
    name = params["params"]["name"]
    if name not in STORE:
        return {"error": {"code": -32603, "message": f"no value {name}"}}
    return {"result": STORE[name]}


HANDLERS = {
    "initialize": initialize,
    "tool/call": tool_call,
    "command/run": command_run,
    "command/complete": complete,
    "context/contribute": contribute,
    "compactor/compact": compact,
    "provider/stream": stream,
    "hook/decide": decide,
    "service/call": serve,
}

if __name__ == "__main__":
    print("this is no message", flush=True)
    while True:
        message = BACKLOG.pop(0) if BACKLOG else receive()
        take_note(message)
        if "id" not in message:
            continue
        answer = HANDLERS[message["method"]](message["params"])
        if answer is None:
            continue
        if set(answer) == {"error"} and message["method"] != "provider/stream":
            send({"id": message["id"], "error": answer["error"]})
        else:
            send({"id": message["id"], "result": answer})
