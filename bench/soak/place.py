"""A folder with a configuration, plugins and state of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from tinyhost.config import Config, parse_config
from tinyhost.manager_scope import open_manager

PEER = Path(__file__).with_name("peer.py")
_SHORT = '{"settings": {"*": {"timeouts": {"handshake": "20s", "tool": "1s", "stop": "500ms"}}}}'


class Place:
    """Made in an empty folder, which stands for the person's home."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.plugins = self.root / "config" / "plugins"
        self.plugins.mkdir(parents=True, exist_ok=True)
        (self.root / "state").mkdir(exist_ok=True)

    @property
    def environ(self) -> Mapping[str, str]:
        """What the host takes for its environment."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self.root),
            "TINYHOST_CONFIG_DIR": str(self.root / "config"),
            "TINYHOST_STATE_DIR": str(self.root / "state"),
        }

    def add(self, name: str, *arguments: str) -> str:
        """A plugin that runs the peer with these arguments; see peer.py."""
        words = " ".join((sys.executable, "-ISB", str(PEER), name, *arguments))
        return self.add_text(name, f"#!/bin/sh\nexec {words}\n")

    def add_text(self, name: str, text: str) -> str:
        """A plugin of any text."""
        file = self.plugins / name
        file.write_text(text)
        file.chmod(0o700)
        return name

    def write_config(self, text: str) -> None:
        """Put a configuration file in place, in one step."""
        new = self.root / "config" / "new.json"
        new.write_text(text)
        new.replace(new.with_name("config.json"))

    def config(self, text: str = _SHORT) -> Config:
        """The configuration of that text."""
        return parse_config(text, str(self.root / "config" / "config.json"))

    def manager(self, text: str = _SHORT) -> open_manager:
        """For `async with`: a manager of this place."""
        return open_manager(self.config(text), directory=self.root, environ=self.environ)
