"""The plugin's side of the wire, fed with lines and asked for lines."""

import json
import sys

import pytest

from tinyhost_sdk import (
    HandlerError,
    Hooks,
    PermissionOutput,
    Plugin,
    SessionStartOutput,
    Tool,
    ToolExecuteAfterOutput,
    ToolExecuteBeforeOutput,
    ToolResult,
    names,
    wire,
)
from tinyhost_sdk.session import Session, rules


class Line:
    """A session behind its receiver: one JSON value in, the reply or None out."""

    def __init__(self, plugin, initialize=True):
        self.sent = []
        self.session = Session(plugin, self.sent.append)
        self.receiver = wire.Receiver(rules(plugin))
        self.id = 0
        if initialize:
            self.manifest = self.call("initialize", {"version": "1.0", "directory": "/d"})["result"]

    def raw(self, text):
        (message,) = self.receiver.feed(text.encode() + b"\n")
        reply = self.session.handle(message)
        return None if reply is None else json.loads(reply)

    def call(self, method, params=None):
        self.id += 1
        request = {"jsonrpc": "2.0", "id": self.id, "method": method}
        if params is not None:
            request["params"] = params
        reply = self.raw(json.dumps(request))
        assert (reply["jsonrpc"], reply["id"]) == ("2.0", self.id)
        return reply

    def tool(self, name, args=None, **context):
        return self.call("tool/call", {"name": name, "args": args, "context": context})

    def hook(self, name, *input):
        return self.call("hook/invoke", {"name": name, **({"input": input[0]} if input else {})})


def failing(text="broken"):
    def fail(*_args):
        raise ValueError(text)

    return fail


def echo(args, context):
    return {"args": args, "session": context.session_id, "directory": context.directory}


def plugin_of(execute, **more):
    return Plugin("p", tools=[Tool("t", "A tool.", None, execute)], **more)


def test_initialize_answers_the_manifest():
    plugin = plugin_of(echo, version="3", hooks=Hooks(session_end=lambda event: None))
    manifest = Line(plugin).manifest
    assert manifest["id"] == "p"
    assert manifest["version"] == "3"
    assert manifest["tools"] == [
        {"name": "t", "description": "A tool.", "inputSchema": {"type": "object"}}
    ]
    assert manifest["hooks"] == ["session.end"]
    assert manifest["protocol"]["concurrency"] == 1


def test_on_initialize_receives_the_options_and_may_add_tools():
    plugin = Plugin("p")

    @plugin.on_initialize
    def configure(event):
        assert (event.version, event.directory) == ("1.0", "/d")
        plugin.add_tool(Tool(event.options["tool"], "", None, echo))

    line = Line(plugin, initialize=False)
    params = {"version": "1.0", "directory": "/d", "options": {"tool": "made"}}
    assert line.call("initialize", params)["result"]["tools"][0]["name"] == "made"
    assert line.session.exit_code is None


def test_initialize_without_params_or_with_null_options_gives_defaults():
    seen = []
    Line(Plugin("p", on_initialize=seen.append), initialize=False).call("initialize")
    assert (seen[0].version, dict(seen[0].options)) == ("", {})
    line = Line(Plugin("p"), initialize=False)
    assert "result" in line.call("initialize", {"options": None})


@pytest.mark.parametrize(
    ("method", "params", "code", "text"),
    [
        (
            "tool/call",
            {"name": "t"},
            names.INVALID_REQUEST,
            "first request must be initialize, not tool/call",
        ),
        ("initialize", [1], names.INVALID_PARAMS, "not an object"),
        ("initialize", {"options": []}, names.INVALID_PARAMS, "options is not an object"),
        ("initialize", {"options": {}}, names.HANDLER_ERROR, "option level is missing"),
    ],
)
def test_a_session_that_cannot_begin_is_answered_and_over(method, params, code, text):
    plugin = plugin_of(echo, on_initialize=failing("option level is missing"))
    line = Line(plugin, initialize=False)
    error = line.call(method, params)["error"]
    assert error["code"] == code
    assert text in error["message"]
    assert line.session.exit_code == 1


def test_notifications_and_junk_before_initialize_are_dropped():
    line = Line(Plugin("p"), initialize=False)
    assert line.raw('{"jsonrpc":"2.0","method":"initialize"}') is None
    assert line.raw("hello") is None
    assert line.session.exit_code is None
    assert "result" in line.call("initialize")


def test_a_tool_receives_its_arguments_and_context():
    line = Line(plugin_of(echo))
    result = line.tool("t", {"a": [1]}, sessionId="s", directory="/w")["result"]
    assert json.loads(result["content"]) == {"args": {"a": [1]}, "session": "s", "directory": "/w"}
    assert "isError" not in result


