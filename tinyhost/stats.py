"""How plugins fare in a running host: how long they take, and what their processes use."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Mapping
from typing import Any

_KEPT = 512  # durations of each plugin

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Latencies:
    """The last durations of each plugin's calls and hooks, in milliseconds, by plugin name."""

    def __init__(self) -> None:
        self._kept: dict[str, deque[float]] = {}

    def record(self, kind: str, fields: Mapping[str, Any]) -> None:
        """Take what a record of the host says of durations; see journal_records."""
        if kind == "hook":
            for answer in fields["answers"]:
                self._add(answer["name"], answer["ms"])
        elif kind == "call" and fields.get("plugin"):
            self._add(fields["plugin"], fields["ms"])

    def _add(self, plugin: str, ms: float) -> None:
        self._kept.setdefault(plugin, deque(maxlen=_KEPT)).append(ms)

    def forget(self, plugin: str) -> None:
        """A plugin was unloaded."""
        self._kept.pop(plugin, None)

    def value(self, plugin: str) -> dict[str, float | None]:
        """The median and the 99th percentile of the last durations; null when there are none."""
        kept = sorted(self._kept.get(plugin, ()))
        return {"p50Ms": _quantile(kept, 0.5), "p99Ms": _quantile(kept, 0.99)}


def _quantile(ordered: list[float], share: float) -> float | None:
    """By nearest rank."""
    if not ordered:
        return None
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3)


def usage(pid: int | None) -> dict[str, float | int | None]:
    """What a process and its descendants use: resident bytes, and seconds of processor time.

    Null where the system does not tell.
    """
    memory, cpu, found = 0, 0.0, False
    for member in _family(pid) if pid else ():
        stat = _stat(member)
        if stat is not None:
            found = True
            memory += int(stat[21]) * _PAGE
            cpu += (int(stat[11]) + int(stat[12])) / _TICKS
    if not found:
        return {"memoryBytes": None, "cpuSeconds": None}
    return {"memoryBytes": memory, "cpuSeconds": round(cpu, 2)}


def _family(pid: int) -> list[int]:
    family = [pid]
    for member in family:
        family += _children(member)
    return family


def _children(pid: int) -> list[int]:
    children: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208
            with open(f"/proc/{pid}/task/{task}/children") as file:  # noqa: PTH123
                children += map(int, file.read().split())
    except OSError:
        pass  # it has ended, or the system has no such file
    return children


def _stat(pid: int) -> list[str] | None:
    """The fields of /proc/PID/stat behind the name; the name may hold anything."""
    try:
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            return file.read().rpartition(")")[2].split()
    except OSError:
        return None
