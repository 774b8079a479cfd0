"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pages import code_rows, page, ranges

from tinyhost_plugins.ocp_context_injection.options import (
    API_TOKEN,
    FLAGS,
    OFFLINE_TOKEN,
    RANGES,
    TEXTS,
)
from tinyhost_plugins.ocp_context_injection.plugin import build

PAGE = page("ocp-context-injection")


def rows() -> dict[str, list[str]]:
    return {name.strip(" `"): row for row in code_rows(PAGE) for name in row[0].split(",")}


def test_the_page_lists_every_tool_hook_and_option_and_no_other() -> None:
    plugin = build()
    assert sorted(rows()) == sorted([*plugin.tools, *plugin.hooks.names(), *TEXTS, *FLAGS, *RANGES])
    assert ranges(code_rows(PAGE), RANGES) == RANGES


def test_the_page_names_the_parameters_and_the_variables() -> None:
    for tool in build().tools.values():
        for parameter in tool.parameters["properties"]:
            assert parameter in rows()[tool.name][1]
    for variable in (API_TOKEN, OFFLINE_TOKEN, "KUBECONFIG", "CLUSTER_ID"):
        assert f"`{variable}`" in PAGE or f'"{variable}"' in PAGE
