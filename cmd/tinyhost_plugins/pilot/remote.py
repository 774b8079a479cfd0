"""Where a repository comes from: the URL of its git remote."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import urllib.parse
from typing import NamedTuple

_GIT_SECONDS = 10.0
_LONGEST = 4096  # characters of a URL

# user@host:path or host:path, where the host may be an IPv6 address in brackets.
_SCP_LIKE = re.compile(
    r"(?:[^@/:\s]+@)?(\[[0-9A-Fa-f:.]+\]|[^@/:\s\[\]]{2,}):(?!//)(.+)", re.DOTALL
)


class Remote(NamedTuple):
    """host: in lower case, without a port. owner: one or more names with "/" between them."""

    host: str
    owner: str
    repo: str


def parse_remote(url: str) -> Remote | None:
    """Take a remote's URL apart; None for what names no host, owner and repository."""
    url = url.strip()
    if len(url) > _LONGEST or not url.isprintable():
        return None
    host, path = _with_scheme(url) if "://" in url else _scp_like(url)
    segments = path.strip("/").removesuffix(".git").split("/")
    if not host or len(segments) < 2 or not all(segments):
        return None
    return Remote(host.lower(), "/".join(segments[:-1]), segments[-1])


def read_remote(directory: str, name: str) -> Remote | None:
    """The remote of the repository around a directory; None for none, or one without a host."""
    git = shutil.which("git")
    if git is None:
        return None
    try:
        done = subprocess.run(
            [git, "-C", directory or ".", "remote", "get-url", "--", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    return parse_remote(done.stdout.decode("utf-8", "replace").partition("\n")[0])


def _with_scheme(url: str) -> tuple[str, str]:
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.hostname or "", parts.path
    except ValueError:
        return "", ""


def _scp_like(url: str) -> tuple[str, str]:
    found = _SCP_LIKE.fullmatch(url)
    return (found[1].strip("[]"), found[2]) if found else ("", "")
