from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from tinyhost.builtins.notify import MESSAGE_MAX, TITLE_MAX, Notify
from tinyhost.dispatch import Dispatcher
from tinyhost.model import ToolResult

PYTHON = sys.executable


def notifier(folder: Path, body: str, name: str = "notify-send") -> dict[str, str]:
    """Put a program for notifications on a PATH of its own; `body` is Python."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(f"#!{PYTHON} -ISs\nimport json, os, sys, time\n{body}\n")
    program.chmod(0o755)
    return {"PATH": str(folder)}


def recorder(tmp_path: Path, name: str = "notify-send") -> tuple[dict[str, str], Path]:
    """A notifier that keeps its arguments and environment, one JSON line for each run."""
    record = tmp_path / "record"
    body = f"""
with open({str(record)!r}, "a") as file:
    file.write(json.dumps([sys.argv[1:], dict(os.environ)]) + "\\n")
"""
    return notifier(tmp_path / "bin", body, name), record


def runs(record: Path) -> list[tuple[list[str], dict[str, str]]]:
    lines = record.read_text().splitlines() if record.exists() else []
    return [tuple(json.loads(line)) for line in lines]


def plugin(env: Mapping[str, str], platform: str = "linux", tty: str = "/nonexistent") -> Notify:
    return Notify(env, platform=platform, tty=tty)


async def send(
    notify: Notify, title: str = "Done", message: str = "All", **more: object
) -> ToolResult:
    return await notify.call_tool("notify", {"title": title, "message": message, **more})


async def test_a_notification_goes_to_notify_send_with_its_urgency(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    assert await send(plugin(env), urgency="critical") == ToolResult("Notification sent.")
    [(argv, _)] = runs(record)
    assert argv == ["--urgency=critical", "--app-name=tinyhost", "--", "Done", "All"]


async def test_a_title_that_looks_like_an_option_is_a_title(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    assert not (await send(plugin(env), title="--help", message="-x")).is_error
    [(argv, _)] = runs(record)
    assert argv[argv.index("--") + 1 :] == ["--help", "-x"]


async def test_backslashes_are_not_read_as_escapes_by_notify_send(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    await send(plugin(env), title=r"C:\temp", message=r"C:\temp \033[31m")
    [(argv, _)] = runs(record)
    assert argv[-2:] == [r"C:\temp", r"C:\\temp \\033[31m"]


async def test_the_notifier_gets_no_secrets_of_the_host(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    host = env | {"API_TOKEN": "s3cret-value", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/bus"}
    await send(plugin(host))
    [(_, seen)] = runs(record)
    assert seen["DBUS_SESSION_BUS_ADDRESS"] == "unix:path=/bus"
    assert "s3cret-value" not in seen.values()


@pytest.mark.parametrize(("urgency", "sound"), [("normal", False), ("critical", True)])
async def test_macos_gets_texts_as_arguments_and_not_as_script(
    tmp_path: Path, urgency: str, sound: bool
) -> None:
    env, record = recorder(tmp_path, "osascript")
    title, message = "-e \"quoted'", 'a " & (do shell script "id") & "'
    await send(plugin(env, "darwin"), title, message, urgency=urgency)
    [(argv, _)] = runs(record)
    assert argv[-3:] == ["tinyhost", title, message]
    script = "\n".join(argv[:-3])
    assert "shell" not in script
    assert "quoted" not in script
    assert ("Ping" in script) is sound


async def test_control_characters_are_taken_out(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    title, message = "a\x1b[31m\nb\tc\u202e", "one\r\ntwo\x07\x00\x9b"
    await send(plugin(env), title, message)
    [(argv, _)] = runs(record)
    assert argv[-2:] == ["a[31m b c", "one\ntwo"]


async def test_long_texts_are_cut(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    await send(plugin(env), "t" * 1000, "m" * 100_000)
    [(argv, _)] = runs(record)
    assert [len(text) for text in argv[-2:]] == [TITLE_MAX, MESSAGE_MAX]
    assert all(text.endswith("…") for text in argv[-2:])


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ({"message": "m"}, "title must not be empty"),
        ({"title": " \x07", "message": "m"}, "title must not be empty"),
        ({"title": "t", "message": ""}, "message must not be empty"),
        ({"title": 1, "message": "m"}, "title must be a string"),
        ({"title": "\ud800", "message": "m"}, "half of a character"),
        ({"title": "t", "message": "m", "urgency": "urgent"}, "low, normal, critical"),
        ({"title": "t", "message": "m", "urgency": ["low"]}, "urgency must be a string"),
        ({"title": "t", "message": "m", "text": "x"}, "unknown argument: text"),
    ],
)
async def test_wrong_arguments_are_refused_and_send_nothing(
    tmp_path: Path, args: dict[str, object], complaint: str
) -> None:
    env, record = recorder(tmp_path)
    notify = plugin(env)
    result = await notify.call_tool("notify", args)
    assert result.is_error
    assert complaint in result.content
    assert runs(record) == []
    assert not (await send(notify)).is_error  # the refused call did not use the turn


async def test_a_second_notification_within_five_seconds_is_limited_and_says_so(
    tmp_path: Path, mock_clock: trio.testing.MockClock
) -> None:
    env, record = recorder(tmp_path)
    notify = plugin(env)
    await send(notify)
    mock_clock.jump(4.5)
    limited = await send(notify)
    assert not limited.is_error
    assert "Rate-limited: not shown" in limited.content
    assert "in 1 s" in limited.content
    mock_clock.jump(0.5)
    assert (await send(notify)).content == "Notification sent."
    assert len(runs(record)) == 2


async def test_two_notifications_at_once_are_one(tmp_path: Path) -> None:
    env, record = recorder(tmp_path)
    notify = plugin(env)
    results: list[ToolResult] = []

    async def one() -> None:
        results.append(await send(notify))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(one)
        nursery.start_soon(one)
    assert len(runs(record)) == 1
    assert sorted(result.content.split(":")[0] for result in results) == [
        "Notification sent.",
        "Rate-limited",
    ]


async def test_a_failing_notifier_is_an_error_with_its_reason_and_leaves_the_turn(
    tmp_path: Path,
) -> None:
    notify = plugin(notifier(tmp_path / "bin", "sys.exit('no bus here')"))
    for _ in range(2):
        result = await send(notify)
        assert result.is_error
        assert "was not shown: notify-send: no bus here" in result.content


async def test_a_silent_failure_tells_the_exit_status(tmp_path: Path) -> None:
    result = await send(plugin(notifier(tmp_path / "bin", "sys.exit(3)")))
    assert result == ToolResult(
        "the notification was not shown: notify-send: it exited with status 3", is_error=True
    )


async def test_a_hanging_notifier_is_killed_with_what_it_started(
    hanging: Any, mock_clock: trio.testing.MockClock
) -> None:
    program = hanging("notify-send")
    results: list[ToolResult] = []

    async def call() -> None:
        results.append(await send(plugin(program.environ)))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(call)
        await trio.to_thread.run_sync(program.wait_until_started)
        mock_clock.jump(6)
    assert results[0].is_error
    assert "did not end within 5 s and was killed" in results[0].content
    await trio.to_thread.run_sync(program.wait_until_gone)


async def test_a_relative_entry_of_path_gives_no_notifier(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, record = recorder(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = await send(plugin({"PATH": "bin::."}))
    assert result.is_error
    assert runs(record) == []


async def test_without_a_notifier_the_terminal_is_rung_and_the_answer_says_so() -> None:
    master, slave = os.openpty()
    os.set_blocking(master, False)
    try:
        notify = plugin({"PATH": ""}, tty=os.ttyname(slave))
        result = await send(notify)
        assert os.read(master, 100) == b"\a"
        limited = await send(notify)
    finally:
        os.close(master)
        os.close(slave)
    assert not result.is_error
    assert "bell was rung; title and message were not shown" in result.content
    assert "Rate-limited" in limited.content


async def test_without_notifier_and_terminal_the_answer_is_that_nothing_was_shown() -> None:
    notify = plugin({"PATH": ""})
    for _ in range(2):
        result = await send(notify)
        assert result.is_error
        assert "nothing could be shown" in result.content


HOST = """
import os, sys, trio
from tinyhost.builtins.notify import Notify
if len(sys.argv) > 1:
    os.close(os.open(sys.argv[1], os.O_RDWR))  # the session's terminal from now on
async def main():
    result = await Notify({"PATH": ""}).call_tool("notify", {"title": "t", "message": "m"})
    print(result.is_error)
trio.run(main)
"""


@pytest.mark.parametrize("terminal", [True, False])
def test_only_a_controlling_terminal_is_rung_and_never_standard_output(terminal: bool) -> None:
    master, slave = os.openpty()
    os.set_blocking(master, False)
    name = [os.ttyname(slave)] if terminal else []
    try:
        done = subprocess.run(
            [PYTHON, "-c", HOST, *name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=60,
        )
        rung = os.read(master, 100) if terminal else b""
    finally:
        os.close(master)
        os.close(slave)
    assert done.stderr == b""
    assert done.stdout == (b"False\n" if terminal else b"True\n")
    assert rung == (b"\a" if terminal else b"")


async def test_notify_takes_part_in_no_hook() -> None:
    notify = plugin({})
    assert notify.info.hooks == []
    asked = Dispatcher(lambda hook: [notify] if notify.handles(hook) else [])
    result = await asked.dispatch("session.start", {"sessionId": "s", "directory": "/"})
    assert result.answers == []
