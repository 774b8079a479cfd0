"""Where a must-gather keeps the logs of etcd and what it asked etcd."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tinyhost_sdk import HandlerError

_MARKS = ("cluster-scoped-resources", "namespaces")
_PODS = Path("namespaces", "openshift-etcd", "pods")
_DEEPEST = 4
_MOST_FOLDERS = 20_000
_MOST_FILES = 5000


class LogFile(NamedTuple):
    """container: the folders between the pod and the file, which tell one log from another."""

    pod: str
    container: str
    path: Path


def find_root(path: Path) -> Path:
    """The folder of the image that gathered, at the path or at most 4 levels below.

    Of several, it is the first in the order of names that has etcd's namespace. Raises HandlerError.
    """
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
        what = "is not a folder"
    except OSError as error:
        is_folder, what = False, f"cannot be read ({error.strerror or error})"
    if not is_folder:
        raise HandlerError(f"{path} {what}; give the folder of an unpacked must-gather")
    found: Path | None = None
    for folder in _folders(path, _DEEPEST):
        if _has_mark(folder):
            if _is_folder(folder / _PODS):
                return folder
            found = found or folder
    if found is None:
        raise HandlerError(
            f"{path} is no must-gather: there is neither a folder {' nor '.join(_MARKS)} in it"
        )
    return found


def _folders(top: Path, deepest: int) -> Iterator[Path]:
    """The folder and those below it, in the order of their names; no links are followed."""
    left = _MOST_FOLDERS
    stack = [(top, 0)]
    while stack and left:
        left -= 1
        folder, depth = stack.pop()
        yield folder
        # What is below a root belongs to it.
        if depth < deepest and not _has_mark(folder):
            below = sorted(_subfolders(folder), reverse=True)
            stack += [(child, depth + 1) for child in below]


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def log_files(root: Path) -> list[LogFile]:
    """The logs of the pods whose names begin with "etcd-": by pod, container, oldest first."""
    found: list[LogFile] = []
    pods = root / _PODS
    for pod in sorted(_subfolders(pods)):
        if not pod.name.startswith("etcd-"):
            continue
        for folder, _, names in os.walk(pod):
            container = "/".join(Path(folder).relative_to(pod).parts[:1])
            found += [
                LogFile(pod.name, container, Path(folder, name))
                for name in names
                if _is_log(name) and _is_plain(Path(folder, name))
            ]
            if len(found) >= _MOST_FILES:
                break
    return sorted(found[:_MOST_FILES], key=_order)


def _order(file: LogFile) -> tuple[str, str, bool, str]:
    return file.pod, file.container, file.path.name.startswith("current"), str(file.path)


def _is_log(name: str) -> bool:
    name = name.lower().removesuffix(".gz")
    return name.endswith(".log") or "journal" in name or name.startswith("log")


def _has_mark(folder: Path) -> bool:
    return any(_is_folder(folder / mark) for mark in _MARKS)


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:
        return False


def _is_plain(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
