"""audit_top: counts by one dimension."""

from __future__ import annotations

import re
from typing import Any

import pytest


def rows(content: str) -> dict[str, int]:
    """Counts by key, in the order that they are shown in."""
    found = re.findall(r"^ *\d+ +([\d,]+) +[\d.]+ +(.+)$", content, re.MULTILINE)
    return {key: int(count.replace(",", "")) for count, key in found}


@pytest.mark.parametrize(
    ("by", "wanted"),
    [
        ("user", {"alice": 4, "mallory": 2, "system:serviceaccount:shop:robot": 1}),
        ("verb", {"get": 3, "delete": 2, "deletecollection": 1, "list": 1}),
        ("resource", {"pods": 4, "secrets": 2, "deployments.apps": 1}),
        ("namespace", {"shop": 7}),
        ("status_code", {"200": 5, "403": 2}),
        ("user_agent", {"oc/4.16.0 (linux/amd64)": 7}),
        ("source_ip", {"10.0.0.7": 7}),
        ("node", {"master-0": 7}),
        ("area", {"kube-apiserver": 7}),
    ],
)
def test_events_are_counted_by_each_dimension(ask: Any, seven: Any, by: str, wanted: Any) -> None:
    content = ask("audit_top", by=by).content
    assert rows(content) == wanted
    assert list(rows(content)) == list(wanted)
    assert content.startswith(f"Top {len(wanted)} of {len(wanted)} value")
    assert f" of {by}, in 7 events" in content.splitlines()[0]


def test_equal_counts_are_in_the_order_of_their_names(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(user) for user in ("c", "a", "b", "z", "z")])
    assert list(rows(ask("audit_top", by="user").content)) == ["z", "a", "b", "c"]


def test_filters_reduce_the_total(ask: Any, seven: Any) -> None:
    content = ask("audit_top", by="user", verb="get").content
    assert content.startswith("Top 2 of 2 values of user, in 3 events that match verb=get\n")
    assert rows(content) == {"alice": 2, "mallory": 1}


def test_what_is_not_there_has_a_name(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event("", resource="", code=0, userAgent="", sourceIPs=[], namespace="")])
    for by, name in [
        ("user", "(no user)"),
        ("resource", "(non-resource)"),
        ("namespace", "(cluster-scoped)"),
        ("status_code", "(unknown)"),
        ("user_agent", "(unknown)"),
        ("source_ip", "(unknown)"),
    ]:
        assert rows(ask("audit_top", by=by).content) == {name: 1}


def test_a_login_is_counted_for_who_wants_to_log_in(ask: Any, gather: Any, event: Any) -> None:
    login = {"authentication.openshift.io/username": "bob"}
    gather.add([event("system:anonymous", annotations=login)], area="oauth-server")
    assert rows(ask("audit_top", by="user").content) == {"bob (login)": 1}


def test_no_event_is_a_sentence(ask: Any, seven: Any) -> None:
    answer = ask("audit_top", by="user", user="nobody")
    assert answer.content.startswith("No audit events match user=nobody.\n")
    assert not answer.is_error


def test_what_is_not_shown_is_said_with_the_way_to_see_it(ask: Any, seven: Any) -> None:
    content = ask("audit_top", by="user", n=1).content
    assert content.startswith("Top 1 of 3 values of user, in 7 events\n")
    assert "2 more rows; give n, 500 at most, or filters" in content


@pytest.mark.parametrize("n", [0, -3])
def test_a_number_below_one_means_the_default(ask: Any, gather: Any, event: Any, n: int) -> None:
    gather.add([event(f"user-{number:02}") for number in range(25)])
    assert len(rows(ask("audit_top", by="user", n=n).content)) == 20


def test_keys_beyond_the_limit_are_counted_in_the_total(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(f"user-{number}") for number in range(1200)])
    content = ask("audit_top", {"maxKeys": 1000}, by="user", n=1).content
    assert ", in 1,200 events" in content
    assert "200 events of still other values are in the total alone" in content


def test_control_characters_of_names_are_escaped_and_long_names_cut(
    ask: Any, gather: Any, event: Any
) -> None:
    gather.add([event("eve\x1b[2J\nOverall: [OK]"), event("x" * 1000)])
    content = ask("audit_top", by="user").content
    assert "\x1b" not in content
    assert "eve\\x1b[2J\\nOverall: [OK]" in content
    assert max(map(len, content.splitlines())) < 200


def test_a_long_service_account_is_whole(ask: Any, gather: Any, event: Any) -> None:
    name = "system:serviceaccount:openshift-operator-lifecycle-manager:olm-operator-serviceaccount"
    gather.add([event(name)])
    assert rows(ask("audit_top", by="user").content) == {name: 1}
