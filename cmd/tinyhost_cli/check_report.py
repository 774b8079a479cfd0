"""The report of `plugin check` for people. What the plugin wrote is escaped and cut."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from tinyhost.check.model import Finding, Outcome, Report
from tinyhost_cli import output

_STYLES = {
    Outcome.OK: "green",
    Outcome.WARNING: "yellow",
    Outcome.FAILED: "bold red",
    Outcome.SKIPPED: "dim",
}
_ACTIONABLE = (Outcome.FAILED, Outcome.WARNING)


def print_report(report: Report) -> None:
    """A line for each check, what there is to do about those that are not ok, and a summary."""
    if sys.stdout.isatty():
        _print_table(report.findings)
    else:
        rows = [(str(found.outcome), found.check.id, _said(found)) for found in report.findings]
        output.table(("RESULT", "CHECK", "DETAILS"), rows)
    for found in report.findings:
        if found.outcome in _ACTIONABLE:
            output.say("")
            output.facts(f"{found.outcome}: {found.check.title}", _facts(found))
    output.say("")
    output.say(summary(report))


def summary(report: Report) -> str:
    """The result in one line."""
    counts = report.counts
    words = [f"{counts[outcome]} {outcome}" for outcome in Outcome if counts[outcome]]
    started = "" if report.start_s is None else f"; it starts in {report.start_s * 1000:.0f} ms"
    if report.incomplete:
        verdict = "was not checked to the end"
    else:
        verdict = "conforms" if report.passed else "does not conform"
    return f"{report.plugin} {verdict} ({report.dialect}): {', '.join(words)}{started}"


def _said(found: Finding) -> str:
    return found.text or found.check.title


def _facts(found: Finding) -> Mapping[str, str | Sequence[str]]:
    facts: dict[str, str | Sequence[str]] = {
        "check": found.check.id,
        "found": found.text,
        "rule": found.check.rule,
        "to do": found.check.fix,
        "see": found.check.link,
    }
    if found.sent:
        facts["sent"] = found.sent
    if found.received:
        facts["came back"] = found.received
    return facts


def _print_table(findings: Sequence[Finding]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for header in ("RESULT", "CHECK", "DETAILS"):
        table.add_column(header, overflow="fold")
    for found in findings:
        table.add_row(
            Text(str(found.outcome), style=_STYLES[found.outcome]),
            Text(found.check.id),
            Text(output.cell(_said(found))),
        )
    Console(file=sys.stdout).print(table)
