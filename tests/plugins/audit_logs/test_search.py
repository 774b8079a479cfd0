"""audit_search: the events that match, oldest first."""

from __future__ import annotations

from typing import Any

import pytest

from tinyhost_plugins.audit_logs.search import Oldest, Place, read_place


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
    assert (
        '37 more rows; narrow the filters, give max, 500 at most, or the same with after="2026'
        in content
    )


def pages(ask: Any, most: int, **args: Any) -> list[list[list[str]]]:
    """The rows of one call after the other, each with what the former one says to give."""
    found = []
    after = {}
    while True:
        content = ask("audit_search", max=most, **args, **after).content
        found.append(table(content))
        if "after=" not in content:
            return found
        after = {"after": content.split('after="')[1].split('"')[0]}


@pytest.mark.parametrize("most", [1, 3, 4, 7, 100])
def test_paging_shows_every_row_once_also_of_one_time_and_of_none(
    ask: Any, gather: Any, event: Any, most: int
) -> None:
    times = [
        *["2026-01-02T10:00:01.000000Z"] * 9,
        *["2026-01-02T10:00:00.123456789Z", "2026-01-02T10:00:00.123456788Z"] * 2,
        *["2026-01-02T10:00:01Z", "2026-01-02T12:00:01.5+02:00", "2026-01-02T10:00:01.5Z"],
        *["yesterday"] * 5,
    ]
    gather.add([event(f"user-{n // 2}", at=at) for n, at in enumerate(times)])
    whole = table(ask("audit_search", max=100).content)
    found = pages(ask, most)
    assert [row for page in found for row in page] == whole
    assert len(whole) == len(times)
    assert all(len(page) == most for page in found[:-1])
    assert 0 < len(found[-1]) <= most


def test_paging_keeps_to_the_filters_and_tells_which_rows_are_shown(
    ask: Any, gather: Any, event: Any
) -> None:
    gather.add([event(verb="get" if n % 2 else "list") for n in range(20)])
    content = ask("audit_search", max=4, verb="get").content
    assert content.startswith("10 events that match verb=get; the oldest 4 are shown\n")
    after = "2026-01-02T10:00:00.000000Z/4"
    assert (
        f'6 more rows; narrow the filters, give max, 500 at most, or the same with after="{after}"'
        in content
    )
    content = ask("audit_search", max=4, verb="get", after=after).content
    assert content.startswith("10 events that match verb=get; rows 5 to 8 are shown\n")
    content = ask("audit_search", verb="get", after="2026-01-02T10:00:00.000000Z/10").content
    assert "; none of them comes after 2026-01-02T10:00:00.000000Z/10\n" in content


def test_no_row_of_another_time_is_passed_over(ask: Any, gather: Any, event: Any) -> None:
    gather.add([event(at=f"2026-01-02T10:00:0{second}Z") for second in range(4)])
    content = ask("audit_search", after="2026-01-02T10:00:01Z/3").content
    assert content.startswith("4 events; rows 3 to 4 are shown\n")
    assert [row[0][17:19] for row in table(content)] == ["02", "03"]


@pytest.mark.parametrize(
    "after",
    [
        *("x", "/", "/1", "a/\u00b2", "yesterday/1", "2026-01-02T10:00:00Z"),
        *(f"2026-01-02T10:00:00Z/{count}" for count in ("-1", "50001", "9" * 5000)),
    ],
)
def test_what_is_no_place_is_an_error_that_says_what_to_do(
    ask: Any, seven: Any, after: str
) -> None:
    answer = ask("audit_search", after=after)
    assert answer.is_error
    assert answer.content.startswith("after must be what a former audit_search has told to give")


@pytest.mark.parametrize("place", [Place("2026-01-02T10:00:00.5", 3), Place("~", 1)])
def test_a_place_is_read_as_it_is_written(place: Place) -> None:
    assert read_place(str(place)) == place


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
    assert "after" not in ask("audit_search", max=1, user="late").content


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
    rows, after = oldest.take()
    assert (oldest.total, len(rows)) == (5000, 10)
    assert held < 1100
    assert rows == sorted(rows)
    assert after == (rows[-1][0], 1)


@pytest.mark.parametrize("resource", ["oauthaccesstokens", "useroauthaccesstokens"])
def test_the_name_of_a_token_is_cut(gather: Any, event: Any, ask: Any, resource: str) -> None:
    target = {"apiGroup": "oauth.openshift.io", "name": "0123456789which-was-the-token"}
    gather.add([event(verb="delete", resource=resource, target=target)])
    for tool in ("audit_search", "audit_anomalies"):
        content = ask(tool).content
        assert resource in content
        assert "which" not in content
    assert "  0123456789…  " in ask("audit_search").content
