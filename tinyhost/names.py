"""Plugin names: the one rule, checked before a name becomes part of any path."""

from __future__ import annotations

import re

from tinyhost.errors import InvalidCall, cut

PATTERN = r"[a-z0-9][a-z0-9._-]{0,63}"

# Plugins that are part of the host. A name in a plugin list that is one of them is skipped.
BUILTIN_NAMES = ("context-pruning", "notify", "code-review", "handoff")

_NAME = re.compile(PATTERN)
_TOOL_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def name_problem(name: object) -> str | None:
    """Say what is wrong with a plugin name, or return None when it is good."""
    if not isinstance(name, str):
        return "a plugin name must be a string"
    if not name:
        return "a plugin name must not be empty"
    if len(name) > 64:
        return f"the plugin name {cut(name, 40)!r} is longer than 64 characters"
    if ".." in name:
        return f"the plugin name {name!r} must not contain '..'"
    if not _NAME.fullmatch(name):
        return (
            f"the plugin name {name!r} is not allowed: use a-z, 0-9, '.', '_' and '-',"
            " beginning with a letter or digit"
        )
    return None


def check_name(name: str) -> str:
    """Return the name when it is a good plugin name; raise InvalidCall otherwise."""
    if problem := name_problem(name):
        raise InvalidCall(problem)
    return name


def tool_id(plugin: str, tool: str) -> str:
    """`plugin__<plugin>__<tool>`; models allow no dots in tool names. Raises ValueError."""
    id = f"plugin__{plugin.replace('.', '_')}__{tool}"
    if not _TOOL_ID.fullmatch(id):
        raise ValueError(
            f"the tool id {id[:200]!r} is not made of 1 to 64 letters, digits, _ and -"
        )
    return id
