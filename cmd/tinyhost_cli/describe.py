"""The host's objects as JSON values and as facts. Imports the host: only inside commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs

from tinyhost.errors import InvalidCall, LoadError, PluginNotFound, PluginNotInstalled
from tinyhost.launch import describe as describe_limits
from tinyhost.model import (
    Confinement,
    Limits,
    McpServer,
    PluginInfo,
    PluginSettings,
    Sandbox,
    ToolSpec,
)
from tinyhost.names import BUILTIN_NAMES
from tinyhost.redaction import MASK, looks_secret, redact, secrets_in
from tinyhost.resolve import Resolver
from tinyhost_cli import output

if TYPE_CHECKING:
    from tinyhost.manager import Loaded


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


def program_of(resolver: Resolver, name: str, server: McpServer | None = None) -> Program:
    """Find a plugin's program, or a short reason why there is none.

    server: what the configuration's mcpServers say of that name.
    """
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


def info_value(info: PluginInfo) -> dict[str, Any]:
    """A loaded plugin as JSON."""
    return {
        "name": info.name,
        "id": info.id,
        "version": info.version,
        "dialect": info.dialect,
        "pid": info.pid,
        "state": str(info.state),
        "path": info.path,
        "hooks": list(info.hooks),
        "tools": [tool_value(tool) for tool in info.tools],
        "capabilities": {kind: list(names) for kind, names in info.capabilities.items()},
        "spawnMs": round(info.spawn_ms, 3),
        "handshakeMs": round(info.handshake_ms, 3),
        "limits": limits_value(info.limits),
        "sandbox": confinement_value(info.confinement),
    }


def info_facts(info: PluginInfo) -> dict[str, str | Sequence[str]]:
    """A loaded plugin for people."""
    return {
        "id": info.id,
        "version": info.version or "-",
        "pid": str(info.pid or "-"),
        "program": info.path or "-",
        "hooks": list(info.hooks),
        "tools": [_tool_line(tool) for tool in info.tools],
        **{kind: list(names) or "yes" for kind, names in info.capabilities.items()},
        "start": f"{info.spawn_ms:.1f} ms to spawn, {info.handshake_ms:.1f} ms for the handshake",
        "limits": describe_limits(info.limits) or "-",
        "sandbox": _confinement_lines(info.confinement),
    }


def loaded_value(result: Loaded) -> dict[str, Any]:
    """What became of one plugin that was to be loaded, as JSON."""
    ms = round(result.seconds * 1000, 3)
    if result.plugin is None:
        assert result.error is not None
        return {
            "name": result.spec.name,
            "loaded": False,
            "error": output.error_value(result.error),
            "ms": ms,
        }
    return {**info_value(result.plugin.info), "loaded": True, "ms": ms}


def tool_value(tool: ToolSpec) -> dict[str, Any]:
    """A tool as JSON."""
    return {
        "id": tool.id,
        "name": tool.name,
        "plugin": tool.plugin,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "permission": tool.permission,
    }


def first_line(text: str) -> str:
    """The first line of a description."""
    return text.strip().partition("\n")[0].rstrip()


def _tool_line(tool: ToolSpec) -> str:
    return f"{tool.id}  {first_line(tool.description)}".rstrip()


# --- limits and sandboxes


def limits_value(limits: Limits) -> dict[str, Any]:
    """The limits that are set as JSON: bytes, seconds and counts."""
    found = attrs.asdict(limits)
    return {output.camel(name): value for name, value in found.items() if value is not None}


def confinement_value(confinement: Confinement | None) -> dict[str, Any] | None:
    """A sandbox in force as JSON; null where there is none."""
    if confinement is None:
        return None
    return {
        "engine": confinement.engine,
        "read": list(confinement.read),
        "write": list(confinement.write),
        "network": confinement.network,
        "gaps": list(confinement.gaps),
    }


def _confinement_lines(confinement: Confinement | None) -> str | Sequence[str]:
    if confinement is None:
        return "none"
    lines = [f"by {confinement.engine}, {_network_words(confinement.network)}"]
    lines += [f"reads {path}" for path in confinement.read]
    lines += [f"writes {path}" for path in confinement.write]
    return [*lines, *(f"but {gap}" for gap in confinement.gaps)]


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
    timeouts = {
        output.camel(name): seconds for name, seconds in attrs.asdict(settings.timeouts).items()
    }
    return {
        "timeouts": timeouts,
        "env": list(settings.env),
        "passEnv": list(settings.pass_env),
        "inheritEnv": settings.inherit_env,
        "directory": settings.directory,
        "maxLineBytes": settings.max_line,
        "onGuardFailure": settings.on_guard_failure,
        "limits": limits_value(settings.limits),
        "sandbox": _sandbox_value(settings.sandbox),
    }


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
        "limits": describe_limits(settings.limits) or "-",
        "sandbox": _sandbox_line(settings.sandbox),
    }


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
