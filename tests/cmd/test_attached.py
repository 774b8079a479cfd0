"""Commands that attach to a running host: the same output and exit codes, and what stays."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import Cli

# The way that the installed program begins.
ENTRY = "import sys; sys.argv[0] = 'tinyhost'; from tinyhost_cli.entry import main; main()"
COMMAND = (sys.executable, "-c", ENTRY)
LIGHT = ("click", "trio", "cattrs", "attrs", "msgspec", "rich", "pathlib", "typing")


class Served:
    """A running host, and the command in its installed form."""

    def __init__(self, cli: Cli, process: subprocess.Popen[str]) -> None:
        self.cli, self.process = cli, process

    def __call__(
        self, *args: str, input: str = "", env: dict[str, str] | None = None, **extra: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run to the end."""
        done = subprocess.run(
            [*COMMAND, *args],
            **{"cwd": self.cli.project, **extra},
            env=self.cli.env | (env or {}),
            input=input,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *args: str, code: int = 0) -> Any:
        done = self(*args, "--json")
        assert done.returncode == code, done.stdout + done.stderr
        [line] = done.stdout.splitlines()
        return json.loads(line)

    def pids(self) -> dict[str, int]:
        """The process of each plugin that has one."""
        plugins = self.json("status")["plugins"]
        return {plugin["name"]: plugin["pid"] for plugin in plugins if plugin["pid"]}


@pytest.fixture
def serve(tinyhost: Cli) -> Iterator[Callable[..., Served]]:
    """Start a host with the configuration as it is, and wait until it is ready."""
    started: list[subprocess.Popen[str]] = []

    def start(*args: str) -> Served:
        process = subprocess.Popen(
            [*COMMAND, "serve", *args],
            cwd=tinyhost.project,
            env=tinyhost.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )
        started.append(process)
        assert process.stderr is not None
        for line in process.stderr:
            if json.loads(line)["message"].startswith("control: "):
                return Served(tinyhost, process)
        raise AssertionError(f"it did not become ready: {process.wait(20)}")

    yield start
    for process in started:
        if process.poll() is None:
            process.terminate()
        process.wait(20)
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


GUARD = {"permission.ask": {"result": {"output": {"allowed": False, "reason": "no"}}}}
SAY = {"say": {"result": {"content": "hello"}}}
DISPOSE = {"dispose": {"result": {}}}


# --- the hot commands


