"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.telemetry.options import OPTIONS
from tinyhost_plugins.telemetry.plugin import build

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "telemetry.md"


def test_the_page_lists_every_option_and_parameter_and_no_other() -> None:
    lines = PAGE.read_text().splitlines()
    listed = [line.split("|")[1].strip(" `") for line in lines if line.startswith("| `")]
    parameters = build().tools["telemetry_query"].parameters["properties"]
    assert sorted(listed) == sorted([*OPTIONS, *parameters])
    for name in build().tools:
        assert any(f"`{name}`" in line for line in lines)
