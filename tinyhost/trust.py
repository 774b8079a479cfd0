"""Which projects the person trusts, and whether their content is still what they saw.

A project is a folder with .tinyhost/config.json. Trust is in all that .tinyhost holds: one hash
over names, modes, link targets and contents, kept in trust.json in the state folder. The
content changes, and the trust is over until the person has looked again.
"""

from __future__ import annotations

import datetime
import enum
import json
import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import attrs

from . import atomic, contents, paths, runtime
from .contents import Contents, Unreadable
from .errors import ConfigError, LoadError
from .model import ProjectPlugins
from .ownership import file_problem

FOLDER = ".tinyhost"
CONFIG = "config.json"
STORE = "trust.json"

_VERSION = 1
_MAX_SIZE = 16 * 1024 * 1024  # bytes
_SHOWN = 3  # names of changed files in a message

_Environ = Mapping[str, str] | None


@attrs.frozen
class Project:
    """A folder that brings a configuration. root: absolute, links resolved."""

    root: str

    @property
    def folder(self) -> str:
        """Where everything is that is trusted or not."""
        return f"{self.root.rstrip('/')}/{FOLDER}"

    @property
    def file(self) -> str:
        """The configuration."""
        return f"{self.folder}/{CONFIG}"

    @property
    def plugins(self) -> str:
        """The folder of the project's own plugins."""
        return f"{self.folder}/plugins"


class State(enum.StrEnum):
    """What a project's content is to the person."""

    TRUSTED = "trusted"
    UNTRUSTED = "not trusted"
    CHANGED = "changed"  # since it was trusted
    REFUSED = "refused"  # somebody else can change it, or it cannot be read


@attrs.frozen
class Record:
    """What was trusted. files: the mark of each by name. trusted_at: UTC, ISO 8601."""

    sha256: str
    trusted_at: str
    files: Mapping[str, str]


@attrs.frozen(kw_only=True)
class Standing:
    """A project, and what it is to the person. why: in words, unless it is trusted.

    contents: what was read; None where reading it was of no use.
    """

    project: Project
    state: State
    why: str = ""
    contents: Contents | None = None

    @property
    def notice(self) -> str:
        """One line for the person, or "" when the project is trusted."""
        if self.state is State.TRUSTED:
            return ""
        return f"the project's {self.project.file} is not in force: {self.why}"


def find_project(directory: str | os.PathLike[str], environ: _Environ = None) -> Project | None:
    """The project that a directory belongs to; see runtime.find_root."""
    root = runtime.find_root(os.fspath(directory), str(paths.home_dir(environ)))
    return None if root is None else Project(root)


def standing(project: Project, environ: _Environ = None, *, look: bool = False) -> Standing:
    """Whether a project's content is trusted; when that is not known, it is not.

    look: read the content of a project that was never trusted, too, and raise ConfigError
    when the record of what is trusted cannot be used.
    """
    try:
        record = records(environ).get(project.root)
    except ConfigError as error:
        if look:
            raise
        return Standing(project=project, state=State.UNTRUSTED, why=str(error))
    if record is None and not look:
        return Standing(project=project, state=State.UNTRUSTED, why=_never(project))
    try:
        now = contents.read_folder(project.folder, keep=(CONFIG,))
    except Unreadable as error:
        return Standing(project=project, state=State.REFUSED, why=str(error))
    if problems := contents.owner_problems(project.folder, now):
        return Standing(project=project, state=State.REFUSED, why=problems[0], contents=now)
    if record is None:
        state, why = State.UNTRUSTED, _never(project)
    elif record.sha256 != now.sha256:
        changes = describe_changes(record, now)
        state = State.CHANGED
        why = f"it has changed since you trusted it ({changes}); look again: {_command(project)}"
    else:
        state, why = State.TRUSTED, ""
    return Standing(project=project, state=state, why=why, contents=now)


