"""The documentation page lists what the plugin has, and what it shows is what comes out."""

from __future__ import annotations

import re

from pages import code_rows, page

from tinyhost_plugins.container_linter.findings import report
from tinyhost_plugins.container_linter.lint import lint
from tinyhost_plugins.container_linter.options import _OPTIONS, RULES, Options
from tinyhost_plugins.container_linter.plugin import build

PAGE = page("container-linter")


def test_the_page_lists_every_tool_rule_and_option_and_no_other() -> None:
    listed = [row[0] for row in code_rows(PAGE)]
    tools = list(build().tools)
    assert sorted(listed) == sorted([*tools, *RULES, *_OPTIONS])


def test_the_example_of_the_page_is_true() -> None:
    (source,) = re.findall(r"```dockerfile\n(.*?)```", PAGE, re.DOTALL)
    (output,) = re.findall(r"```text\n(.*?)\n```", PAGE, re.DOTALL)
    assert report(lint(source, Options()), 50) == output
