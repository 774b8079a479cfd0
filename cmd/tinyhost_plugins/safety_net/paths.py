"""Where a path leads: the root, a system directory, a home, the working directory, elsewhere.

Only the text is looked at, never the file system: a symbolic link is not followed.
"""

from __future__ import annotations

from typing import NamedTuple

from . import marks
from .tables import names

ROOT = "root"
SYSTEM = "system"
USERS = "users"  # the directory of all homes
HOME = "home"
PERSONAL = "personal"  # keys, settings and documents in a home
TEMP = "temp"  # a temporary directory that all programs share
HERE = "here"  # the working directory
ABOVE = "above"
REPOSITORY = "repository"

_WHOLE = 99
# Top-level directory to the number of levels, itself included, that are the system's.
_SYSTEM_LEVELS = {
    "Applications": 2,
    "Library": _WHOLE,
    "System": _WHOLE,
    "Volumes": 2,
    "bin": _WHOLE,
    "boot": _WHOLE,
    "dev": _WHOLE,
    "efi": _WHOLE,
    "etc": _WHOLE,
    "lib": _WHOLE,
    "lib32": _WHOLE,
    "lib64": _WHOLE,
    "libx32": _WHOLE,
    "media": 3,
    "mnt": 2,
    "nix": _WHOLE,
    "opt": 1,
    "private": 1,
    "proc": _WHOLE,
    "run": _WHOLE,
    "sbin": _WHOLE,
    "snap": _WHOLE,
    "srv": 1,
    "sys": _WHOLE,
    "usr": _WHOLE,
    "var": _WHOLE,
}
# What lies below these is not the system's: caches, lists that are fetched again, and
# places where people put things of their own. The number is how many levels below.
_OWN_BELOW: dict[tuple[str, ...], int] = {
    ("dev", "shm"): 1,
    ("run", "user"): 2,
    ("usr", "local"): 2,
    ("usr", "src"): 1,
    ("var", "cache"): 1,
    ("var", "folders"): 3,
    ("var", "lib", "apt", "lists"): 0,
    ("var", "lib", "jenkins", "workspace"): 1,
    ("var", "tmp"): 1,
    ("var", "www"): 1,
}
_TEMP = (("tmp",), ("var", "tmp"), ("dev", "shm"))
_PERSONAL = names(
    ".aws .azure .config .gnupg .kube .local .password-store .ssh"
    " Desktop Documents Downloads Library Music Pictures Videos"
)


class Place(NamedTuple):
    """A path without its detours. anchor: "/" the root, "~" a home, "." the working directory."""

    anchor: str
    parts: tuple[str, ...]


def locate(word: str, cwd: str = ".") -> Place | None:
    """Resolve a word against the working directory; None when nobody can tell where it leads."""
    if word.startswith((marks.HOME, "/")):
        anchor, rest = _anchor(word)
    elif word.startswith(marks.UNKNOWN):
        return None
    else:
        base = Place(".", ()) if cwd in ("", ".") else locate(cwd)
        if base is None:
            # Somewhere unknown: still that place itself, or what is in it.
            base = Place(".", ())
        anchor, rest = base.anchor, "/".join((*base.parts, word))
    return _at_home(_normal(anchor, rest))


def _anchor(word: str) -> tuple[str, str]:
    if word.startswith("/"):
        return "/", word
    rest = word[1:]
    # ~user is the home of somebody else: what follows the name counts.
    return "~", rest if rest.startswith("/") else rest.partition("/")[2]


def _normal(anchor: str, path: str) -> Place:
    parts: list[str] = []
    for part in path.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            parts.append(part)
        elif parts and parts[-1] != "..":
            parts.pop()
        elif anchor == "~":
            anchor, parts = "/", ["home"]
        elif anchor == ".":
            parts.append("..")
    return Place(anchor, tuple(parts))


def _at_home(place: Place) -> Place:
    if place.anchor != "/" or not place.parts:
        return place
    first, *rest = place.parts
    if first == "root":
        return Place("~", tuple(rest))
    if first in ("home", "Users") and rest and not _everything(rest[0]):
        return Place("~", tuple(rest[1:]))
    return place


def _everything(part: str) -> bool:
    return marks.STAR in part and marks.matches_anything(part)


def relative_to(place: Place, directory: str) -> Place:
    """The same place seen from the project directory, when it lies in or above that."""
    project = locate(directory) if directory.startswith("/") else None
    if project is None or not project.parts or project.anchor != place.anchor:
        return place
    depth = len(project.parts)
    if place.parts[:depth] == project.parts:
        return Place(".", place.parts[depth:])
    return place


