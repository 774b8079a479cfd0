"""The plugin behind the wire: as a process, behind the host, and from the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import tinyhost_sdk
from tinyhost.config import parse_config
from tinyhost.opening import open_host
from tinyhost.permissions import Origin
from tinyhost_plugins import audit_logs
from tinyhost_plugins.audit_logs.plugin import build
from tinyhost_sdk import testing

MAIN = "from tinyhost_plugins.audit_logs import main; main()"
TOOLS = ["audit_top", "audit_search", "audit_timeline", "audit_anomalies", "audit_health"]


def install(folder: Path) -> Path:
    script = folder / "audit-logs"
    script.write_text(f"#!{sys.executable}\n{MAIN}\n")
    script.chmod(0o755)
    return script


def converse(*calls: tuple[str, dict[str, Any]], options: Any = None) -> list[dict[str, Any]]:
    """Start the plugin, shake hands, call its tools one after the other; the replies by id."""
    initialize = {"version": "1.0", "options": options or {}}
    requests: list[dict[str, Any]] = [{"method": "initialize", "params": initialize}]
    requests += [
        {"method": "tool/call", "params": {"name": name, "args": args}} for name, args in calls
    ]
    lines = (
        json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n"
        for number, request in enumerate(requests, 1)
    )
    done = subprocess.run(
        [sys.executable, "-c", MAIN],
        input="".join(lines),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stderr == ""
    return sorted(map(json.loads, done.stdout.splitlines()), key=lambda reply: reply["id"])


def test_a_process_shakes_hands_and_answers_all_tools(seven: Any) -> None:
    path = {"path": str(seven.root)}
    hello, *answers = converse(
        ("audit_top", {**path, "by": "user"}),
        *((name, path) for name in TOOLS[1:]),
        ("audit_top", {**path, "by": "colour"}),
    )
    assert hello["result"]["id"] == "audit-logs"
    assert [tool["name"] for tool in hello["result"]["tools"]] == TOOLS
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
        for tool in driver.manifest["tools"]:
            schema = tool["inputSchema"]
            assert schema["required"][0] == "path"
            assert set(schema["required"]) <= set(schema["properties"])
            assert all(one["description"] for one in schema["properties"].values())


def test_a_wrong_option_fails_the_load_and_says_why() -> None:
    [reply] = converse(options={"maxRow": 5})
    assert 'there is no option "maxRow"' in reply["error"]["message"]


def test_starting_up_loads_no_reader() -> None:
    program = (
        "import sys\n"
        "from tinyhost_plugins.audit_logs.plugin import build\n"
        "from tinyhost_sdk import testing\n"
        "slow = {'re', 'json', 'typing', 'msgspec', 'zlib', 'datetime', 'pathlib',\n"
        "        'tinyhost_plugins.audit_logs.calls'}\n"
        "with testing.drive(build(), {'maxRows': 5, 'thresholds': {'deletions': [1, 2]}}):\n"
        "    print(sorted(slow & set(sys.modules)))\n"
    )
    # Without site, so that what an editable install imports does not count.
    homes = [Path(audit_logs.__file__).parents[2], Path(tinyhost_sdk.__file__).parents[1]]
    path = [*map(str, homes), *sys.path]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", f"import sys; sys.path[:0] = {path!r}\n{program}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout == "[]\n", done.stderr


async def test_behind_the_host_a_tool_reads_the_project_and_obeys_the_options(
    home: Path, seven: Any
) -> None:
    install(home / "config" / "plugins")
    keys = {"plugins": [["audit-logs", {"thresholds": {"deletions": [1, 5]}}]]}
    config = parse_config(json.dumps(keys), str(home / "config" / "config.json"))
    assert not config.problems, config.problems
    async with open_host(config, origin=Origin.PERSON) as host:
        await host.load_all(["audit-logs"])
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
    install(home / "config" / "plugins")
    command = [sys.executable, "-m", "tinyhost_cli.main", "tool", "call", "--plugin", "audit-logs"]
    args = {"path": seven.image.name, "by": "verb", "n": 2}
    done = subprocess.run(
        [*command, "plugin__audit-logs__audit_top", "--args", json.dumps(args)],
        cwd=seven.root,
        env=os.environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:5] == [
        "Top 2 of 4 values of verb, in 7 events",
        "",
        "#  events     %  verb",
        "1       3  42.9  get",
        "2       2  28.6  delete",
    ]
