"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page, ranges

from tinyhost_plugins.ocp_must_gather.options import RANGES
from tinyhost_plugins.ocp_must_gather.plugin import build

PAGE = page("ocp-must-gather")


def test_the_page_lists_every_tool_and_every_option_with_its_range() -> None:
    rows = code_rows(PAGE)
    assert sorted(row[0] for row in rows) == sorted([*build().tools, *RANGES])
    assert ranges(rows, RANGES) == RANGES