def is_above(place: Place, directory: str) -> bool:
    """Whether the project directory lies below the place."""
    project = locate(directory) if directory.startswith("/") else None
    if project is None or project.anchor != place.anchor:
        return False
    return project.parts[: len(place.parts)] == place.parts


def within(place: Place, allowed: str) -> bool:
    """Whether a place is an allowed path or lies below it. `allowed` may start with ~."""
    if allowed.startswith("~"):
        allowed = marks.HOME + allowed[1:]
    base = locate(allowed)
    if base is None or base.anchor != place.anchor or ".." in place.parts:
        return False
    return place.parts[: len(base.parts)] == base.parts


def kind(place: Place) -> str | None:
    """What a place is to the system and its people; None for what is nobody's business."""
    anchor, parts = place
    while parts and marks.matches_anything(parts[-1]):
        # The contents of a directory count as the directory. Below the working directory
        # and in subdirectories unknown names are one's own; those next to the root are not.
        if not _everything(parts[-1]) and (anchor == "." or _is_own(anchor, parts)):
            return None
        parts = parts[:-1]
    if anchor == "~":
        return _kind_at_home(parts)
    if anchor == ".":
        return _kind_here(parts)
    return _kind_of_absolute(parts)


def _is_own(anchor: str, parts: tuple[str, ...]) -> bool:
    if anchor == "~":
        return False
    return parts[:-1] not in ((), ("home",), ("Users",)) and not _is_system(parts)


def _kind_at_home(parts: tuple[str, ...]) -> str | None:
    if not parts:
        return HOME
    if len(parts) == 1 and _fits_any(parts[0], _PERSONAL):
        return PERSONAL
    return PERSONAL if parts == (".local", "share") else None


def _kind_here(parts: tuple[str, ...]) -> str | None:
    if not parts:
        return HERE
    if all(part == ".." for part in parts):
        return ABOVE
    return REPOSITORY if parts == (".git",) else None


def _kind_of_absolute(parts: tuple[str, ...]) -> str | None:
    if not parts:
        return ROOT
    if parts in (("home",), ("Users",)):
        return USERS
    if parts[:1] == ("private",):
        parts = parts[1:] or parts
    if parts in _TEMP:
        return TEMP
    return SYSTEM if _is_system(parts) else None


def _is_system(parts: tuple[str, ...]) -> bool:
    for prefix, levels in _OWN_BELOW.items():
        if parts[: len(prefix)] == prefix and len(parts) >= len(prefix) + levels:
            return False
    first = parts[0]
    if marks.is_pattern(first):
        return _fits_any(first, (*_SYSTEM_LEVELS, "home", "root"))
    return len(parts) <= _SYSTEM_LEVELS.get(first, 0)


def _fits_any(part: str, names: frozenset[str] | tuple[str, ...]) -> bool:
    if not marks.is_pattern(part):
        return part in names
    return any(marks.pattern_fits(part, name) for name in names)


_BLOCK_DEVICES = (
    *("sd", "hd", "vd", "xvd", "nvme", "mmcblk", "loop", "disk", "rdisk", "dm-", "mapper", "md"),
    *("sr", "mem", "kmem", "port", "zd", "nbd", "pmem", "ram", "block", "mtd", "drbd", "bcache"),
)


def is_device(word: str) -> bool:
    """Whether the word names a disk, a volume or memory below /dev."""
    place = locate(word)
    if place is None or place.anchor != "/" or len(place.parts) < 2 or place.parts[0] != "dev":
        return False
    name = place.parts[1]
    return marks.is_pattern(name[:1]) or name.startswith(_BLOCK_DEVICES)


_CRITICAL_IN_ETC = names(
    "passwd shadow group gshadow sudoers fstab crypttab hosts resolv.conf nsswitch.conf"
    " ld.so.conf ld.so.preload inittab profile"
)
_BOOT_TREES = names("boot efi")
_PROGRAM_TREES = names("bin sbin lib lib32 lib64")


def is_critical_file(word: str, cwd: str = ".", *, programs: bool = True) -> bool:
    """Whether the machine may not start, or let anybody in, without this file.

    programs: count programs and libraries of the system too. To write there may as well be
    the installation of something new.
    """
    place = locate(word, cwd)
    if place is None or not place.parts:
        return False
    anchor, parts = place
    if anchor == "~":
        return parts == (".ssh", "authorized_keys")
    if anchor != "/" or len(parts) < 2:
        return False
    if parts[0] == "etc":
        return len(parts) == 2 and _fits_any(parts[1], _CRITICAL_IN_ETC)
    if parts[0] in _BOOT_TREES:
        return True
    top = parts[1] if parts[0] == "usr" else parts[0]
    return programs and top in _PROGRAM_TREES
