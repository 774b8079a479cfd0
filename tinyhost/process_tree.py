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
    from collections.abc import Collection

HOST_VARIABLE = "TINYHOST_HOST_ID"
PLUGIN_VARIABLE = "TINYHOST_PLUGIN_ID"
_ROUNDS = 30  # a process may fork while it is being looked for


def kill_marked(variable: str, ids: Collection[str]) -> None:
    """Kill every process with one of these ids in that variable."""
    marks = frozenset(f"{variable}={id}".encode() for id in ids)
    strangers: set[int] = set()
    unclear: set[int] = set()
    for _ in range(_ROUNDS):
        again = False
        # The newest first, as one that moves on by forking is there for an instant only.
        for pid in sorted(_pids() - strangers, reverse=True):
            ours = _is_marked(pid, marks)
            if ours is False:
                strangers.add(pid)
            elif ours:
                again = _kill(pid, marks) or again
            elif pid not in unclear:
                # Kernel threads and zombies stay like this; others have a successor or are
                # between two programs.
                unclear.add(pid)
                again = True
        if not again:
            return


def signal_members(group: int, number: int) -> None:
    """Send a signal to all processes of a group but the one that leads it. Never raises.

    One that is started meanwhile may be missed: this is for asking, not for killing.
    """
    for pid in _pids():
        if pid == group:
            continue
        try:
            if os.getpgid(pid) == group:
                os.kill(pid, number)
        except OSError:
            continue


def find_marked(variable: str, ids: Collection[str]) -> list[int]:
    """The numbers of all processes with one of these ids in that variable."""
    marks = frozenset(f"{variable}={id}".encode() for id in ids)
    return [pid for pid in _pids() if _is_marked(pid, marks)]


def _pids() -> set[int]:
    try:
        names = os.listdir("/proc")  # noqa: PTH208
    except OSError:
        return set()
    return {int(name) for name in names if name.isdigit()} - {os.getpid()}


def _kill(pid: int, marks: frozenset[bytes]) -> bool:
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


def _is_marked(pid: int, marks: frozenset[bytes]) -> bool | None:
    """None when no environment can be seen: it has gone, or is about to run a program."""
    try:
        # Empty for zombies and threads of the kernel.
        with open(f"/proc/{pid}/environ", "rb") as file:  # noqa: PTH123
            variables = file.read()
    except PermissionError:
        return False
    except OSError:
        return None
    return not marks.isdisjoint(variables.split(b"\0")) if variables else None


if __name__ == "__main__":
    kill_marked(HOST_VARIABLE, sys.argv[1:])
