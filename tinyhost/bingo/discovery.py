"""Where bingo plugins are looked for, and which there are; each that is broken fails alone."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping

import attrs

from tinyhost import paths
from tinyhost.names import name_problem

from .manifest import MANIFEST, BadManifest, PluginManifest, read_folder

USER_BINGO = "bingo plugin folder"
PROJECT_BINGO = "project's bingo plugin folder"


@attrs.frozen
class Layer:
    """A folder with a folder for each plugin in it. source: what it is, in words."""

    path: str
    source: str


@attrs.frozen(kw_only=True)
class Found:
    """A folder that is, or should be, a plugin. problem follows its path, "" when it is fine."""

    name: str
    folder: str
    source: str
    manifest: PluginManifest | None = None
    problem: str = ""


def layers(
    config_dir: str | os.PathLike[str],
    *,
    compat: Collection[str] = (),
    environ: Mapping[str, str] | None = None,
    project: str | os.PathLike[str] | None = None,
) -> list[Layer]:
    """The folders, whether they are there or not; what is found earlier counts.

    project: the root of a project that the person trusts. Bingo's own folders count when
    compat has "bingo".
    """
    bingo = "bingo" in compat
    found = [Layer(str(paths.absolute(config_dir) / "plugins"), "plugin folder")]
    if bingo:
        found.append(Layer(user_folder(environ), USER_BINGO))
    if project is not None:
        root = paths.absolute(project)
        found.append(Layer(str(root / ".tinyhost" / "plugins"), "project's plugin folder"))
        if bingo:
            found.append(Layer(str(root / ".bingo" / "plugins"), PROJECT_BINGO))
    return found


def user_folder(environ: Mapping[str, str] | None = None) -> str:
    """Where bingo itself looks for a person's plugins."""
    return str(paths.home_dir(environ) / ".bingo" / "plugins")


def discover(folders: Iterable[Layer]) -> list[Found]:
    """All plugins by name, sorted; of several of one name the first that can be used, else the
    first. A folder that is reached twice is read once, and one that is not there holds none."""
    found: dict[str, Found] = {}
    seen: set[str] = set()
    for layer in folders:
        real = os.path.realpath(layer.path)
        if real in seen:
            continue
        seen.add(real)
        for plugin in _plugins(layer):
            earlier = found.get(plugin.name)
            if earlier is None or (earlier.problem and not plugin.problem):
                found[plugin.name] = plugin
    return [found[name] for name in sorted(found)]


def _plugins(layer: Layer) -> Iterable[Found]:
    try:
        names = sorted(os.listdir(layer.path))  # noqa: PTH208
    except OSError:
        return
    for name in names:
        if os.path.lexists(f"{layer.path}/{name}/{MANIFEST}"):
            yield examine(f"{layer.path}/{name}", layer.source)


def examine(folder: str, source: str) -> Found:
    """A folder that has a plugin.json."""
    name = os.path.basename(folder)  # noqa: PTH119
    if problem := name_problem(name):
        return Found(name=name, folder=folder, source=source, problem=f"cannot be used: {problem}")
    try:
        manifest = read_folder(folder)
    except BadManifest as error:
        return Found(name=name, folder=folder, source=source, problem=str(error))
    return Found(name=name, folder=folder, source=source, manifest=manifest)
