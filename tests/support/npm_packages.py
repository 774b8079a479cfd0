"""Packages of npm that tests need, in exact versions, installed once for all test runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest


def installed(packages: Path, name: str, variable: str) -> Path:
    """The folder with the packages of a package.json; its node_modules is in it.

    The environment variable names a folder where they are; else they are installed once, into
    a folder of the person's cache. Without them the tests fail.
    """
    named = os.environ.get(variable)
    root = Path(named) if named else _cached(packages, name)
    for package, version in json.loads(packages.read_text())["dependencies"].items():
        found = root / "node_modules" / package / "package.json"
        have = json.loads(found.read_text())["version"] if found.exists() else "none"
        if have != version:
            pytest.fail(
                f"{name} are tested with {package} {version}, and {root} has {have}. Install it"
                f" with: cp {packages} {root} && npm install --prefix {root} --no-audit --no-fund"
            )
    return root


def _cached(packages: Path, name: str) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tinyhost-tests"
    digest = hashlib.sha256(packages.read_bytes()).hexdigest()[:12]
    final = cache / f"{name}-{digest}"
    if final.exists():
        return final
    if shutil.which("npm") is None:
        pytest.fail(f"npm is not on PATH, and without it {name} cannot be installed")
    cache.mkdir(parents=True, exist_ok=True)
    # Test processes that do this side by side do not see each other's half.
    with tempfile.TemporaryDirectory(dir=cache) as own:
        staging = Path(own) / name
        staging.mkdir()
        shutil.copy(packages, staging)
        install = ["npm", "install", "--prefix", str(staging), "--no-audit", "--no-fund"]
        done = subprocess.run(install, capture_output=True, text=True, timeout=600)
        if done.returncode != 0:
            pytest.fail(f"npm could not install {name}:\n{done.stdout}{done.stderr}")
        try:
            staging.rename(final)
        except OSError:
            assert final.exists()
    return final
