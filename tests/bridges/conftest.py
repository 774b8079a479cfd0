"""The real agents, installed, and run without a way to anywhere but the model on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for the modules beside this one, here and in the tests

from agents import Bench  # noqa: E402

PACKAGES = HERE / "package.json"


@pytest.fixture(scope="session")
def agents() -> Path:
    """The folder with the agents' programs.

    TINYHOST_BRIDGES_NODE names a folder with node_modules; else they are installed once,
    into a folder of the person's cache. Without them the tests fail.
    """
    named = os.environ.get("TINYHOST_BRIDGES_NODE")
    root = Path(named) if named else _cached()
    for package, version in json.loads(PACKAGES.read_text())["dependencies"].items():
        found = root / "node_modules" / package / "package.json"
        have = json.loads(found.read_text())["version"] if found.exists() else "none"
        if have != version:
            pytest.fail(
                f"the bridges are tested with {package} {version}, and {root} has {have}. Install it"
                f" with: cp {PACKAGES} {root} && npm install --prefix {root} --no-audit --no-fund"
            )
    return root / "node_modules" / ".bin"


def _cached() -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tinyhost-tests"
    digest = hashlib.sha256(PACKAGES.read_bytes()).hexdigest()[:12]
    final = cache / f"bridges-{digest}"
    if final.exists():
        return final
    if shutil.which("npm") is None:
        pytest.fail("npm is not on PATH, and without it the agents cannot be installed")
    cache.mkdir(parents=True, exist_ok=True)
    # Test processes that do this side by side do not see each other's half.
    with tempfile.TemporaryDirectory(dir=cache) as own:
        staging = Path(own) / "agents"
        staging.mkdir()
        shutil.copy(PACKAGES, staging)
        install = ["npm", "install", "--prefix", str(staging), "--no-audit", "--no-fund"]
        done = subprocess.run(install, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            pytest.fail(f"npm could not install the agents:\n{done.stdout}{done.stderr}")
        try:
            staging.rename(final)
        except OSError:
            assert final.exists()
    return final


@pytest.fixture
def bench(agents: Path, tmp_path: Path) -> Iterator[Bench]:
    """A project, a tinyhost with its configuration, and the agents to run there."""
    bench = Bench(agents, tmp_path)
    yield bench
    assert bench.escapes == [], "an agent tried to leave loopback"
