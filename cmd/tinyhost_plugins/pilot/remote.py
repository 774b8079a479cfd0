"""Where a repository comes from: the URL of its git remote."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import urllib.parse
from typing import NamedTuple

from .._shared.texts import line

_GIT_SECONDS = 10.0
_LONGEST = 4096  # characters of a URL

NO_REMOTE = "there is no git remote to go by here"
# What git says about folders in which nothing is wrong.
_NONE = ("not a git repository", "No such remote")

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


def read_remote(directory: str, name: str) -> Remote | str:
    """The remote of the repository around a directory, or words on why there is none."""
    git = shutil.which("git")
    if git is None:
        return "there is no git on PATH to read the remote with"
    try:
        done = subprocess.run(
            [git, "-C", directory or ".", "remote", "get-url", "--", name],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
            env={**os.environ, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"},
        )
    except (OSError, ValueError) as error:
        return f"git cannot be started here ({line(str(error))})"
    except subprocess.TimeoutExpired:
        return f"git did not answer within {_GIT_SECONDS:.0f} s"
    if done.returncode != 0:
        return _refusal(done.stderr.decode("utf-8", "replace").partition("\n")[0])
    remote = parse_remote(done.stdout.decode("utf-8", "replace").partition("\n")[0])
    return remote or "the git remote here is not at a host"


def _refusal(said: str) -> str:
    """Why git gives no remote, by the first line that it says."""
    if any(words in said for words in _NONE):
        return NO_REMOTE
    return f"git cannot read the remote here ({line(said)})"


def _with_scheme(url: str) -> tuple[str, str]:
    try:
        parts = urllib.parse.urlsplit(url)
        return parts.hostname or "", parts.path
    except ValueError:
        return "", ""


def _scp_like(url: str) -> tuple[str, str]:
    found = _SCP_LIKE.fullmatch(url)
    return (found[1].strip("[]"), found[2]) if found else ("", "")
