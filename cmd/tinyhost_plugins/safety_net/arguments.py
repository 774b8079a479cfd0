"""Which texts in a tool's arguments are commands.

Arguments are JSON text; what is not JSON is taken as a bare command. A tool that is known
as a shell has its command members read, or all of its texts when it has none of those. Of
a tool that is not known, members that can only be commands are read.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from .policy import Policy
from .tables import names

_SHELL_NAMES = names(
    "bash sh zsh ksh dash fish shell terminal console exec execute run monitor command cmd ssh"
    " process repl"
)
_SHELL_WORDS = names("bash shell terminal zsh command commands cmd")
_SHELL_PERMISSIONS = names("bash sh shell terminal exec execute command")
# Their arguments are file contents, patterns and texts, whatever they are called.
_NOT_SHELLS = names(
    "read write edit multiedit multi_edit patch apply_patch grep glob ls list search webfetch"
    " web_fetch websearch web_search todowrite todoread notebookedit task question skill"
)
_COMMAND_KEYS = names("command cmd commands cmds commandline cmdline shellcommand bashcommand bash")
_SHELL_KEYS = _COMMAND_KEYS | names("script scripts shell code argv sh")
_ARGUMENT_KEYS = ("args", "arguments", "argv")
_STDIN_KEYS = ("stdin", "input")
_DIRECTORY_KEYS = ("cwd", "workdir", "workingdirectory", "workingdir", "directory", "dir")
_MAX_ARGS = 1024 * 1024
_MAX_VALUES = 20_000
_MAX_DEPTH = 100
_LIKE_JSON = re.compile(r'\s*[\[{]\s*"')
_STRING = re.compile(r'"((?:[^"\\]|\\.){0,5000})', re.DOTALL)


class Command(NamedTuple):
    """A command in the arguments: text for a shell, or a command word with its arguments."""

    command: str | tuple[str, ...]
    stdin: str | None = None
    cwd: str = "."


class Unreadable(Exception):
    """The arguments of a shell tool are too large or nested too deeply; the text says which."""


class _Members(list[tuple[str, Any]]):
    """A JSON object with all its members, also those that have the same name."""


def is_shell_tool(tool: str, permission: str, policy: Policy) -> bool:
    """Whether a tool runs shell commands, by its name or by the permission it asks for."""
    if tool.lower() in policy.tools or permission.lower() in _SHELL_PERMISSIONS:
        return True
    name = _bare_name(tool)
    if name in policy.tools or name in _SHELL_NAMES:
        return True
    return bool(_SHELL_WORDS.intersection(name.replace("-", "_").split("_")))


def _bare_name(tool: str) -> str:
    """plugin__x__shell, mcp.server.runCommand to shell, run_command."""
    name = tool
    for separator in ("__", ".", "/", ":"):
        name = name.rpartition(separator)[2] or name
    spread = "".join(f"_{char}" if char.isupper() else char for char in name)
    return (name if name.isupper() else spread).lower().strip("_")


def commands(tool: str, args: str, permission: str, policy: Policy) -> list[Command]:
    """The commands in a tool's arguments. Raises Unreadable for those of a shell tool."""
    shell = is_shell_tool(tool, permission, policy)
    if not shell and _bare_name(tool) in _NOT_SHELLS:
        return []
    try:
        return _read(args, shell)
    except Unreadable:
        if shell:
            raise
        return []


def _read(args: str, shell: bool) -> list[Command]:
    if len(args) > _MAX_ARGS:
        raise Unreadable(f"{len(args)} characters of arguments, more than {_MAX_ARGS}")
    try:
        value = json.loads(args, object_pairs_hook=_Members)
    except ValueError:
        return _of_text(args) if shell else []
    except RecursionError:
        raise Unreadable("arguments nested too deeply") from None
    if isinstance(value, str):
        return [Command(value)] if shell else []
    if not isinstance(value, list):
        # A bare command such as `true` happens to be JSON too.
        return [Command(args)] if shell else []
    found = _commands_below(value, _SHELL_KEYS if shell else _COMMAND_KEYS)
    if found or not shell:
        return found
    return [Command(text) for text in _texts(value)] + _argument_lists(value)


def _of_text(args: str) -> list[Command]:
    """A bare command, or JSON that is broken: then each string in it may be the command."""
    strings = _STRING.findall(args) if _LIKE_JSON.match(args) else []
    return [Command(text) for text in (args, *strings)]


def _commands_below(value: Any, keys: frozenset[str]) -> list[Command]:
    found: list[Command] = []
    for item in _containers(value):
        if isinstance(item, _Members):
            found.extend(_commands_of(item, keys))
    return found


def _commands_of(members: _Members, keys: frozenset[str]) -> list[Command]:
    stdin, cwd = _first_text(members, _STDIN_KEYS), _first_text(members, _DIRECTORY_KEYS) or "."
    found: list[Command] = []
    for key, value in members:
        if _plain_key(key) not in keys:
            continue
        if isinstance(value, str):
            found.append(Command(value, stdin, cwd))
            found.extend(
                Command((value, *more), stdin, cwd)
                if isinstance(more, tuple)
                else Command(f"{value} {more}", stdin, cwd)
                for more in _arguments(members)
            )
        elif isinstance(value, list):
            texts = _texts(value)
            if key.lower().endswith("s"):
                found.extend(Command(text, stdin, cwd) for text in texts)
            if texts:
                found.append(Command(tuple(texts), stdin, cwd))
    return found


def _arguments(members: _Members) -> list[tuple[str, ...] | str]:
    """What stands beside a command as its arguments."""
    found: list[tuple[str, ...] | str] = []
    for key, value in members:
        if _plain_key(key) in _ARGUMENT_KEYS:
            if isinstance(value, str):
                found.append(value)
            elif isinstance(value, list):
                found.append(tuple(_texts(value)))
    return found


def _argument_lists(value: Any) -> list[Command]:
    lists = (item for item in _containers(value) if not isinstance(item, _Members))
    texts = (tuple(text for text in item if isinstance(text, str)) for item in lists)
    return [Command(words) for words in texts if words]


def _first_text(members: _Members, keys: tuple[str, ...]) -> str | None:
    return next(
        (value for key, value in members if _plain_key(key) in keys and isinstance(value, str)),
        None,
    )


def _plain_key(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def _containers(value: Any) -> list[list[Any]]:
    """The objects and arrays in a value, itself included. Raises Unreadable."""
    found: list[list[Any]] = []
    waiting: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while waiting:
        item, depth = waiting.pop()
        seen += 1
        if depth > _MAX_DEPTH or seen > _MAX_VALUES:
            raise Unreadable("arguments with too many values, or nested too deeply")
        if isinstance(item, list):
            found.append(item)
            inner = [pair[1] for pair in item] if isinstance(item, _Members) else item
            waiting.extend((part, depth + 1) for part in reversed(inner))
    return found


def _texts(value: Any) -> list[str]:
    """Every string in a value, names of members left out."""
    found: list[str] = []
    for item in _containers(value):
        inner = [pair[1] for pair in item] if isinstance(item, _Members) else item
        found.extend(part for part in inner if isinstance(part, str))
    return found
