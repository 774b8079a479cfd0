"""From what the configuration says of an MCP server to a plugin that can be started."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import attrs

from ..config_servers import plugin_name
from ..dialects.mcp import Mcp
from ..environment import expand
from ..errors import InvalidCall, LoadError
from ..launch_plan import Launch
from ..model import ClientCallbacks, McpServer, PluginSpec, Resolved
from ..ownership import program_problem
from ..redaction import secrets_in

if TYPE_CHECKING:
    from ..plugin import Plugin
    from .http import HttpPlugin

SOURCE = "mcpServers"
_SHORTEST_SECRET = 4
# Programs that fetch and run a package, which then names the server.
_RUNNERS = ("npx", "bunx", "uvx", "pipx", "pnpm", "yarn", "uv", "docker", "podman", "deno")
_WORDS = ("run", "dlx", "exec", "tool", "x")


def prepare(spec: PluginSpec, found: Resolved, base: Launch) -> Launch:
    """The launch of a program that speaks MCP; see launching.prepare."""
    words = spec.server.command[1:] if spec.server else ()
    dialect = functools.partial(Mcp, base.callbacks)
    return attrs.evolve(base, dialect=dialect, command=(found.path, *words))


def expanded(server: McpServer, environ: Mapping[str, str]) -> McpServer:
    """The server with the host's variables put in. Raises ConfigError for a missing one."""
    return McpServer(
        command=[expand(word, environ, "args") for word in server.command],
        url=expand(server.url, environ, "url"),
        headers={
            name: expand(value, environ, f"headers.{name}")
            for name, value in server.headers.items()
        },
    )


def find(name: str, server: McpServer, environ: Mapping[str, str], directory: str) -> Resolved:
    """The program of a server that is to be started. Raises LoadError, stage "resolve"."""
    if not server.command:
        raise LoadError(name, "resolve", "it has no command: it is reached at an address")
    program = server.command[0]
    if os.sep in program:
        path = os.path.abspath(os.path.join(directory, os.path.expanduser(program)))  # noqa: PTH100, PTH111, PTH118
    else:
        path = shutil.which(program, path=environ.get("PATH", "")) or ""
        if not os.path.isabs(path):  # noqa: PTH117
            raise LoadError(name, "resolve", f"the command {program} is not on PATH")
    if problem := program_problem(path):
        raise LoadError(name, "resolve", f"{path} {problem}")
    return Resolved(path, SOURCE, "mcp")


def in_project(launch: Launch, project: str) -> Launch:
    """The launch of a server whose root is the project, wherever it runs itself."""
    dialect = functools.partial(Mcp, launch.callbacks, roots=project)
    return attrs.evolve(launch, dialect=dialect)


def open_http(
    id: str,
    spec: PluginSpec,
    server: McpServer,
    *,
    environ: Mapping[str, str],
    directory: str,
    callbacks: ClientCallbacks,
    log_path: str,
    start_task: Callable[[Callable[[], Awaitable[None]]], None],
    observe: Callable[[str, Plugin, str], None],
) -> HttpPlugin:
    """A plugin for a server behind HTTP. server: expanded. Raises LoadError."""
    from .http import Address, HttpPlugin

    address = Address(
        url=server.url,
        headers=server.headers,
        directory=directory,
        options=spec.options,
        settings=spec.settings,
        callbacks=callbacks,
        log_path=log_path,
        secrets=tuple(secrets_in(environ) | _secrets(server)),
    )
    return HttpPlugin(id, spec.name, address, start_task, observe)


def _secrets(server: McpServer) -> set[str]:
    """The values of headers, and the words in them: "Bearer abc" is as secret as "abc"."""
    words = {word for value in server.headers.values() for word in (value, *value.split())}
    return {word for word in words if len(word) >= _SHORTEST_SECRET}


def from_words(text: str, name: str | None = None) -> tuple[str, McpServer]:
    """A server given as an address, or as a command's words in a shell's spelling.

    name: the plugin's; without it one is made of the text. Raises InvalidCall.
    """
    if text.startswith(("http://", "https://")):
        server = McpServer(url=text)
        words = [text.partition("://")[2].partition("/")[0].partition(":")[0]]
    else:
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise InvalidCall(f"the command {text!r} cannot be split: {error}") from error
        if not words:
            raise InvalidCall("the command is empty")
        # What is typed is meant as it is: it is not for variables.
        server = McpServer(command=[word.replace("$", "$$") for word in words])
    made = name or plugin_name(_telling_word(words))
    if made is None:
        raise InvalidCall(f"no plugin name can be made of {text!r}; give one with --name")
    return made, server


def _telling_word(words: list[str]) -> str:
    """The word of a command that says what it runs, without its folder, scope and version."""
    first = os.path.basename(words[0])  # noqa: PTH119
    found = first
    if first in _RUNNERS:
        rest = [word for word in words[1:] if not word.startswith("-") and word not in _WORDS]
        found = rest[0] if rest else first
    elif first.startswith(("python", "node")) and len(words) > 1:
        rest = [word for word in words[1:] if not word.startswith("-")]
        found = rest[0] if rest else first
    last = os.path.basename(found)  # noqa: PTH119
    return last.partition("@")[0].partition("==")[0].removesuffix(".py").removesuffix(".js")
