"""Which events fit a query."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from tinyhost_plugins.audit_logs.events import FullEvent
from tinyhost_plugins.audit_logs.filters import Query
from tinyhost_sdk import HandlerError

DEPLOYMENT = {"resource": "deployments", "apiGroup": "apps", "subresource": "scale"}


@pytest.mark.parametrize(
    ("filters", "fits"),
    [
        ({}, True),
        ({"user": "lic"}, True),
        ({"user": "ALICE"}, True),
        ({"user": "bob"}, False),
        ({"user": "(no user)"}, False),
        ({"group": "system:authenticated"}, True),
        ({"group": "system:masters"}, False),
        ({"verb": "PATCH"}, True),
        ({"verb": "pat"}, False),
        ({"resource": "Deployments"}, True),
        ({"resource": "deployments.apps"}, True),
        ({"resource": "deployments.apps/scale"}, True),
        ({"resource": "deployments/scale"}, True),
        ({"resource": "deployments/status"}, False),
        ({"resource": "deployments.other"}, False),
        ({"resource": "deploy"}, False),
        ({"resource": "(non-resource)"}, False),
        ({"namespace": "SHOP"}, True),
        ({"namespace": "sho"}, False),
        ({"namespace": "(cluster-scoped)"}, False),
        ({"status_code": 409}, True),
        ({"status_code": 0}, True),
        ({"status_code": 200}, False),
        ({"user": "", "verb": "", "resource": "", "namespace": ""}, True),
        ({"user": "alice", "verb": "patch", "namespace": "shop", "status_code": 409}, True),
        ({"user": "alice", "verb": "patch", "namespace": "shop", "status_code": 200}, False),
        ({"since": "2026-01-02T10:00:00Z"}, True),
        ({"since": "2026-01-02T10:00:00.000001Z"}, False),
        ({"since": "2026-01-02T11:00:00+01:00"}, True),
        ({"until": "2026-01-02T10:00:00Z"}, False),
        ({"until": "2026-01-02 10:01"}, True),
        ({"since": "2026-01-02", "until": "2026-01-03"}, True),
    ],
)
def test_an_event_fits_all_filters_or_not(event: Any, filters: Any, fits: bool) -> None:
    one = convert(event(verb="patch", code=409, target=DEPLOYMENT), FullEvent)
    assert Query(filters)([one]) == ([one] if fits else [])


@pytest.mark.parametrize(
    "filters",
    [
        {"user": "(no user)"},
        {"resource": "(non-resource)"},
        {"namespace": "(cluster-scoped)"},
        {"since": ""},
    ],
)
def test_what_a_report_shows_for_nothing_is_a_filter_for_nothing(filters: Any) -> None:
    one = FullEvent(verb="get")
    assert Query(filters)([one]) == [one]


LOGIN = {"authentication.openshift.io/username": "bob"}


@pytest.mark.parametrize(
    ("changes", "users"),
    [
        ({"annotations": LOGIN}, ["bob", "bob (login)", "alice"]),
        ({"impersonatedUser": {"username": "root"}}, ["root", "alice as root", "alice"]),
    ],
)
def test_a_user_is_found_by_every_name_that_is_shown(event: Any, changes: Any, users: Any) -> None:
    one = convert(event(**changes), FullEvent)
    for user in users:
        assert Query({"user": user})([one]) == [one]
    assert Query({"user": "(no user)"})([one]) == []


def test_an_event_without_a_time_is_in_no_time_span() -> None:
    assert Query({"since": "2026-01-02"})([FullEvent(time="soon")]) == []
    assert Query({"until": "2026-01-02"})([FullEvent(time="soon")]) == []


@pytest.mark.parametrize("text", ["yesterday", "10:00", "2026-01-99T00:00:00Z", "99"])
def test_a_time_that_is_none_is_an_error(text: str) -> None:
    with pytest.raises(HandlerError, match="since must be a time such as"):
        Query({"since": text})


@pytest.mark.parametrize("until", ["2026-01-02", "2026-01-02T00:00:00+01:00", "2025-12-31"])
def test_a_span_without_any_time_in_it_is_an_error(until: str) -> None:
    with pytest.raises(HandlerError, match="since=2026-01-02 is not before until=2"):
        Query({"since": "2026-01-02", "until": until})


def test_the_filters_are_said_in_words() -> None:
    query = Query({"path": "/x", "verb": "get", "status_code": 403, "until": "2026-01-02", "n": 3})
    assert query.text == "verb=get, status_code=403, until=2026-01-02"
    assert not query.full
    assert not query.all_stages
    assert Query({"group": "g"}).full
