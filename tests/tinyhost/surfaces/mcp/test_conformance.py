"""All server scenarios of MCP's conformance suite, and the page that says which of them pass."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[4] / "docs" / "mcp-server.md"
REVISIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
_FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT.*")


def rows(title: str) -> dict[str, str]:
    """A table of the page: what its first column names, and the rest of each row."""
    [part] = re.findall(rf"### {title}\n(.*?)(?=\n#|\Z)", PAGE.read_text(), re.DOTALL)
    found = re.findall(r"^\| `([^`]+)` \| (.+) \|$", part, re.MULTILINE)
    return dict(found)


PASSING = rows("Scenarios that pass")
OTHERS = rows("Scenarios that do not apply")


def outcomes(folder: Path) -> dict[str, dict[str, set[str]]]:
    """By scenario and status: the checks."""
    found: dict[str, dict[str, set[str]]] = {}
    for file in folder.glob("*/checks.json"):
        match = _FOLDER.fullmatch(file.parent.name)
        assert match is not None
        for check in json.loads(file.read_text()):
            statuses = found.setdefault(match[1], {})
            statuses.setdefault(check["status"], set()).add(check["id"])
    return found


@pytest.mark.parametrize("revision", REVISIONS)
def test_the_scenarios_that_are_said_to_pass_do(
    revision: str, node: str, node_tools: Path, conformance_url: str, tmp_path: Path
) -> None:
    suite = node_tools / "conformance" / "dist" / "index.js"
    options = ["--suite", "all", "--spec-version", revision, "--output-dir", str(tmp_path / "out")]
    command = [node, str(suite), "server", "--url", conformance_url, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    found = outcomes(tmp_path / "out")
    assert found, done.stdout + done.stderr
    for scenario, checks in found.items():
        assert (scenario in PASSING) != (scenario in OTHERS), f"{scenario} is not on the page"
        if scenario in PASSING:
            assert checks.keys() <= {"SUCCESS", "INFO", "SKIPPED"}, (scenario, checks)
            assert checks["SUCCESS"]
            assert revision in PASSING[scenario]
        else:
            named = set(re.findall(r"`([^`]+)`", OTHERS[scenario]))
            missing = named & checks.get("SUCCESS", set())
            assert not missing, f"{scenario}: {missing} pass"
            if named:
                assert checks.get("FAILURE", set()) == named, scenario
    claimed = {scenario for scenario, said in PASSING.items() if revision in said}
    assert claimed <= found.keys()


def test_the_page_says_of_each_scenario_once_what_becomes_of_it() -> None:
    assert PASSING.keys().isdisjoint(OTHERS)
    assert len(PASSING) > 20
