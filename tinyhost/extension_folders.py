"""Where packages of the form zuno.extension/v1 are looked for, in order."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from pathlib import Path

import attrs

from . import paths

USER = "extension folder"
USER_ZUNO = "zuno extension folder"
PROJECT = "project's extension folder"
PROJECT_ZUNO = "project's zuno extension folder"


@attrs.frozen
class ExtensionFolder:
    """A folder with a folder for each package in it. source: what it is, in words."""

    path: str
    source: str

    @property
    def of_project(self) -> bool:
        """Whether it comes with a project, and so gives way to all that the person has."""
        return self.source in (PROJECT, PROJECT_ZUNO)


def extension_folders(
    config_dir: str | os.PathLike[str],
    *,
    compat: Collection[str] = (),
    environ: Mapping[str, str] | None = None,
    project: str | os.PathLike[str] | None = None,
) -> list[ExtensionFolder]:
    """The folders, whether they are there or not; what is found earlier counts.

    project: the root of a project that the person trusts. Folders of zuno's count when compat
    has "zuno".
    """
    zuno = "zuno" in compat
    found = [ExtensionFolder(str(paths.absolute(config_dir) / "extensions"), USER)]
    if zuno:
        found.append(ExtensionFolder(str(paths.zuno_dir(environ) / "extensions"), USER_ZUNO))
    if project is not None:
        root = Path(project)
        found.append(ExtensionFolder(str(root / ".tinyhost" / "extensions"), PROJECT))
        if zuno:
            found.append(ExtensionFolder(str(root / ".zuno" / "extensions"), PROJECT_ZUNO))
    return found
