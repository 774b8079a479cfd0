"""Which packages there are, and what is wrong with those that cannot be used.

One that is broken fails alone. What the person has comes before what a project brings: of two
packages of one id the earlier counts, and a later one that offers something under a name that
an earlier one has, fails. Of two in one folder, both fail.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import attrs

from .. import paths
from ..config import Config
from ..extension_folders import ExtensionFolder, extension_folders
from ..ownership import file_problem
from .manifest import BadManifest, read_manifest
from .package import MANIFEST, Package, Problem
from .reading import MAX_SIZE
from .tree import BadTree, scan

MAX_PACKAGES = 1000  # in one folder


@attrs.frozen(kw_only=True)
class Found:
    """A folder that is, or should be, a package.

    name: the folder's. package: None when its manifest cannot be used. problems: why it is
    not used. instead: the folder of the earlier package of that name, or "".
    """

    name: str
    folder: str
    source: str
    package: Package | None = None
    problems: Sequence[Problem] = ()
    instead: str = ""

    @property
    def usable(self) -> bool:
        """Whether it counts."""
        return self.package is not None and not self.problems and not self.instead

    @property
    def why_not(self) -> str:
        """Why it does not count, in words that follow its folder, or ""."""
        if self.problems:
            return "cannot be used: " + "; ".join(map(str, self.problems))
        return f"is not used, as {self.instead} comes before it" if self.instead else ""


def packages_of(config: Config, environ: Mapping[str, str] | None = None) -> list[Found]:
    """All packages of a person, and of the trusted project that they work in."""
    folders = extension_folders(
        paths.config_dir(environ),
        compat=config.compat,
        environ=environ,
        project=config.project.root if config.project else None,
    )
    return discover(folders)


def discover(folders: Iterable[ExtensionFolder]) -> list[Found]:
    """All packages, in the order of the folders and then by name."""
    found: list[Found] = []
    owners: dict[tuple[str, str], Found] = {}
    for folder in folders:
        here = [_after(earlier=found, later=package) for package in _packages(folder)]
        here = _without_clashes(here, owners)
        for package in here:
            owners.update(dict.fromkeys(_names(package), package))
        found += here
    return found


def read_folder(folder: str, source: str = "") -> Found:
    """One package, judged by itself."""
    name = os.path.basename(folder)  # noqa: PTH119
    found = Found(name=name, folder=folder, source=source)
    try:
        status = os.lstat(folder)
        if not stat.S_ISDIR(status.st_mode):
            raise BadTree(folder, "is not a folder of its own")
        scan(folder)
        package = read_manifest(_read(f"{folder}/{MANIFEST}"))
    except (BadTree, OSError) as error:
        reason = str(error) if isinstance(error, BadTree) else f"{folder}: {error.strerror}"
        return attrs.evolve(found, problems=(Problem("", reason),))
    except BadManifest as error:
        return attrs.evolve(found, problems=error.problems)
    problems = []
    if package.id != name:
        problems.append(Problem("id", f"is {package.id!r}, but the folder is called {name!r}"))
    if problem := file_problem(f"{folder}/{MANIFEST}"):
        problems.append(Problem("", f"{folder}/{MANIFEST} {problem}"))
    return attrs.evolve(found, package=package, problems=tuple(problems))


def clashes(package: Package, others: Iterable[Found]) -> list[Problem]:
    """What a package would offer that one of the others offers already."""
    owners = {pair: other for other in others for pair in _names(other)}
    return [
        _clash(kind, name, owners[kind, name])
        for kind, name in package.contributions()
        if (kind, name) in owners
    ]


def _packages(folder: ExtensionFolder) -> Iterator[Found]:
    try:
        names = sorted(os.listdir(folder.path))  # noqa: PTH208
    except OSError:
        return
    # Names with a dot in front are an installer's work, or other things that are no packages.
    names = [name for name in names if not name.startswith(".")]
    for name in names[:MAX_PACKAGES]:
        path = f"{folder.path}/{name}"
        if os.path.islink(path) or os.path.lexists(f"{path}/{MANIFEST}"):  # noqa: PTH114
            yield read_folder(path, folder.source)


def _read(path: str) -> bytes:
    # Without O_NONBLOCK, opening a named pipe would wait for its other end.
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with open(handle, "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise BadTree(path, "is not a regular file")
        return file.read(MAX_SIZE + 1)


def _after(*, earlier: Sequence[Found], later: Found) -> Found:
    for found in earlier:
        if found.name == later.name:
            return attrs.evolve(later, instead=found.folder)
    return later


def _names(found: Found) -> Sequence[tuple[str, str]]:
    return found.package.contributions() if found.usable and found.package else ()


def _without_clashes(here: Sequence[Found], owners: dict[tuple[str, str], Found]) -> list[Found]:
    count = Counter(pair for found in here for pair in set(_names(found)))
    result = []
    for found in here:
        others = {pair: owners[pair] for pair in _names(found) if pair in owners}
        for pair in _names(found):
            if count[pair] > 1:
                others[pair] = next(o for o in here if o is not found and pair in _names(o))
        problems = [_clash(kind, name, owner) for (kind, name), owner in others.items()]
        result.append(attrs.evolve(found, problems=(*found.problems, *problems)))
    return result


def _clash(kind: str, name: str, owner: Found) -> Problem:
    reason = f"the {kind} {name!r} is also in package {owner.name} ({owner.folder}); remove one"
    return Problem(f"{kind}s", reason)
