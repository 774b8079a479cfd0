"""Plugins behind a launcher, which leads to another machine or into a container.

The launcher is a program of this machine; the host speaks to the plugin through its standard
input and output. All that is behind it belongs to the far side: the plugin's command is text
that is looked up there, and variables, limits and files of this machine do not count there.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence

import attrs

from . import launch as launches
from .config_launch import UNREADABLE
from .environment import child_environment, expand
from .errors import LoadError, PluginSkipped
from .launch_plan import Launch
from .model import Limits, PluginSettings, PluginSpec, Resolved
from .names import BUILTIN_NAMES, check_name
from .ownership import program_problem
from .redaction import secrets_in
from .registry import BINARY_PREFIX
from .resolve import path_folders

SOURCE = "launcher"


@attrs.frozen(kw_only=True)
class _Known:
    """What is known of a launcher.

    quoted: a shell reads the words on the far side. variables: of the host's, which it
    needs to find its way. meanings: of its own exit statuses.
    """

    quoted: bool = False
    variables: Sequence[str] = ()
    meanings: Mapping[int, str] = attrs.field(factory=dict)


_DOCKER = ("API_VERSION", "CERT_PATH", "CONFIG", "CONTEXT", "HOST", "TLS_VERIFY")
_PODMAN = ("CONNECTION", "HOST", "SSHKEY")
_KNOWN: Mapping[str, _Known] = {
    "ssh": _Known(
        quoted=True,
        variables=("SSH_AUTH_SOCK",),
        meanings={255: "ssh failed or lost its connection, or a signal ended the plugin"},
    ),
    "kubectl": _Known(variables=("KUBECONFIG",)),
    "oc": _Known(variables=("KUBECONFIG",)),
    "docker": _Known(
        variables=[f"DOCKER_{name}" for name in _DOCKER],
        meanings={125: "docker itself failed"},
    ),
    "podman": _Known(
        variables=[f"CONTAINER_{name}" for name in _PODMAN],
        meanings={125: "podman itself failed"},
    ),
}
# What shells, env and container engines agree on.
_MEANINGS = {
    126: "the command is there, but cannot be run",
    127: "there is no such command where the launcher leads to",
}


def find(spec: PluginSpec, environ: Mapping[str, str]) -> Resolved | None:
    """The launcher of a plugin that has one; None for others, and for a server at an address.

    Raises InvalidCall for a bad name, PluginSkipped for that of a builtin, LoadError (stage
    "resolve") for a launcher that cannot be used, ConfigError for a missing variable.
    """
    words = spec.settings.launch
    if not words or (spec.server and spec.server.url):
        return None
    check_name(spec.name)
    if spec.name in BUILTIN_NAMES:
        raise PluginSkipped(spec.name)
    if UNREADABLE in (tuple(words), tuple(spec.settings.remote_command or ())):
        reason = (
            "its settings launch and remoteCommand must be words of a command;"
            " tinyhost config validate says what is wrong"
        )
        raise LoadError(spec.name, "resolve", reason)
    path = _program(spec.name, expand(words[0], environ, "launch"), environ)
    return Resolved(path, SOURCE, "mcp" if spec.server else "native")


def prepare(spec: PluginSpec, found: Resolved, launch: Launch) -> Launch:
    """The launch through the launcher that was found.

    spec: a server in it has its variables put in. launch: as the dialect would start a program
    of this machine. Raises LoadError and ConfigError.
    """
    settings, environ = spec.settings, launch.environ
    _refuse_confinement(spec)
    known = _KNOWN.get(_base(found.path), _Known())
    words = [found.path, *(expand(word, environ, "launch") for word in settings.launch[1:])]
    variables = _variables(spec, environ)
    remote = _command(spec, environ)
    _refuse_secrets(spec.name, [*words, *remote], environ)
    if variables and not remote:
        reason = (
            "its variables would be set by env before its command, but its remoteCommand is"
            " empty; let the launcher set them, as docker does with -e NAME=value"
        )
        raise LoadError(spec.name, "resolve", reason)
    if variables:
        remote = ["env", *(f"{name}={value}" for name, value in variables.items()), *remote]
    if remote and _has_shell(spec.name, settings, words):
        remote = [shlex.join(remote)]
    return attrs.evolve(
        launch,
        command=(*words, *remote),
        env=_environment(settings, known, environ),
        wrapping=launches.Wrapping(meanings={**_MEANINGS, **known.meanings}),
        # What is left of the limits lifts them, and there is nothing to set.
        settings=attrs.evolve(launch.settings, limits=Limits()),
    )


def _base(word: str) -> str:
    return os.path.basename(word)  # noqa: PTH119


# --- this side: the launcher


def _program(name: str, word: str, environ: Mapping[str, str]) -> str:
    """The launcher's path: a path that is absolute or in the home, or a name on PATH."""
    home = environ.get("HOME", "")
    path = home + word[1:] if home and word.startswith("~/") else word
    if "/" not in path:
        folders = path_folders(environ.get("PATH", ""))
        places = [f"{folder.rstrip('/')}/{path}" for folder in folders]
        places = [place for place in places if os.path.lexists(place)]
    elif os.path.isabs(path):  # noqa: PTH117
        places = [path]
    else:
        # Relative to what? The project could then choose the program.
        reason = f"its launcher {word} must be a name on PATH or an absolute path"
        raise LoadError(name, "resolve", reason)
    problems = []
    for place in places:
        problem = _problem(place)
        if not problem:
            return place
        problems.append(f"{place} {problem}")
    reason = "; ".join(problems) or "it is not on PATH; install it, or give its path"
    raise LoadError(name, "resolve", f"its launcher {word} cannot be used: {reason}")


