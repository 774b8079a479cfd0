"""`tinyhost top` at a terminal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tinyhost_cli.top_view import _HEADERS, _rates, columns_for

from .conftest import Cli
from .test_attached import Served, serve  # noqa: F401 (a fixture)
from .test_terminal import plain

LONG = "a-plugin-with-a-long-name"


def test_names_and_states_are_whole_on_a_terminal_of_80_columns(
    tinyhost: Cli,
    serve: Callable[..., Served],  # noqa: F811
) -> None:
    tinyhost.plugin(LONG)
    tinyhost.configure({"plugins": [LONG]})
    serve()
    text, code = tinyhost.terminal("top", "-n", "1")
    assert code == 0
    [line] = [one for one in plain(text).splitlines() if LONG in one]
    assert line.split()[:2] == [LONG, "ready"]
    assert "\u2026" not in plain(text)  # where something was cut


def test_a_wide_terminal_has_all_columns_and_a_narrow_one_the_first_of_all() -> None:
    row = ["name", "ready", *["1.0"] * (len(_HEADERS) - 2)]
    assert columns_for([row], 200) == list(range(len(_HEADERS)))
    assert columns_for([], 200) == list(range(len(_HEADERS)))
    narrow = [_HEADERS[index] for index in columns_for([row], 10)]
    assert narrow == ["PLUGIN", "STATE", "CPU %"]


def test_a_plugin_that_came_since_the_last_look_is_measured_since_then() -> None:
    def look(uptime: float, **cpu: float) -> dict[str, Any]:
        plugins = [
            {"id": id, "counters": {"calls": 10 * used}, "stats": {"cpuSeconds": used}}
            for id, used in cpu.items()
        ]
        return {"uptimeSeconds": uptime, "sessions": 0, "plugins": plugins}

    rates = _rates(look(1000, old=3.0), look(1002, old=3.5, new=1.0))["plugins"]
    assert [(one["id"], one["cpuPercent"], one["callsPerSecond"]) for one in rates] == [
        ("new", 50.0, 5.0),
        ("old", 25.0, 2.5),
    ]
