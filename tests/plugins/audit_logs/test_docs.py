"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.audit_logs.options import _OPTIONS, PLATFORM, THRESHOLDS
from tinyhost_plugins.audit_logs.schemas import DIMENSIONS, TOOLS

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "audit-logs.md"


def test_the_page_lists_every_tool_argument_and_option_and_no_other() -> None:
    arguments = {name for _, schema in TOOLS.values() for name in schema["properties"]}
    listed: list[str] = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            listed += [word.strip(" `") for word in line.split("|")[1].split(",")]
    assert sorted(listed) == sorted([*TOOLS, *arguments, *_OPTIONS, *THRESHOLDS])


def test_the_page_names_the_dimensions_and_the_platforms_users() -> None:
    text = PAGE.read_text()
    assert all(f"`{name}`" in text for name in (*DIMENSIONS, *PLATFORM))
