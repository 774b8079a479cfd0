"""`tinyhost serve --mcp`, as clients start it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tinyhost.surfaces.mcp.lines import MOST_REQUESTS

SERVE = [sys.executable, "-m", "tinyhost_cli.main", "serve", "--mcp"]
ECHO = "handshake(tools=['say'])\nserve(lambda p: {'content': 'said ' + str(p['args'])})"
HOOKS = """
import pathlib
def on_hook(params):
    with pathlib.Path("hooks").open("a") as file:
        file.write(params["name"] + "\\n")
    return {}
handshake(tools=[], hooks=["session.start", "session.end"])
serve(on_hook=on_hook)
"""
_INITIALIZE = {
    "protocolVersion": "2025-11-25",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Served:
    """The command, spoken to by hand."""

    def __init__(self, home: Path) -> None:
        self.process = subprocess.Popen(
            SERVE,
            cwd=home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._in, self._out = self.process.stdin, self.process.stdout
        self._last = 0

    def write(self, line: bytes) -> None:
        self._in.write(line + b"\n")
        self._in.flush()

    def read(self) -> Any:
        return json.loads(self._out.readline())

    def request(self, method: str, **params: Any) -> Any:
        """The result; messages before it are dropped."""
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.write(json.dumps(message).encode())
        while (answer := self.read()).get("id") != self._last:
            pass
        return answer.get("result", answer.get("error"))

    def greet(self) -> Any:
        result = self.request("initialize", **_INITIALIZE)
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return result

    def end(self) -> None:
        """Whatever has become of it, leave nothing of it."""
        self.process.kill()
        self.process.wait()
        self._out.close()
        with contextlib.suppress(BrokenPipeError):
            self._in.close()

    def close(self) -> bytes:
        """End its input; what it still writes."""
        self._in.close()
        rest: bytes = self._out.read()
        self.process.wait(timeout=30)
        return rest


@pytest.fixture
def served(home: Path) -> Iterator[Callable[[], Served]]:
    """served(): start the command."""
    started: list[Served] = []

    def start() -> Served:
        started.append(Served(home))
        return started[-1]

    yield start
    for one in started:
        one.end()


def configure(home: Path, **config: Any) -> None:
    rules = {"allow": ["plugin__*"]}
    value = {"permissions": rules, **config}
    (home / "config" / "config.json").write_text(json.dumps(value))


@pytest.mark.parametrize(("mode", "revision"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
async def test_the_official_client_calls_a_tool_and_is_asked_about_it(
    mode: str, revision: str, home: Path, add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("echo", ECHO)
    configure(home, plugins=["echo"], permissions={"ask": ["plugin__echo__*"]})
    asked: list[str] = []

    async def elicit(_context: Any, params: Any) -> types.ElicitResult:
        asked.append(params.message)
        return types.ElicitResult(action="accept", content={"answer": "session"})

    target = StdioServerParameters(
        command=SERVE[0], args=SERVE[1:], env=dict(os.environ), cwd=str(home)
    )
    async with Client(target, mode=mode, elicitation_callback=elicit) as client:
        assert client.protocol_version == revision
        for number in range(2):
            result = await client.call_tool("plugin__echo__say", {"n": number})
            [part] = result.content
            assert isinstance(part, types.TextContent)
            assert part.text == f"said {{'n': {number}}}"
    assert len(asked) == 1  # both calls are of one session


def test_the_end_of_input_ends_the_session_and_the_host(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("hooks", HOOKS)
    configure(home, plugins=["hooks"])
    host = served()
    host.greet()
    hooks = home / "hooks"
    while not hooks.exists():
        time.sleep(0.01)
    host.close()
    assert host.process.returncode == 0
    assert hooks.read_text().split() == ["session.start", "session.end"]


def test_a_signal_ends_the_host_though_the_input_stays_open(
    served: Callable[[], Served],
) -> None:
    host = served()
    host.greet()
    host.request("tools/list")
    host.process.send_signal(signal.SIGTERM)
    assert host.process.wait(timeout=30) == 0


def test_a_client_that_is_gone_ends_the_host(served: Callable[[], Served]) -> None:
    host = served()
    host.greet()
    host.process.stdout.close()
    host.write(b'{"jsonrpc":"2.0","id":"x","method":"ping"}')
    assert host.process.wait(timeout=30) == 0


def test_nothing_but_messages_is_written(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("loud", "log('to standard error')\n" + ECHO)
    configure(home, plugins=["loud", "gone"])
    host = served()
    host.greet()
    names = [tool["name"] for tool in host.request("tools/list")["tools"]]
    assert "plugin__loud__say" in names
    host.request("tools/call", name="plugin__loud__say", arguments={})
    for line in host.close().splitlines():
        assert json.loads(line)["jsonrpc"] == "2.0"


def test_what_is_no_message_is_answered_with_an_error(served: Callable[[], Served]) -> None:
    host = served()
    host.write(b"not json")
    assert host.read() == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32700, "message": "a line is not JSON"},
    }
    host.write(b'{"jsonrpc":"1.0"}')
    assert host.read()["error"]["code"] == -32600
    assert host.greet()["serverInfo"]["name"] == "tinyhost"


def test_a_request_that_is_no_message_is_told_so_by_its_id(served: Callable[[], Served]) -> None:
    host = served()
    host.greet()
    host.write(rb'{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"\ud800"}}')
    answer = host.read()
    assert (answer["id"], answer["error"]["code"]) == ("s", -32600)
    host.write(rb'{"jsonrpc":"2.0","id":"\ud800","method":"ping"}')
    assert host.read()["id"] is None


@pytest.mark.parametrize(
    "result", ['"result": []', '"result": {"content": "\\ud800"}', '"error": 1']
)
def test_an_answer_that_is_none_is_a_no(
    result: str, home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", SLOW)
    configure(home, plugins=["slow"], permissions={"ask": ["plugin__slow__*"]})
    host = served()
    host.request("initialize", **{**_INITIALIZE, "capabilities": {"elicitation": {}}})
    host.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    host.write(_call(7))
    while (question := host.read()).get("method") != "elicitation/create":
        pass
    host.write(f'{{"jsonrpc": "2.0", "id": {question["id"]}, {result}}}'.encode())
    while (answer := host.read()).get("id") != 7:
        pass
    assert "the person did not allow it" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_each_revision_with_a_handshake_is_spoken(
    version: str, served: Callable[[], Served]
) -> None:
    host = served()
    result = host.request("initialize", **{**_INITIALIZE, "protocolVersion": version})
    assert result["protocolVersion"] == version
    assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}


SLOW = """
import time
def answer(params):
    open("begun", "w").close()
    time.sleep(params["args"].get("s", 0))
    return {"content": "slept"}
