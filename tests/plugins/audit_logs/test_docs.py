"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page

from tinyhost_plugins.audit_logs.options import _OPTIONS, PLATFORM, THRESHOLDS
from tinyhost_plugins.audit_logs.schemas import DIMENSIONS, TOOLS

PAGE = page("audit-logs")


def test_the_page_lists_every_tool_argument_and_option_and_no_other() -> None:
    arguments = {name for _, schema in TOOLS.values() for name in schema["properties"]}
    listed = [word.strip(" `") for row in code_rows(PAGE) for word in row[0].split(",")]
    assert sorted(listed) == sorted([*TOOLS, *arguments, *_OPTIONS, *THRESHOLDS])


def test_the_page_names_the_dimensions_and_the_platforms_users() -> None:
    assert all(f"`{name}`" in PAGE for name in (*DIMENSIONS, *PLATFORM))
