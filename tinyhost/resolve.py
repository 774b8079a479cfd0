"""From a plugin's name to its program.

The places, in order: the person's plugin folder, their packages, PATH, the Python environment
that tinyhost runs in, with "compat": ["tinycode"] tinycode's plugin folder and its names on PATH, and last
the folder of a trusted project. So nothing that a project brings ever takes the place of what
the person has.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from importlib import import_module

import attrs

from tinyhost import extension_folders as extensions
from tinyhost import paths
from tinyhost import registry as registries
from tinyhost.bingo import manifest as bingo
from tinyhost.bingo.discovery import PROJECT_BINGO, USER_BINGO, examine, user_folder
from tinyhost.errors import LoadError, PluginNotFound, PluginNotInstalled
from tinyhost.model import ProjectPlugins, Resolved
from tinyhost.names import BUILTIN_NAMES, check_name, name_problem
from tinyhost.ownership import program_problem
from tinyhost.registry import BINARY_PREFIX, Registry, RegistryEntry

TINYCODE_PREFIX = "tinycode-plugin-"

USER_FOLDER = "plugin folder"
PATH = "PATH"
PYTHON = "Python environment"
TINYCODE_FOLDER = "tinycode plugin folder"
TINYCODE_PATH = "tinycode name on PATH"
PROJECT_FOLDER = "project's plugin folder"

_FOLDERS = (
    USER_FOLDER,
    TINYCODE_FOLDER,
    PROJECT_FOLDER,
    USER_BINGO,
    PROJECT_BINGO,
    extensions.USER,
    extensions.USER_ZUNO,
    extensions.PROJECT,
    extensions.PROJECT_ZUNO,
)


@attrs.frozen
class Candidate:
    """A file that a name could stand for. `problem` says why it cannot be used, or is "".

    folder: the plugin's own folder, "" where it is a file among others. dialect: the wire.
    """

    path: str
    source: str
    problem: str = ""
    folder: str = ""
    dialect: str = "native"

    @property
    def usable(self) -> bool:
        """Whether the file can be run."""
        return not self.problem

    @property
    def target(self) -> str:
        """The file itself, where links lead to it."""
        return os.path.realpath(self.path)


class Resolver:
    """Finds plugins' programs.

    path: the value of PATH. compat: as in the configuration. registry: the plugins that are
    known by name, default tinyhost's own. scripts: the folder of the Python environment's
    programs. environ: where other hosts' folders are read from. project: what a trusted
    project brings.
    """

    def __init__(
        self,
        config_dir: str | os.PathLike[str],
        path: str,
        *,
        compat: Collection[str] = (),
        registry: Registry | None = None,
        scripts: str | None = None,
        environ: Mapping[str, str] | None = None,
        project: ProjectPlugins | None = None,
    ) -> None:
        self._project = project
        self._plugins = str(paths.absolute(config_dir) / "plugins")
        self._extensions = extensions.extension_folders(
            config_dir,
            compat=compat,
            environ=environ,
            project=project.root if project else None,
        )
        self._path = path
        self._scripts = registries.scripts_dir() if scripts is None else scripts
        self._tinycode = "tinycode" in compat
        self._tinycode_plugins = str(paths.tinycode_plugins_dir(environ))
        self._bingo = user_folder(environ) if "bingo" in compat else ""
        self._registry = registry

    def resolve(self, name: str) -> Resolved:
        """Find a plugin's program; the path is absolute, and links in it are kept.

        Raises InvalidCall for a bad name, LoadError (stage "resolve") for a file in a plugin
        folder that cannot be used, PluginNotInstalled for a plugin that only the registry
        knows, PluginNotFound for any other.
        """
        check_name(name)
        unusable = []
        for candidate in self._candidates(name):
            if candidate.usable:
                return Resolved(
                    candidate.path, candidate.source, candidate.dialect, candidate.folder
                )
            if candidate.source in _FOLDERS:
                raise LoadError(name, "resolve", f"{candidate.path} {candidate.problem}")
            unusable.append(candidate)
        raise self._not_found(name, unusable)

    def which_all(self, name: str) -> list[Candidate]:
        """Every file that a name could stand for, in order; the first usable one is taken,
        unless one in a plugin folder that cannot be used comes before it."""
        check_name(name)
        return list(self._candidates(name))

    def searched(self, name: str) -> list[str]:
        """The places that are looked at for a name, in words, in order."""
        places = [f"{self._plugins}/{name}"]
        places += [f"{e.path}/{name}" for e in self._extensions if not e.of_project]
        places.append(f"{BINARY_PREFIX}{name} on PATH")
        if self._scripts:
            places.append(f"{self._scripts}/{BINARY_PREFIX}{name}")
        if self._tinycode:
            places += [f"{self._tinycode_plugins}/{name}", f"{TINYCODE_PREFIX}{name} on PATH"]
        if self._bingo:
            places.append(f"{self._bingo}/{name}")
        if self._project and self._may_bring(name):
            places.append(f"{self._project.folder}/{name}")
            places += [f"{e.path}/{name}" for e in self._extensions if e.of_project]
        return places

    def _may_bring(self, name: str) -> bool:
        """Whether the project's program would count for a name.

        A project must not pass its own program off as a plugin that people know.
        """
        known = (self._registry or registries.default()).lookup(name) or name in BUILTIN_NAMES
        return self._project is not None and name in self._project.names and not known

    def _candidates(self, name: str) -> Iterator[Candidate]:
        yield from _in_plugin_folder(self._plugins, name, USER_FOLDER)
        yield from self._packages(name, of_project=False)
        on_path = path_folders(self._path)
        yield from _in_folders(on_path, BINARY_PREFIX + name, PATH)
        added = _usable_folders([*on_path, self._scripts])[len(on_path) :]
        yield from _in_folders(added, BINARY_PREFIX + name, PYTHON)
        if self._tinycode:
            yield from self._tinycode_candidates(name)
        if self._bingo:
            yield from _in_bingo_folder(self._bingo, name, USER_BINGO)
        if self._project and self._may_bring(name):
            yield from _in_plugin_folder(self._project.folder, name, PROJECT_FOLDER)
            if self._bingo:
                folder = f"{self._project.root}/.bingo/plugins"
                yield from _in_bingo_folder(folder, name, PROJECT_BINGO)
            yield from self._packages(name, of_project=True)

    def _packages(self, name: str, *, of_project: bool) -> Iterator[Candidate]:
        folders = [each for each in self._extensions if each.of_project == of_project]
        if not any(os.path.lexists(f"{folder.path}/{name}") for folder in folders):
            return
        # It has to read every package, to know which of them fit beside each other; and it
        # stands above this module, as it knows how packages are run.
        discover = import_module("tinyhost.zuno.discovery").discover
        for found in discover(self._extensions):
            if found.name == name and found.source in [folder.source for folder in folders]:
                yield Candidate(found.folder, found.source, found.why_not, found.folder, "zuno")

    def _tinycode_candidates(self, name: str) -> Iterator[Candidate]:
        yield from _in_plugin_folder(self._tinycode_plugins, name, TINYCODE_FOLDER)
        yield from _in_folders(path_folders(self._path), TINYCODE_PREFIX + name, TINYCODE_PATH)

    def _not_found(self, name: str, unusable: list[Candidate]) -> PluginNotFound:
        searched = self.searched(name)
        hints = [f"{found.path} {found.problem}" for found in unusable]
        if not self._tinycode:
            for found in self._tinycode_candidates(name):
                if found.usable:
                    hints.append(
                        f'{found.path} is used with "compat": ["tinycode"] in the configuration'
                    )
        registry = self._registry or registries.default()
        if entry := registry.lookup(name):
            hints.append(self._install_hint(entry))
            return PluginNotInstalled(name, searched=searched, hint=". ".join(hints))
        known = [entry.name for entry in registry.entries()] + self._folder_names()
        if close := difflib.get_close_matches(name, known, n=1):
            hints.append(f"Did you mean {close[0]}?")
        else:
            hints.append(self._how_to_install(name))
        return PluginNotFound(name, searched=searched, hint=". ".join(hints))

    def _install_hint(self, entry: RegistryEntry) -> str:
        """Say how to install a known plugin, and promise nothing that is not there."""
        known = f"It is known ({entry.description}) but not installed"
        if entry.shipped:
            return (
                f"{known}: {entry.package} brings {entry.binary}, but it is neither on PATH nor in"
                f" {self._scripts}; install {entry.package} again"
            )
        missing = ""
        if entry.package:
            missing = f", and no installed {entry.package} brings it"
        text = f"{known}{missing}. {self._how_to_install(entry.name)}"
        return f"{text}; see {entry.repo}" if entry.repo else text

    def _how_to_install(self, name: str) -> str:
        return (
            f"To install it, put its program at {self._plugins}/{name},"
            f" or on PATH as {BINARY_PREFIX}{name}"
        )

    def _folder_names(self) -> list[str]:
        try:
            names = os.listdir(self._plugins)  # noqa: PTH208
        except OSError:
            return []
        return sorted(name for name in names if name_problem(name) is None)


def path_folders(path: str) -> list[str]:
    """The folders of a PATH value that are worth a look, each once, in order.

    Empty and relative entries are left out (they would mean whatever folder one happens to be
    in), as are those that are missing, not folders, or unreadable.
    """
    return _usable_folders(path.split(os.pathsep))


def _usable_folders(entries: Iterable[str]) -> list[str]:
    found: dict[tuple[int, int], str] = {}
    for entry in entries:
        if not os.path.isabs(entry):  # noqa: PTH117
            continue
        try:
            status = os.stat(os.path.join(entry, ""))  # noqa: PTH116, PTH118
        except (OSError, ValueError):
            continue
        if os.access(entry, os.X_OK):
            found.setdefault((status.st_dev, status.st_ino), os.path.normpath(entry))
    return list(found.values())


def _in_folders(folders: list[str], file: str, source: str) -> Iterator[Candidate]:
    for folder in folders:
        path = f"{folder.rstrip('/')}/{file}"
        if os.path.lexists(path):
            yield Candidate(path, source, program_problem(path) or "")


def _in_bingo_folder(folder: str, name: str, source: str) -> Iterator[Candidate]:
    """Only what bingo itself would take."""
    path = f"{folder.rstrip('/')}/{name}"
    if os.path.lexists(f"{path}/{bingo.MANIFEST}"):
        yield Candidate(path, source, examine(path, source).problem, path, "bingo")


def _in_plugin_folder(folder: str, name: str, source: str) -> Iterator[Candidate]:
    path = f"{folder.rstrip('/')}/{name}"
    if not os.path.isdir(path):  # noqa: PTH112
        if os.path.lexists(path):
            yield Candidate(path, source, program_problem(path) or "")
        return
    if os.path.lexists(f"{path}/{bingo.MANIFEST}"):
        yield Candidate(path, source, examine(path, source).problem, path, "bingo")
        return
    inside = (name, BINARY_PREFIX + name, "plugin")
    for file in inside:
        if os.path.lexists(f"{path}/{file}"):
            program = f"{path}/{file}"
            yield Candidate(program, source, program_problem(program) or "", path)
            return
    problem = (
        f"is a folder without a program in it: expected one of {', '.join(inside)}, or a"
        f" {bingo.MANIFEST}"
    )
    yield Candidate(path, source, problem)
