"""The documentation page lists what the plugin has."""

from __future__ import annotations

import re

from pages import page

from tinyhost_plugins.etcd_diag.options import _OPTIONS
from tinyhost_plugins.etcd_diag.plugin import build

PAGE = page("etcd-diag")


def test_the_page_lists_every_tool_and_every_option_and_no_other() -> None:
    listed = re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE)
    assert sorted(listed) == sorted([*build().tools, *_OPTIONS])
