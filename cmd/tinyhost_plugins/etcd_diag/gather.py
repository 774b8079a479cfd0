"""Where a must-gather keeps the logs of etcd and what it asked etcd."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import NamedTuple

from tinyhost_sdk import HandlerError

from .._shared.must_gather_roots import MARKS, roots, subfolders
from .text import named

_PODS = Path("namespaces", "openshift-etcd", "pods")
# Beside each member is a pod that only keeps its node from being drained too early.
_GUARDS, _CONTAINER = ("etcd-guard-", "etcd-quorum-guard-"), "etcd"
MOST_FILES = 5000


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
        raise HandlerError(f"{named(path)} {what}; give the folder of an unpacked must-gather")
    found: Path | None = None
    for folder in roots(path):
        if _has_pods(folder):
            return folder
        found = found or folder
    if found is None:
        raise HandlerError(
            f"{named(path)} is no must-gather: there is neither a folder {' nor '.join(MARKS)} in it"
        )
    return found


def log_files(root: Path) -> list[LogFile]:
    """The logs of etcd's members, pods named "etcd-NODE": by pod, container, oldest first.

    The first MOST_FILES that are found.
    """
    found: list[LogFile] = []
    pods = sorted(subfolders(root / _PODS)) if _has_pods(root) else []
    for pod in pods:
        if not _is_member(pod):
            continue
        for folder, _, names in os.walk(pod):
            container = "/".join(Path(folder).relative_to(pod).parts[:1])
            logs = {name for name in names if _is_log(name) and _is_plain(Path(folder, name))}
            found += [
                LogFile(pod.name, container, Path(folder, name))
                for name in logs
                # Unpacked by somebody who kept the packed one, it would count twice.
                if not (name.endswith(".gz") and name.removesuffix(".gz") in logs)
            ]
            if len(found) >= MOST_FILES:
                break
    return sorted(found[:MOST_FILES], key=_order)


def _has_pods(root: Path) -> bool:
    """Whether etcd's pods are there, without a link on the way, which may lead out."""
    folder = root
    for name in _PODS.parts:
        folder /= name
        if folder.is_symlink():
            return False
    return _is_folder(folder)


def _is_member(pod: Path) -> bool:
    # A node's own name may begin with "guard-".
    is_guard = pod.name.startswith(_GUARDS) and not _is_folder(pod / _CONTAINER)
    return pod.name.startswith("etcd-") and not is_guard


def _order(file: LogFile) -> tuple[str, str, bool, str]:
    return file.pod, file.container, file.path.name.startswith("current"), str(file.path)


def _is_log(name: str) -> bool:
    # The rotated ones of kubelet are called "0.log.20260501-101112.gz".
    name = name.lower()
    return ".log" in name or "journal" in name or name.startswith("log")


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
