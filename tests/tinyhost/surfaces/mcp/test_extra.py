"""Without the extra, and what it costs."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import Any

import pytest

from tinyhost.errors import ConfigError
from tinyhost.surfaces.mcp import mcp_app, mcp_stdio


def test_the_package_mcp_is_imported_only_when_a_client_is_served() -> None:
    code = (
        "import sys, tinyhost.surfaces.mcp as m; m.mcp_stdio(); print('mcp.server' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_without_it_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    running: Any = None
    for make in (mcp_stdio, lambda: mcp_app(running)):
        with pytest.raises(ConfigError, match=r"pip install 'tinyhost-runtime\[mcp\]'"):
            make()
