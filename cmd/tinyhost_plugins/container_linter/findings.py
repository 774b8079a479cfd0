"""What the rules find, and how it is written down."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .._shared.texts import counted
from ..log_sanitizer.sanitize import sanitize
from .options import MOST_SHOWN

ERROR, WARNING, INFO = "error", "warning", "info"
SEVERITIES = (ERROR, WARNING, INFO)
_MANY = {INFO: INFO}
_CUT = 80


class Finding(NamedTuple):
    """line: counted from 1. rule: its id. fix: what to do, in one line."""

    severity: str
    line: int
    rule: str
    message: str
    fix: str


def shown(text: str, most: int = _CUT) -> str:
    """A piece of the file as it can stand in a message: one line, nothing that a terminal obeys."""
    text = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def arrange(findings: Sequence[Finding]) -> list[Finding]:
    """Errors first, then by line; findings of one line keep the order of the rules."""
    return sorted(findings, key=lambda one: (SEVERITIES.index(one.severity), one.line))


def report(findings: Sequence[Finding], limit: int) -> str:
    """The findings as text: a summary, then a group for each severity."""
    if not findings:
        return "No issues found: the Containerfile follows the rules that were checked."
    kept = arrange(findings)[:limit]
    blocks = [_summary(findings)]
    for severity in SEVERITIES:
        group = [one for one in kept if one.severity == severity]
        if group:
            count = sum(one.severity == severity for one in findings)
            blocks.append(f"--- {severity.upper()}S ({count}) ---")
            blocks += map(_entry, group)
    left = len(findings) - len(kept)
    if left:
        how_many = "all" if len(findings) <= MOST_SHOWN else str(MOST_SHOWN)
        blocks.append(
            f"{left} more; call with limit={min(len(findings), MOST_SHOWN)} to see {how_many}"
        )
    return "\n\n".join(blocks)


def _summary(findings: Sequence[Finding]) -> str:
    counts = [(sum(one.severity == kind for one in findings), kind) for kind in SEVERITIES]
    parts = (counted(count, kind, _MANY.get(kind, "")) for count, kind in counts if count)
    return f"{counted(len(findings), 'finding')}: {', '.join(parts)}"


def _entry(one: Finding) -> str:
    # What is shown of the file, such as an address, may have a secret in it.
    message, fix = masked(one.message), masked(one.fix)
    return f"[{one.severity.upper()}] Line {one.line}: {one.rule} — {message}\n  → {fix}"


def masked(text: str) -> str:
    """A text without the secrets in it."""
    return sanitize(text).text
