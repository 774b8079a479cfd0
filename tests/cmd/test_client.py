"""The client of a running host, and what a person is told when the host is silent."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tinyhost_cli import client
from tinyhost_cli.client import Client, HostGone, HostSilent

from .conftest import Cli
from .test_attached import ENTRY, Served, serve  # noqa: F401 (a fixture)

Answer = Callable[[dict[str, Any]], "list[dict[str, Any]]"]


@pytest.fixture
def listener(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "s.sock"))
        made.listen(1)
        yield made


@contextlib.contextmanager
def hosting(listener: socket.socket, answer: Answer) -> Iterator[str]:
    """A host that answers one client's lines as it is told; the path of its socket."""

    def run() -> None:
        connection, _ = listener.accept()
        # The client may go at any time.
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as lines:
            for line in lines:
                for message in answer(json.loads(line)):
                    connection.sendall(json.dumps(message).encode() + b"\n")

    thread = threading.Thread(target=run)
    thread.start()
    yield listener.getsockname()
    thread.join()


def result(request: dict[str, Any], value: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request["id"], "result": value}


def test_an_answer_that_is_there_counts_when_this_process_stood_still(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        answered.set()
        return [result(request, "denied")]

    times = iter([0.0])

    def stand_still() -> float:
        if (now := next(times, 1e9)) > 0:
            answered.wait(20)
            select.select([own], [], [], 20)
        return now

    with hosting(listener, answer) as path, Client(path, timeout=5) as host:
        own = host._socket
        monkeypatch.setattr(client.time, "monotonic", stand_still)
        assert host.call("call/judge", {}) == "denied"


def test_a_call_may_take_longer_than_a_sign_of_life(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.01)
    asked: list[dict[str, Any]] = []
    send = Client._send

    def sent(self: Client, frame: bytes) -> None:
        if b"host/ping" in frame:
            monkeypatch.setattr(client, "PATIENCE", 30)  # however slow the machine is
        send(self, frame)

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        asked.append(request)
        if request["method"] != "host/ping":
            return []
        return [result(request, {}), result(asked[0], "done")]

    monkeypatch.setattr(Client, "_send", sent)
    with hosting(listener, answer) as path, Client(path) as host:
        assert host.call("tool/call", {}) == "done"
    assert [one["method"] for one in asked] == ["tool/call", "host/ping"]


@pytest.mark.parametrize(
    ("method", "asked"),
    [("host/status", ["host/status"]), ("tool/call", ["tool/call", "host/ping"])],
)
def test_a_host_without_a_sign_of_life_is_given_up(
    method: str, asked: list[str], listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.05)
    seen: list[str] = []

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        seen.append(request["method"])
        return []

    silence = pytest.raises(HostSilent, match=f"process {os.getpid()}\\) does not answer")
    with hosting(listener, answer) as path, Client(path) as host, silence as raised:
        host.call(method, {})
    assert seen == asked
    assert ("It may have begun" in str(raised.value)) == (method == "tool/call")


def test_who_follows_a_host_without_a_sign_of_life_is_told(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.05)
    silence = pytest.raises(HostSilent)
    with hosting(listener, lambda _: []) as path, Client(path) as host, silence:
        next(host.notes())


def test_a_call_has_its_whole_time_and_no_more_whatever_comes_meanwhile(
    listener: socket.socket,
) -> None:
    note = {"jsonrpc": "2.0", "method": "progress", "params": {"text": "still at it"}}

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        return [note]

    def again(_: Any) -> None:
        host._send(b'{"jsonrpc":"2.0","id":"more","method":"more"}\n')

    late = pytest.raises(HostGone, match="did not answer in time")
    with hosting(listener, answer) as path, Client(path, timeout=0.3) as host, late:
        host.call("tool/call", {}, {"progress": again})


def test_a_host_that_takes_no_more_clients_is_there_all_the_same(
    listener: socket.socket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "PATIENCE", 0.05)
    path = listener.getsockname()
    Path(f"{path}.lock").write_text(f"{os.getpid()}\n{path}\n")
    with contextlib.ExitStack() as waiting:
        while True:
            one = waiting.enter_context(socket.socket(socket.AF_UNIX))
            one.setblocking(False)
            try:
                one.connect(path)
            except BlockingIOError:
                break
        with pytest.raises(HostSilent, match=f"process {os.getpid()}\\)"):
            Client(path)


def test_a_line_longer_than_a_host_sends_ends_it(
    listener: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MAX_LINE", 1000)

    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        return [result(request, "x" * 200_000)]

    with hosting(listener, answer) as path, Client(path) as host, pytest.raises(HostGone):
        host.call("host/status", {})


def test_another_protocol_gets_a_socket_that_waits(listener: socket.socket) -> None:
    with hosting(listener, lambda request: [result(request, {})]) as path, Client(path) as host:
        host.call("mcp/open", {})
        with host.detach() as other:
            assert other.gettimeout() is None
            assert os.get_blocking(other.fileno())


def test_a_host_that_is_gone_in_the_midst_of_a_call_leaves_a_doubt(
    listener: socket.socket,
) -> None:
    def answer(request: dict[str, Any]) -> list[dict[str, Any]]:
        raise ConnectionResetError

    gone = pytest.raises(HostGone, match=r"closed the connection\. It may have begun")
    with hosting(listener, answer) as path, Client(path) as host, gone:
        host.call("tool/call", {})


# --- the commands, with a host that is stopped like a job

_COMMANDS = [
    ["status"],
    ["top"],
    ["events"],
    ["events", "-f"],
    ["stop"],
    ["reload"],
    ["plugin", "list"],
    ["plugin", "load", "other"],
    ["plugin", "unload", "mine"],
    ["tool", "list"],
    ["tool", "call", "plugin__mine__say"],
    ["hook", "invoke", "permission.ask", "--input", "{}"],
    ["run", "--", "echo", "done"],
]


def test_a_command_is_not_held_up_by_a_host_that_is_stopped(
    tinyhost: Cli,
    serve: Callable[..., Served],  # noqa: F811
) -> None:
    tinyhost.configure({})
    served = serve()
    pid = served.process.pid
    served.process.send_signal(signal.SIGSTOP)
    hasty = f"from tinyhost_cli import client; client.PATIENCE = 0.1; {ENTRY}"
    try:
        running = [
            subprocess.Popen(
                [sys.executable, "-c", hasty, *words],
                cwd=tinyhost.project,
                env=tinyhost.env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for words in _COMMANDS
        ]
        ended = [(one.communicate(timeout=120), one.returncode) for one in running]
    finally:
        served.process.send_signal(signal.SIGCONT)
    for words, ((out, said), code) in zip(_COMMANDS, ended, strict=True):
        assert (code, out) == (1, ""), words
        assert f"the running host (process {pid}) is stopped" in said, words
        assert f"kill -CONT {pid}" in said, words
    assert served.json("status")["pid"] == pid


def test_who_changes_the_configuration_is_not_told_of_a_host_that_was_killed(
    tinyhost: Cli,
    serve: Callable[..., Served],  # noqa: F811
) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({})
    served = serve()
    served.process.kill()
    served.process.wait()
    assert list((tinyhost.state / "run").glob("*.sock"))
    done = served("plugin", "enable", "mine")
    assert (done.returncode, done.stderr) == (0, "")


_SLOW_TO_END = """\
#!{python}
import os, time
from tinyhost_sdk import Plugin, run

plugin = Plugin("slow")

@plugin.hook("dispose")
def dispose():
    while not os.path.exists({go!r}):
        time.sleep(0.01)

run(plugin)
"""


def test_stop_says_what_it_waits_for(
    tinyhost: Cli,
    serve: Callable[..., Served],  # noqa: F811
) -> None:
    go = tinyhost.project / "go"
    file = tinyhost.plugin("slow")
    file.write_text(_SLOW_TO_END.format(python=sys.executable, go=str(go)))
    tinyhost.configure({"plugins": ["slow"], "settings": {"slow": {"timeouts": {"stop": "5m"}}}})
    served = serve()
    hasty = f"from tinyhost_cli import client; client.PATIENCE = 0.5; {ENTRY}"
    stopping = subprocess.Popen(
        [sys.executable, "-c", hasty, "stop"],
        cwd=tinyhost.project,
        env=tinyhost.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with stopping:
        assert stopping.stdout is not None
        assert stopping.stderr is not None
        said = stopping.stderr.readline()
        go.touch()
        rest = stopping.stdout.read()
    assert said == f"process {served.process.pid} is still ending its plugins\n"
    assert rest == f"stopped the host, process {served.process.pid}\n"


def test_a_current_folder_that_was_deleted_is_told_with_a_way_out(tinyhost: Cli) -> None:
    gone = tinyhost.project / "gone"
    gone.mkdir()
    program = f"import os; os.rmdir({str(gone)!r}); {ENTRY}"
    for words in (["serve"], ["tool", "list"], ["run", "--plugin", "mine", "--", "true"]):
        gone.mkdir(exist_ok=True)
        done = subprocess.run(
            [sys.executable, "-c", program, *words],
            cwd=gone,
            env=tinyhost.env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 1
        assert "the current folder is gone: change to another" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_an_error_stream_that_takes_nothing_does_not_change_the_exit_code(tinyhost: Cli) -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [sys.executable, "-c", ENTRY, "status"],
            cwd=tinyhost.project,
            env=tinyhost.env,
            stderr=full,
            timeout=60,
        )
    assert done.returncode == 1
