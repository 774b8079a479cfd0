"""audit_search: the events that match, oldest first."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.audit_logs.search import Oldest


def table(content: str) -> list[list[str]]:
    lines = content.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("time "))
    found = []
    for line in lines[start + 1 :]:
        if not line or "more row" in line:
            break
        found.append(line.split())
    return found


def test_the_user_is_a_part_of_the_name_in_any_case(ask: Any, seven: Any) -> None:
    content = ask("audit_search", user="MALL").content
    assert content.startswith("2 events that match user=MALL\n")
    assert [row[1] for row in table(content)] == ["403", "403"]


def test_a_single_event_is_told_in_the_singular(ask: Any, seven: Any) -> None:
    content = ask("audit_search", user="MALL", verb="delete").content
    assert content.startswith("1 event that matches user=MALL, verb=delete\n")


def test_a_row_has_what_the_event_says(ask: Any, gather: Any, event: Any) -> None:
    gather.add(
        [
            event(
                verb="create",
                code=201,
                target={"subresource": "exec", "apiGroup": "x.io"},
                impersonatedUser={"username": "bob"},
            )
        ],
        name="master-2-audit-2026-01-02T10-00-00.000.log.gz",
    )
    content = ask("audit_search").content
    assert (
        "2026-01-02T10:00:00.000Z  201   create  alice as bob  pods.x.io/exec  shop       web"
        "   master-2" in content
    )


def test_a_request_without_a_resource_shows_its_path(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(resource="", namespace="", requestURI="/healthz?state=s3cret", code=0)])
    [row] = table(ask("audit_search").content)
    assert row[1:] == ["-", "get", "alice", "/healthz", "(cluster-scoped)", "-", "master-0"]


def test_where_the_node_is_not_known_the_area_is_shown(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event()], area="oauth-server", name="audit.log")
    [row] = table(ask("audit_search").content)
    assert row[-1] == "oauth-server"


@pytest.mark.parametrize("most", [0, -1])
def test_a_number_below_one_means_the_default(ask: Any, gather: Any, event: Any, most: int) -> None:
    gather.add([event()] * 60)
    assert len(table(ask("audit_search", max=most).content)) == 50


def test_the_oldest_of_all_logs_come_first_and_the_number_of_all_is_true(
    ask: Any, gather: Any, event: Any
) -> None:
    times = [f"2026-01-02T10:00:{second:02}.000000Z" for second in range(40)]
    gather.add([event(at=at) for at in times[1::2]], name="a-audit.log")
    gather.add([event(at=at) for at in times[0::2]], name="b-audit.log.gz")
    content = ask("audit_search", max=3).content
    assert content.startswith("40 events; the oldest 3 are shown\n")
    assert [row[0][17:19] for row in table(content)] == ["00", "01", "02"]
    assert [row[-1] for row in table(content)] == ["b", "a", "b"]
    assert '37 more rows; narrow the filters, give max, 500 at most, or since="2026' in content


def test_the_time_of_the_last_row_leads_to_the_next_rows(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at=f"2026-01-02T10:00:{second:02}.5Z") for second in range(9)])
    content = ask("audit_search", max=3).content
    since = content.split('since="')[1].split('"')[0]
    assert [row[0][17:19] for row in table(ask("audit_search", max=3, since=since).content)] == [
        "02",
        "03",
        "04",
    ]


def test_exactly_as_many_as_asked_for_are_not_called_cut(ask: Any, seven: Any) -> None:
    content = ask("audit_search", max=7).content
    assert content.startswith("7 events\n")
    assert "more row" not in content


def test_nothing_found_is_a_sentence(ask: Any, seven: Any) -> None:
    answer = ask("audit_search", user="nobody", status_code=500)
    assert answer.content.startswith("No audit events match user=nobody, status_code=500.\n")
    assert not answer.is_error


def test_events_without_a_time_come_last(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event("late", at="yesterday"), event("early")])
    content = ask("audit_search", max=1).content
    assert [row[3] for row in table(content)] == ["early"]
    content = ask("audit_search").content
    assert "(no time)" in content.splitlines()[4]
    assert "since" not in ask("audit_search", max=1, user="late").content


@pytest.mark.parametrize("order", ["up", "down"])
def test_memory_is_kept_for_the_rows_alone(event: Any, order: str) -> None:
    from msgspec import convert

    from tinyhost_plugins.audit_logs.events import FullEvent
    from tinyhost_plugins.audit_logs.files import LogFile

    numbers = list(range(5000))
    oldest = Oldest(10)
    held = 0
    for number in numbers if order == "up" else reversed(numbers):
        at = f"2026-01-02T10:{number // 60 % 60:02}:{number % 60:02}.{number:06}Z"
        oldest.add(LogFile("", "", "", "n", 0), convert(event(at=at), FullEvent))
        held = max(held, len(oldest._rows))
    assert (oldest.total, len(oldest.rows())) == (5000, 10)
    assert held < 1100
    assert oldest.rows() == sorted(oldest.rows())


@pytest.mark.parametrize("resource", ["oauthaccesstokens", "useroauthaccesstokens"])
def test_the_name_of_a_token_is_cut(gather: Any, event: Any, ask: Any, resource: str) -> None:
    target = {"apiGroup": "oauth.openshift.io", "name": "0123456789which-was-the-token"}
    gather.add([event(verb="delete", resource=resource, target=target)])
    for tool in ("audit_search", "audit_anomalies"):
        content = ask(tool).content
        assert resource in content
        assert "which" not in content
    assert "  0123456789…  " in ask("audit_search").content
