"""The version of the installed distribution, or of the checkout that this runs from."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

_DISTRIBUTION = "tinyhost-runtime"
_UNKNOWN = "unknown"


def version() -> str:
    """For example "0.1.0"; "unknown" where nothing tells."""
    try:
        return importlib.metadata.version(_DISTRIBUTION)
    except importlib.metadata.PackageNotFoundError:
        return _checkout_version(Path(__file__).resolve().parents[2] / "setup.cfg")


def _checkout_version(setup: Path) -> str:
    try:
        lines = setup.read_text(encoding="utf-8").splitlines()
    except OSError:
        return _UNKNOWN
    if f"name = {_DISTRIBUTION}" not in lines:
        return _UNKNOWN
    found = [line.removeprefix("version = ") for line in lines if line.startswith("version = ")]
    return found[0] if found else _UNKNOWN
