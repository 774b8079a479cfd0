"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.log_sanitizer.options import _OPTIONS
from tinyhost_plugins.log_sanitizer.sanitize import LABELS

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "log-sanitizer.md"


def test_the_page_lists_every_class_and_every_option_and_no_other() -> None:
    listed: list[str] = []
    for line in PAGE.read_text().splitlines():
        if line.startswith("| `"):
            listed += [word.strip(" `") for word in line.split("|")[1].split(",")]
    assert sorted(listed) == sorted([*LABELS, *_OPTIONS])
