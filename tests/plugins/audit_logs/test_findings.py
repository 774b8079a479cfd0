"""audit_anomalies and audit_health: what counts, and how it is rated."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import convert

from tinyhost_plugins.audit_logs.events import FullEvent, escalation, failed_authentication
from tinyhost_plugins.audit_logs.health import rate

RBAC = {"apiGroup": "rbac.authorization.k8s.io", "namespace": ""}
TOKEN = {"resource": "serviceaccounts", "subresource": "token"}
NODE = "system:node:worker-1"


@pytest.mark.parametrize(
    ("changes", "how"),
    [
        ({"verb": "create", "resource": "clusterroles", "target": RBAC}, "create clusterroles"),
        ({"verb": "update", "resource": "rolebindings", "target": RBAC}, "update rolebindings"),
        ({"verb": "patch", "resource": "roles", "target": RBAC}, "patch roles"),
        (
            {
                "verb": "create",
                "resource": "clusterrolebindings",
                "target": {"apiGroup": "authorization.openshift.io"},
            },
            "create clusterrolebindings",
        ),
        ({"verb": "delete", "resource": "roles", "target": RBAC}, ""),
        ({"verb": "get", "resource": "clusterroles", "target": RBAC}, ""),
        ({"verb": "create", "resource": "roles", "target": {"apiGroup": "games.example"}}, ""),
        ({"verb": "create", "resource": "pods"}, ""),
        ({"verb": "get"}, ""),
        ({"impersonatedUser": {"username": "root"}}, "acts as root"),
        ({"requestURI": "/api/v1/pods?labelSelector=impersonate"}, ""),
        ({"resource": "", "impersonatedUser": {"username": "root"}}, "acts as root"),
        ({"verb": "create", "target": TOKEN}, "token of shop/web"),
        ({"verb": "get", "target": TOKEN}, ""),
        ({"verb": "create", "requestURI": "/x/token", "resource": "serviceaccounts"}, ""),
    ],
)
def test_what_may_give_more_rights(event: Any, changes: Any, how: str) -> None:
    assert escalation(convert(event(**changes), FullEvent)) == how


@pytest.mark.parametrize(
    ("code", "decision", "login", "failed"),
    [
        (401, "", "", True),
        (403, "", "", True),
        (404, "", "", False),
        (200, "", "", False),
        (302, "deny", "bob", True),
        (200, "error", "bob", True),
        (302, "allow", "bob", False),
        (302, "deny", "", False),
        (401, "deny", "", True),
        (0, "", "", False),
    ],
)
def test_what_is_a_failed_authentication(
    event: Any, code: int, decision: str, login: str, failed: bool
) -> None:
    notes = {
        "authorization.k8s.io/decision": "allow",
        "authentication.openshift.io/decision": decision,
        "authentication.openshift.io/username": login,
    }
    one = convert(event(code=code, annotations=notes), FullEvent)
    assert failed_authentication(one) is failed


def section(content: str, name: str) -> str:
    [found] = [part for part in content.split("\n\n") if part.startswith(name)]
    return found


def test_all_four_sections_are_there_and_name_the_users(ask: Any, seven: Any) -> None:
    content = ask("audit_anomalies").content
    assert content.startswith(
        "Anomalies in 7 events, 2026-01-02T10:00:00Z to 2026-01-02T11:00:02Z: 2 failed"
        " authentications, 2 deletions, 0 privilege escalations, 1 service account\n"
    )
    failures = section(content, "Authentication failures")
    assert "2, 28.6%" in failures
    assert failures.splitlines()[-1].split() == ["2", "mallory", "403"]
    deletions = section(content, "Deletions: 2; not counted: 1 refused, 0 by the platform itself")
    assert [line.split() for line in deletions.splitlines()[2:]] == [
        ["1", "alice", "delete", "secrets", "shop"],
        [
            *("1", "system:serviceaccount:shop:robot"),
            *("deletecollection", "deployments.apps", "shop"),
        ],
    ]
    assert "Privilege escalation" in content
    accounts = section(content, "Service accounts: 1 with 1 event")
    assert accounts.splitlines()[-1].split() == ["1", "system:serviceaccount:shop:robot"]


def test_the_daily_work_of_the_platform_is_told_apart(ask: Any, gather: Any, event: Any) -> None:
    token = {"verb": "create", "target": TOKEN}
    gather.add(
        [
            *[event(NODE, **token) for _ in range(60)],
            *[event("system:kube-controller-manager", **token) for _ in range(60)],
            *[event("system:serviceaccount:kube-system:job", verb="delete") for _ in range(600)],
            event("mallory", **token),
            event("mallory", impersonatedUser={"username": "system:admin"}, code=403),
        ]
    )
    content = ask("audit_anomalies").content
    part = section(content, "Privilege escalation")
    assert ": 1; not counted: 1 refused, 120 by the platform itself" in part
    assert "mallory  token of shop/web" in part
    health = ask("audit_health").content
    assert "[OK      ] privilege escalation      1; not rated: 1 refused, 120" in health
    assert "[OK      ] deletions                 0; not rated: 0 refused, 600" in health
    health = ask("audit_health", {"platformUsers": []}).content
    assert "[CRITICAL] privilege escalation      121;" in health
    assert "[CRITICAL] deletions                 600;" in health


def test_refused_logins_are_seen(ask: Any, gather: Any, event: Any) -> None:
    notes = {
        "authentication.openshift.io/decision": "deny",
        "authentication.openshift.io/username": "bob",
    }
    gather.add([event("system:anonymous", code=302, annotations=notes)], area="oauth-server")
    content = ask("audit_anomalies").content
    assert "1  bob (login)  302" in section(content, "Authentication failures")


def test_a_long_list_is_cut_with_the_way_to_see_more(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(f"user-{number:02}", code=401) for number in range(14)])
    part = section(ask("audit_anomalies").content, "Authentication failures")
    assert part.endswith("4 more rows; audit_search lists the events")


def test_fifteen_of_twenty_failures_are_critical(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(code=403) for _ in range(15)] + [event() for _ in range(5)])
    content = ask("audit_health").content
    assert content.startswith("Overall: [CRITICAL], 1 critical and 0 to watch of 5 checks\n")
    assert "[CRITICAL] auth failures             15, 75.0% of events" in content
    assert "20 events, 2026-01-02T10:00:00Z to 2026-01-02T10:00:00Z" in content
    for name in ("deletions", "privilege escalation", "volume", "server errors (5xx)"):
        assert f"[OK      ] {name}" in content


@pytest.mark.parametrize(
    ("number", "rating"), [(100, "OK"), (101, "WARN"), (500, "WARN"), (501, "CRITICAL")]
)
def test_deletions_are_rated_by_their_number(
    ask: Any, gather: Any, event: Any, number: int, rating: str
) -> None:
    gather.add([event(verb="delete") for _ in range(number)])
    content = ask("audit_health").content
    assert content.startswith(f"Overall: [{rating}]")
    assert f"[{rating:<8}] deletions                 {number};" in content


@pytest.mark.parametrize(
    ("errors", "rating"), [(1, "OK"), (2, "WARN"), (5, "WARN"), (6, "CRITICAL")]
)
def test_server_errors_are_rated_by_their_share(
    ask: Any, gather: Any, event: Any, errors: int, rating: str
) -> None:
    gather.add([event(code=503 if place < errors else 200) for place in range(100)])
    assert f"[{rating:<8}] server errors (5xx)       {errors}" in ask("audit_health").content


def test_the_volume_is_that_of_an_hour(ask: Any, gather: Any, event: Any) -> None:
    at = ["2026-01-02T10:00:00Z", "2026-01-02T10:30:00Z"]
    gather.add([event(at=at[number % 2]) for number in range(300)])
    assert "[OK      ] volume                    600 events per hour" in ask("audit_health").content
    limits = {"thresholds": {"eventsPerHour": [500, 550]}}
    assert "[CRITICAL] volume" in ask("audit_health", limits).content


def test_events_without_times_are_rated_all_the_same(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at="")])
    content = ask("audit_health").content
    assert content.startswith("Overall: [OK]")
    assert "volume                    no time in the events" in content
    assert "(no time) to (no time)" in content


def test_without_events_nothing_is_rated(ask: Any, gather: Any) -> None:
    gather.add(b"")
    for tool in ("audit_health", "audit_anomalies"):
        assert ask(tool).content.startswith("There are no events.\n")


@pytest.mark.parametrize(
    ("value", "limits", "rating"),
    [
        (5, (5, 10), "OK"),
        (5.1, (5, 10), "WARN"),
        (10, (5, 10), "WARN"),
        (10.1, (5, 10), "CRITICAL"),
        (1e9, (5, None), "WARN"),
        (1e9, (None, None), "OK"),
        (11, (None, 10), "CRITICAL"),
    ],
)
def test_a_rating_is_what_is_over_its_limit(value: float, limits: Any, rating: str) -> None:
    assert rate(value, limits) == rating
