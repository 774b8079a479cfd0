"""The checks on plugins of the other wires: right ones, and some of their faults."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost.check.engine import run_checks
from tinyhost.check.model import DIALECTS
from tinyhost.check.table import CHECKS
from tinyhost.check.target import Target

from .conftest import TIMEOUTS, not_ok, outcomes, target

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

# A loop that answers lines; `answer(method, params)` returns a result or raises Refused.
LOOP = """
import json, sys
class Refused(Exception):
    pass
def main(answer, unknown=-32601):
    for line in sys.stdin.buffer:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if type(request) is not dict or "id" not in request or "method" not in request:
            continue
        reply = {"jsonrpc": "2.0", "id": request["id"]}
        params = request.get("params")
        try:
            reply["result"] = answer(request["method"], params if type(params) is dict else {})
        except Refused as error:
            reply["error"] = {"code": error.args[0], "message": error.args[1]}
        sys.stdout.write(json.dumps(reply) + "\\n")
        sys.stdout.flush()
        if request["method"] == "shutdown" and LEAVES:
            break
LEAVES = True
"""

ZUNO = """
def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "zuno.plugin/1"}
    if method == "tools/call" and params.get("tool") == "outline":
        text = params["arguments"]["text"]
        return {"title": "Outline", "output": "# " + text, "metadata": {"example": True}}
    if method == "shutdown":
        return {}
    raise Refused(-32000, f"unknown: {method}")
"""

BINGO = """
def answer(method, params):
    if method == "initialize":
        tool = {"name": "count", "description": "Count words", "inputSchema": SCHEMA}
        return {"protocol": 6, "name": "counter", "version": "1.0", "tools": [tool]}
    if method == "tool/call" and params.get("name") == "count":
        text = str(len(params["input"]["text"].split()))
        return {"output": {"parts": [{"type": "text", "text": text}]}}
    if method == "tool/call":
        raise Refused(-32602, "unknown tool")
    raise Refused(-32601, "unknown method")
"""

MCP = """
def answer(method, params):
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "counter", "version": "1.0"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": "count", "description": "Count", "inputSchema": SCHEMA}]}
    if method == "tools/call":
        if params.get("name") != "count":
            return {"content": [{"type": "text", "text": "unknown tool"}], "isError": True}
        text = str(len(params["arguments"]["text"].split()))
        return {"content": [{"type": "text", "text": text}]}
    raise Refused(-32601, "unknown method")
"""

MANIFESTS: dict[str, tuple[str, dict[str, Any]]] = {
    "zuno": (
        "extension.json",
        {
            "apiVersion": "zuno.extension/v1",
            "id": "counter",
            "description": "An example",
            "runtime": {
                "kind": "process",
                "command": sys.executable,
                "args": ["-IS", "plugin.py"],
                "capabilities": ["host.full"],
            },
            "tools": {"outline": {"description": "Outline a text", "parameters": SCHEMA}},
        },
    ),
    "bingo": (
        "plugin.json",
        {
            "name": "counter",
            "version": "1.0",
            "entry": {"command": sys.executable, "args": ["-IS", "${PLUGIN_ROOT}/plugin.py"]},
        },
    ),
}
ANSWERS = {"zuno": ZUNO, "bingo": BINGO, "mcp": MCP}
CALLS = {"zuno": "outline", "bingo": "count", "mcp": "count"}
OTHERS = sorted(ANSWERS)


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Target]:
    """make(dialect, change): a plugin of that wire; change: code put before its main loop."""

    def make(dialect: str, change: str = "") -> Target:
        folder = tmp_path / "counter"
        folder.mkdir(mode=0o755)
        program = folder / "plugin.py"
        head = f"#!{sys.executable} -IS\n" if dialect == "mcp" else ""
        code = f"SCHEMA = {SCHEMA!r}\n{ANSWERS[dialect]}\n{change}\nmain(answer)\n"
        program.write_text(head + LOOP + code)
        program.chmod(0o755)
        if dialect in MANIFESTS:
            file, manifest = MANIFESTS[dialect]
            (folder / file).write_text(json.dumps(manifest))
        calls = {CALLS[dialect]: '{"text": "one two"}'}
        if dialect == "mcp":
            return target(program, calls, TIMEOUTS, "mcp")
        return target(folder, calls, TIMEOUTS)

    return make


@pytest.mark.parametrize("dialect", OTHERS)
async def test_a_plugin_of_another_wire_passes(dialect: str, make: Callable[..., Target]) -> None:
    checked = make(dialect)
    assert checked.dialect == dialect
    report = await run_checks(checked)
    assert not_ok(report) == {}
    assert [found.check for found in report.findings] == [
        check for check in CHECKS if dialect in check.dialects
    ]
    done = {found.check.id for found in report.findings if found.outcome == "ok"}
    assert done >= {"handshake", "manifest", "call", "unknown-tool", "big-lines", "end-of-file"}


FAULTS = {
    "a banner": ('print("Ready", flush=True)', {"output": "failed"}),
    "a child that is left": (
        "import os, subprocess\n"
        'subprocess.Popen(["/bin/sleep", "60"], stdin=-3, stdout=-3, stderr=-3,'
        " start_new_session=True)",
        {"children": "warning"},
    ),
    "any tool will do": (
        "inner = answer\n"
        "def answer(method, params):\n"
        "    for name in ('tool', 'name'):\n"
        "        if 'no-such' in str(params.get(name)):\n"
        "            return {'title': '', 'output': '', 'content': []}\n"
        "    return inner(method, params)",
        {"unknown-tool": "failed"},
    ),
    "a death of old age": (
        "inner, asked = answer, []\n"
        "def answer(method, params):\n"
        "    asked.append(method)\n"
        "    if len(asked) > 100: sys.exit(0)\n"
        "    return inner(method, params)",
        {"slow-reader": "failed"},
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("dialect", OTHERS)
async def test_a_fault_is_found_on_every_wire(
    dialect: str, fault: str, make: Callable[..., Target]
) -> None:
    change, expected = FAULTS[fault]
    if dialect == "zuno" and "slow-reader" in expected:
        expected = {"slow-reader": "warning"}  # its own host asks one thing at a time
    assert await outcomes(make(dialect, change)) == expected


async def test_an_answer_of_another_zuno_version_fails_the_manifest(
    make: Callable[..., Target],
) -> None:
    change = ANSWERS["zuno"].replace("zuno.plugin/1", "zuno.plugin/2")
    report = await run_checks(make("zuno", change))
    assert not_ok(report) == {"manifest": "failed"}
    assert "zuno.plugin/2" in report.findings[1].text


async def test_a_zuno_plugin_that_does_not_answer_shutdown_fails_the_goodbye(
    make: Callable[..., Target],
) -> None:
    change = (
        "inner = answer\n"
        "def answer(method, params):\n"
        '    if method == "shutdown": raise Refused(-32000, "busy")\n'
        "    return inner(method, params)"
    )
    assert await outcomes(make("zuno", change)) == {"goodbye": "failed"}


def test_every_check_is_for_wires_that_there_are() -> None:
    for check in CHECKS:
        assert check.dialects
        assert check.dialects <= DIALECTS
        assert check.lenient <= check.dialects