def check_unchanged(plugin: str, project: ProjectPlugins) -> None:
    """Raise LoadError, stage "resolve", when a project is not what it was when it was read."""
    own = Project(project.root)
    try:
        now = contents.read_folder(own.folder).sha256
    except Unreadable as error:
        raise LoadError(plugin, "resolve", f"its project cannot be read: {error}") from None
    if now != project.sha256:
        reason = (
            f"{own.folder} has changed since you trusted it; look again: {_command(own)},"
            " and start anew"
        )
        raise LoadError(plugin, "resolve", reason)


def describe_changes(record: Record, now: Contents) -> str:
    """Which files are new, gone or changed, in words."""
    marks = {file.name: file.mark for file in now.files}
    groups = {
        "changed": [n for n in marks if n in record.files and record.files[n] != marks[n]],
        "new": [n for n in marks if n not in record.files],
        "gone": [n for n in record.files if n not in marks],
    }
    return "; ".join(f"{word}: {_some(names)}" for word, names in groups.items() if names)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    # A name may hold anything, and a notice is one line.
    return ", ".join(ascii(name)[1:-1] for name in names[:_SHOWN]) + more


def _never(project: Project) -> str:
    return f"you have not trusted it; look at it: {_command(project)}"


def _command(project: Project) -> str:
    return f"tinyhost trust {shlex.quote(project.root)}"


# --- the record


def store(environ: _Environ = None) -> Path:
    """The file that remembers what is trusted."""
    return paths.state_dir(environ) / STORE


def records(environ: _Environ = None) -> Mapping[str, Record]:
    """What is trusted, by project root. Raises ConfigError for a file that cannot be used."""
    file = store(environ)
    if not os.path.lexists(file):
        return {}
    if problem := file_problem(str(file)):
        raise ConfigError(f"the file {problem}", file=str(file))
    try:
        with file.open("rb") as stream:
            return _parse(stream.read(_MAX_SIZE + 1))
    except OSError as error:
        raise ConfigError(f"the file cannot be read: {error.strerror}", file=str(file)) from None
    except (ValueError, RecursionError) as error:
        reason = f"the file is not a record of trust: {error}; delete it to trust nothing"
        raise ConfigError(reason, file=str(file)) from None


def trust(project: Project, seen: Contents, environ: _Environ = None) -> None:
    """Remember that the person trusts a content: that which they saw. Raises ConfigError."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    record = Record(seen.sha256, now, {file.name: file.mark for file in seen.files})
    _change(environ, lambda old: {**old, project.root: record})


def revoke(root: str, environ: _Environ = None) -> bool:
    """Trust a project no more; whether it was trusted. Raises ConfigError."""
    if root not in records(environ):
        return False
    _change(environ, lambda old: {key: value for key, value in old.items() if key != root})
    return True


def _change(
    environ: _Environ, change: Callable[[Mapping[str, Record]], Mapping[str, Record]]
) -> None:
    file = store(environ)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with atomic.locked(file.parent):
            atomic.replace(file, _text(change(records(environ))).encode())
    except OSError as error:
        reason = f"the file cannot be changed: {error.strerror or error}"
        raise ConfigError(reason, file=str(file)) from None


def _parse(data: bytes) -> dict[str, Record]:
    if len(data) > _MAX_SIZE:
        raise ValueError(f"it is longer than {_MAX_SIZE} bytes")
    value = json.loads(data)
    projects = value.get("projects") if type(value) is dict else None
    if type(projects) is not dict or value.get("version") != _VERSION:
        raise ValueError(f'it has no "version": {_VERSION}, or no "projects"')
    return {root: _record(entry) for root, entry in projects.items()}


def _record(entry: Any) -> Record:
    entry = entry if type(entry) is dict else {}
    sha256, at, files = entry.get("sha256"), entry.get("trustedAt"), entry.get("files")
    if type(sha256) is not str or type(at) is not str or type(files) is not dict:
        raise ValueError("an entry needs sha256, trustedAt and files")
    return Record(sha256, at, files)


def _text(found: Mapping[str, Record]) -> str:
    projects = {
        root: {"sha256": record.sha256, "trustedAt": record.trusted_at, "files": record.files}
        for root, record in sorted(found.items())
    }
    return json.dumps({"version": _VERSION, "projects": projects}, indent=1) + "\n"