def _problem(path: str) -> str | None:
    return program_problem(path) if os.path.lexists(path) else "does not exist"


def _environment(
    settings: PluginSettings, known: _Known, environ: Mapping[str, str]
) -> Mapping[str, str]:
    """What the launcher gets: as any plugin, and what it needs to find its way."""
    names = (*settings.pass_env, *known.variables)
    return child_environment(attrs.evolve(settings, env={}, pass_env=names), environ)


# --- the far side: the plugin


def _command(spec: PluginSpec, environ: Mapping[str, str]) -> list[str]:
    given = spec.settings.remote_command
    if given is not None:
        words = [expand(word, environ, "remoteCommand") for word in given]
    elif spec.server is not None:
        words = list(spec.server.command)
    else:
        words = [BINARY_PREFIX + spec.name]
    if words and (not words[0] or words[0].startswith("-")):
        # ssh takes options behind the name of the host, too.
        reason = f"its command begins with {words[0]!r}, which is not the name of a program"
        raise LoadError(spec.name, "resolve", reason)
    return words


def _variables(spec: PluginSpec, environ: Mapping[str, str]) -> Mapping[str, str]:
    """What is set for the plugin. It goes into the argument list, where no secret may be."""
    own = {name: expand(value, environ, f"env.{name}") for name, value in spec.settings.env.items()}
    hosts = secrets_in(environ)
    for name, value in own.items():
        if secrets_in({name: value}) or any(secret in value for secret in hosts):
            raise LoadError(spec.name, "resolve", _exposed(f"its variable {name}"))
    return own


def _refuse_secrets(name: str, words: Sequence[str], environ: Mapping[str, str]) -> None:
    hosts = secrets_in(environ)
    if any(secret in word for word in words for secret in hosts):
        raise LoadError(name, "resolve", _exposed("its command"))


def _exposed(what: str) -> str:
    return (
        f"{what} holds a secret, and would be seen in the list of processes of both machines."
        " Keep the secret on the far side, or name the variable in passEnv and have the"
        " launcher hand it on (docker: -e NAME, ssh: -o SendEnv=NAME)"
    )


def _has_shell(name: str, settings: PluginSettings, words: Sequence[str]) -> bool:
    """Whether a shell reads the command on the far side, so that it has to be quoted."""
    if settings.remote_shell is not None:
        return settings.remote_shell
    base, *inside = map(_base, words)
    if base not in _KNOWN and any(word in _KNOWN and _KNOWN[word].quoted for word in inside):
        # A guess could have a shell run what was meant as an argument.
        reason = (
            f"its launcher is {base}, with ssh behind it; say in its settings whether a shell"
            ' reads the command on the far side: "remoteShell": true or false'
        )
        raise LoadError(name, "resolve", reason)
    return base in _KNOWN and _KNOWN[base].quoted


def _refuse_confinement(spec: PluginSpec) -> None:
    """Limits and sandboxes bind processes of this machine: here, the launcher alone."""
    settings = spec.settings
    far = f"only {settings.launch[0]} would be bound by it, and not what it starts elsewhere"
    if settings.sandbox is not None:
        reason = (
            f"its settings ask for a sandbox, which cannot be had behind a launcher: {far}."
            ' It was not started. Confine it on the far side, and set "sandbox": false'
        )
        raise LoadError(spec.name, "spawn", reason)
    if settings.limits != Limits() and (limits := launches.describe(settings.limits)):
        reason = (
            f"its settings have limits ({limits}), which cannot be had behind a launcher: {far}."
            " It was not started. Set them on the far side, and lift them here"
            ' ("unlimited", "nice": 0)'
        )
        raise LoadError(spec.name, "spawn", reason)
