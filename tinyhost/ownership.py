"""Whether a program's file is one that only its person and root could have put there."""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import stat
import sys

# On macOS the members of the admin group (80) can become root anyway.
_TRUSTED_GROUPS = {0, 80} if sys.platform == "darwin" else {0}
_MAX_LINKS = 40  # as Linux has it


def program_problem(path: str) -> str | None:
    """Say why a file must not be run as a plugin and how to fix it; None when it may be.

    Links are followed: every link, every folder on the way, and the file itself have to be
    safe.
    """
    if problem := file_problem(path):
        return problem
    target = os.path.realpath(path)
    if not os.access(target, os.X_OK):
        return f"is not executable; {_chmod('+x', target)}"
    return None


def file_problem(path: str) -> str | None:
    """Say why a file's content cannot be trusted and how to fix that; None when it can be."""
    target = os.path.realpath(path)
    try:
        found = os.stat(target)  # noqa: PTH116 (strings are what the callers exec)
    except FileNotFoundError:
        return f"is a link to {target}, which does not exist"
    except OSError as error:
        return f"cannot be examined: {error.strerror}"
    if stat.S_ISDIR(found.st_mode):
        return "is a folder, not a program"
    if not stat.S_ISREG(found.st_mode):
        return "is not a regular file"
    return _open_problem(target, found) or way_problem(path)


def way_problem(path: str) -> str | None:
    """Say who else could exchange what a path leads to; None when nobody can.

    Looked at are the links on the way and the folders that hold its parts, up to the root.
    """
    try:
        # Not abspath: it takes ".." behind a link for the folder that the link is in.
        folders, links = _way(os.path.join(os.getcwd(), path))  # noqa: PTH109, PTH118
    except OSError as error:
        return f"cannot be examined: {error.strerror}"
    for link in links:
        if _foreign(found := os.lstat(link)):
            return _owned_by(found, link)
    # From the nearest, as that is where most mistakes are.
    for folder in reversed(folders):
        if problem := folder_problem(folder):
            return f"is in {folder}, which {problem}"
    return None


def folder_problem(folder: str) -> str | None:
    """Say why a folder's content cannot be trusted; None when it can be, or is not there.

    A sticky folder that everybody can write is fine: nobody can replace another's files. So is
    one that root shares with a group, as some systems do with /usr/local/bin.
    """
    try:
        found = os.stat(folder)  # noqa: PTH116
    except OSError:
        return None
    if _foreign(found):
        return _owned_by(found, folder)
    shared_by_root = found.st_uid == 0 and not found.st_mode & stat.S_IWOTH
    if found.st_mode & stat.S_ISVTX or shared_by_root:
        return None
    if who := _other_writers(found):
        return f"can be written by {who}; {_chmod('go-w', folder)}"
    return None


def _open_problem(target: str, found: os.stat_result) -> str | None:
    if _foreign(found):
        return _owned_by(found, target)
    if who := _other_writers(found):
        return f"can be written by {who}; {_chmod('go-w', target)}"
    return None


def _way(path: str) -> tuple[list[str], list[str]]:
    """The folders and the links that are passed on the way to what an absolute path means."""
    folders: dict[str, None] = {}
    links: list[str] = []
    here, todo = "/", path.split("/")[::-1]
    while todo:
        name = todo.pop()
        if name in ("", "."):
            continue
        if name == "..":
            here = os.path.dirname(here)  # noqa: PTH120 (of links, nothing is left in it)
            continue
        folders[here] = None
        step = f"{here.rstrip('/')}/{name}"
        if not stat.S_ISLNK(os.lstat(step).st_mode):
            here = step
            continue
        links.append(step)
        if len(links) > _MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = os.readlink(step)  # noqa: PTH115
        here = "/" if target.startswith("/") else here
        todo += target.split("/")[::-1]
    return list(folders), links


def _foreign(found: os.stat_result) -> bool:
    return found.st_uid not in (0, os.geteuid())


def _owned_by(found: os.stat_result, path: str) -> str:
    owner = str(found.st_uid)
    with contextlib.suppress(KeyError, ImportError):
        import pwd

        owner = pwd.getpwuid(found.st_uid).pw_name
    return (
        f"belongs to {owner}, not to you or root; if you trust it: sudo chown {os.geteuid()} "
        + shlex.quote(path)
    )


def _other_writers(found: os.stat_result) -> str:
    if found.st_mode & stat.S_IWOTH:
        return "everybody"
    if found.st_mode & stat.S_IWGRP and not _own_group(found.st_gid):
        return "its group"
    return ""


def _own_group(gid: int) -> bool:
    """Whether a group holds nobody but the person (as made for each user by many systems)."""
    if gid in _TRUSTED_GROUPS:
        return True
    import grp
    import pwd

    try:
        group, user = grp.getgrgid(gid), pwd.getpwuid(os.geteuid())
    except KeyError:
        return False
    return (
        gid == user.pw_gid
        and group.gr_name == user.pw_name
        and not set(group.gr_mem) - {user.pw_name}
    )


def _chmod(change: str, path: str) -> str:
    return f"fix it with: chmod {change} {shlex.quote(path)}"