@pytest.mark.parametrize("params", [{"name": "t"}, {"name": "t", "args": None, "context": None}])
def test_missing_arguments_and_context_are_empty(params):
    result = Line(plugin_of(echo)).call("tool/call", params)["result"]
    assert json.loads(result["content"]) == {"args": {}, "session": "", "directory": ""}


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        ("", ""),
        (None, ""),
        ({"é": [1, None]}, '{"é":[1,null]}'),
        ([True], "[true]"),
        ((1, 2), "[1,2]"),
        (2**70, str(2**70)),
        (1.5, "1.5"),
        (False, "false"),
        ("\ud800", "\ud800"),
        (ToolResult("fine"), "fine"),
    ],
)
def test_what_a_tool_returns_becomes_text(value, content):
    reply = Line(plugin_of(lambda args, context: value)).tool("t")
    assert reply["result"] == {"content": content}


def test_a_tool_result_keeps_its_flag():
    reply = Line(plugin_of(lambda args, context: ToolResult("no", True))).tool("t")
    assert reply["result"] == {"content": "no", "isError": True}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({1}, "tool t returned a set; it may return text"),
        (b"x", "tool t returned a bytes"),
        ({"a": {1}}, "the result of t is not JSON: a set cannot"),
        ([float("nan")], "the result of t is not JSON"),
    ],
)
def test_a_result_that_cannot_be_written_is_a_failed_result(value, text):
    result = Line(plugin_of(lambda args, context: value)).tool("t")["result"]
    assert result["isError"] is True
    assert text in result["content"]


class NoText(Exception):
    def __str__(self):
        raise RuntimeError("not even this")


class Unusual(BaseException):
    pass


def forever(*_args):
    return forever()


def raising(error):
    def execute(args, context):
        raise error

    return execute


@pytest.mark.parametrize(
    ("execute", "content"),
    [
        (failing("no such file"), "no such file"),
        (raising(KeyError("name")), "KeyError: 'name'"),
        (raising(AssertionError()), "AssertionError"),
        (raising(NoText()), "NoText"),
        (raising(Unusual("odd")), "odd"),
        (raising(MemoryError()), "MemoryError"),
    ],
)
def test_a_tool_that_raises_gives_a_failed_result_and_the_session_goes_on(execute, content, capfd):
    plugin = plugin_of(execute)
    plugin.add_tool(Tool("other", "", None, echo))
    line = Line(plugin)
    assert line.tool("t")["result"] == {"content": content, "isError": True}
    assert "Traceback" in capfd.readouterr().err
    assert "isError" not in line.tool("other")["result"]


def test_endless_recursion_is_a_failed_result():
    result = Line(plugin_of(forever)).tool("t")["result"]
    assert result["isError"] is True
    assert "recursion" in result["content"]


def test_a_handler_error_is_answered_without_a_traceback(capfd):
    line = Line(plugin_of(raising(HandlerError("not allowed here"))))
    assert line.tool("t")["result"] == {"content": "not allowed here", "isError": True}
    assert capfd.readouterr().err == ""


def test_arguments_that_are_no_object_are_a_failed_result():
    result = Line(plugin_of(echo)).tool("t", ["a"])["result"]
    assert result == {"content": "the arguments of t must be an object", "isError": True}


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nothing/like/it", {}, names.METHOD_NOT_FOUND),
        ("initialize", {}, names.METHOD_NOT_FOUND),
        ("dispose", None, names.METHOD_NOT_FOUND),
        ("tool/call", None, names.INVALID_PARAMS),
        ("tool/call", [], names.INVALID_PARAMS),
        ("tool/call", "t", names.INVALID_PARAMS),
        ("tool/call", {}, names.INVALID_PARAMS),
        ("tool/call", {"name": 1}, names.INVALID_PARAMS),
        ("tool/call", {"name": "unknown"}, names.INVALID_PARAMS),
        ("tool/call", {"name": "t", "context": []}, names.INVALID_PARAMS),
        ("tool/call", {"name": "t", "context": {"sessionId": 1}}, names.INVALID_PARAMS),
        ("hook/invoke", None, names.INVALID_PARAMS),
        ("hook/invoke", {}, names.INVALID_PARAMS),
        ("hook/invoke", {"name": "session.end"}, names.INVALID_PARAMS),
        ("hook/invoke", {"name": "session.end", "input": None}, names.INVALID_PARAMS),
        ("hook/invoke", {"name": "session.end", "input": {"sessionId": 1}}, names.INVALID_PARAMS),
    ],
)
def test_a_request_that_makes_no_sense_is_answered_with_its_code(method, params, code):
    line = Line(plugin_of(echo, hooks=Hooks(session_end=lambda event: None)))
    assert line.call(method, params)["error"]["code"] == code
    assert "result" in line.tool("t")


