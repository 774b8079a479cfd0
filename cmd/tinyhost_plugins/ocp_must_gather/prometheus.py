"""What the monitoring of the cluster said: alerts that fire, files, and a search in them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from .._shared.matching import Matcher
from .._shared.must_gather import MustGatherError, Values
from .._shared.must_gather_yaml import FormatError, documents
from .._shared.texts import Span, around, counted, line, size
from .logs import read_lines
from .report import Ask, Report, file_size, is_partial, nothing

_RULES = "monitoring/prometheus/rules.json"
_PER_FILE = 50
_SHOWN = 300
_SEVERITIES = {"critical": 0, "warning": 1, "info": 2}
_DEEPEST = 50
_LEAVES = 500_000  # values of one JSON file that a search looks at


class Alert(NamedTuple):
    """An alert that fires or is about to: state is "firing" or "pending"."""

    state: str
    severity: str
    name: str
    namespace: str
    since: str
    text: str


def read_alerts(ask: Ask) -> list[Alert]:
    """The alerts in the rules that were gathered, those that fire and the critical ones first."""
    rules = (
        rule
        for group in _json(ask, _RULES).values("data").objects("groups")
        for rule in group.objects("rules")
    )
    found = [_alert(rule, alert) for rule in rules for alert in rule.objects("alerts")]
    return sorted(
        found, key=lambda a: (a.state != "firing", _SEVERITIES.get(a.severity, 3), *a[2:])
    )


def headline(ask: Ask, found: list[Alert]) -> str:
    """ "3 alerts firing, 1 of them critical", or why that is not known."""
    if not list(ask.mg.find(_RULES)):
        return f"no {_RULES}, so it is not known which alerts fire"
    if _json(ask, _RULES).items("data", "groups") is None:
        return "no rules in rules.json, so it is not known which alerts fire"
    firing = [alert for alert in found if alert.state == "firing"]
    critical = sum(alert.severity == "critical" for alert in firing)
    return f"{counted(len(firing), 'alert')} firing, {critical or 'none'} of them critical"


def _json(ask: Ask, where: str) -> Values:
    """The object in a file; an empty one when there is none."""
    value = _value(ask, where) if list(ask.mg.find(where)) else None
    return Values(value if isinstance(value, dict) else {})


def _value(ask: Ask, where: str) -> Any:
    """What a file has in it; None when it cannot be read, which is noted."""
    is_over = partial(ask.pace.is_over, f"reading {where}")
    try:
        text = ask.mg.read_text(where, ask.mg.limits.file_bytes)
        return next(documents(text, is_over=is_over), None)
    except (MustGatherError, FormatError) as error:
        ask.mg.tree.note(where, str(error).removeprefix(f"{where} "))
        return None


def _alert(rule: Values, alert: Values) -> Alert:
    labels, notes = alert.values("labels"), alert.values("annotations")
    return Alert(
        alert.text("state") or "-",
        labels.text("severity") or rule.text("labels", "severity") or "-",
        labels.text("alertname") or rule.text("name") or "?",
        labels.text("namespace") or "-",
        (alert.text("activeAt") or "-")[:19],
        notes.text("summary") or notes.text("description") or notes.text("message") or "",
    )


def answer(ask: Ask, metric: str) -> str:
    """mg_prometheus."""
    every = [Path(path) for path in ask.mg.find("monitoring/**")]
    files = [path for path in every if path.suffix != ".stderr"]
    if not files:
        return Report(ask, nothing(ask, "monitoring data")).text()
    return _search(ask, files, metric) if metric else _overview(ask, every, files)


def _overview(ask: Ask, every: list[Path], files: list[Path]) -> str:
    alerts = read_alerts(ask)
    known = headline(ask, alerts)
    report = Report(ask, f"{counted(len(files), 'monitoring file')}, {known}")
    if alerts:
        report.section("Alerts")
        report.table(
            ("STATE", "SEVERITY", "ALERT", "NAMESPACE", "SINCE", "SUMMARY"),
            ((*alert[:-1], line(alert.text)) for alert in alerts),
        )
    report.section("Files; give metric, a regular expression, to search them")
    report.table(
        ("FILE", "SIZE"),
        ((ask.mg.relative(path), file_size(ask, path)) for path in files),
    )
    failed = [
        path for path in every if path.suffix == ".stderr" and file_size(ask, path) != size(0)
    ]
    if failed:
        report.section("What failed while it was gathered")
        for path in failed[: ask.rows]:
            said = next(read_lines(ask.mg, path), "")
            report.add(f"{ask.mg.relative(path)}: {line(said, ask.at_most(_SHOWN))}")
    return report.text()


def _search(ask: Ask, files: list[Path], metric: str) -> str:
    shown: list[tuple[str, list[tuple[str, Span]]]] = []
    with Matcher(metric, "metric", ask.pace) as matcher:
        for path in files:
            where = ask.mg.relative(path)
            if ask.pace.is_over(f"searching {where}"):
                break
            lines = ask.pace.each(_lines(ask, path), f"searching {where}")
            found = list(islice(matcher.find(lines, lambda text: text), _PER_FILE + 1))
            if found:
                shown.append((where, found))
    if not shown:
        which = "Nothing that was read" if is_partial(ask) else "Nothing"
        first = f"{which} in {counted(len(files), 'monitoring file')} matches."
        return Report(ask, first).text()
    total = sum(min(len(found), _PER_FILE) for _, found in shown)
    more = any(len(found) > _PER_FILE for _, found in shown)
    head = f"{counted(total, 'match', 'matches')} in {len(shown)} of {counted(len(files), 'file')}"
    report = Report(ask, head + (f", at most {_PER_FILE} of a file" if more else ""))
    for where, found in shown:
        report.section(f"=== {where} ===")
        for text, span in found[:_PER_FILE]:
            report.add(around(text, span, ask.at_most(_SHOWN)))
        if len(found) > _PER_FILE:
            report.add("There are more in this file; search more narrowly")
    return report.text()


def _lines(ask: Ask, path: Path) -> Iterator[str]:
    """A file as lines to be searched: those of a text, or one for each value of JSON.

    The answers of an API are one long line, in which every pattern would be found.
    """
    if path.suffix != ".json":
        yield from (text for text in read_lines(ask.mg, path) if not text.startswith("#"))
        return
    where = ask.mg.relative(path)
    value = _value(ask, where)
    lines = _rule_lines(value) if where == _RULES else _leaves(value)
    yield from islice(lines, _LEAVES)
    if next(lines, None) is not None:
        ask.mg.tree.note(where, f"only its first {_LEAVES:,} values are searched")


def _rule_lines(value: Any) -> Iterator[str]:
    """One line for each rule, with what it asks for."""
    rules = Values(value if isinstance(value, dict) else {})
    for group in rules.values("data").objects("groups"):
        for rule in group.objects("rules"):
            state = rule.text("state") or rule.text("type") or "rule"
            yield f"{rule.text('name') or '?'} ({state}): {line(rule.text('query') or '', 2000)}"


def _leaves(value: Any, path: str = "", depth: int = 0) -> Iterator[str]:
    """ "data.activeTargets[0].health = up"."""
    if depth > _DEEPEST:
        yield f"{path} = (nested too deeply)"
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, f"{path}.{key}" if path else key, depth + 1)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", depth + 1)
    elif path:
        yield f"{path} = {value}"
