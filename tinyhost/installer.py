"""Installing plugins that are files: packages, bingo folders, folders with a program, programs.

Packages go to the extension folder, all others to the plugin folder. Nothing of a plugin is
run by installing it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import attrs

from . import staging
from .errors import InstallError
from .names import name_problem
from .registry import BINARY_PREFIX
from .staging import Item, Stage
from .zuno.discovery import Found, clashes, read_folder
from .zuno.package import MANIFEST, Package, ProcessRuntime
from .zuno.reading import parse
from .zuno.tree import MAX_BYTES, BadTree, scan

BINGO_MANIFEST = "plugin.json"
_MAX_MANIFEST = 1024 * 1024


@attrs.frozen
class Places:
    """Where things are installed: the folders of packages and of all other plugins."""

    extensions: str
    plugins: str

    def of(self, kind: str) -> str:
        """The folder for a kind."""
        return self.extensions if kind == "zuno" else self.plugins


@attrs.frozen(kw_only=True)
class Source:
    """What is to be installed. kind: "zuno", "bingo", "folder" or "program".

    package: of a zuno package, what its manifest says.
    """

    kind: str
    name: str
    path: str
    items: Sequence[Item]
    package: Package | None = None


@attrs.frozen(kw_only=True)
class Installed:
    """What was installed or removed, and where."""

    kind: str
    name: str
    path: str
    package: Package | None = None

    @property
    def runs(self) -> str:
        """The command that it is started with, or "" for what has none or says it elsewhere."""
        if self.package and isinstance(self.package.runtime, ProcessRuntime):
            return " ".join([self.package.runtime.command, *self.package.runtime.args])
        return self.path if self.kind == "program" else ""


def add(
    path: str | os.PathLike[str],
    places: Places,
    *,
    others: Iterable[Found] = (),
    on_step: Callable[[str], None] = lambda _step: None,
) -> Installed:
    """Install what is at a path; nothing is ever replaced.

    others: packages that are in use, which a package must not clash with. on_step: see
    staging.opened. Raises InstallError, and then nothing has changed.
    """
    source = inspect(path)
    _check_free(source, places)
    with _stage(source, places, on_step) as stage:
        if os.path.lexists(stage.path(source.name)):
            raise InstallError(_there(source, stage))
        staged = _staged(source, stage, others)
        stage.put(staged, source.name)
        return _installed(source, stage)


def update(
    path: str | os.PathLike[str],
    places: Places,
    *,
    others: Iterable[Found] = (),
    on_step: Callable[[str], None] = lambda _step: None,
    at_once: bool = True,
) -> Installed:
    """Replace what is installed by what is at a path, in one step; see add.

    at_once: see Stage.exchange.
    """
    source = inspect(path)
    with _stage(source, places, on_step) as stage:
        if not os.path.lexists(stage.path(source.name)):
            reason = f"{source.name} is not installed in {stage.folder}; to install it: "
            raise InstallError(f"{reason}tinyhost plugin add")
        staged = _staged(source, stage, others)
        stage.exchange(staged, source.name, at_once=at_once)
        return _installed(source, stage)


def remove(
    name: str, places: Places, *, on_step: Callable[[str], None] = lambda _step: None
) -> Installed:
    """Take away what is installed under a name. Raises InstallError, and then it is all there."""
    if problem := name_problem(name):
        raise InstallError(problem)
    folders = [f for f in (places.extensions, places.plugins) if os.path.lexists(f"{f}/{name}")]
    if not folders:
        looked = f"{places.extensions} and {places.plugins}"
        raise InstallError(f"{name} is installed neither in {looked.replace(' and ', ' nor in ')}")
    if len(folders) > 1:
        both = " and ".join(f"{folder}/{name}" for folder in folders)
        raise InstallError(f"there are {both}; delete the one that is not wanted by hand")
    kind = "zuno" if folders[0] == places.extensions else "plugin"
    with _opened(folders[0], on_step) as stage:
        if not os.path.lexists(stage.path(name)):
            raise InstallError(f"{name} has been removed by another process")
        stage.remove(name)
        return Installed(kind=kind, name=name, path=stage.path(name))


# --- looking at what is to be installed


def inspect(path: str | os.PathLike[str]) -> Source:
    """Say what is at a path and check that it can be installed. Raises InstallError."""
    place = os.path.abspath(path)  # noqa: PTH100
    if os.path.basename(place) in (MANIFEST, BINGO_MANIFEST):  # noqa: PTH119
        place = os.path.dirname(place)  # noqa: PTH120
    if os.path.islink(place):  # noqa: PTH114
        raise InstallError(f"{place} is a link; name what it leads to: {os.path.realpath(place)}")
    if os.path.isfile(place):  # noqa: PTH113
        return _program(place)
    if not os.path.isdir(place):  # noqa: PTH112
        what = "is neither a file nor a folder" if os.path.lexists(place) else "does not exist"
        raise InstallError(f"{place} {what}")
    try:
        entries = scan(place)
    except BadTree as error:
        raise InstallError(f"{place} cannot be installed: {error}") from None
    mode = os.stat(place).st_mode & 0o777  # noqa: PTH116
    items = [Item("", True, mode), *(Item(e.name, e.is_folder, e.mode) for e in entries)]
    return _folder(place, items, {entry.name for entry in entries if not entry.is_folder})


def _program(path: str) -> Source:
    name = os.path.basename(path).removeprefix(BINARY_PREFIX)  # noqa: PTH119
    _check_name(name)
    status = os.stat(path)  # noqa: PTH116
    if not os.access(path, os.X_OK):
        raise InstallError(f"{path} is not executable; if it is a plugin: chmod +x {path}")
    if status.st_size > MAX_BYTES:
        raise InstallError(f"{path} is larger than {MAX_BYTES} bytes")
    items = [Item("", False, status.st_mode & 0o777)]
    return Source(kind="program", name=name, path=path, items=items)


def _folder(path: str, items: Sequence[Item], files: set[str]) -> Source:
    if MANIFEST in files:
        package = _package(path)
        return Source(kind="zuno", name=package.id, path=path, items=items, package=package)
    if BINGO_MANIFEST in files:
        name = _bingo_name(f"{path}/{BINGO_MANIFEST}")
        return Source(kind="bingo", name=name, path=path, items=items)
    name = os.path.basename(path)  # noqa: PTH119
    inside = (name, BINARY_PREFIX + name, "plugin")
    if not files.intersection(inside):
        expected = ", ".join((MANIFEST, BINGO_MANIFEST, *inside))
        raise InstallError(f"{path} is no plugin: expected one of {expected} in it")
    _check_name(name)
    return Source(kind="folder", name=name, path=path, items=items)


def _package(path: str) -> Package:
    found = read_folder(path)
    # With a package, all there can be against it is the folder's own name and owner: the copy
    # gets others.
    if found.package is None:
        lines = "".join(f"\n  {problem}" for problem in found.problems)
        raise InstallError(f"{path} is no package that can be installed:{lines}")
    _check_name(found.package.id)
    return found.package


def _bingo_name(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            value = parse(file.read(_MAX_MANIFEST + 1))
    except (OSError, ValueError) as error:
        raise InstallError(f"{path}: {error}") from None
    name = value.get("name") if isinstance(value, dict) else None
    if not isinstance(name, str):
        raise InstallError(f"{path}: name is required, a string")
    _check_name(name)
    return name


def _check_name(name: str) -> None:
    if problem := name_problem(name):
        raise InstallError(problem)


# --- doing it


def _check_free(source: Source, places: Places) -> None:
    """A name is one plugin's, whatever kind it is."""
    other = places.plugins if source.kind == "zuno" else places.extensions
    if os.path.lexists(f"{other}/{source.name}"):
        reason = f"there is another plugin of that name: {other}/{source.name}"
        raise InstallError(f"{reason}; to remove it: tinyhost plugin remove {source.name}")


