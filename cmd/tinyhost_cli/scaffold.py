"""Write the folder of a new plugin from a template; what `plugin new` does.

Nothing here needs more than the standard library and the host's names and errors.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from tinyhost.errors import TinyhostError
from tinyhost.names import name_problem

LANGUAGES = ("py", "node", "go", "sh")

_EXECUTABLE = frozenset({"plugin", "test.sh"})
_SUFFIX = ".tmpl"
_TOOL = "greet"
# Models take tool names of 64 characters at most; the tool's id counts, not its name.
_MAX_NAME = 64 - len(f"plugin____{_TOOL}")
# Linux before 5.1 cuts the first line of a script after 127 bytes.
_MAX_SHEBANG = 127


class ScaffoldError(TinyhostError):
    """The plugin's folder could not be written. Nothing of it is left behind."""


class Created(NamedTuple):
    """A new plugin.

    folder: its folder, absolute. files: the names of what is in it, sorted.
    build_command: what makes the program that the host starts, to be run in the folder;
        empty where there is nothing to build. test_command: what runs its tests, likewise.
    try_command: a shell line that calls its tool, once the folder, or a link to it, is in
        the plugin folder of the configuration.
    """

    folder: Path
    files: tuple[str, ...]
    build_command: tuple[str, ...]
    test_command: tuple[str, ...]
    try_command: str


def create(name: str, lang: str, parent: Path) -> Created:
    """Write a plugin called `name` into a new folder of that name in `parent`.

    lang: one of LANGUAGES. Raises ScaffoldError.
    """
    _check(name, lang)
    folder = Path(os.path.abspath(parent)) / name  # noqa: PTH100 (resolve() would follow links)
    if not folder.parent.is_dir():
        raise ScaffoldError(f"{folder.parent} is not a folder; create it first")
    if os.path.lexists(folder):
        raise ScaffoldError(f"{folder} exists already; choose another name, or remove it first")
    files = _render(name, lang)
    try:
        _write(folder, files)
    except OSError as error:
        reason = error.strerror or error
        raise ScaffoldError(f"cannot write {folder}: {reason}; nothing was written") from error
    return Created(
        folder, tuple(sorted(files)), _build_command(lang), _test_command(lang), _try_command(name)
    )


def _check(name: str, lang: str) -> None:
    if lang not in LANGUAGES:
        raise ScaffoldError(f"there is no template for {lang!r}; use one of {', '.join(LANGUAGES)}")
    if problem := name_problem(name):
        raise ScaffoldError(problem)
    if len(name) > _MAX_NAME:
        raise ScaffoldError(
            f"the plugin name {name!r} is longer than {_MAX_NAME} characters: the id of its tool,"
            f" plugin__<name>__{_TOOL}, may have 64"
        )


def _render(name: str, lang: str) -> dict[str, str]:
    """The files of the plugin: name to text."""
    values = {
        "@NAME@": name,
        "@SHEBANG@": python_shebang(sys.executable),
        "@TRY@": _try_command(name),
    }
    files = {}
    for template in resources.files("tinyhost_cli").joinpath("templates", lang).iterdir():
        if not template.name.endswith(_SUFFIX):
            continue
        text = template.read_text(encoding="utf-8")
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        # Tools that pack folders leave out names with a leading dot.
        file = template.name.removesuffix(_SUFFIX)
        files[".gitignore" if file == "gitignore" else file] = text
    return files


def _write(folder: Path, files: dict[str, str]) -> None:
    """Make the folder, whole or not at all. Raises OSError."""
    build = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        for file, text in files.items():
            path = build / file
            path.write_text(text, encoding="utf-8", newline="\n")
            # Whatever the umask says: the host refuses programs that others can write.
            path.chmod(0o755 if file in _EXECUTABLE else 0o644)
        build.chmod(0o755)
        # Between the check and now somebody may have made the folder: an empty one is
        # replaced, anything else makes this fail.
        build.rename(folder)
    except BaseException:
        shutil.rmtree(build, ignore_errors=True)
        raise


def python_shebang(python: str) -> str:
    """The first lines of a script for that interpreter: the one that has the SDK.

    `/usr/bin/env python3` would find the SDK only while its environment is active.
    """
    line = f"#!{python}"
    if not any(char.isspace() for char in python) and len(os.fsencode(line)) < _MAX_SHEBANG:
        return line
    if any(char in "'\"\\$`\n" for char in python):
        return "#!/usr/bin/env python3"
    # The shell runs the second line; Python sees one string in the second and third.
    return f"#!/bin/sh\n'''exec' \"{python}\" \"$0\" \"$@\"\n' '''"


def _build_command(lang: str) -> tuple[str, ...]:
    return ("go", "build", "-o", "plugin", ".") if lang == "go" else ()


def _test_command(lang: str) -> tuple[str, ...]:
    return {
        "py": (sys.executable, "-m", "unittest"),
        "node": ("node", "--test"),
        "go": ("go", "test"),
        "sh": ("./test.sh",),
    }[lang]


def _try_command(name: str) -> str:
    # The host writes dots as underscores, since models allow none in tool names.
    tool_id = f"plugin__{name.replace('.', '_')}__{_TOOL}"
    args = shlex.quote('{"name": "World"}')
    return f"tinyhost tool call {tool_id} --args {args} --plugin {name}"
