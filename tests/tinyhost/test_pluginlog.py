"""What is kept of a plugin's standard error, and what is dropped and counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost.pluginlog import PluginLog

MIB = 1024 * 1024


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_what_fits_is_kept_however_it_is_cut(chunks: list[bytes]) -> None:
    text = b"".join(chunks).decode(errors="replace")
    log = PluginLog(None)
    for chunk in chunks:
        log.write(chunk)
    assert log.tail == text[-4096:]
    assert log.dropped == 0
    log.close()


@given(st.integers(0, 3 * 16384), st.integers(1, 5000))
def test_of_an_overlong_line_the_beginning_is_kept_and_the_rest_counted(
    size: int, step: int
) -> None:
    log = PluginLog(None)
    data = b"before\n" + b"x" * size + b"\nafter\n"
    for start in range(0, len(data), step):
        log.write(data[start : start + step])
    assert log.dropped == max(0, size - 16384)
    assert log.tail.endswith(("x [line cut]" if log.dropped else "x" * min(size, 9)) + "\nafter\n")


def test_of_a_flood_the_beginning_and_the_end_are_kept_and_the_rest_counted(
    tmp_path: Path,
) -> None:
    path = tmp_path / "logs" / "plugin-demo.log"
    log = PluginLog(str(path))
    block = b"".join(b"%07d\n" % number for number in range(8192))
    for _ in range(320):
        log.write(block)
    log.write(b"the end\n")
    assert log.tail.endswith("0008190\n0008191\nthe end\n")
    log.close()
    assert 10 * MIB < log.dropped < 19.5 * MIB
    assert sum(file.stat().st_size for file in path.parent.iterdir()) < 2.2 * MIB
    text = path.read_text()
    assert text.endswith("0008191\nthe end\n")
    (note,) = [line for line in text.splitlines() if "dropped here" in line]
    assert note == f"[{log.dropped} bytes were dropped here: too many at once]"


def test_after_a_flood_the_log_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("tinyhost.pluginlog.time.monotonic", lambda: now)
    log = PluginLog(str(tmp_path / "plugin-demo.log"))
    for _ in range(600):
        log.write(b"x" * 9999 + b"\n")
    dropped = log.dropped
    assert dropped > MIB
    now = 10.0
    log.write(b"calm\n" * 3)
    log.write(b"unfinished")
    assert log.dropped == dropped
    assert log.tail.endswith("calm\ncalm\ncalm\nunfinished")
    log.close()


def test_a_secret_in_a_flood_is_masked_in_the_log_and_in_the_tail(tmp_path: Path) -> None:
    path = tmp_path / "plugin-demo.log"
    log = PluginLog(str(path), ["hunter2hunter2"])
    for _ in range(1000):
        log.write(b"the password is hunt")
        log.write(b"er2hunter2\n" * 500 + b"x" * 10_000 + b"\n")
    assert "password is [redacted]\n" not in log.tail
    assert "hunter2hunter2" not in log.tail
    log.close()
    assert "hunter2hunter2" not in path.read_text()


@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("before", [16 * 1024 - 10, 16 * 1024 - 20, 16 * 1024 - 30])
def test_a_line_that_is_cut_within_a_secret_does_not_show_the_beginning_of_it(
    pieces: int, before: int
) -> None:
    secret = b"supersecretvalue123456789"
    log = PluginLog(None, [secret.decode()])
    line = b"x" * before + secret + b" and more"
    for at in range(0, len(line), -(-len(line) // pieces)):
        log.write(line[at : at + -(-len(line) // pieces)])
    log.write(b"\n")
    assert log.tail.endswith("[line cut]\n")
    assert "supers" not in log.tail


def test_what_is_kept_of_a_flood_does_not_begin_within_a_secret() -> None:
    secret = b"supersecretvalue123456789"
    log = PluginLog(None, [secret.decode()])
    log.write(b"x\n" * 4 * 1024 * 1024)  # all that may be kept at once
    log.write(b"y" * 1000 + secret + b"z" * (16 * 1024 - 10))
    assert log.dropped
    log.close()
    assert "456789" not in log.tail
    assert "zzz" in log.tail
