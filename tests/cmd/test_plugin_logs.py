"""`tinyhost plugin logs -f`: each line once, whole, whatever happens to the file."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tinyhost_cli import plugin_logs

from .conftest import Cli


class _Over(Exception):
    """No step is left."""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "plugin-mine.log"


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """between(*steps): what happens between looks, one step each; then the test ends."""

    def plan(*steps: Callable[[], object]) -> None:
        left = list(steps)

        def pause(_seconds: float) -> None:
            if not left:
                raise _Over
            left.pop(0)()

        monkeypatch.setattr(plugin_logs.time, "sleep", pause)

    return plan


def collected(log: Path, count: int) -> list[str]:
    """All lines until no step is left."""
    lines: list[str] = []
    with contextlib.suppress(_Over):
        for line in plugin_logs._followed(str(log), count):
            lines.append(line)
    return lines


def append(log: Path, text: str) -> None:
    with log.open("a") as file:
        file.write(text)


def put_aside(log: Path) -> None:
    log.replace(f"{log}.1")


def nothing() -> None:
    pass


def test_a_line_that_is_half_written_is_shown_when_it_is_whole(
    log: Path, between: Callable[..., None]
) -> None:
    log.write_text("one\ntwo\nthr")
    between(lambda: append(log, "ee\nfo"), lambda: append(log, "ur\n"), nothing)
    assert collected(log, 1) == ["two", "three", "four"]


def test_what_is_written_before_the_file_is_put_aside_is_shown(
    log: Path, between: Callable[..., None]
) -> None:
    log.write_text("one\n")

    def turn() -> None:
        append(log, "two\n")
        put_aside(log)
        log.write_text("three\n")

    between(turn, nothing, nothing)
    assert collected(log, 10) == ["one", "two", "three"]


def test_the_lines_to_begin_with_reach_into_the_file_that_was_put_aside(
    log: Path, between: Callable[..., None]
) -> None:
    Path(f"{log}.1").write_text("one\ntwo\n")
    log.write_text("three\n")
    between(nothing)
    assert collected(log, 2) == ["two", "three"]
    between(nothing)
    assert collected(log, 0) == []


def test_a_log_that_is_not_there_yet_is_waited_for(log: Path, between: Callable[..., None]) -> None:
    between(nothing, lambda: log.write_text("one\n"), nothing, nothing)
    assert collected(log, 10) == ["one"]


def test_new_lines_are_printed_as_they_come(tinyhost: Cli) -> None:
    log = tinyhost.state / "logs" / "plugin-mine.log"
    log.parent.mkdir(parents=True)
    log.write_text("one\n")
    words = ["plugin", "logs", "mine", "-f", "--json"]
    with subprocess.Popen(
        [sys.executable, "-m", "tinyhost_cli.main", *words],
        env=tinyhost.env,
        cwd=tinyhost.project,
        stdout=subprocess.PIPE,
        text=True,
    ) as following:
        assert following.stdout is not None
        first = following.stdout.readline()
        append(log, f"two {os.getpid()}\n")
        second = following.stdout.readline()
        following.terminate()
    assert [json.loads(line)["line"] for line in (first, second)] == ["one", f"two {os.getpid()}"]


def test_a_log_that_there_is_not_is_an_error_in_json_too(tinyhost: Cli) -> None:
    done = tinyhost("plugin", "logs", "mine")
    assert (done.returncode, done.stdout) == (1, "")
    assert "there is no log of a plugin mine" in done.stderr
    error = tinyhost.json("plugin", "logs", "mine", code=1)["error"]
    assert error["message"].startswith("there is no log of a plugin mine")
