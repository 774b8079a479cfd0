"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page

from tinyhost_plugins.safety_net.catalog import RULES

PAGE = page("safety-net")


def test_the_page_lists_every_rule_and_no_other() -> None:
    listed = [row[0] for row in code_rows(PAGE)]
    options = ["allow", "allowPaths", "extraRules", "tools"]
    assert sorted(listed) == sorted([*RULES, *options])
