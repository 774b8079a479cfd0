"""Host logs, monitoring, and the search for patterns."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tinyhost_plugins._shared.must_gather import open_must_gather
from tinyhost_plugins._shared.pace import Pace
from tinyhost_plugins.ocp_must_gather import (
    events,
    health,
    machine_config,
    node_logs,
    nodes,
    operators,
    ovn,
    pods,
    prometheus,
    version,
)
from tinyhost_plugins.ocp_must_gather.plugin import build
from tinyhost_plugins.ocp_must_gather.report import Ask as Asked
from tinyhost_sdk import HandlerError, ToolContext, testing

Files = dict[str, Any]
Ask = Callable[..., list[str]]
Call = Callable[..., list[str]]
Write = Callable[..., Path]
MASTERS = "host_service_logs/masters/kubelet_service.log"
# Takes longer than the universe lasts, where nothing ends it.
CATASTROPHE = "(a+)+$"


def test_without_a_pattern_the_first_lines_of_every_file_are_shown(call: Call) -> None:
    said = call("mg_node_logs")
    assert said[:2] == [
        "2 host log files: the first lines",
        "Give a pattern to search all lines.",
    ]
    assert f"=== {MASTERS} === (1.7 KiB)" in said
    assert sum(entry.startswith("cp-0 ") for entry in said) == 20
    assert "-- Logs begin at Sun 2026-03-01 --" in said


def test_max_bounds_the_lines_without_a_pattern_too(call: Call) -> None:
    said = call("mg_node_logs", max=4)
    assert sum(" Mar 01 " in entry or entry.startswith(("Mar", "--")) for entry in said) == 4
    said = call("mg_node_logs", max=1)
    assert said[-1] == "No lines of the other files are shown; set max (up to 5000)"


def test_a_node_is_looked_for_where_the_line_names_it(call: Call) -> None:
    said = call("mg_node_logs", node="worker-0")
    assert [entry for entry in said if "crio[1]" in entry] == [
        "Mar 01 10:00:00.000000 worker-0 crio[1]: image is missing"
    ]
    said = call("mg_node_logs", node="worker-0", pattern="image")
    assert said[0] == "1 match in 2 host log files of worker-0"
    assert call("mg_node_logs", node="nobody")[-1] == "There are none."


def test_a_node_in_the_path_takes_the_whole_file(ask: Ask) -> None:
    files = {"host_service_logs/cp-9/kubelet.log": "one\ntwo\n"}
    assert ask(files, "mg_node_logs", node="cp-9")[-2:] == ["one", "two"]


def test_matches_are_counted_over_all_files(call: Call) -> None:
    said = call("mg_node_logs", pattern="image|line 2[01]")
    assert said[0] == "4 matches in 2 host log files"
    assert f"=== {MASTERS} ===" in said
    said = call("mg_node_logs", pattern="line", max=5)
    assert said[0] == "The first 5 matches in 2 host log files"
    assert said[-1] == "There are more; search more narrowly, or set max (up to 5000)"
    assert call("mg_node_logs", pattern="nothing like it") == [
        "No line matches the pattern in 2 host log files."
    ]


def test_more_lines_come_with_more_characters(ask: Ask) -> None:
    files = {MASTERS: "".join(f"{number} {'x' * 500}\n" for number in range(300))}
    few = ask(files, "mg_node_logs", pattern="x")
    assert sum(map(len, few)) < 30_000
    assert "more lines; ask for less" in few[-1]
    many = ask(files, "mg_node_logs", pattern="x", max=250)
    assert sum(entry.endswith("x") for entry in many) == 250


@pytest.mark.parametrize(
    ("tool", "args", "said"),
    [
        ("mg_node_logs", {"pattern": "("}, "pattern is no valid regular expression: missing )"),
        ("mg_prometheus", {"metric": "*"}, "metric is no valid regular expression"),
        ("mg_events", {"reason": "[z-a]"}, "reason is no valid regular expression"),
        ("mg_node_logs", {"pattern": "a" * 501}, "pattern is longer than 500 characters"),
        ("mg_node_logs", {"max": 5001}, "max has to be from 0 to 5000, not 5001"),
        ("mg_pods", {"limit": -1}, "limit has to be from 0 to 1000, not -1"),
    ],
)
def test_a_wrong_argument_is_an_error_in_words(
    cluster: Files, write: Write, tool: str, args: Files, said: str
) -> None:
    with testing.drive(build()) as driver:
        result = driver.call_tool(tool, {"path": str(write(cluster)), **args})
    assert result.is_error
    assert result.content.startswith(said)
    assert "\n" not in result.content


def test_a_match_far_behind_in_a_line_is_shown(ask: Ask) -> None:
    value = f"cp-0 kubelet[7]: {'x' * 2000} OOM here {'y' * 2000}"
    files = {MASTERS: f"{value}\n", "monitoring/a.txt": f"{value}\n"}
    for tool, pattern in (("mg_node_logs", "pattern"), ("mg_prometheus", "metric")):
        (shown,) = (s for s in ask(files, tool, **{pattern: "OOM h"}) if s.startswith("cp-0 "))
        assert "x … x" in shown
        assert "x OOM here y" in shown
        assert len(shown) <= 600


def test_a_pattern_that_would_take_for_ever_is_ended(write: Write) -> None:
    evil = "a" * 60 + "!"
    path = write(
        {
            MASTERS: f"{evil}\n",
            "monitoring/x.txt": f"{evil}\n",
            "namespaces/shop/core/events.yaml": {"items": [{"reason": evil}]},
        }
    )

    class Spent(Pace):
        """There is time to read everything, and none to search it."""

        def is_over(self, what: str) -> bool:
            return False

        def left(self) -> float:
            return 0.0

    asked = Asked(open_must_gather(path), Spent(ToolContext(), 1), 10)
    tells: dict[str, Callable[[], str]] = {
        "pattern": lambda: node_logs.answer(asked, "", CATASTROPHE, 0),
        "metric": lambda: prometheus.answer(asked, CATASTROPHE),
        "reason": lambda: events.answer(asked, "", "", CATASTROPHE),
    }
    for name, tell in tells.items():
        with pytest.raises(HandlerError) as caught:
            tell()
        assert str(caught.value) == (
            f"{name}: the search took longer than 1 seconds;"
            " use a simpler pattern, without repeats of repeats"
        )


def test_what_there_was_time_for_is_an_answer_that_says_so(write: Write, cluster: Files) -> None:
    path = write(cluster)
    tells: list[Callable[[Asked], str]] = [
        *(health.answer, ovn.answer, machine_config.answer, operators.answer, version.answer),
        lambda ask: nodes.answer(ask, ""),
        lambda ask: pods.answer(ask, "", ""),
        lambda ask: node_logs.answer(ask, "", "missing", 0),
    ]
    for tell in tells:
        pace = Pace(ToolContext(), 0)
        mg = open_must_gather(path)
        mg.tree.is_over = pace.is_over
        said = tell(Asked(mg, pace, 10))
        assert "Not complete: the time was over after 0 seconds while reading" in said
        # That there is none of something is not known.
        assert "has no" not in said.split("\n")[0]
        assert not said.startswith("No line matches")


def test_a_call_tells_what_it_reads_when_its_time_is_over(
    write: Write, cluster: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(cluster)
    with testing.drive(build()) as driver:
        driver.call_tool("mg_use", {"path": str(path)})
        monkeypatch.setattr(Pace, "is_over", _over)
        said = driver.call_tool("mg_nodes").content
    assert said.startswith("No nodes could be read.\nNot complete: ")


def _over(pace: Pace, what: str) -> bool:
    pace.stopped = what
    return True


def test_monitoring_has_alerts_files_and_what_failed(call: Call) -> None:
    assert call("mg_prometheus") == [
        "3 monitoring files, 1 alert firing, 1 of them critical",
        "",
        "Alerts",
        "STATE SEVERITY ALERT NAMESPACE SINCE SUMMARY",
        "firing critical NodeDown shop 2026-03-01T09:00:00 worker-0 is down",
        "",
        "Files; give metric, a regular expression, to search them",
        "FILE SIZE",
        "monitoring/metrics/metrics.openmetrics 984 B",
        "monitoring/prometheus/rules.json 427 B",
        "monitoring/prometheus/prometheus-k8s-0/active-targets.json 83 B",
        "",
        "What failed while it was gathered",
        "monitoring/prometheus/prometheus-k8s-0/active-targets.json.stderr: it took too long",
    ]


def test_metrics_rules_and_values_are_searched_one_by_one(call: Call) -> None:
    said = call("mg_prometheus", metric="^up\\{|NodeDown|health")
    assert said[0] == "52 matches in 3 of 3 files, at most 50 of a file"
    assert 'up{job="a49"} 1' in said
    assert 'up{job="a50"} 1' not in said
    assert "There are more in this file; search more narrowly" in said
    assert "NodeDown (firing): up == 0" in said
    assert "data.activeTargets[0].health = down" in said
    assert call("mg_prometheus", metric="HELP") == ["Nothing in 3 monitoring files matches."]


def test_an_answer_of_one_long_line_is_searched_by_value(ask: Ask) -> None:
    many = json.dumps({"data": [{"name": f"n{number}"} for number in range(40_000)]})
    deep = json.loads("[" * 80 + "1" + "]" * 80)
    files = {"monitoring/a.json": many, "monitoring/b.json": json.dumps({"deep": deep})}
    files |= {"monitoring/c.json": json.dumps([{"name": "deep"}]), "monitoring/d.json": "{}"}
    said = ask(files, "mg_prometheus", metric="n39999$|deep")
    assert said[0] == "3 matches in 3 of 4 files"
    assert "[0].name = deep" in said
    assert "data[39999].name = n39999" in said
    assert any(entry.endswith("= (nested too deeply)") for entry in said)


def test_an_answer_with_more_values_than_are_searched_is_named(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prometheus, "_LEAVES", 1000)
    exact = {"monitoring/a.json": json.dumps(list(range(1000)))}
    assert len(ask(exact, "mg_prometheus", metric="= 999$")) == 4
    more = {"monitoring/a.json": json.dumps(list(range(1001)))}
    assert ask(more, "mg_prometheus", metric="= 1000$") == [
        "Nothing that was read in 1 monitoring file matches.",
        "Not read: monitoring/a.json (only its first 1,000 values are searched)",
    ]


def test_rules_that_are_no_json_are_named(ask: Ask) -> None:
    said = ask({"monitoring/prometheus/rules.json": "{"}, "mg_prometheus")
    assert said[0].startswith("1 monitoring file, no rules in rules.json")
    assert said[-1].startswith("Not read: monitoring/prometheus/rules.json (no valid YAML")
