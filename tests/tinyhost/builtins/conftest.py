from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAM = f"""#!{sys.executable} -ISs
import os, time
child = os.fork()
if child:
    with open(PIDS + ".new", "w") as file:
        file.write(f"{{os.getpid()}} {{child}}")
    os.rename(PIDS + ".new", PIDS)
time.sleep(600)
"""


class Hanging:
    """A program that starts another one and then hangs, as the other does.

    The waits block, so that they can be used in a thread while trio's clock stands still.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.environ = {"PATH": str(folder)}
        self._pids = folder / "pids"
        program = folder / name
        program.write_text(PROGRAM.replace("PIDS", repr(str(self._pids))))
        program.chmod(0o755)

    def wait_until_started(self) -> None:
        _poll(self._pids.exists, "the program did not start")

    def wait_until_gone(self) -> None:
        for pid in self._pids.read_text().split():
            _poll(lambda pid=pid: not _runs(int(pid)), f"process {pid} still runs")


@pytest.fixture
def hanging(tmp_path: Path) -> Callable[[str], Hanging]:
    """hanging(name): put a program that hangs on a PATH of its own."""
    folder = tmp_path / "hanging"
    folder.mkdir()
    return lambda name: Hanging(folder, name)


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _poll(done: Callable[[], bool], complaint: str) -> None:
    for _ in range(3000):
        if done():
            return
        time.sleep(0.01)
    raise AssertionError(complaint)
