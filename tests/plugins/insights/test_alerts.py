"""Alerts in all the places and forms they come in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tinyhost_plugins._shared.report import View
from tinyhost_plugins.insights import health
from tinyhost_plugins.insights.alerts import answer, read_alerts
from tinyhost_plugins.insights.loading import Loaded
from tinyhost_plugins.insights.metrics import samples

LoadFiles = Callable[[dict[str, Any]], Loaded]
VIEW = View(50, 28_000)


def test_every_severity_is_shown_the_worst_first(
    cluster: dict[str, Any], loaded: LoadFiles
) -> None:
    said = answer(loaded(cluster), VIEW, "")
    first, *titles = [entry for entry in said.split("\n") if entry and not entry.startswith("- ")]
    assert first == (
        "5 alerts fire (1 critical, 1 warning, 1 none, 1 page, 1 no severity),"
        " 1 silenced or not firing"
    )
    assert titles == [
        *("critical: 1", "warning: 1", "none: 1", "page: 1", "no severity: 1"),
        "critical (silenced or not firing): 1",
    ]
    assert (
        "- KubeNodeNotReady [node=worker-0] active since 2026-03-01T09:00:00Z:"
        " worker-0 is not ready\n" in said
    )
    assert "- Silent suppressed since" in said


def test_a_severity_is_compared_in_any_case(cluster: dict[str, Any], loaded: LoadFiles) -> None:
    said = answer(loaded(cluster), VIEW, " CRITICAL")
    assert said.startswith("1 alert fires of severity critical, 1 silenced or not firing\n")
    assert "etcdSlow" not in said
    assert "1 alert fires of severity page" in answer(loaded(cluster), VIEW, "page")
    none = answer(loaded(cluster), VIEW, "info")
    assert none.startswith("0 alerts fire of severity info\nThere are alerts of other severities:")


@pytest.mark.parametrize(
    "form",
    [
        lambda found: found,
        lambda found: {"data": {"alerts": found}},
        lambda found: {"alerts": found},
        lambda found: {"items": found},
        lambda found: {"data": found},
    ],
)
@pytest.mark.parametrize("path", ["config/alerts.json", "monitoring/alerts/alerts.json"])
def test_lists_of_alerts_are_found_at_every_place(
    loaded: LoadFiles, path: str, form: Callable[[Any], Any]
) -> None:
    raw = [{"name": "Old", "labels": {"severity": "Warning"}, "state": "firing"}, "odd", 7]
    (found,) = read_alerts(loaded({"config/id": "1", path: form(raw)}))
    assert (found.name, found.severity, found.state, found.firing) == (
        *("Old", "warning", "firing"),
        True,
    )


def test_messages_are_one_line_and_cut_between_characters(loaded: LoadFiles) -> None:
    message = "é\n" * 200
    raw = [{"labels": {"alertname": "A"}, "annotations": {"message": message}}]
    (found,) = read_alerts(loaded({"config/alerts.json": raw}))
    assert found.line() == "A: " + ("é " * 100)[:199] + "…"


def test_an_archive_of_an_old_operator_has_alerts_among_its_metrics(loaded: LoadFiles) -> None:
    metrics = (
        'ALERTS{alertname="Old",alertstate="firing",severity="critical",pod="a\\"b\\\\c"} 1 17\n'
        'ALERTS{alertname="Soon",alertstate="pending",severity="critical"} 1 17\n'
        "ALERTS_FOR_STATE 1\nALERTS{ odd\nALERTS x\n"
    )
    said = answer(loaded({"config/metrics": metrics}), VIEW, "")
    assert said.startswith("1 alert fires (1 critical)\n")
    assert '- Old [pod=a"b\\c] firing' in said
    both = {"config/metrics": metrics, "config/alerts.json": []}
    assert answer(loaded(both), VIEW, "").startswith("0 alerts fire")


def test_an_archive_without_alerts_says_so(loaded: LoadFiles) -> None:
    assert answer(loaded({"config/id": "1"}), VIEW, "").startswith("This archive has no alerts")


def test_alerts_that_cannot_be_read_are_not_called_none(loaded: LoadFiles) -> None:
    said = answer(loaded({"config/alerts.json": "[{", "config/id": "1"}), VIEW, "")
    assert said.startswith("It is not known which alerts fire: config/alerts.json cannot be read.")
    metrics = 'ALERTS{alertname="Old",alertstate="firing",severity="critical"} 1\n'
    said = answer(loaded({"config/alerts.json": "[{", "config/metrics": metrics}), VIEW, "")
    assert said.startswith("1 alert fires (1 critical)\n")


def test_a_long_message_is_shown_whole_where_one_asks_for_alerts(loaded: LoadFiles) -> None:
    message = "what to do about it is told at length, " * 20
    alert = {"labels": {"alertname": "A"}, "annotations": {"message": message + "at last"}}
    said = answer(loaded({"config/alerts.json": [alert]}), VIEW, "")
    assert said.endswith("at length, at last")


def test_a_hostile_line_of_metrics_takes_no_long_time(loaded: LoadFiles) -> None:
    lines = ["m{" + "a" * 500_000 + "} 1", "m{" + ',a="' * 100_000 + "} 2", "m NaN", "m +Inf"]
    lines += ['m{a="' + "\\" * 99_999 + "} 3", "m{" + "," * 500_000 + "} 4"]
    found = loaded({"config/metrics": "\n".join(lines)})
    assert [sample.value for sample in samples(found, "m")] == [1, 2, 3, 4]


def test_an_alert_in_both_files_is_one_and_what_is_inhibited_is_not_silenced(
    loaded: LoadFiles,
) -> None:
    def one(name: str, **status: object) -> dict[str, Any]:
        labels = {"alertname": name, "severity": "critical"}
        return {"labels": labels, "status": {"state": "suppressed", **status}}

    quiet = one("Quiet", silencedBy=["a"], inhibitedBy=["b"])
    minor = one("Minor", silencedBy=[], inhibitedBy=["b"])
    found = loaded({"config/alerts.json": [quiet, minor], "config/silenced_alerts.json": [quiet]})
    said = answer(found, VIEW, "")
    assert said.startswith("0 alerts fire, 2 silenced or not firing\n")
    assert "- Minor inhibited\n- Quiet suppressed" in said
    assert "- 1 critical alert silenced; see insights_alerts" in health.answer(found, VIEW)
