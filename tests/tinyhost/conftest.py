"""A project for tests: a folder with .tinyhost in it, that can be trusted and loaded."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tinyhost import trust
from tinyhost.config import Config
from tinyhost.layers import load_layers

Json = Mapping[str, Any]


class ProjectFolder:
    """A folder with a configuration of its own."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".tinyhost"
        self.plugins = self.folder / "plugins"
        self.file = self.folder / "config.json"
        self.plugins.mkdir(parents=True)

    def configure(self, value: Json | str) -> None:
        """Write the configuration."""
        self.file.write_text(value if isinstance(value, str) else json.dumps(value))

    def program(self, name: str, text: str = "#!/bin/sh\nexit 1\n") -> Path:
        """Bring a program."""
        path = self.plugins / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
        return path

    @property
    def project(self) -> trust.Project:
        """As trust knows it."""
        return trust.Project(os.path.realpath(self.root))

    def trust(self) -> None:
        """Trust it as it is."""
        found = trust.standing(self.project, look=True)
        assert found.contents is not None, found.why
        trust.trust(found.project, found.contents)

    def load(self) -> Config:
        """The configuration of somebody who works in it."""
        return load_layers(self.root)


@pytest.fixture
def project(home: Path, tmp_path: Path) -> ProjectFolder:
    """A project of the person's, empty and not trusted."""
    return ProjectFolder(tmp_path / "project")
