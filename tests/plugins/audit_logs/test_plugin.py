"""The plugin behind the wire: as a process, behind the host, and from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from shipped import Shipped, hosting, tool

from tinyhost_plugins.audit_logs.plugin import build
from tinyhost_sdk import testing

PLUGIN = Shipped("audit-logs")
TOOLS = ["audit_top", "audit_search", "audit_timeline", "audit_anomalies", "audit_health"]


def test_a_process_shakes_hands_and_answers_all_tools(seven: Any) -> None:
    path = {"path": str(seven.root)}
    hello, *answers = PLUGIN.converse(
        tool("audit_top", {**path, "by": "user"}),
        *(tool(name, path) for name in TOOLS[1:]),
        tool("audit_top", {**path, "by": "colour"}),
    )
    assert hello["result"]["id"] == "audit-logs"
    assert [found["name"] for found in hello["result"]["tools"]] == TOOLS
    assert hello["result"]["hooks"] == []
    assert hello["result"]["protocol"]["cancel"] is True
    first_lines = [answer["result"]["content"].split("\n")[0] for answer in answers]
    assert first_lines[:3] == [
        "Top 3 of 3 values of user, in 7 events",
        "7 events",
        "7 events in 2 hours (UTC)",
    ]
    assert first_lines[3].startswith("Anomalies in 7 events")
    assert first_lines[4].startswith("Overall: [CRITICAL]")
    assert first_lines[5].startswith("wrong arguments for audit_top: by must be one of user,")
    assert [answer["result"].get("isError") for answer in answers] == [None] * 5 + [True]


def test_every_schema_names_what_it_needs() -> None:
    with testing.drive(build()) as driver:
        for found in driver.manifest["tools"]:
            schema = found["inputSchema"]
            assert schema["required"][0] == "path"
            assert set(schema["required"]) <= set(schema["properties"])
            assert found["permission"] == "read"
            assert all(one["description"] for one in schema["properties"].values())


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    [reply] = PLUGIN.converse(options={"maxRow": 5})
    assert 'there is no option "maxRow"' in reply["error"]["message"]


def test_starting_up_loads_no_reader() -> None:
    slow = {"re", "json", "typing", "msgspec", "zlib", "datetime", "pathlib"}
    options = {"maxRows": 5, "thresholds": {"deletions": [1, 2]}}
    started, _end = PLUGIN.imported(options)
    assert not (slow | {"tinyhost_plugins.audit_logs.calls"}) & started


async def test_behind_the_host_a_tool_reads_the_project_and_obeys_the_options(
    home: Path, seven: Any
) -> None:
    PLUGIN.install(home / "config" / "plugins")
    options = {"thresholds": {"deletions": [1, 5]}}
    async with hosting(home, [["audit-logs", options]]) as host:
        session = await host.session_start(str(seven.root))
        args = {"path": str(seven.image)}
        health = await host.call("plugin__audit-logs__audit_health", args, session)
        failed = await host.call("plugin__audit-logs__audit_health", {"path": "/none"}, session)
        await host.session_end(session)
    assert "[WARN    ] deletions                 2;" in health.content
    assert not health.is_error
    assert failed.content == "there is no /none; path must be an unpacked must-gather"
    assert failed.is_error


def test_the_command_line_prints_a_report(home: Path, seven: Any) -> None:
    PLUGIN.install(home / "config" / "plugins")
    args = {"path": seven.image.name, "by": "verb", "n": 2}
    done = PLUGIN.call(seven.root, "audit_top", args, "--plugin", "audit-logs")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:5] == [
        "Top 2 of 4 values of verb, in 7 events",
        "",
        "#  events     %  verb",
        "1       3  42.9  get",
        "2       2  28.6  delete",
    ]
