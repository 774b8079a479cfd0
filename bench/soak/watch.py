"""What a process holds, and what plugins have left anywhere on the machine."""

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import attrs

_PAGE = resource.getpagesize()


@attrs.frozen
class Holdings:
    """Counts for a process; rss in KiB."""

    descriptors: int
    children: int
    threads: int
    rss: int
    files: int  # below a folder

    @classmethod
    def now(cls, folder: Path, pid: int | None = None) -> Self:
        """Look at this process or another of this user's, and at the files below the folder."""
        process = _process(pid)
        return cls(
            descriptors=sum(1 for _ in (process / "fd").iterdir()),
            children=len(children(pid)),
            threads=sum(1 for _ in (process / "task").iterdir()),
            rss=int((process / "statm").read_text().split()[1]) * _PAGE // 1024,
            files=sum(len(files) for _, _, files in os.walk(folder)),
        )


def _process(pid: int | None) -> Path:
    return Path("/proc", "self" if pid is None else str(pid))


def children(pid: int | None = None) -> set[int]:
    """Children of this process or another, ended ones that nobody has reaped among them."""
    found: set[int] = set()
    for task in (_process(pid) / "task").iterdir():
        with contextlib.suppress(OSError):
            found.update(map(int, (task / "children").read_text().split()))
    return found


def peak_rss() -> int:
    """The most memory that this process has held so far, in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def plugin_processes(home: Path) -> set[int]:
    """Processes that plugins of a host with that HOME are or started, wherever they have gone."""
    return {pid for pid, environ in _environments() if _is_plugin(environ, home)}


def is_plugin_process(pid: int, home: Path) -> bool:
    """Whether that process is one of them."""
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return _is_plugin(environ, home)


def _environments() -> Iterator[tuple[int, list[bytes]]]:
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), (entry / "environ").read_bytes().split(b"\0")


def _is_plugin(environ: list[bytes], home: Path) -> bool:
    of_plugin = any(entry.startswith(b"TINYHOST_PLUGIN_ID=") for entry in environ)
    return of_plugin and f"HOME={home}".encode() in environ


def gone_within(seconds: float, home: Path) -> float | None:
    """Wait until no plugin process is left. The seconds that took, or None if it took longer."""
    began = time.monotonic()
    while plugin_processes(home):
        if time.monotonic() - began > seconds:
            return None
        time.sleep(0.01)
    return time.monotonic() - began


def count_left(home: Path) -> int:
    """How many plugin processes do not go away; what has been killed may take a moment."""
    return 0 if gone_within(2.0, home) is not None else len(plugin_processes(home))
