"""An MCP server with the tools that the conformance scenarios call. Run by tinyhost as a plugin."""

import sys
from pathlib import Path

TESTS = Path(__file__).parents[3]
sys.path[:0] = [str(TESTS / "tinyhost" / "mcp"), str(TESTS / "peers")]

from mcpwords import legacy, notify, recv, send, serve, text, time, tool  # noqa: E402

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="

IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
RESOURCE = {"uri": "test://embedded", "mimeType": "text/plain", "text": "embedded"}
MIXED = {"uri": "test://mixed", "mimeType": "application/json", "text": '{"test":"data"}'}

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}
RESULTS = {
    "test_simple_text": text("This is a simple text response for testing."),
    "test_image_content": {"content": [IMAGE]},
    "test_audio_content": {"content": [{"type": "audio", "data": WAV, "mimeType": "audio/wav"}]},
    "test_embedded_resource": {"content": [{"type": "resource", "resource": RESOURCE}]},
    "test_multiple_content_types": {
        "content": [
            {"type": "text", "text": "Multiple content types test:"},
            IMAGE,
            {"type": "resource", "resource": MIXED},
        ]
    },
    "test_error_handling": {**text("It fails, as it should."), "isError": True},
    "json_schema_2020_12_tool": text("called"),
    "test_header": text("called"),
    "test_tool_with_progress": text("done"),
}
# The host asks before this is called.
RESULTS["test_streaming_elicitation"] = text("called")

OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
FORMS = {
    "test_elicitation": {"username": {"type": "string"}, "email": {"type": "string"}},
    "test_elicitation_sep1034_defaults": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
    "test_elicitation_sep1330_enums": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
SCHEMAS = {"json_schema_2020_12_tool": SCHEMA, "test_header": HEADER}
TOOLS = [
    tool(
        name,
        description="A tool of the suite.",
        **({"inputSchema": SCHEMAS[name]} if name in SCHEMAS else {}),
    )
    for name in (*RESULTS, *FORMS, "test_sampling")
]


def ask(method, **params):
    send({"jsonrpc": "2.0", "id": "q", "method": method, "params": params})
    while (answer := recv()).get("id") != "q":
        pass
    return answer["result"]


def call(request):
    params = request["params"]
    if params["name"] in FORMS:
        schema = {"type": "object", "properties": FORMS[params["name"]]}
        given = ask("elicitation/create", message="Please fill in", requestedSchema=schema)
        return text(f"Elicitation completed: {given}")
    if params["name"] == "test_sampling":
        said = {"type": "text", "text": params["arguments"]["prompt"]}
        messages = [{"role": "user", "content": said}]
        given = ask("sampling/createMessage", messages=messages, maxTokens=100)
        return text(f"LLM response: {given['content']['text']}")
    if params["name"] == "test_tool_with_progress":
        token = params["_meta"]["progressToken"]
        for step in (0, 50, 100):
            notify("notifications/progress", progressToken=token, progress=step, total=100)
            time.sleep(0.05)
    return RESULTS[params["name"]]


legacy()
serve(TOOLS, call)
