"""Which files and folders a program needs to see in order to run.

The system's programs and libraries, the program itself, and the interpreter that its first
line names with the environment around it: a venv, a folder of one version of node, and so
on. What a program imports from elsewhere (an editable install) cannot be known.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping

SYSTEM = (
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
)
# What the loader, name look-ups, TLS and clocks read; not the rest of /etc.
SETTINGS = tuple(
    f"/etc/{name}"
    for name in (
        "alternatives",
        "ca-certificates",
        "ca-certificates.conf",
        "crypto-policies",
        "gai.conf",
        "group",
        "host.conf",
        "hosts",
        "ld.so.cache",
        "ld.so.conf",
        "ld.so.conf.d",
        "locale.alias",
        "localtime",
        "mime.types",
        "nsswitch.conf",
        "os-release",
        "passwd",
        "pki",
        "protocols",
        "resolv.conf",
        "services",
        "ssl",
        "timezone",
    )
)
_PASSED = ("SSL_CERT_FILE", "SSL_CERT_DIR")
_HOPS = 40  # links that are followed one by one; as many as Linux does


def needed_by(program: str, env: Mapping[str, str], folder: str = "") -> list[str]:
    """The paths that a program with this environment needs to read, those that exist.

    folder: the plugin's own, where it has one.
    """
    found = [*SYSTEM, *SETTINGS, *(env[key] for key in _PASSED if env.get(key))]
    found += _own(program, env.get("HOME", ""), folder)
    for interpreter in _interpreters(program, env):
        found += _with_environment(interpreter, env.get("HOME", ""))
    return [path for path in dict.fromkeys(found) if os.path.exists(path)]  # noqa: PTH110


def is_broad(folder: str, home: str) -> bool:
    """Whether a folder holds a person's things, and so is not a program's own."""
    if folder in ("/", "/tmp", "/var/tmp", "/opt"):
        return True
    inside = folder.rstrip("/") + "/"
    return bool(home) and (f"{home}/".startswith(inside) or folder == f"{home}/.local")


def _own(program: str, home: str, folder: str) -> Iterator[str]:
    if folder:
        yield folder
    yield from _with_environment(program, home)
    target = os.path.realpath(program)
    behind = os.path.dirname(target)  # noqa: PTH120
    # A link into a project: the program's siblings are beside what it leads to.
    if target != program and not is_broad(behind, home):
        yield behind


def _with_environment(program: str, home: str) -> Iterator[str]:
    """A program, each link on the way to it, and the prefix that a "bin" of theirs is in."""
    for path in _hops(program):
        folder = os.path.dirname(path)  # noqa: PTH120
        prefix = os.path.dirname(folder)  # noqa: PTH120
        in_bin = os.path.basename(folder) in ("bin", "sbin", "Scripts")  # noqa: PTH119
        yield prefix if in_bin and not is_broad(prefix, home) else path


def _hops(path: str) -> Iterator[str]:
    last = os.path.realpath(path)
    for _ in range(_HOPS):
        yield path
        if not os.path.islink(path):  # noqa: PTH114
            break
        folder = os.path.dirname(path)  # noqa: PTH120
        path = os.path.normpath(os.path.join(folder, os.readlink(path)))  # noqa: PTH115, PTH118
    if path != last:
        yield last


def _interpreters(program: str, env: Mapping[str, str]) -> Iterator[str]:
    """What the first line of a script names; for env, what it would find on PATH."""
    words = first_line(program)
    if not words:
        return
    yield words[0]
    if os.path.basename(words[0]) == "env":  # noqa: PTH119
        named = _named_for_env(words[1:])
        found = shutil.which(named, path=env.get("PATH", os.defpath)) if named else None
        if found:
            yield found


def first_line(program: str) -> list[str]:
    """The words after #! in a script's first line; none for any other file."""
    try:
        with open(program, "rb") as file:  # noqa: PTH123
            head = file.read(256)
    except OSError:
        return []
    line = head[2:].split(b"\n", 1)[0] if head.startswith(b"#!") else b""
    return os.fsdecode(line).split()


def _named_for_env(words: Iterable[str]) -> str:
    for word in words:
        if not word.startswith("-") and "=" not in word:
            return word
    return ""
