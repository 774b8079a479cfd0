"""What a check is, and what becomes of it."""

from __future__ import annotations

import enum
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

if TYPE_CHECKING:
    from .case import Case

DIALECTS = frozenset({"native", "zuno", "bingo", "mcp"})
_PAGE = "docs/protocol.md"


class Outcome(enum.StrEnum):
    """What became of a check. Only FAILED makes a plugin not conform."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Verdict(Exception):
    """Ends a check. `text` says what was found, as a sentence that begins with a small letter."""

    outcome = Outcome.FAILED

    def __init__(self, text: str) -> None:
        self.text = text
        super().__init__(text)


class Failed(Verdict):
    """The rule is broken; how bad that is says the check."""


class Warned(Verdict):
    """Works with this host, and should be different all the same."""

    outcome = Outcome.WARNING


class Skipped(Verdict):
    """There was nothing to check, or no way to."""

    outcome = Outcome.SKIPPED


@attrs.frozen(kw_only=True)
class Check:
    """One thing that is tried.

    rule: what a plugin has to do, and why it matters. fix: how it is usually mended.
    anchor: the section of the protocol's page. run: tries it; returns a remark or "", or raises a
    Verdict. severity: what a failure counts as. lenient: dialects whose own hosts never do
    this to a plugin, where a failure is only a warning. dialects: where it applies.
    provokes: what the plugin says amiss in it is judged by this check alone.
    """

    id: str
    title: str
    rule: str
    fix: str
    run: Callable[[Case], Awaitable[str]]
    anchor: str = "lines"
    severity: Outcome = Outcome.FAILED
    lenient: frozenset[str] = frozenset()
    dialects: frozenset[str] = DIALECTS
    provokes: bool = False

    @property
    def link(self) -> str:
        """Where the rule is written down."""
        return f"{_PAGE}#{self.anchor}"

    def outcome_of(self, verdict: Verdict, dialect: str) -> Outcome:
        """What a verdict counts as."""
        if verdict.outcome is Outcome.FAILED and dialect in self.lenient:
            return Outcome.WARNING
        return self.severity if verdict.outcome is Outcome.FAILED else verdict.outcome


@attrs.frozen(kw_only=True)
class Finding:
    """What became of one check. sent, received: lines, cut; the plugin's are untrusted."""

    check: Check
    outcome: Outcome
    text: str = ""
    sent: Sequence[str] = ()
    received: Sequence[str] = ()
    seconds: float = 0.0

    def value(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "id": self.check.id,
            "title": self.check.title,
            "outcome": str(self.outcome),
            "text": self.text,
            "rule": self.check.rule,
            "fix": self.check.fix,
            "link": self.check.link,
            "sent": list(self.sent),
            "received": list(self.received),
            "ms": round(self.seconds * 1000, 1),
        }


@attrs.frozen(kw_only=True)
class Report:
    """All findings about one plugin, in the order of the table.

    start_s: the median of its starts, spawn and handshake together, or None if none succeeded.
    incomplete: time ran out before all checks were done.
    """

    plugin: str
    dialect: str
    command: Sequence[str]
    findings: Sequence[Finding]
    start_s: float | None = None
    incomplete: bool = False

    @property
    def counts(self) -> Mapping[Outcome, int]:
        """How many findings have each outcome."""
        found = [finding.outcome for finding in self.findings]
        return {outcome: found.count(outcome) for outcome in Outcome}

    @property
    def passed(self) -> bool:
        """Whether all checks were done, and none failed."""
        return not self.incomplete and not self.counts[Outcome.FAILED]

    def value(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "plugin": self.plugin,
            "dialect": self.dialect,
            "command": list(self.command),
            "passed": self.passed,
            "incomplete": self.incomplete,
            "startMs": None if self.start_s is None else round(self.start_s * 1000, 1),
            "counts": {str(outcome): count for outcome, count in self.counts.items()},
            "checks": [finding.value() for finding in self.findings],
        }
