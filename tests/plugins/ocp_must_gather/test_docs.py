"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.ocp_must_gather.options import RANGES
from tinyhost_plugins.ocp_must_gather.plugin import build

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "ocp-must-gather.md"


def test_the_page_lists_every_tool_and_every_option_with_its_range() -> None:
    rows = [
        [cell.strip(" `") for cell in entry.strip("|").split("|")]
        for entry in PAGE.read_text().splitlines()
        if entry.startswith("| `")
    ]
    assert sorted(row[0] for row in rows) == sorted([*build().tools, *RANGES])
    ranges = {row[0]: row[1:4] for row in rows if row[0] in RANGES}
    assert ranges == {key: [str(n) for n in numbers] for key, numbers in RANGES.items()}
