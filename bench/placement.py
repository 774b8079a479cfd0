"""Which processors a caller and its child run on.

A kernel is free to run both on one processor, where they hand over to each other, or on two,
where each has to wake the other's. The second may take several times as long, the kernel
changes its mind from one second to the next, and it decides for each pair alone. Left to it,
the ratio of two callers that do exactly the same may be anything from a quarter to four. So
rows of single calls are measured with all processes pinned, in both ways.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

ONE = "one"  # all on one processor: each microsecond of work counts
TWO = "two"  # callers on one, children on another: as much again for waking each other
FREE = "free"  # as the kernel likes: what people get, but no two runs are alike

LEGEND = "one, two: pinned to one processor, to one for each end; free: placed by the kernel"


def processors() -> int:
    """How many processors this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def pinned() -> Sequence[str]:
    """The placements that can be had on this machine, apart from FREE."""
    if not hasattr(os, "sched_setaffinity"):
        return ()
    return (ONE, TWO) if processors() > 1 else (ONE,)


def every() -> Sequence[str]:
    """All placements that can be had on this machine."""
    return (*pinned(), FREE)


@contextlib.contextmanager
def placed(
    placement: str, *, callers: Collection[int], children: Collection[int]
) -> Iterator[None]:
    """Pin processes for as long as the context lasts. Both hold process ids.

    The processes that a caller has started, other than this one, count as children.
    """
    if placement == FREE:
        yield
        return
    usable = sorted(os.sched_getaffinity(0))
    other = usable[0] if placement == ONE else usable[1]
    below = [child for caller in callers if caller != os.getpid() for child in _children(caller)]
    everyone = [*callers, *children, *below]
    try:
        for caller in callers:
            _pin(caller, {usable[0]})
        for child in (*children, *below):
            _pin(child, {other})
        yield
    finally:
        for process in everyone:
            with contextlib.suppress(OSError):  # it may have ended
                _pin(process, set(usable))


def _pin(process: int, to: set[int]) -> None:
    # A process's threads are placed one by one; those that they start follow them.
    for thread in Path(f"/proc/{process}/task").iterdir():
        with contextlib.suppress(ProcessLookupError):
            os.sched_setaffinity(int(thread.name), to)


def _children(process: int) -> list[int]:
    found: list[int] = []
    for thread in Path(f"/proc/{process}/task").iterdir():
        try:
            children = (thread / "children").read_text()
        except FileNotFoundError:
            if thread.exists():
                raise
            continue  # it ended meanwhile
        for child in children.split():
            found += [int(child), *_children(int(child))]
    return found
