"""How paths, shares and durations are written."""

from __future__ import annotations

from .._shared.table import cell


def named(path: object) -> str:
    """A path on one line: what names hold is not to be believed."""
    return cell(path, 400)


def percent(part: int, whole: int) -> str:
    """A share of a whole, such as "12.5%"; "-" of nothing."""
    return f"{100 * part / whole:.1f}%" if whole else "-"


def milliseconds(value: float) -> str:
    """Milliseconds with what precision makes sense: "0.45", "12.3", "1500"."""
    if value >= 1000:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}"