handshake(tools=["nap"])
serve(answer)
"""


def _call(number: int, **arguments: Any) -> bytes:
    params = {"name": "plugin__slow__nap", "arguments": arguments}
    message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
    return json.dumps(message).encode()


def test_what_was_asked_before_the_end_of_input_is_answered(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", SLOW)
    configure(home, plugins=["slow"])
    host = served()
    host.greet()
    host.write(_call(7, s=0.3))
    [answer] = [json.loads(line) for line in host.close().splitlines() if b'"id":7' in line]
    assert answer["result"]["content"][0]["text"] == "slept"
    assert host.process.returncode == 0


@pytest.mark.parametrize("attached", [False, True])
def test_a_client_that_is_gone_within_a_call_is_not_waited_for(
    attached: bool, home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", SLOW)
    add_plugin("hooks", HOOKS)
    settings = {"slow": {"timeouts": {"tool": "10m"}}}
    configure(home, plugins=["slow", "hooks"], settings=settings)
    first = served()
    first.greet()
    client = served() if attached else first
    if attached:
        client.greet()
    client.write(_call(7, s=900))
    while not (home / "begun").exists():
        time.sleep(0.01)
    client.process.stdout.close()
    client.process.stdin.close()
    assert client.process.wait(60) == 0
    while "session.end" not in (home / "hooks").read_text().split():
        time.sleep(0.01)


def test_a_question_to_a_client_that_is_gone_ends_the_waiting(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", SLOW)
    configure(home, plugins=["slow"], permissions={"ask": ["plugin__slow__*"]})
    host = served()
    host.request("initialize", **{**_INITIALIZE, "capabilities": {"elicitation": {}}})
    host.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    host.write(_call(7))
    while host.read().get("method") != "elicitation/create":
        pass
    host.close()
    assert host.process.returncode == 0
    assert not (home / "begun").exists()


def test_a_call_under_way_ends_before_the_host_does(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", SLOW)
    configure(home, plugins=["slow"])
    host = served()
    host.greet()
    host.write(_call(7, s=0.5))
    while not (home / "begun").exists():
        time.sleep(0.01)
    host.process.send_signal(signal.SIGTERM)
    while (answer := host.read()).get("id") != 7:
        pass
    assert answer["result"]["content"][0]["text"] == "slept"
    assert host.process.wait(30) == 0


def test_where_a_host_is_running_its_tools_are_served(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("echo", ECHO)
    configure(home, plugins=["echo"])
    first = served()
    first.greet()
    second, third = served(), served()
    for client in (second, third):
        client.greet()
        result = client.request("tools/call", name="plugin__echo__say", arguments={"n": 1})
        assert result["content"][0]["text"] == "said {'n': 1}"
    assert second.close() == b""
    assert second.process.returncode == 0
    result = first.request("tools/call", name="plugin__echo__say", arguments={})
    assert result["content"][0]["text"] == "said {}"
    first.close()  # which ends the host
    assert third.process.wait(30) == 1


def test_a_flood_that_is_answered_while_it_comes_gets_through_to_a_running_host(
    served: Callable[[], Served],
) -> None:
    served().greet()
    client = served()
    # More answers than fit into any buffer, before the input has been read.
    _, rest = client.greet(), 1_000_000 * b"y"
    out, _ = client.process.communicate(4000 * b"x\n" + rest, timeout=120)
    assert client.process.returncode == 0
    answers = [json.loads(line) for line in out.splitlines()]
    assert sum("error" in answer for answer in answers) == 4001


def test_a_client_has_so_many_requests_at_a_time(
    home: Path, served: Callable[[], Served], add_plugin: Callable[[str, str], Path]
) -> None:
    add_plugin("slow", "handshake(tools=['t'])\nserve(lambda p: time.sleep(600))")
    configure(home, plugins=["slow"], settings={"slow": {"timeouts": {"tool": "10m"}}})
    host = served()
    host.greet()
    call = {"method": "tools/call", "params": {"name": "plugin__slow__t", "arguments": {}}}
    # Neither an id that is used twice makes room, nor the refusal of one that is in use.
    for number in (*range(MOST_REQUESTS), 0, 0):
        message = {"jsonrpc": "2.0", "id": f"r{number // 2}", **call}
        host.write(json.dumps(message).encode())
    for _ in range(2):
        while "error" not in (refused := host.read()):
            pass
        assert "requests without an answer" in refused["error"]["message"]
        assert refused["id"] == "r0"
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "r0"}}
    host.write(json.dumps(cancel).encode())
    assert host.request("ping") == {}


def test_a_cancellation_of_what_is_no_request_is_let_pass(served: Callable[[], Served]) -> None:
    host = served()
    host.greet()
    note = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}'
    for id in ("[1]", '{"a": 1}', "null", "true", '"none"'):
        host.write((note % id).encode())
    assert host.request("ping") == {}
