"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page

from tinyhost_plugins.telemetry.options import OPTIONS
from tinyhost_plugins.telemetry.plugin import build

PAGE = page("telemetry")


def test_the_page_lists_every_option_and_parameter_and_no_other() -> None:
    listed = [row[0] for row in code_rows(PAGE)]
    parameters = build().tools["telemetry_query"].parameters["properties"]
    assert sorted(listed) == sorted([*OPTIONS, *parameters])
    for name in build().tools:
        assert f"`{name}`" in PAGE