def test_a_request_without_id_is_ignored():
    calls = []
    line = Line(plugin_of(lambda args, context: calls.append(args)))
    assert line.raw('{"jsonrpc":"2.0","method":"tool/call","params":{"name":"t"}}') is None
    assert line.raw('{"jsonrpc":"2.0","method":"tool/cancel","params":{"id":true}}') is None
    assert line.raw('{"jsonrpc":"2.0","id":1,"result":{}}') is None
    assert calls == []


@pytest.mark.parametrize(
    ("text", "id", "code"),
    [
        ('{"id":9,"method":"tool/call","params":{"name":"t","args":NaN}}', 9, names.PARSE_ERROR),
        ('{"id":"nine","method":"tool/call","params":"t"}', "nine", names.INVALID_PARAMS),
        ('{"id":9,"method":"tool/call","params":"%s"}' % ("x" * 3000), 9, names.INVALID_REQUEST),
        ('{"id":9,"method":"x","params":%s}' % ("[" * 200 + "]" * 200), 9, names.INVALID_REQUEST),
    ],
)
def test_a_line_that_cannot_be_read_is_answered_when_its_id_is_known(text, id, code):
    line = Line(plugin_of(echo, max_line_bytes=2048))
    reply = line.raw(text)
    assert (reply["id"], reply["error"]["code"]) == (id, code)
    assert "result" in line.tool("t")


def test_a_line_that_is_no_message_is_noted_on_stderr(capfd):
    line = Line(Plugin("p"))
    assert line.raw("DEBUG hello") is None
    assert "ignored a line of 11 bytes from the host" in capfd.readouterr().err


INPUTS = {
    "session.start": {"sessionId": "s", "directory": "/d"},
    "session.end": {"sessionId": "s"},
    "permission.ask": {"sessionId": "s", "toolName": "t", "toolArgs": "{}", "permission": "p"},
    "shell.env": {"sessionId": "s", "directory": "/d", "env": {"A": "1"}},
    "tool.execute.before": {"sessionId": "s", "toolName": "t", "toolArgs": "{}"},
    "tool.execute.after": {"sessionId": "s", "toolName": "t", "output": "o", "isError": False},
}


def hooked(name, handler):
    plugin = Plugin("p")
    plugin.hook(name)(handler)
    return Line(plugin)


@pytest.mark.parametrize("name", INPUTS)
def test_each_hook_reaches_its_handler_and_none_is_no_output(name):
    seen = []
    line = hooked(name, seen.append)
    assert line.hook(name, INPUTS[name])["result"] == {}
    assert seen[0].session_id == "s"


@pytest.mark.parametrize("name", [*INPUTS, "dispose", "unknown.hook"])
def test_a_hook_without_handler_is_an_empty_success(name):
    assert Line(Plugin("p")).hook(name, {"sessionId": 7})["result"] == {}


@pytest.mark.parametrize("name", INPUTS)
def test_a_failing_handler_is_an_error_with_its_text(name, capfd):
    error = hooked(name, failing("no luck")).hook(name, INPUTS[name])["error"]
    assert error == {"code": -32000, "message": "no luck"}
    assert "ValueError: no luck" in capfd.readouterr().err


@pytest.mark.parametrize("name", [name for name in INPUTS if name != "session.end"])
def test_a_handler_that_returns_the_wrong_type_is_an_error(name):
    error = hooked(name, lambda event: 42).hook(name, INPUTS[name])["error"]
    assert error["code"] == -32000
    assert f"the {name} handler returned 42" in error["message"]


@pytest.mark.parametrize(
    ("name", "value", "output"),
    [
        ("session.start", SessionStartOutput(["a"]), {"additionalContext": ["a"]}),
        ("permission.ask", PermissionOutput(False, "why"), {"allowed": False, "reason": "why"}),
        ("shell.env", {"B": None}, {"env": {"B": None}}),
        (
            "tool.execute.before",
            ToolExecuteBeforeOutput(["a"], {"b": 1}),
            {"additionalContext": ["a"], "toolArgs": '{"b":1}'},
        ),
        (
            "tool.execute.after",
            ToolExecuteAfterOutput("new", additional_context=["a"]),
            {"output": "new", "isError": False, "additionalContext": ["a"]},
        ),
    ],
)
def test_outputs_reach_the_wire(name, value, output):
    assert hooked(name, lambda event: value).hook(name, INPUTS[name])["result"] == {
        "output": output
    }


