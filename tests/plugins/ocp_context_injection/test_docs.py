"""The documentation page lists what the plugin has."""

from __future__ import annotations

from pathlib import Path

from tinyhost_plugins.ocp_context_injection.options import (
    API_TOKEN,
    FLAGS,
    OFFLINE_TOKEN,
    RANGES,
    TEXTS,
)
from tinyhost_plugins.ocp_context_injection.plugin import build

PAGE = (Path(__file__).parents[3] / "docs" / "plugins" / "ocp-context-injection.md").read_text()


def rows() -> dict[str, list[str]]:
    cells = [
        [cell.strip(" `") for cell in line.strip("|").split("|")]
        for line in PAGE.splitlines()
        if line.startswith("| `")
    ]
    return {name.strip(" `"): row for row in cells for name in row[0].split(",")}


def test_the_page_lists_every_tool_hook_and_option_and_no_other() -> None:
    plugin = build()
    assert sorted(rows()) == sorted([*plugin.tools, *plugin.hooks.names(), *TEXTS, *FLAGS, *RANGES])
    found = {key: row[1:4] for key, row in rows().items() if key in RANGES}
    assert found == {key: [str(n) for n in numbers] for key, numbers in RANGES.items()}


def test_the_page_names_the_parameters_and_the_variables() -> None:
    for tool in build().tools.values():
        for parameter in tool.parameters["properties"]:
            assert parameter in rows()[tool.name][1]
    for variable in (API_TOKEN, OFFLINE_TOKEN, "KUBECONFIG", "CLUSTER_ID"):
        assert f"`{variable}`" in PAGE or f'"{variable}"' in PAGE
