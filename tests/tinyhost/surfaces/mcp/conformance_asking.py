"""An MCP server of today whose tools ask something, as the conformance scenarios want it."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[3]
sys.path[:0] = [str(TESTS / "tinyhost" / "mcp"), str(TESTS / "peers")]

from mcpwords import modern, send, serve, text, tool  # noqa: E402

OFFERED = "io.modelcontextprotocol/clientCapabilities"


def form(message, field, kind="string"):
    schema = {"type": "object", "properties": {field: {"type": kind}}, "required": [field]}
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": schema},
    }


def sample(words):
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {
        "method": "sampling/createMessage",
        "params": {"messages": [message], "maxTokens": 100},
    }


ROOTS = {"method": "roots/list", "params": {}}
CONFIRM = {"confirm": form("Please confirm", "ok", "boolean")}
# What each tool asks, round by round.
ROUNDS = {
    "test_input_required_result_elicitation": [{"user_name": form("What is your name?", "name")}],
    "test_input_required_result_sampling": [
        {"capital_question": sample("What is the capital of France?")}
    ],
    "test_input_required_result_list_roots": [{"client_roots": ROOTS}],
    "test_input_required_result_request_state": [CONFIRM],
    "test_input_required_result_tampered_state": [CONFIRM],
    "test_input_required_result_multiple_inputs": [
        {
            "user_name": form("What is your name?", "name"),
            "greeting": sample("Generate a greeting"),
            "client_roots": ROOTS,
        }
    ],
    "test_input_required_result_multi_round": [
        {"step1": form("Step 1: What is your name?", "name")},
        {"step2": form("Step 2: What is your favorite color?", "color")},
    ],
    "test_input_required_result_capabilities": [
        {"elicitation": form("Anything?", "any"), "sampling": sample("Anything?")}
    ],
}


def call(request):
    params = request["params"]
    offered = params["_meta"][OFFERED]
    if params["name"] == "test_missing_capability":
        return text("called") if "sampling" in offered else lacking(request, "sampling")
    rounds = ROUNDS[params["name"]]
    done = int(params.get("requestState", "0"))
    if done == len(rounds):
        return {"resultType": "complete", **text(f"state-ok {params['inputResponses']}")}
    asked = rounds[done]
    if params["name"].endswith("_capabilities"):
        asked = {kind: question for kind, question in asked.items() if kind in offered}
    return {"resultType": "input_required", "inputRequests": asked, "requestState": str(done + 1)}


def lacking(request, kind):
    data = {"requiredCapabilities": {kind: {}}}
    error = {"code": -32021, "message": f"it needs {kind}", "data": data}
    send({"jsonrpc": "2.0", "id": request["id"], "error": error})


modern()
TOOLS = (*ROUNDS, "test_missing_capability")
serve([tool(name, description="A tool of the suite that asks.") for name in TOOLS], call)
