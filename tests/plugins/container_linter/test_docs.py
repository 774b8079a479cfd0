"""The documentation page lists what the plugin has, and what it shows is what comes out."""

from __future__ import annotations

import re
from pathlib import Path

from tinyhost_plugins.container_linter.findings import report
from tinyhost_plugins.container_linter.lint import lint
from tinyhost_plugins.container_linter.options import _OPTIONS, RULES, Options
from tinyhost_plugins.container_linter.plugin import build

PAGE = Path(__file__).parents[3] / "docs" / "plugins" / "container-linter.md"


def test_the_page_lists_every_tool_rule_and_option_and_no_other() -> None:
    listed = re.findall(r"^\| `([^`]+)` \|", PAGE.read_text(), re.MULTILINE)
    tools = list(build().tools)
    assert sorted(listed) == sorted([*tools, *RULES, *_OPTIONS])


def test_the_example_of_the_page_is_true() -> None:
    text = PAGE.read_text()
    (source,) = re.findall(r"```dockerfile\n(.*?)```", text, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)\n```", text, re.DOTALL)
    assert report(lint(source, Options()), 50) == output
