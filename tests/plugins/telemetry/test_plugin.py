"""The plugin behind the wire: in memory, as a process, behind the host and at the command."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tinyhost_sdk
from tinyhost.config import parse_config
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost_plugins import telemetry
from tinyhost_plugins.telemetry.calls import hash_of
from tinyhost_plugins.telemetry.plugin import build
from tinyhost_sdk import testing

AddPlugin = Callable[[str, str], Path]

MAIN = "from tinyhost_plugins.telemetry import main; main()"
START, END = "session.start", "session.end"
BEFORE, AFTER = "tool.execute.before", "tool.execute.after"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "telemetry.db"


def select(path: Path, what: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(f"SELECT {what}").fetchall()


def call(
    tool: str, session: str = "s", args: str = "{}", is_error: bool = False
) -> list[tuple[str, dict[str, Any]]]:
    """What a host tells of one call."""
    event = {"sessionId": session, "toolName": tool, "toolArgs": args}
    return [(BEFORE, event), (AFTER, {**event, "output": "out", "isError": is_error})]


def lines(path: Path, *hooks: tuple[str, dict[str, Any]]) -> str:
    """Requests: the handshake, and the hooks."""
    options = {"database": str(path)}
    requests: list[dict[str, Any]] = [
        {"method": "initialize", "params": {"version": "1.0", "options": options}}
    ]
    requests += [
        {"method": "hook/invoke", "params": {"name": name, "input": event}} for name, event in hooks
    ]
    return "".join(
        json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n"
        for number, request in enumerate(requests, 1)
    )


def test_the_manifest_has_two_tools_and_five_hooks(path: Path) -> None:
    with testing.drive(build(), {"database": str(path)}) as driver:
        manifest = driver.manifest
    assert manifest["id"] == "telemetry"
    assert [tool["name"] for tool in manifest["tools"]] == ["telemetry_report", "telemetry_query"]
    assert manifest["hooks"] == [START, END, BEFORE, AFTER, "dispose"]
    report, query = (tool["inputSchema"] for tool in manifest["tools"])
    assert report == {"type": "object", "properties": {}}
    assert {name: query["properties"][name]["type"] for name in query["properties"]} == {
        "tool": "string",
        "days": "number",
        "limit": "integer",
    }
    assert not path.parent.exists()


def test_a_session_is_followed_and_nothing_of_the_host_is_changed(path: Path) -> None:
    with testing.drive(build(), {"database": str(path)}) as driver:
        empty = driver.call_tool("telemetry_report")
        assert empty.content == "No telemetry data has been collected yet."
        events = [(START, {"sessionId": "s"}), *call("bash"), *call("read", is_error=True)]
        assert [driver.invoke_hook(*event) for event in events] == [None] * 5
        report = driver.call_tool("telemetry_report").content
        assert (
            "Total sessions: 1\nTotal tool calls: 2\nAverage tool calls per session: 2.0" in report
        )
        assert "| ended: active | tools: 2" in report
        assert driver.invoke_hook(END, {"sessionId": "s"}) is None
        assert "active" not in driver.call_tool("telemetry_report").content
        query = driver.call_tool("telemetry_query", {"tool": "read", "days": 0.5}).content
        assert query.startswith('Tool calls for "read" (last 0.5 day(s)): 1 result(s)\n')
        assert "| fail | session: s |" in query


def test_a_tool_that_fails_answers_with_an_error_and_its_reason(path: Path) -> None:
    with testing.drive(build(), {"database": str(path)}) as driver:
        wrong = driver.call_tool("telemetry_query", {"days": "7"})
        assert (wrong.is_error, wrong.content) == (
            True,
            'invalid arguments: "days" has to be a number',
        )
        path.mkdir(parents=True)
        for name in ("telemetry_report", "telemetry_query"):
            failed = driver.call_tool(name)
            assert failed.is_error
            assert failed.content.startswith(f"database error: {path}: Is a directory; ")


def test_an_unusable_database_stops_no_hook_and_is_told_of_once(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path.mkdir(parents=True)
    with testing.drive(build(), {"database": str(path)}) as driver:
        for event in [(START, {"sessionId": "s"}), *call("bash"), *call("bash")]:
            assert driver.invoke_hook(*event) is None
        driver.invoke_hook(END, {"sessionId": "s"})
    assert capsys.readouterr().err.count("database error") == 1


def test_a_report_says_what_still_waits_while_another_program_holds_the_file(path: Path) -> None:
    with testing.drive(build(), {"database": str(path)}) as driver:
        driver.invoke_hook(START, {"sessionId": "s"})
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            for event in call("bash"):
                driver.invoke_hook(*event)
            report = driver.call_tool("telemetry_report")
        assert not report.is_error
        assert report.content.endswith("\nEvents that are not in here: 1 waiting to be written")
        assert "Total tool calls: 1" in driver.call_tool("telemetry_report").content


def test_a_defect_before_a_call_does_not_stop_the_tool(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("tinyhost_plugins.telemetry.recorder.hash_of", broken)
    with testing.drive(build(), {"database": str(path)}) as driver:
        assert driver.invoke_hook(*call("bash")[0]) is None
    assert "telemetry: ZeroDivisionError: a defect" in capsys.readouterr().err


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    with pytest.raises(testing.RpcFailure) as caught, testing.drive(build(), {"db": "/x"}):
        pass
    assert 'there is no option "db"' in caught.value.message


def test_calls_are_kept_when_the_process_is_killed(path: Path) -> None:
    events = [(START, {"sessionId": "s"}), *call("bash"), *call("read")]
    process = subprocess.Popen(
        [sys.executable, "-c", MAIN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with process:
        assert process.stdin
        assert process.stdout
        process.stdin.write(lines(path, *events))
        process.stdin.flush()
        for _ in range(len(events) + 1):
            assert "result" in process.stdout.readline()
        process.kill()
    assert select(path, "tool_name FROM tool_calls ORDER BY id") == [("bash",), ("read",)]
    assert select(path, "ended_at, tool_count FROM sessions") == [(None, 2)]


def test_a_session_is_over_when_the_host_is_gone(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MAIN],
        input=lines(path, (START, {"sessionId": "s"}), *call("bash")),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert select(path, "ended_at IS NULL, tool_count FROM sessions") == [(0, 1)]
    assert [file.name for file in path.parent.iterdir()] == ["telemetry.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_starting_up_loads_no_library_and_the_network_is_never_loaded(path: Path) -> None:
    program = (
        "import sys\n"
        "from tinyhost_plugins.telemetry.plugin import build\n"
        "from tinyhost_sdk import testing\n"
        "slow = {'sqlite3', 'hashlib', 'json', 're', 'typing', 'pathlib'}\n"
        f"with testing.drive(build(), {{'database': {str(path)!r}}}) as driver:\n"
        "    print(sorted(slow & set(sys.modules)))\n"
        "    driver.invoke_hook('session.start', {'sessionId': 's'})\n"
        "    driver.call_tool('telemetry_query', {})\n"
        "    driver.call_tool('telemetry_report', {})\n"
        "print(sorted({'socket', 'ssl', 'http', 'urllib.request'} & set(sys.modules)))\n"
    )
    # Without site, so that what an editable install imports does not count.
    homes = [Path(telemetry.__file__).parents[2], Path(tinyhost_sdk.__file__).parents[1]]
    search = [*map(str, homes), *sys.path]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {search!r}\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "[]\n[]\n", done.stderr


def install(home: Path) -> None:
    script = home / "config" / "plugins" / "telemetry"
    script.write_text(f"#!{sys.executable}\n{MAIN}\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)


async def test_behind_the_host_sessions_and_calls_are_recorded(
    add_plugin: AddPlugin, home: Path
) -> None:
    install(home)
    add_plugin(
        "demo",
        "handshake(tools=['work'])\n"
        "serve(lambda p: {'content': 'done', 'isError': p['args'].get('fail', False)})\n",
    )
    keys = {"plugins": ["demo", "telemetry"]}
    config = parse_config(json.dumps(keys), str(home / "config" / "config.json"))
    async with open_host(config, origin=Origin.PERSON) as host:
        await host.load_all(["demo", "telemetry"])
        first, second = await host.session_start("/"), await host.session_start("/")
        await host.call("plugin__demo__work", {"n": 1}, first)
        await host.call("plugin__demo__work", {"fail": True}, second)
        await host.call("plugin__demo__work", {"n": 2}, first)
        await host.session_end(first)
        report = await host.call("plugin__telemetry__telemetry_report", {}, second)
        assert "plugin__demo__work: 3 (1 failed; " in report.content
        await host.session_end(second)
    path = home / ".local/share/tinyhost-telemetry/telemetry.db"
    assert select(path, "id, ended_at IS NULL, tool_count FROM sessions ORDER BY id") == [
        (first.id, 0, 2),
        (second.id, 0, 2),
    ]
    found = select(
        path,
        "session_id, args_hash, success, duration_ms IS NULL FROM tool_calls"
        " WHERE tool_name = 'plugin__demo__work' ORDER BY id",
    )
    assert found == [
        (first.id, hash_of('{"n":1}'), 1, 0),
        (second.id, hash_of('{"fail":true}'), 0, 0),
        (first.id, hash_of('{"n":2}'), 1, 0),
    ]


def test_at_the_command_the_tools_tell_of_earlier_calls(home: Path) -> None:
    install(home)
    (home / "config" / "config.json").write_text(json.dumps({"plugins": ["telemetry"]}))
    command = (sys.executable, "-m", "tinyhost_cli.main", "tool", "call")

    def tinyhost(tool: str, args: str = "{}") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, f"plugin__telemetry__{tool}", "--args", args],
            env=dict(os.environ),
            cwd=home,
            capture_output=True,
            text=True,
            timeout=60,
        )

    first = tinyhost("telemetry_query")
    assert (first.returncode, first.stdout) == (0, "No tool calls found in the last 7 day(s).")
    second = tinyhost("telemetry_query", '{"days": 1}')
    assert second.stdout.startswith("Tool calls (last 1 day(s)): 1 result(s)\n\n")
    assert "  plugin__telemetry__telemetry_query | " in second.stdout
    report = tinyhost("telemetry_report")
    assert report.stdout.startswith("--- Telemetry Report ---\nTotal sessions: 3\n")
    assert "Total tool calls: 2\n" in report.stdout
    wrong = tinyhost("telemetry_query", '{"days": 1, "limit": 0}')
    assert wrong.returncode == 1
    assert "invalid arguments" in wrong.stdout + wrong.stderr
