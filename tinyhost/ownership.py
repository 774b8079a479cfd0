"""Whether a program's file is one that only its person and root could have put there."""

from __future__ import annotations

import contextlib
import os
import shlex
import stat
import sys

# On macOS the members of the admin group (80) can become root anyway.
_TRUSTED_GROUPS = {0, 80} if sys.platform == "darwin" else {0}


def program_problem(path: str) -> str | None:
    """Say why a file must not be run as a plugin and how to fix it; None when it may be.

    Links are followed: both the link and what it leads to have to be safe, and the folders
    that they are in.
    """
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
    if problem := _file_problem(path, target, found):
        return problem
    for folder in dict.fromkeys((os.path.dirname(path), os.path.dirname(target))):  # noqa: PTH120
        if problem := folder_problem(folder):
            return f"is in {folder}, which {problem}"
    if not os.access(target, os.X_OK):
        return f"is not executable; {_chmod('+x', target)}"
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


def _file_problem(path: str, target: str, found: os.stat_result) -> str | None:
    link = os.lstat(path)
    if _foreign(link):
        return _owned_by(link, path)
    if _foreign(found):
        return _owned_by(found, target)
    if who := _other_writers(found):
        return f"can be written by {who}; {_chmod('go-w', target)}"
    return None


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