def test_a_custom_hook_takes_and_gives_any_value():
    seen = []

    def mine(value):
        seen.append(value)
        return {"seen": value}

    line = Line(Plugin("p", hooks=Hooks(custom={"my.event": mine})))
    assert line.hook("my.event", [1])["result"] == {"output": {"seen": [1]}}
    assert line.hook("my.event")["result"] == {"output": {"seen": None}}
    assert seen == [[1], None]


def test_a_custom_output_that_is_not_json_is_an_error():
    line = Line(Plugin("p", hooks=Hooks(custom={"my.event": lambda value: {1}})))
    assert line.hook("my.event")["error"]["code"] == -32000
    line = Line(Plugin("p", hooks=Hooks(custom={"my.event": lambda value: [float("nan")]})))
    assert line.hook("my.event")["error"]["code"] == -32000


def test_dispose_runs_once_across_hook_and_end():
    calls = []
    line = Line(Plugin("p", hooks=Hooks(dispose=lambda: calls.append(1))))
    assert line.hook("dispose", "never looked at")["result"] == {}
    assert line.hook("dispose")["result"] == {}
    line.session.close()
    line.session.close()
    assert calls == [1]


def test_a_failing_dispose_counts():
    calls = []

    def fail():
        calls.append(1)
        raise ValueError("stuck")

    line = Line(Plugin("p", hooks=Hooks(dispose=fail)))
    assert line.hook("dispose")["error"] == {"code": -32000, "message": "stuck"}
    assert line.hook("dispose")["result"] == {}
    line.session.close()
    assert calls == [1]


def test_dispose_runs_at_the_end_and_its_failure_is_only_reported(capfd):
    Line(Plugin("p", hooks=Hooks(dispose=failing("stuck")))).session.close()
    assert "ValueError: stuck" in capfd.readouterr().err


def test_dispose_does_not_run_for_a_session_that_never_began():
    calls = []
    plugin = Plugin("p", hooks=Hooks(dispose=lambda: calls.append(1)))
    line = Line(plugin, initialize=False)
    line.session.close()
    assert calls == []


def test_requests_are_served_after_dispose():
    line = Line(plugin_of(echo, hooks=Hooks(dispose=lambda: None)))
    line.hook("dispose")
    assert "result" in line.tool("t")


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_exceptions_that_mean_to_end_the_process_pass_through(error):
    line = Line(plugin_of(raising(error), hooks=Hooks(session_end=raising_hook(error))))
    with pytest.raises(type(error)):
        line.tool("t")
    with pytest.raises(type(error)):
        line.hook("session.end", INPUTS["session.end"])


def raising_hook(error):
    def handler(event):
        raise error

    return handler


def test_progress_is_sent_while_the_call_runs_and_not_after():
    kept = []

    def work(args, context):
        kept.append(context)
        context.progress("half")
        return "done"

    line = Line(plugin_of(work))
    line.tool("t")
    kept[0].progress("too late")
    assert [json.loads(data) for data in line.sent] == [
        {"jsonrpc": "2.0", "method": "tool/progress", "params": {"id": 2, "message": "half"}}
    ]


def test_a_request_cancelled_before_its_turn_is_not_run():
    calls = []
    line = Line(plugin_of(lambda args, context: calls.append(1)))
    request = wire.Request(5, "tool/call", {"name": "t"})
    line.session.expect(request)
    for id in ("true", "5.0", '"5"', "6"):
        line.raw(f'{{"jsonrpc":"2.0","method":"tool/cancel","params":{{"id":{id}}}}}')
    line.raw('{"jsonrpc":"2.0","method":"tool/cancel","params":{"id":5}}')
    reply = json.loads(line.session.handle(request))
    assert reply["result"] == {"content": "cancelled before it started", "isError": True}
    assert calls == []


def test_a_cancel_of_another_type_than_the_id_cancels_nothing():
    line = Line(plugin_of(lambda args, context: "ran"))
    request = wire.Request(1, "tool/call", {"name": "t"})
    line.session.expect(request)
    for id in ("true", "1.0", '"1"', "null", "[1]"):
        line.raw(f'{{"jsonrpc":"2.0","method":"tool/cancel","params":{{"id":{id}}}}}')
    assert json.loads(line.session.handle(request))["result"] == {"content": "ran"}


def test_a_closed_stderr_does_not_break_the_session(monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    line = Line(plugin_of(failing("no")))
    assert line.raw("junk") is None
    assert line.tool("t")["result"]["content"] == "no"