def test_a_hook_is_answered_by_the_plugin_that_the_host_has(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("strict", hooks=GUARD | DISPOSE)
    tinyhost.configure({"plugins": ["strict"]})
    served = serve()
    before = served.pids()
    done = served("hook", "invoke", "permission.ask", "--input", '{"toolName": "bash"}')
    assert done.returncode == 1
    assert done.stdout.splitlines()[0] == "denied by strict: no"
    value = served.json("hook", "invoke", "permission.ask", "--input", "{}", code=1)
    assert value["output"] == {"allowed": False, "reason": "no"}
    assert served.pids() == before
    assert not tinyhost.disposed("strict")


def test_a_hook_that_a_plugin_did_not_hear_because_it_failed_to_load_is_not_one_without_objection(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mild", hooks={"permission.ask": {"result": {}}})
    for name in ("broken", "by-hand"):
        (tinyhost.plugins / name).write_text("#!/bin/sh\nexit 9\n")
        (tinyhost.plugins / name).chmod(0o755)
    tinyhost.configure({"plugins": ["broken", "mild"]})
    served = serve()
    args = ("hook", "invoke", "permission.ask", "--input", "{}")
    for more in ((), ("--no-host",)):
        value = served.json(*args, *more, code=1)
        assert [one["name"] for one in value["plugins"]] == ["broken", "mild"]
        assert "status 9" in value["plugins"][0]["error"]
    assert served(*args, "--plugin", "mild").returncode == 0  # the only one that is asked
    assert served("plugin", "unload", "broken").returncode == 0
    assert served("plugin", "load", "by-hand").returncode == 1
    assert served(*args).returncode == 0


def test_what_a_call_goes_ahead_without_is_told_as_without_a_host(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine", tools=SAY)
    (tinyhost.plugins / "broken").write_text("#!/bin/sh\nexit 9\n")
    (tinyhost.plugins / "broken").chmod(0o755)
    tinyhost.configure({"plugins": ["broken", "mine"]})
    served = serve()
    for words, behind in ((("run",), ("--", "true")), (("tool", "call"), ("plugin__mine__say",))):
        attached, alone = served(*words, *behind), served(*words, "--no-host", *behind)
        assert (attached.returncode, alone.returncode) == (0, 0)
        assert "plugin broken failed to load" in attached.stderr
        assert attached.stderr == alone.stderr
    assert served("run", "--json", "--", "true").stderr == ""


def test_a_tool_is_called_with_its_arguments_as_they_are_written(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine", tools={"raw": {}}, progress=2)
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    done = served("tool", "call", "plugin__mine__raw", "--args", '{"a": 1.10, "b":\n1e2}')
    assert done.returncode == 0
    assert '"a": 1.10' in done.stdout.replace('":1', '": 1') or '"a":1.10' in done.stdout
    assert "1e2" in done.stdout
    assert done.stderr.splitlines()[:2] == ["step\\x1b 0", "step\\x1b 1"]
    value = served.json("tool", "call", "plugin__mine__raw")
    assert (value["tool"], value["isError"]) == ("plugin__mine__raw", False)


def test_an_error_of_the_host_is_told_like_one_of_our_own(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("strict", hooks=GUARD, tools=SAY)
    tinyhost.configure({"plugins": ["strict"]})
    served = serve()
    for args, code in (
        (("tool", "call", "plugin__strict__nothing"), 1),
        (("tool", "call", "plugin__strict__say"), 1),
        (("hook", "invoke", "dispose"), 2),
        (("hook", "invoke", "permission.ask", "--input", '{"toolName": 1}'), 2),
    ):
        attached, alone = served(*args), served(*args, "--no-host")
        assert (attached.returncode, alone.returncode) == (code, code)
        assert attached.stderr.splitlines()[0] == alone.stderr.splitlines()[0]
        mine, own = served.json(*args, code=code), served.json(*args, "--no-host", code=code)
        assert mine["error"]["type"] == own["error"]["type"]
        assert mine["error"]["message"] == own["error"]["message"]


@pytest.mark.parametrize(
    "args",
    [
        ("hook", "invoke", "permission.ask", "--input", "{}"),
        ("tool", "call", "plugin__mine__say"),
        ("run", "--", "true"),
    ],
)
def test_a_hot_command_imports_no_library(
    tinyhost: Cli, serve: Callable[..., Served], args: tuple[str, ...]
) -> None:
    tinyhost.plugin("mine", tools=SAY, hooks={"permission.ask": {"result": {}}})
    tinyhost.configure({"plugins": ["mine"]})
    serve()
    program = (
        "import sys\nfrom tinyhost_cli import entry\ntry:\n    entry.main()\n"
        "finally:\n    print(*sys.modules, file=open('modules', 'w'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{program}", *args],
        cwd=tinyhost.project,
        env=tinyhost.env,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    loaded = set((tinyhost.project / "modules").read_text().split())
    # What the environment itself loads at every start does not count.
    bare = subprocess.run(
        [sys.executable, "-I", "-c", "import sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
    )
    assert {name for name in LIGHT if name in loaded} - set(bare.stdout.split()) == set()


def test_whatever_is_not_plain_goes_the_long_way_and_attaches_as_well(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("strict", hooks=GUARD | DISPOSE)
    tinyhost.configure({"plugins": ["strict"]})
    served = serve()
    before = served.pids()
    done = served("hook", "invoke", "permission.ask", "--input", "-", input='{"toolName": "x"}')
    assert (done.returncode, done.stdout.splitlines()[0]) == (1, "denied by strict: no")
    assert served("hook", "invoke").returncode == 2
    assert "Usage" in served("tool", "call", "--help").stdout
    assert served.pids() == before
    assert not tinyhost.disposed("strict")


# --- run


def test_a_command_runs_here_with_what_plugins_change_in_its_environment(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    output = {"env": {"FROM_PLUGIN": "yes", "DROPPED": None}}
    tinyhost.plugin("env", hooks={"shell.env": {"result": {"output": output}}})
    tinyhost.configure({"plugins": ["env"]})
    served = serve()
    text = 'printf "%s.%s.%s.%s" "$FROM_PLUGIN" "${DROPPED-gone}" "$MINE" "$PWD"; cat; exit 5'
    done = served(
        "run", "--", "sh", "-c", text, input="input", env={"DROPPED": "x", "MINE": "caller's"}
    )
    assert done.stdout == f"yes.gone.caller's.{tinyhost.project}input"
    assert done.returncode == 5


def test_a_denied_command_does_not_run(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.plugin("strict", hooks=GUARD | DISPOSE)
    tinyhost.configure({"plugins": ["strict"]})
    served = serve()
    done = served("run", "--", "touch", "made")
    assert done.returncode == 126
    assert "plugin strict denies it: no" in done.stderr
    assert not (tinyhost.project / "made").exists()
    value = json.loads(served("run", "--json", "--", "touch", "made").stderr)
    assert (value["denied"], value["exitStatus"]) == (True, 126)


def test_how_a_command_ended_is_told(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.configure({})
    served = serve()
    assert served("run", "--", "sh", "-c", "kill -9 $$").returncode == 137
    missing = served("run", "--", "no-such-program")
    assert missing.returncode == 127
    assert "no-such-program: there is no such program" in missing.stderr
    assert served("run", "--shell", "exit 3").returncode == 3
    explained = served("run", "--explain", "--", "true").stderr
    assert "the person gave the call" in explained


def test_a_host_that_goes_away_leaves_the_command_alone(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.configure({})
    served = serve("--grace", "10ms")
    text = "touch begun; while [ ! -e end ]; do sleep 0.02; done; exit 7"
    process = subprocess.Popen(
        [*COMMAND, "run", "--", "sh", "-c", text],
        cwd=tinyhost.project,
        env=tinyhost.env,
        stderr=subprocess.PIPE,
        text=True,
    )
    _until((tinyhost.project / "begun").exists)
    served.process.send_signal(signal.SIGTERM)
    assert served.process.wait(20) == 0
    (tinyhost.project / "end").touch()
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 7
    assert "the running host was gone" in stderr


def test_a_signal_reaches_the_command(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.configure({})
    serve()
    text = "trap 'exit 9' TERM; touch begun; while :; do sleep 0.02; done"
    process = subprocess.Popen(
        [*COMMAND, "run", "--", "sh", "-c", text], cwd=tinyhost.project, env=tinyhost.env
    )
    _until((tinyhost.project / "begun").exists)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 9


# --- other agents' hooks


def test_a_hook_of_another_agent_is_answered(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.plugin("strict", hooks=GUARD | DISPOSE)
    tinyhost.configure({"plugins": ["strict"]})
    served = serve()
    event = {
        "session_id": "s",
        "cwd": str(tinyhost.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": "ls", "timeout": 1.50},
    }
    done = served("hook", "claude-code", input=json.dumps(event))
    assert done.returncode == 0
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert not tinyhost.disposed("strict")


@pytest.mark.parametrize("command", ["hook", "tool", "run"])
def test_what_is_secret_where_the_command_is_given_is_masked_by_the_host(
    command: str, tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    secret = "only-here-a-secret"
    tinyhost.plugin("mine", tools={"raw": {}})
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    event = {
        "session_id": "s",
        "cwd": str(tinyhost.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {"command": f"echo {secret}"},
    }
    words, given = {
        "hook": (["hook", "claude-code"], json.dumps(event)),
        "tool": (["tool", "call", "plugin__mine__raw", "--args", f'{{"x": "say {secret}"}}'], ""),
        "run": (["run", "--", "echo", secret], ""),
    }[command]
    env = {"NPM_TOKEN": secret, "ODD": "\udcff"}
    assert served(*words, input=given, env=env).returncode == 0
    journal = "".join(path.read_text() for path in (tinyhost.state / "journal").glob("*.jsonl"))
    told = served("events", "-n", "100", "--json").stdout
    assert secret not in journal + told
    assert "[redacted]" in journal
    assert "[redacted]" in told


def test_a_host_that_does_not_answer_stops_the_call_of_another_agent(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.configure({})
    served = serve()
    served.process.send_signal(signal.SIGSTOP)
    event = {
        "session_id": "s",
        "cwd": str(tinyhost.project),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_input": {},
    }
    program = f"from tinyhost_cli.bridges import base; base.DEADLINE = 0.5; {ENTRY}"
    done = subprocess.run(
        [sys.executable, "-c", program, "hook", "claude-code"],
        cwd=tinyhost.project,
        env=tinyhost.env,
        input=json.dumps(event),
        capture_output=True,
        text=True,
    )
    served.process.send_signal(signal.SIGCONT)
    assert done.returncode == 2
    assert "did not answer in time" in done.stderr


# --- what stays


def test_plugins_are_loaded_restarted_and_unloaded(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.configure({})
    served = serve()
    done = served("plugin", "load", "mine")
    assert done.stdout.splitlines()[0] == "mine loaded"
    assert served("tool", "call", "plugin__mine__say").stdout == "hello"
    first = served.pids()["mine"]
    [row] = served.json("plugin", "list")["plugins"]
    assert (row["state"], row["running"]["pid"]) == ("loaded", first)
    assert served.json("plugin", "info", "mine")["loaded"]["pid"] == first
    [again] = served.json("plugin", "load", "mine", code=1)["plugins"]
    assert again["error"]["type"] == "PluginAlreadyLoaded"
    [restarted] = served.json("plugin", "restart", "mine")["plugins"]
    assert restarted["pid"] != first
    assert served.json("plugin", "unload", "mine") == {"unloaded": "mine"}
    assert served("tool", "call", "plugin__mine__say").returncode == 1
    assert served("plugin", "unload", "mine").returncode == 1


def test_one_that_failed_is_shown_and_tried_again(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.configure({"plugins": ["late"]})
    served = serve()
    status = served.json("status", code=1)
    assert [one["name"] for one in status["failed"]] == ["late"]
    assert served("plugin", "restart", "late").returncode == 1
    tinyhost.plugin("late", tools=SAY)
    assert served("plugin", "restart", "late").returncode == 0
    assert served.json("status")["failed"] == []


def test_a_reload_swaps_what_has_changed(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    for name in ("same", "other", "gone", "new", "hand"):
        tinyhost.plugin(name)
    tinyhost.configure({"plugins": ["gone", "same", "other"]})
    served = serve()
    served("plugin", "load", "hand")
    before = served.pids()
    tinyhost.configure({"plugins": ["new", ["other", {"a": 1}], "same"]})
    value = served.json("reload")
    assert value["loaded"] == ["new"]
    assert (value["restarted"], value["unloaded"]) == (["other"], ["gone"])
    assert value["unchanged"] == ["same"]
    after = served.pids()
    assert list(after) == ["new", "other", "same", "hand"]
    assert (after["same"], after["hand"]) == (before["same"], before["hand"])
    tinyhost.configure("{")
    assert served("reload").returncode == 3
    assert served.pids() == after


def test_a_host_whose_folder_was_deleted_can_be_reloaded(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    tinyhost.project.rmdir()
    tinyhost.configure({})
    done = served("reload", cwd=tinyhost.config)
    assert (done.returncode, done.stdout) == (0, "unloaded: mine\n"), done.stderr
    assert served("status", cwd=tinyhost.config).returncode == 0


def test_what_happens_can_be_watched(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    served("tool", "call", "plugin__mine__say")
    done = served("events", "--json", "-n", "1000")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    kinds = [event["kind"] for event in events]
    assert kinds[0] == "plugin"
    assert {"session", "decision", "call"} <= set(kinds)
    [call] = [event for event in events if event["kind"] == "call"]
    assert (call["plugin"], call["result"]) == ("mine", "hello")
    assert served("events", "-n", "1").stdout.count("\n") == 1
    [row] = [one for one in served.json("top")["plugins"] if one["name"] == "mine"]
    assert row["counters"]["calls"] == 1
    assert row["stats"]["p50Ms"] > 0
    assert row["stats"]["memoryBytes"] > 0


def test_events_are_followed_until_the_host_stops(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({})
    served = serve()
    process = subprocess.Popen(
        [*COMMAND, "events", "-f"],
        cwd=tinyhost.project,
        env=tinyhost.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    while "mine loaded" not in (line := served("plugin", "load", "mine").stdout):
        assert line
    assert "mine" in process.stdout.readline()
    assert served("stop").returncode == 0
    _, stderr = process.communicate(timeout=20)
    assert process.returncode == 0
    assert "the host has stopped" in stderr


def test_stopping_ends_the_plugins(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.plugin("mine", hooks=DISPOSE)
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    pid = served.pids()["mine"]
    done = served.json("stop")
    assert done == {"stopped": served.process.pid}
    assert served.process.wait(20) == 0
    assert tinyhost.disposed("mine")
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    gone = served("status")
    assert gone.returncode == 1
    assert "tinyhost serve" in gone.stderr


def test_stop_returns_when_plugins_have_ended_and_another_host_can_be_started(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("slow", hooks=DISPOSE)
    real = tinyhost.plugins / "slow"
    real.rename(real.with_name("real"))
    real.write_text(f"#!/bin/sh\n'{real.with_name('real')}'\nsleep 1\n")
    real.chmod(0o755)
    tinyhost.configure({"plugins": ["slow"]})
    served = serve()
    pid = served.pids()["slow"]
    assert served("stop").returncode == 0
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert serve().pids().keys() == {"slow"}


# --- which host


def test_a_second_host_with_the_same_configuration_is_refused(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.configure({})
    served = serve()
    second = served("serve")
    assert second.returncode == 1
    assert str(served.process.pid) in second.stderr


def test_a_host_whose_address_is_taken_did_not_start(tinyhost: Cli) -> None:
    tinyhost.configure({})
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        done = tinyhost("serve", "--http", address)
    assert done.returncode == 1  # 3 would say that a person has to change the configuration
    assert f"HTTP cannot listen at {address}: Address already in use" in done.stderr


def test_another_configuration_has_another_host(
    tinyhost: Cli, serve: Callable[..., Served], tmp_path: Path
) -> None:
    tinyhost.plugin("mine", hooks=DISPOSE)
    tinyhost.configure({})
    served = serve()
    other = tmp_path / "other.json"
    other.write_text('{"plugins": ["mine"]}')
    assert served("status", "--config", str(other)).returncode == 1
    assert served("plugin", "load", "mine", "--config", str(other)).returncode == 0
    assert tinyhost.disposed("mine")


def test_a_project_with_a_configuration_of_its_own_has_another_host(
    tinyhost: Cli, serve: Callable[..., Served], tmp_path: Path
) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    project = tmp_path / "elsewhere"
    (project / ".tinyhost").mkdir(parents=True)
    (project / ".tinyhost" / "config.json").write_text('{"permissions": {"deny": ["bash"]}}')
    assert served("status", cwd=project).returncode == 1
    below = tmp_path / "below"
    below.mkdir()
    assert served("status", cwd=below).returncode == 0


def test_no_host_starts_plugins_of_its_own(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.plugin("mine", tools=SAY, hooks=DISPOSE)
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    assert served("tool", "call", "--no-host", "plugin__mine__say").stdout == "hello"
    assert tinyhost.disposed("mine")
    assert "mine" in served.pids()


def test_a_plugin_that_the_host_has_not_loaded_is_started_here(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine", tools=SAY, hooks=DISPOSE)
    tinyhost.configure({})
    served = serve()
    done = served("tool", "call", "plugin__mine__say", "--plugin", "mine")
    assert (done.returncode, done.stdout) == (0, "hello")
    assert tinyhost.disposed("mine")
    assert "mine" not in served.pids()


def test_a_socket_that_a_killed_host_left_behind_is_no_host(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine", tools=SAY)
    tinyhost.configure({"plugins": ["mine"]})
    served = serve()
    pid = served.pids()["mine"]
    served.process.kill()
    served.process.wait(20)
    done = served("tool", "call", "plugin__mine__say")
    assert (done.returncode, done.stdout) == (0, "hello")
    _until(lambda: not Path(f"/proc/{pid}").exists())
    assert serve().json("status")["pid"]


# --- asking


def test_the_person_at_the_terminal_is_asked(tinyhost: Cli, serve: Callable[..., Served]) -> None:
    tinyhost.configure({"permissions": {"ask": ["bash"]}})
    serve()
    program = (
        "import os, pty, sys\n"
        "pid, fd = pty.fork()\n"
        "if pid == 0:\n"
        f"    os.execv({sys.executable!r}, [*{COMMAND!r}, 'run', '--', 'touch', sys.argv[1]])\n"
        "shown = b''\n"
        "while b'> ' not in shown:\n"
        "    shown += os.read(fd, 4096)\n"
        "os.write(fd, sys.argv[2].encode() + b'\\n')\n"
        "try:\n"
        "    while data := os.read(fd, 4096):\n"
        "        shown += data\n"
        "except OSError:\n"
        "    pass\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        "print(shown.decode())\n"
    )
    for file, answer, code in (("yes", "o", "0"), ("no", "n", "126")):
        done = subprocess.run(
            [sys.executable, "-c", program, file, answer],
            cwd=tinyhost.project,
            env=tinyhost.env,
            capture_output=True,
            text=True,
            timeout=60,
        )
        status, *shown = done.stdout.splitlines()
        assert status == code, done.stdout + done.stderr
        assert "tinyhost: may this call go ahead?" in shown[0]
        assert (tinyhost.project / file).exists() is (code == "0")
    headless = Served(tinyhost, None)("run", "--", "true")  # type: ignore[arg-type]
    assert headless.returncode == 126
    assert "Nobody can be asked here" in headless.stderr


def test_the_page_on_the_socket_names_every_method() -> None:
    from tinyhost.surfaces.methods import _METHODS, OFFERS

    text = (Path(__file__).parents[2] / "docs" / "control.md").read_text()
    for name in (*_METHODS, *OFFERS, "ask", "exec"):
        assert f"`{name}`" in text, name


def _until(met: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not met():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_who_changes_the_configuration_is_told_of_the_host_that_runs(
    tinyhost: Cli, serve: Callable[..., Served]
) -> None:
    tinyhost.plugin("mine")
    tinyhost.configure({})
    hint = "a host is running; to make it count there: tinyhost reload"
    assert hint not in Served(tinyhost, None)("plugin", "enable", "mine").stderr  # type: ignore[arg-type]
    served = serve()
    assert hint in served("plugin", "disable", "mine").stderr
    assert hint not in served("plugin", "disable", "mine").stderr
    assert hint in served("plugin", "enable", "mine").stderr
    [host] = [one for one in served.json("doctor")["checks"] if one["what"] == "running host"]
    assert (host["level"], str(served.process.pid) in host["text"]) == ("ok", True)


def test_the_log_is_lines_of_json_whoever_writes_into_it() -> None:
    code = """
import logging
from tinyhost_cli import serve_log
serve_log.start(verbose=False)
logging.getLogger("tinyhost.x").info("ours")
logging.getLogger("somebody.else").info("too chatty")
logging.getLogger("somebody.else").warning("theirs %d", 1)
try:
    {}[0]
except KeyError:
    logging.getLogger("somebody.else").exception("went wrong")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    said = [(line["level"], line["logger"], line["message"]) for line in lines]
    assert said == [
        ("info", "tinyhost.x", "ours"),
        ("warning", "somebody.else", "theirs 1"),
        ("error", "somebody.else", "went wrong"),
    ]
    assert lines[2]["error"].endswith("KeyError: 0")


def test_a_host_whose_terminal_is_closed_stops(tinyhost: Cli) -> None:
    tinyhost.plugin("mine", hooks=DISPOSE)
    tinyhost.configure({"plugins": ["mine"]})
    program = (
        "import os, pty, sys\n"
        "pid, fd = pty.fork()\n"
        "if pid == 0:\n"
        f"    os.execv({sys.executable!r}, [*{COMMAND!r}, 'serve'])\n"
        "shown = b''\n"
        "while b'control: ' not in shown:\n"
        "    shown += os.read(fd, 4096)\n"
        "os.close(fd)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tinyhost.project,
        env=tinyhost.env,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "0\n", done.stderr
    assert tinyhost.disposed("mine")