def _there(source: Source, stage: Stage) -> str:
    path = stage.path(source.name)
    return f"{source.name} is installed already, in {path}; to replace it: tinyhost plugin update"


@contextmanager
def _stage(source: Source, places: Places, on_step: Callable[[str], None]) -> Iterator[Stage]:
    folder = places.of(source.kind)
    whole, into = os.path.realpath(source.path), os.path.realpath(folder)
    if f"{into}/".startswith(f"{whole}/"):
        raise InstallError(f"{source.path} holds the folder that it is to be copied to, {folder}")
    if f"{whole}/".startswith(f"{into}/"):
        raise InstallError(f"{source.path} is in {folder} already, where plugins are installed")
    with _opened(folder, on_step) as stage:
        yield stage


@contextmanager
def _opened(folder: str, on_step: Callable[[str], None]) -> Iterator[Stage]:
    try:
        with staging.opened(folder, on_step) as stage:
            yield stage
    except staging.Busy:
        reason = f"another tinyhost is changing {folder} now; try again when it is done"
        raise InstallError(reason) from None
    except staging.Changed as error:
        raise InstallError(f"nothing was changed: {error}") from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise InstallError(f"nothing was changed: {where}{error.strerror or error}") from error


def _staged(source: Source, stage: Stage, others: Iterable[Found]) -> str:
    if source.package is not None:
        elsewhere = [found for found in others if found.name != source.name]
        if problems := clashes(source.package, elsewhere):
            lines = "".join(f"\n  {problem}" for problem in problems)
            raise InstallError(f"{source.name} cannot be installed beside the others:{lines}")
    staged = stage.copy(source.path, source.name, source.items)
    if source.package is not None and read_folder(staged).package != source.package:
        stage.drop(staged)
        raise InstallError(f"nothing was changed: {source.path} changed while it was copied")
    return staged


def _installed(source: Source, stage: Stage) -> Installed:
    return Installed(
        kind=source.kind,
        name=source.name,
        path=stage.path(source.name),
        package=source.package,
    )
