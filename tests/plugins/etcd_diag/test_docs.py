"""The documentation page lists what the plugin has."""

from __future__ import annotations

import re
from pathlib import Path

from tinyhost_plugins.etcd_diag.options import _OPTIONS
from tinyhost_plugins.etcd_diag.plugin import build

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "etcd-diag.md"


def test_the_page_lists_every_tool_and_every_option_and_no_other() -> None:
    listed = re.findall(r"^\| `(\w+)`", PAGE.read_text(), re.MULTILINE)
    assert sorted(listed) == sorted([*build().tools, *_OPTIONS])
