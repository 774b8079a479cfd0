"""The plugin behind the wire: in memory, as a process, behind the host and at the command."""

from __future__ import annotations

import json
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from shipped import Shipped, hook, hosting, send

from tinyhost_plugins.telemetry.calls import hash_of
from tinyhost_plugins.telemetry.plugin import build
from tinyhost_sdk import testing

AddPlugin = Callable[[str, str], Path]

PLUGIN = Shipped("telemetry")
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
    options = {"database": str(path)}
    requests = [("initialize", {"version": "1.0", "options": options}), *(hook(*e) for e in events)]
    with PLUGIN.started() as process:
        assert process.stdout
        for number, (method, params) in enumerate(requests):
            send(process, method, params, number)
            assert "result" in process.stdout.readline()
        process.kill()
    assert select(path, "tool_name FROM tool_calls ORDER BY id") == [("bash",), ("read",)]
    assert select(path, "ended_at, tool_count FROM sessions") == [(None, 2)]


def test_a_session_is_over_when_the_host_is_gone(path: Path) -> None:
    events = (hook(START, {"sessionId": "s"}), *(hook(*event) for event in call("bash")))
    PLUGIN.results(*events, options={"database": str(path)})
    assert select(path, "ended_at IS NULL, tool_count FROM sessions") == [(0, 1)]
    assert [file.name for file in path.parent.iterdir()] == ["telemetry.db"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_starting_up_loads_no_library_and_the_network_is_never_loaded(path: Path) -> None:
    slow = {"sqlite3", "hashlib", "json", "re", "typing", "pathlib"}
    started, *_others, end = PLUGIN.imported(
        {"database": str(path)},
        "driver.invoke_hook('session.start', {'sessionId': 's'})",
        "driver.call_tool('telemetry_query', {})",
        "driver.call_tool('telemetry_report', {})",
    )
    assert not slow & started
    assert not {"socket", "ssl", "http", "urllib.request"} & end


async def test_behind_the_host_sessions_and_calls_are_recorded(
    add_plugin: AddPlugin, home: Path
) -> None:
    PLUGIN.install(home / "config" / "plugins")
    add_plugin(
        "demo",
        "handshake(tools=['work'])\n"
        "serve(lambda p: {'content': 'done', 'isError': p['args'].get('fail', False)})\n",
    )
    async with hosting(home, ["demo", "telemetry"]) as host:
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
    PLUGIN.install(home / "config" / "plugins")
    (home / "config" / "config.json").write_text(json.dumps({"plugins": ["telemetry"]}))
    first = PLUGIN.call(home, "telemetry_query", {})
    assert (first.returncode, first.stdout) == (0, "No tool calls found in the last 7 day(s).")
    second = PLUGIN.call(home, "telemetry_query", {"days": 1})
    assert second.stdout.startswith("Tool calls (last 1 day(s)): 1 result(s)\n\n")
    assert "  plugin__telemetry__telemetry_query | " in second.stdout
    report = PLUGIN.call(home, "telemetry_report", {})
    assert report.stdout.startswith("--- Telemetry Report ---\nTotal sessions: 3\n")
    assert "Total tool calls: 2\n" in report.stdout
    wrong = PLUGIN.call(home, "telemetry_query", {"days": 1, "limit": 0})
    assert wrong.returncode == 1
    assert "invalid arguments" in wrong.stdout + wrong.stderr
