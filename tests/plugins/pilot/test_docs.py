"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import page

from tinyhost_plugins.pilot.choice import _DEFAULT_URLS, _URL_VARIABLES, TOKENS
from tinyhost_plugins.pilot.options import _OPTIONS
from tinyhost_plugins.pilot.schemas import TOOLS

PAGE = page("pilot")


def first_cells(start: str) -> list[str]:
    cells = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith(start)]
    return [word.strip(" `") for cell in cells for word in cell.split(",")]


def test_the_page_lists_every_option_and_no_other() -> None:
    assert sorted(first_cells("| `")) == sorted(_OPTIONS)


def test_the_page_lists_every_tool_with_its_arguments() -> None:
    assert first_cells("| pilot_") == [name for name, _, _ in TOOLS]
    for name, _, schema in TOOLS:
        (line,) = (line for line in PAGE.splitlines() if line.startswith(f"| {name} "))
        for argument in schema["properties"]:
            assert f"`{argument}`" in line or argument in ("owner", "repo")


def test_the_page_lists_the_variables_and_the_urls() -> None:
    for forge, variables in TOKENS.items():
        (line,) = (line for line in PAGE.splitlines() if line.lower().startswith(f"| {forge} |"))
        for text in (*variables, _URL_VARIABLES[forge], _DEFAULT_URLS[forge]):
            assert text in line
