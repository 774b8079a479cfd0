"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.safety_net.catalog import RULES

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "safety-net.md"


def test_the_page_lists_every_rule_and_no_other() -> None:
    rows = [
        line.split("|")[1].strip() for line in PAGE.read_text().splitlines() if line[:3] == "| `"
    ]
    listed = [row.strip("`") for row in rows]
    options = ["allow", "allowPaths", "extraRules", "tools"]
    assert sorted(listed) == sorted([*RULES, *options])
