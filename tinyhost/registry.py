"""The curated registry of plugins: what is known of each, installed or not.

Each plugin is one TOML file of the package `tinyhost_registry`. A file that cannot be used
is reported by `problems` and leaves the others as they are.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.resources
import os
import sys
import tomllib
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import attrs
import cattrs

from tinyhost.names import name_problem

DISTRIBUTION = "tinyhost-runtime"
BINARY_PREFIX = "tinyhost-plugin-"

_CATEGORIES = {
    "sre": "OpenShift SRE / Platform Admin",
    "security": "Security / Compliance",
    "ai-ml": "AI/ML / Data Science",
    "platform": "Platform / Infrastructure",
    "developer": "Developer",
    "essential": "Essential",
}


@attrs.frozen(kw_only=True)
class RegistryEntry:
    """One known plugin. Fields that the registry says nothing about are empty.

    category: a slug of `categories()`; binary: the program's file name;
    package: the distribution that ships it, or will; repo: where its source is.
    guard: it is asked before calls, so calls must not go ahead unnoticed without it.
    """

    name: str
    category: str
    description: str
    binary: str = ""
    package: str = ""
    repo: str = ""
    guard: bool = False

    @property
    def shipped(self) -> bool:
        """Whether the package, as installed here, brings the plugin's program."""
        return bool(self.binary) and (
            _declares_script(self.package, self.binary)
            or Path(scripts_dir(), self.binary).is_file()
        )


@attrs.frozen
class RegistryProblem:
    """A registry file that could not be used, and why."""

    file: str
    message: str


class Registry:
    """The entries of one folder of registry files."""

    def __init__(self, folder: Traversable) -> None:
        self._entries: dict[str, RegistryEntry] = {}
        self._problems: list[RegistryProblem] = []
        files = [file for file in folder.iterdir() if file.name.endswith(".toml")]
        for file in sorted(files, key=lambda file: file.name):
            try:
                entry = _read(file)
            except (OSError, ValueError) as error:
                self._problems.append(RegistryProblem(file.name, str(error)))
            else:
                self._entries[entry.name] = entry

    def entries(self) -> list[RegistryEntry]:
        """All entries by file name; the list is the caller's own."""
        return list(self._entries.values())

    def problems(self) -> list[RegistryProblem]:
        """The files that could not be used."""
        return list(self._problems)

    def lookup(self, name: str) -> RegistryEntry | None:
        """The entry of a plugin, or None."""
        return self._entries.get(name)

    def by_category(self, slug: str) -> list[RegistryEntry]:
        """The entries of a category; none for a slug that is unknown."""
        return [entry for entry in self._entries.values() if entry.category == slug]

    def search(self, word: str) -> list[RegistryEntry]:
        """The entries that have a word in name, description or category, in any letter case."""
        wanted = word.casefold()
        return [entry for entry in self._entries.values() if wanted in _searchable(entry)]


@functools.cache
def default() -> Registry:
    """The registry that comes with tinyhost, read once."""
    return Registry(_default_folder())


def entries() -> list[RegistryEntry]:
    """All entries of the default registry by file name; the list is the caller's own."""
    return default().entries()


def problems() -> list[RegistryProblem]:
    """The files of the default registry that could not be used."""
    return default().problems()


def lookup(name: str) -> RegistryEntry | None:
    """The default registry's entry of a plugin, or None."""
    return default().lookup(name)


def by_category(slug: str) -> list[RegistryEntry]:
    """The default registry's entries of a category."""
    return default().by_category(slug)


def search(word: str) -> list[RegistryEntry]:
    """The default registry's entries that have a word in name, description or category."""
    return default().search(word)


def categories() -> dict[str, str]:
    """The categories: slug to label, as a new dict."""
    return dict(_CATEGORIES)


def scripts_dir() -> str:
    """The folder of the programs of the Python environment that tinyhost runs in, or "".

    The interpreter's own path is used as it is: in a virtual environment it is a link that
    leads out of it.
    """
    return os.path.dirname(sys.executable or "")  # noqa: PTH120


def _read(file: Traversable) -> RegistryEntry:
    data = tomllib.loads(file.read_text(encoding="utf-8"))
    try:
        entry = _converter().structure(data, RegistryEntry)
    except cattrs.BaseValidationError as error:
        raise ValueError("; ".join(cattrs.transform_error(error, path="entry"))) from error
    _check(entry)
    if file.name != entry.name + ".toml":
        raise ValueError(f"the file of {entry.name!r} must be called {entry.name}.toml")
    return entry


@functools.cache
def _converter() -> cattrs.Converter:
    """Refuses unknown keys, and values of other types instead of converting them."""
    converter = cattrs.Converter(forbid_extra_keys=True)
    for kind in (str, bool):
        converter.register_structure_hook(kind, _exactly)
    return converter


def _exactly(value: Any, kind: type[Any]) -> Any:
    if type(value) is not kind:
        raise ValueError(f"must be a {kind.__name__}, not {value!r:.40}")
    return value


def _check(entry: RegistryEntry) -> None:
    for field in ("name", "category", "description"):
        if not getattr(entry, field):
            raise ValueError(f"{field!r} is empty")
    if problem := name_problem(entry.name):
        raise ValueError(problem)
    if entry.category not in _CATEGORIES:
        known = ", ".join(_CATEGORIES)
        raise ValueError(f"unknown category {entry.category!r}; known: {known}")
    if "/" in entry.binary:
        raise ValueError("'binary' must be a file name, not a path")


def _searchable(entry: RegistryEntry) -> str:
    label = _CATEGORIES[entry.category]
    return "\n".join((entry.name, entry.description, entry.category, label)).casefold()


def _default_folder() -> Traversable:
    try:
        return importlib.resources.files("tinyhost_registry")
    except ModuleNotFoundError:
        pass
    # Run from a checkout, where the package lies beside ours under its folder's name. Other
    # projects have folders called registry too, so the checkout has to be tinyhost's.
    root = Path(__file__).resolve().parent.parent
    setup = root / "setup.cfg"
    if setup.is_file() and f"name = {DISTRIBUTION}\n" in setup.read_text(encoding="utf-8"):
        return root / "registry"
    raise ModuleNotFoundError(
        f"the registry is missing: {DISTRIBUTION} is not installed completely; install it again"
    )


def _declares_script(package: str, binary: str) -> bool:
    if not package:
        return False
    try:
        points = importlib.metadata.distribution(package).entry_points
    except importlib.metadata.PackageNotFoundError:
        return False
    return any(point.group == "console_scripts" and point.name == binary for point in points)
