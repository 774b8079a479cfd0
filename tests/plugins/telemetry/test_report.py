"""The texts of the two tools."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinyhost_plugins.telemetry import changes
from tinyhost_plugins.telemetry.report import Query, query, read_query, report
from tinyhost_plugins.telemetry.store import Store

DAY = 86_400_000
WHEN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with closing(Store(str(tmp_path / "telemetry.db"))) as store:
        yield store


def add(
    store: Store,
    session: str,
    *tools: str,
    age: float = 0,
    ok: bool = True,
    ms: int | None = None,
    args: str = "",
) -> None:
    """Write calls that ended `age` days ago."""
    now = int(time.time() * 1000 - age * DAY)
    rows = [changes.call(session, tool, args, now, ms, ok) for tool in tools]
    store.write([*changes.start(session, now), *(change for row in rows for change in row)], 1)


def ask(store: Store, **args: Any) -> str:
    return query(store, read_query(args, 90))


def test_an_empty_database_is_reported_in_one_sentence(store: Store) -> None:
    assert report(store, 90) == "No telemetry data has been collected yet."


def test_the_report_has_totals_top_tools_and_last_sessions(store: Store) -> None:
    store.write(changes.start("first", 0), 1)
    store.write(changes.end("first", 1500), 1)
    add(store, "second", "read", "bash", "write", "bash")
    add(store, "second", "bash", ok=False, ms=500)
    assert report(store, 90).splitlines()[:10] == [
        "--- Telemetry Report ---",
        "Total sessions: 2",
        "Total tool calls: 5",
        "Average tool calls per session: 2.5",
        "",
        "Top 10 tools by call count:",
        "  bash: 3 (1 failed; 500 ms on average, 500 ms at most)",
        "  read: 1",
        "  write: 1",
        "",
    ]
    sessions = report(store, 90).splitlines()[10:]
    assert sessions[0] == "Last 5 sessions:"
    assert re.fullmatch(rf"  second \| started: {WHEN} \| ended: active \| tools: 5", sessions[1])
    assert sessions[2:] == [
        "  first | started: 1970-01-01T00:00:00Z | ended: 1970-01-01T00:00:01Z | tools: 0",
        "",
        f"Database: {store.path}, kept for 90 days",
    ]


def test_what_the_report_leaves_out_is_said(store: Store) -> None:
    for number in range(12):
        add(store, f"s{number:02}", f"tool{number:02}")
    text = report(store, 90)
    assert "\n  2 more tools; telemetry_query shows the calls\n" in text
    assert "\n  7 more sessions; telemetry_query shows their calls\n" in text


def test_a_report_without_calls_says_so(store: Store) -> None:
    store.write(changes.start("s", 0), 1)
    assert "Top 10 tools by call count:\n  none yet\n\n" in report(store, 90)


def test_tools_with_as_many_calls_are_in_the_order_of_their_names(store: Store) -> None:
    add(store, "s", "c", "a", "b", "d", "d")
    lines = report(store, 90).splitlines()
    assert lines[6:10] == ["  d: 2", "  a: 1", "  b: 1", "  c: 1"]


def test_repeated_calls_are_those_with_equal_arguments_in_one_session(store: Store) -> None:
    for session, args in [("s", "x"), ("s", "x"), ("s", "x"), ("s", "y"), ("t", "x")]:
        add(store, session, "bash", args=args)
    add(store, "s", "bash", "bash")  # of unknown arguments
    assert "  bash: 7 (2 repeated with the same arguments)\n" in report(store, 90)


@pytest.mark.parametrize(
    ("ms", "text"),
    [(0, "0 ms"), (999, "999 ms"), (1000, "1.0 s"), (90_000, "90.0 s"), (125_000, "2 min 5 s")],
)
def test_durations_are_written_for_people(store: Store, ms: int, text: str) -> None:
    add(store, "s", "bash", ms=ms)
    assert f"({text} on average, {text} at most)" in report(store, 90)
    assert ask(store).endswith(f"| {text}")


def test_a_query_lists_the_calls_newest_first(store: Store) -> None:
    add(store, "s", "read", age=2)
    add(store, "t", "bash", ok=False, ms=120, age=1)
    lines = ask(store).splitlines()
    assert lines[:2] == ["Tool calls (last 7 day(s)): 2 result(s)", ""]
    assert re.fullmatch(rf"  bash \| {WHEN} \| fail \| session: t \| 120 ms", lines[2])
    assert re.fullmatch(rf"  read \| {WHEN} \| ok \| session: s", lines[3])
    assert len(lines) == 4


def test_a_query_for_a_tool_finds_that_tool_alone(store: Store) -> None:
    add(store, "s", "bash", "read", "bash", "bas")
    text = ask(store, tool="bash")
    assert text.startswith('Tool calls for "bash" (last 7 day(s)): 2 result(s)\n')
    assert "read" not in text


def test_a_query_without_results_says_which_tools_there_are(store: Store) -> None:
    assert ask(store) == "No tool calls found in the last 7 day(s)."
    add(store, "s", "read", "bash")
    assert ask(store, tool="Bash", days=2) == (
        'No tool calls found for "Bash" in the last 2 day(s).\n'
        "Tools that were called in that time: bash, read."
    )
    add(store, "s", *(f"t{number}" for number in range(30)))
    assert ask(store, tool="none").endswith(", and others.")


@pytest.mark.parametrize(
    ("days", "ages"),
    [
        (None, [1, 6]),
        (0, [1, 6]),
        (-3, [1, 6]),
        (0.5, []),
        (1.5, [1]),
        (30, [1, 6, 29]),
        (1000, [1, 6, 29, 89]),
        (10**400, [1, 6, 29, 89]),
    ],
)
def test_days_say_how_far_to_look_back(store: Store, days: float | None, ages: list[int]) -> None:
    for age in (1, 6, 29, 89, 100):
        add(store, "s", f"age{age}", age=age)
    assert re.findall(r"age(\d+)", ask(store, days=days, tool=None)) == [str(age) for age in ages]


def test_more_than_500_results_are_capped_and_it_is_said_so(store: Store) -> None:
    add(store, "s", *["bash"] * 501)
    text = ask(store)
    assert text.startswith("Tool calls (last 7 day(s)): 501 result(s)\n")
    assert text.count("session: s") == 500
    assert text.endswith(
        "\n\nResults capped at 500. To see others, ask for fewer days or one tool."
    )


def test_a_result_is_short_unless_a_limit_is_named(store: Store) -> None:
    add(store, "ses_" + "0" * 26, *["plugin__name__tool"] * 600)
    text = ask(store, tool="plugin__name__tool")
    shown = text.count("ses_")
    assert len(text) < 30_200
    assert 200 < shown < 500
    assert text.endswith(
        f"Results capped at {shown}. To see others, ask for fewer days or a limit up to 500."
    )
    assert ask(store, limit=500).count("ses_") == 500
    assert ask(store, limit=2).count("ses_") == 2


def test_what_other_programs_wrote_does_not_break_the_texts(store: Store) -> None:
    add(store, "s", "a\x1b[31m\nb", ms=5)
    with store.reading(1) as connection:
        connection.execute("INSERT INTO sessions VALUES ('x', 'soon', 9e99, 'many\n')")
        connection.execute(
            "INSERT INTO tool_calls VALUES (9, 'x', CAST(x'ff' AS TEXT), 'h', 1e300, 'long', 'no')"
        )
    for text in (report(store, 90), ask(store)):
        assert "\x1b" not in text
        assert "a\\x1b[31m\\nb" in text
        assert "\ufffd" in text


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ([], "they have to be an object"),
        ({"tool": 7}, '"tool" has to be the name of a tool'),
        ({"days": "7"}, '"days" has to be a number'),
        ({"days": True}, '"days" has to be a number'),
        ({"limit": 0}, '"limit" has to be a whole number from 1 to 500'),
        ({"limit": 501}, '"limit" has to be a whole number'),
        ({"limit": 1.5}, '"limit" has to be a whole number'),
        ({"day": 7}, 'there is no "day"; there are tool, days, limit'),
    ],
)
def test_wrong_arguments_are_named(args: object, text: str) -> None:
    with pytest.raises(ValueError, match=r"^invalid arguments: ") as caught:
        read_query(args, 90)
    assert text in str(caught.value)


def test_arguments_are_optional_and_kept_within_what_is_stored() -> None:
    for args in (None, {}, {"tool": None, "days": None, "limit": None}):
        assert read_query(args, 90) == Query("", 7, None)
    assert read_query({"days": 100}, 365).days == 100
    assert read_query({}, 3).days == 3
    assert read_query({"limit": 10.0}, 90).limit == 10


@given(st.text(), st.floats(allow_nan=False))
def test_any_tool_and_any_number_of_days_are_a_query(tool: str, days: float) -> None:
    wanted = read_query({"tool": tool, "days": days}, 90)
    assert 0 < wanted.days <= 90
    assert wanted.tool == tool
