"""The command that this program stands for while it runs."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

_SIGNALLED_EARLY = """
import collections, os, sys
from tinyhost_cli import command_child

class Environ(collections.UserDict):
    # Asked for right before the command is started: the signal comes in between.
    def __iter__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        return super().__iter__()

print(command_child.run(["sh", "-c", "exec sleep 60"], Environ(os.environ), "."))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_that_comes_while_the_command_starts_reaches_it(number: signal.Signals) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED_EARLY, str(int(number))],
        capture_output=True,
        text=True,
        timeout=30,
        start_new_session=True,  # no terminal, whose keys would reach both
    )
    assert done.stdout.strip() == str(-number), done.stderr
