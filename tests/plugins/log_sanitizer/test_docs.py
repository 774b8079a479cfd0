"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page

from tinyhost_plugins.log_sanitizer.options import _OPTIONS
from tinyhost_plugins.log_sanitizer.sanitize import LABELS

PAGE = page("log-sanitizer")


def test_the_page_lists_every_class_and_every_option_and_no_other() -> None:
    listed = [word.strip(" `") for row in code_rows(PAGE) for word in row[0].split(",")]
    assert sorted(listed) == sorted([*LABELS, *_OPTIONS])
