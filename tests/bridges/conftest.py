"""The real agents, installed, and run without a way to anywhere but the model on loopback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the modules beside this one, here and in the tests
sys.path.insert(1, str(HERE.parent / "support"))

from agents import Bench  # noqa: E402
from npm_packages import installed  # noqa: E402


@pytest.fixture(scope="session")
def agents() -> Path:
    """The folder with the agents' programs."""
    root = installed(HERE / "package.json", "bridges", "TINYHOST_BRIDGES_NODE")
    return root / "node_modules" / ".bin"


@pytest.fixture
def bench(agents: Path, tmp_path: Path) -> Iterator[Bench]:
    """A project, a tinyhost with its configuration, and the agents to run there."""
    bench = Bench(agents, tmp_path)
    yield bench
    assert bench.escapes == [], "an agent tried to leave loopback"
