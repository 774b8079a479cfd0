"""The OpenAPI document: it is up to date, and a real host keeps to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tinyhost.surfaces.http import openapi

ROOT = Path(__file__).parents[4]
DOCUMENT = ROOT / "docs" / "openapi.json"
HOST = Path(__file__).parent / "host.py"
SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"

PLUGIN = """
handshake(tools=("echo", "fail"), hooks=("my.event", "session.start", "permission.ask"))
serve(
    on_tool=lambda p: {"content": json.dumps(p["args"]), "isError": p["name"] == "fail"},
    on_hook=lambda p: {"output": {"allowed": True}} if p["name"] == "permission.ask" else {},
)
"""


def test_the_committed_document_is_what_the_table_of_routes_says() -> None:
    made = "python -m tinyhost.surfaces.http.openapi > docs/openapi.json"
    assert DOCUMENT.read_text() == openapi.text(), f"make it anew: {made}"


def test_every_route_has_a_summary_and_an_operation_of_its_own() -> None:
    rows = [row for methods in openapi.build()["paths"].values() for row in methods.values()]
    assert all(row["summary"] for row in rows)
    assert len({row["operationId"] for row in rows}) == len(rows)


async def test_the_host_serves_the_document_to_anyone(served: Any) -> None:
    async with served() as host, host.new_client() as anyone:
        answer = await anyone.get("/openapi.json")
    assert answer.json() == json.loads(DOCUMENT.read_text())


@pytest.fixture
def host(home: Path, add_plugin: Callable[[str, str], Path]) -> Iterator[tuple[str, str]]:
    """A host in a process of its own: its address and its token."""
    add_plugin("echo", PLUGIN)
    config = {"plugins": ["echo"], "permissions": {"allow": ["*"]}}
    (home / "config" / "config.json").write_text(json.dumps(config))
    command = [sys.executable, str(HOST), str(home)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            url, file = process.stdout.readline().split()
            yield url, Path(file).read_text().strip()
        finally:
            process.terminate()
    assert process.returncode == 0


def test_a_real_host_keeps_to_the_document(host: tuple[str, str], tmp_path: Path) -> None:
    """Schemathesis makes requests that fit the document and such that do not."""
    url, token = host
    done = subprocess.run(
        [
            *(SCHEMATHESIS, "run", DOCUMENT, "--url", url),
            *("--header", f"Authorization: Bearer {token}"),
            *("--exclude-path", "/events"),  # which goes on for ever
            *("--max-examples", "8", "--seed", "1", "--no-color"),
        ],
        cwd=tmp_path,
        env={**os.environ, "NO_PROXY": "*"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
