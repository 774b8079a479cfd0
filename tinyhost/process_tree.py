"""Find and kill what a plugin started and lost: processes that left its group and session.

Every plugin is started with its id, and its host's, in environment variables, and children
inherit them, whatever session, group or parent they move to. So a look at the environments
of all processes finds them. A process that wipes its own environment is not found this
way; of those that stay in the plugin's group none escapes anyhow.

Runs by itself, too, under `python -I -S process_tree.py ID`, when the host has been killed.
Standard library only, and Linux only: without /proc nothing is found.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

HOST_VARIABLE = "TINYHOST_HOST_ID"
PLUGIN_VARIABLE = "TINYHOST_PLUGIN_ID"
_ROUNDS = 10  # a process may fork while it is being looked for


def kill_marked(variable: str, ids: Collection[str]) -> None:
    """Kill every process with one of these ids in that variable."""
    marks = frozenset(f"{variable}={id}".encode() for id in ids)
    for _ in range(_ROUNDS):
        if not sum(_kill(pid, marks) for pid in _pids()):
            return


def _pids() -> Iterator[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return
    own = os.getpid()
    for name in names:
        if name.isdigit() and int(name) != own:
            yield int(name)


def _kill(pid: int, marks: frozenset[bytes]) -> bool:
    if not _is_marked(pid, marks):
        return False
    try:
        # The number may have gone to another process since: hold on to this one, look
        # again, and signal only what was looked at.
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        if not _is_marked(pid, marks):
            return False
        signal.pidfd_send_signal(fd, signal.SIGKILL)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _is_marked(pid: int, marks: frozenset[bytes]) -> bool:
    try:
        # Empty for zombies and threads of the kernel.
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            return not marks.isdisjoint(file.read().split(b"\0"))
    except OSError:
        return False


if __name__ == "__main__":
    kill_marked(HOST_VARIABLE, sys.argv[1:])
