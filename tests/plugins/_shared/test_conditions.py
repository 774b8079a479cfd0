"""Conditions of objects, and what the conditions of a node say."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins._shared.conditions import Condition, condition, conditions, listed
from tinyhost_plugins._shared.must_gather_values import Values
from tinyhost_plugins._shared.nodes import readiness, roles, troubles

READY = {"type": "Ready", "status": "True"}


def node(*entries: Any, **more: Any) -> Values:
    return Values({"status": {"conditions": list(entries)}, **more})


def test_conditions_are_read_from_an_object_and_from_a_status() -> None:
    entry = {"type": "A", "status": "False", "reason": "R", "message": "m", "x": 1}
    expected = Condition("A", "False", "R", "m")
    assert listed(node(entry)) == [expected]
    assert conditions(Values({"conditions": [entry]})) == {"A": expected}


def test_what_is_no_condition_is_left_out() -> None:
    for value in ({}, {"status": 1}, {"status": {"conditions": {}}}):
        assert listed(Values(value)) == []
    assert listed(node(1, {"status": "True"}, {"type": "", "status": "True"})) == []
    assert listed(node({"type": "A", "status": True})) == [Condition("A", "true")]


def test_a_condition_that_is_not_there_has_no_status() -> None:
    assert condition({}, "Ready") == Condition("Ready", "")


@pytest.mark.parametrize(
    ("reason", "message", "why"),
    [("", "", ""), ("R", "", "R"), ("", "a\n b", "a b"), ("R", "m", "R: m")],
)
def test_the_reason_is_one_line(reason: str, message: str, why: str) -> None:
    assert Condition("A", "True", reason, message).why() == why


def test_a_long_reason_is_cut() -> None:
    assert len(Condition("A", "True", "R", "x" * 5000).why()) == 400
    assert len(Condition("A", "True", "R", "x" * 5000).why(50)) == 50


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([READY], "Ready"),
        ([{"type": "Ready", "status": "False"}], "NotReady"),
        ([{"type": "Ready", "status": "Unknown"}], "Unknown"),
        ([], "Unknown"),
    ],
)
def test_a_node_is_as_ready_as_its_condition_says(entries: list[Any], said: str) -> None:
    assert readiness(node(*entries)) == said


def test_roles_are_sorted_labels() -> None:
    labels = {"node-role.kubernetes.io/worker": "", "node-role.kubernetes.io/infra": "", "x": ""}
    assert roles(node(metadata={"labels": labels})) == ("infra", "worker")
    assert roles(node()) == ()


def test_troubles_are_conditions_cordons_and_configurations_that_are_not_done() -> None:
    prefix = "machineconfiguration.openshift.io"
    found = node(
        READY,
        {"type": "DiskPressure", "status": "True", "message": "full"},
        {"type": "MemoryPressure", "status": "False"},
        {"type": "PIDPressure", "status": "Unknown"},
        metadata={"annotations": {f"{prefix}/state": "Degraded", f"{prefix}/reason": "r"}},
        spec={"unschedulable": True},
    )
    assert list(troubles(found)) == [
        ("DiskPressure", "full"),
        ("PIDPressure=Unknown", ""),
        ("SchedulingDisabled", "the node is cordoned"),
        ("config Degraded", "r"),
    ]
    done = {"annotations": {f"{prefix}/state": "Done"}}
    assert list(troubles(node(READY, metadata=done))) == []
