"""The host's objects as JSON values and as facts. Imports the host: only inside commands."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from tinyhost.errors import InvalidCall, LoadError, PluginNotFound, PluginNotInstalled
from tinyhost.launch import describe as describe_limits
from tinyhost.model import (
    Limits,
    PluginSettings,
    Sandbox,
)
from tinyhost.names import BUILTIN_NAMES
from tinyhost.present import camel, limits_value
from tinyhost.redaction import MASK, looks_secret, redact, secrets_in
from tinyhost.resolve import Resolver

if TYPE_CHECKING:
    from tinyhost.config import Config


@attrs.frozen
class Program:
    """What a plugin's name leads to. Without a path, problem says why."""

    path: str = ""
    source: str = ""
    problem: str = ""
    error: Exception | None = None

    def value(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "path": self.path or None,
            "source": self.source or None,
            "problem": self.problem or None,
        }


def program_of(resolver: Resolver, name: str, config: Config | None = None) -> Program:
    """Find a plugin's program, or a short reason why there is none.

    config: says which plugins are started by a launcher, and which are MCP servers.
    """
    server = config.servers.get(name) if config else None
    launch = config.settings_for(name).launch if config else ()
    if launch and not (server and server.url):
        problem = "" if launch[0] else "its setting launch cannot be read"
        return Program(launch[0], "launcher", problem)
    if server is not None:
        # Of an address, what follows "?" may be secret.
        return Program(server.url.partition("?")[0] or server.command[0], "mcpServers")
    try:
        found = resolver.resolve(name)
    except PluginNotFound as error:
        if name in BUILTIN_NAMES:
            return Program(source="built in")
        known = isinstance(error, PluginNotInstalled)
        return Program(problem="not installed" if known else "not found", error=error)
    except LoadError as error:
        return Program(problem=error.reason, error=error)
    except InvalidCall as error:
        return Program(problem=str(error), error=error)
    return Program(found.path, found.source)


# --- plugins that are loaded


def info_facts(value: Mapping[str, Any]) -> dict[str, str | Sequence[str]]:
    """A loaded plugin for people; the value is that of present.plugin_value."""
    start = f"{value['spawnMs']:.1f} ms to spawn, {value['handshakeMs']:.1f} ms for the handshake"
    return {
        "id": value["id"],
        "version": value["version"] or "-",
        "pid": str(value["pid"] or "-"),
        "program": value["path"] or "-",
        "hooks": list(value["hooks"]),
        "tools": [_tool_line(tool) for tool in value["tools"]],
        **{kind: list(names) or "yes" for kind, names in value["capabilities"].items()},
        "start": start,
        "limits": describe_limits(_limits(value["limits"])) or "-",
        "sandbox": _confinement_lines(value["sandbox"]),
    }


def first_line(text: str) -> str:
    """The first line of a description."""
    return text.strip().partition("\n")[0].rstrip()


def _tool_line(tool: Mapping[str, Any]) -> str:
    return f"{tool['id']}  {first_line(tool['description'])}".rstrip()


# --- limits and sandboxes


def _limits(value: Mapping[str, Any]) -> Limits:
    names = {camel(field.name): field.name for field in attrs.fields(Limits)}
    return Limits(**{names[key]: limit for key, limit in value.items() if key in names})


def _confinement_lines(value: Mapping[str, Any] | None) -> str | Sequence[str]:
    if value is None:
        return "none"
    lines = [f"by {value['engine']}, {_network_words(value['network'])}"]
    lines += [f"reads {path}" for path in value["read"]]
    lines += [f"writes {path}" for path in value["write"]]
    return [*lines, *(f"but {gap}" for gap in value["gaps"])]


def _sandbox_value(sandbox: Sandbox | None) -> dict[str, Any] | None:
    return None if sandbox is None else attrs.asdict(sandbox)


def _sandbox_line(sandbox: Sandbox | None) -> str:
    if sandbox is None:
        return "none"
    reads, writes = (", ".join(paths) or "nothing" for paths in (sandbox.read, sandbox.write))
    network = _network_words(sandbox.network)
    return f"by {sandbox.engine}, {network}; reads {reads}; writes {writes}"


def _network_words(network: bool) -> str:
    return "with network" if network else "without network"


# --- settings and options, without secrets


def settings_value(settings: PluginSettings) -> dict[str, Any]:
    """Settings as JSON. Of the variables that are set, the names alone."""
    timeouts = {camel(name): seconds for name, seconds in attrs.asdict(settings.timeouts).items()}
    return {
        "timeouts": timeouts,
        "env": list(settings.env),
        "passEnv": list(settings.pass_env),
        "inheritEnv": settings.inherit_env,
        "directory": settings.directory,
        "maxLineBytes": settings.max_line,
        "onGuardFailure": settings.on_guard_failure,
        "onOutputFailure": settings.on_output_failure,
        "limits": limits_value(settings.limits),
        "sandbox": _sandbox_value(settings.sandbox),
        **_launcher_value(settings),
    }


def _launcher_value(settings: PluginSettings) -> dict[str, Any]:
    words = {"launch": list(settings.launch), "remoteCommand": list(settings.remote_command or ())}
    shown = masked_options(words)
    if settings.remote_command is None:
        shown["remoteCommand"] = None
    return {**shown, "remoteShell": settings.remote_shell}


def settings_facts(settings: PluginSettings) -> dict[str, str | Sequence[str]]:
    """Settings for people."""
    value = settings_value(settings)
    return {
        "timeouts": ", ".join(f"{name} {span:g} s" for name, span in value["timeouts"].items()),
        "variables set": ", ".join(value["env"]) or "-",
        "variables passed": ", ".join(_passed(settings)) or "-",
        "directory": value["directory"] or "the project's",
        "longest line": f"{value['maxLineBytes']} bytes",
        "failed guard": value["onGuardFailure"],
        "failed look at an output": value["onOutputFailure"],
        "limits": describe_limits(settings.limits) or "-",
        "sandbox": _sandbox_line(settings.sandbox),
        **_launcher_facts(value),
    }


def _launcher_facts(value: Mapping[str, Any]) -> dict[str, str]:
    if not value["launch"]:
        return {}
    facts = {"launcher": shlex.join(value["launch"])}
    if value["remoteCommand"] is not None:
        facts["remote command"] = shlex.join(value["remoteCommand"]) or "the launcher's"
    return facts


def _passed(settings: PluginSettings) -> Sequence[str]:
    everything = ["all but secrets"] if settings.inherit_env else []
    return [*everything, *settings.pass_env]


def masked_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """A plugin's options, with what looks like a secret masked."""
    secrets = secrets_in(options)
    masked: dict[str, Any] = _masked(dict(options), False, secrets)
    return masked


def _masked(value: Any, secret: bool, secrets: set[str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _masked(inner, secret or looks_secret(key), secrets)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_masked(inner, secret, secrets) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    if secret:
        # Also short words and numbers, which a log could not be searched for.
        return MASK
    return redact(value, secrets) if isinstance(value, str) else value
