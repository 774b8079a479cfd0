"""The form of config.json: each key and what it means.

The loader and the JSON Schema are both made from these classes, so they cannot disagree.
"""

# ruff: noqa: RUF009 (setting() makes an attrs field, which is no shared default)
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import attrs

from tinyhost import names
from tinyhost.config_bounds import (
    BOOLEAN,
    CPU,
    ENGINE,
    KEPT,
    MEMORY,
    NICE,
    OPEN_FILES,
    PATHS,
    PROCESSES,
)
from tinyhost.config_hooks import HOOKS, ShellHook
from tinyhost.config_launch import WORDS
from tinyhost.config_object import read_object, setting
from tinyhost.config_servers import MCP_SERVERS, McpEntry
from tinyhost.config_values import (
    ANY,
    CATEGORIES_SCHEMA,
    COMPAT,
    DURATION,
    ENTRIES,
    ENV,
    LINE_BYTES,
    MODE,
    OUTPUT_POLICY,
    PASS_ENV,
    PATTERNS,
    POLICY,
    TEXT,
    Form,
    PatternEntry,
    Place,
    PluginEntry,
    read_categories,
)
from tinyhost.jsonc import Node

_T = TypeVar("_T")


@attrs.frozen(kw_only=True)
class TimeoutsForm:
    """Deadlines of a plugin, as "500ms", "30s", "2m", "1h" or a number of seconds."""

    handshake: float | None = setting(DURATION, "From the start to the first answer. Default 10s.")
    hook: float | None = setting(DURATION, "One hook call, waiting included. Default 5s.")
    tool: float | None = setting(DURATION, "One tool call, waiting included. Default 30s.")
    tool_cap: float | None = setting(
        DURATION, "How far progress reports may extend a tool call. Default 10m."
    )
    stop: float | None = setting(
        DURATION, "From closing the plugin's input to terminating it. Default 3s."
    )


TIMEOUTS = Form(
    {"$ref": "#/$defs/timeouts"}, lambda node, place: read_object(TimeoutsForm, node, place)
)


@attrs.frozen(kw_only=True)
class LimitsForm:
    """What a plugin may use at most. "unlimited" lifts a limit that "*" sets."""

    memory: float | None = setting(
        MEMORY, 'Private memory of each of its processes, as "512MiB". Default: no limit.'
    )
    cpu: float | None = setting(
        CPU, 'Processor time of each process in its whole life, as "60s". Default: no limit.'
    )
    open_files: float | None = setting(
        OPEN_FILES, "Open files of each process. Default: the host's own limit."
    )
    processes: float | None = setting(
        PROCESSES, "Processes and threads, of the sandbox or else of the user. Default: no limit."
    )
    nice: int | None = setting(NICE, "How far it steps back behind others, 0 to 19. Default 0.")


LIMITS = Form({"$ref": "#/$defs/limits"}, lambda node, place: read_object(LimitsForm, node, place))


@attrs.frozen(kw_only=True)
class SandboxForm:
    """What a plugin may reach, beside what it needs to run. Paths: '~', ${NAME}, and relative
    to the folder that it runs in."""

    read: Sequence[str] | None = setting(PATHS, "Files and folders that it can read.")
    write: Sequence[str] | None = setting(PATHS, "Files and folders that it can read and change.")
    network: bool | None = setting(BOOLEAN, "Whether it has the network. Default false.")
    engine: str | None = setting(
        ENGINE, "What confines it. Default auto: bubblewrap, else Landlock, else it is refused."
    )


def _read_sandbox(node: Node, place: Place) -> SandboxForm | bool:
    """False for no sandbox. A value that makes no sense is the strictest, never none."""
    if node.value is False:
        return False
    if node.value is True:
        return SandboxForm()
    return read_object(SandboxForm, node, place) or SandboxForm()


SANDBOX = Form({"anyOf": [{"type": "boolean"}, {"$ref": "#/$defs/sandbox"}]}, _read_sandbox)


@attrs.frozen(kw_only=True)
class PluginForm:
    """How the host runs one plugin, or under "*" every plugin."""

    timeouts: TimeoutsForm | None = setting(TIMEOUTS, TimeoutsForm.__doc__ or "")
    env: Mapping[str, str] | None = setting(
        ENV,
        "Variables set for the plugin. ${NAME} and ${NAME:-default} stand for the host's own,"
        " $$ for a dollar sign.",
    )
    pass_env: Sequence[str] | None = setting(
        PASS_ENV, "Variables of the host that the plugin gets too; a name may end in '*'."
    )
    inherit_env: bool | None = setting(
        BOOLEAN,
        "Hand on all variables of the host, but those whose names look secret and that passEnv"
        " does not name. Default false.",
    )
    directory: str | None = setting(
        TEXT,
        "Where the plugin runs; '~', ${NAME}, and relative to this file. Default: the project.",
    )
    max_line_bytes: int | None = setting(
        LINE_BYTES, "The longest line taken from the plugin, in bytes. Default 10 MiB."
    )
    on_guard_failure: str | None = setting(
        POLICY,
        "What a failed permission hook of the plugin means: ask the person, deny the call,"
        " or skip the plugin. Default ask.",
    )
    on_output_failure: str | None = setting(
        OUTPUT_POLICY,
        "What a failed look of the plugin at a tool's output means: pass the output on as it is,"
        " or withhold it. Default pass.",
    )
    limits: LimitsForm | None = setting(LIMITS, LimitsForm.__doc__ or "")
    sandbox: SandboxForm | bool | None = setting(
        SANDBOX, "What the plugin may reach; true for nothing but what it needs to run."
    )
    launch: Sequence[str] | None = setting(
        WORDS,
        'A launcher that starts the plugin elsewhere, such as ["ssh", "box"]. An empty list lifts'
        ' that of "*". Default: the plugin is started here.',
    )
    remote_command: Sequence[str] | None = setting(
        WORDS,
        "The plugin's command behind its launcher. Default: tinyhost-plugin-NAME, or a server's"
        " own command.",
    )
    remote_shell: bool | None = setting(
        BOOLEAN,
        "Whether a shell reads the command behind the launcher, so that it has to be quoted."
        " Default: true for ssh, else false.",
    )


def _read_settings(node: Node, place: Place) -> dict[str, PluginForm] | None:
    if node.kind != "object":
        place.error(node, 'must be an object such as {"<plugin name>": {...}}')
        return None
    found = {}
    for member in node.members:
        name, at = member.key.value, place.at(member.key.value)
        if name != "*" and (problem := names.name_problem(name)):
            at.error(member.key, problem)
        elif form := read_object(PluginForm, member.value, at):
            found[name] = form
    return found


SETTINGS = Form(
    {
        "type": "object",
        "propertyNames": {"anyOf": [{"const": "*"}, {"$ref": "#/$defs/pluginName"}]},
        "additionalProperties": {"$ref": "#/$defs/plugin"},
    },
    _read_settings,
)


def _read_categories(node: Node, place: Place) -> dict[str, list[str]] | None:
    if node.kind != "object":
        place.error(node, 'must be an object such as {"<plugin name>": ["read"]}')
        return None
    found = {}
    for member in node.members:
        name, at = member.key.value, place.at(member.key.value)
        if problem := names.name_problem(name):
            at.error(member.key, problem)
        elif (listed := read_categories(member.value, at)) is not None:
            found[name] = listed
    return found


CATEGORIES = Form(
    {
        "type": "object",
        "propertyNames": {"$ref": "#/$defs/pluginName"},
        "additionalProperties": CATEGORIES_SCHEMA,
    },
    _read_categories,
)


@attrs.frozen(kw_only=True)
class ProjectForm:
    """Permission rules of one project."""

    allow: Sequence[PatternEntry] | None = setting(
        PATTERNS, "Calls that are allowed when the session's directory is this one."
    )


def _read_projects(node: Node, place: Place) -> dict[str, ProjectForm] | None:
    if node.kind != "object":
        place.error(node, 'must be an object such as {"/home/me/project": {"allow": []}}')
        return None
    found = {}
    for member in node.members:
        directory, at = member.key.value, place.at(member.key.value)
        if not directory.startswith(("/", "~")):
            at.error(member.key, "must be an absolute path, or one that begins with '~'")
        elif form := _read_rules(ProjectForm, member.value, at):
            found[directory] = form
    return found


def _read_rules(cls: type[_T], node: Node, place: Place) -> _T | None:
    seen = set()
    for member in node.members:
        if member.key.value in seen:
            place.error(member.key, f"{member.key.value!r} is repeated: rules would be lost")
        seen.add(member.key.value)
    return read_object(cls, node, place)


PROJECTS = Form(
    {
        "type": "object",
        "propertyNames": {"pattern": "^[/~]"},
        "additionalProperties": {"$ref": "#/$defs/project"},
    },
    _read_projects,
)


@attrs.frozen(kw_only=True)
class PermissionsForm:
    """Which calls are allowed, denied, or asked about. deny > ask > allow."""

    mode: str | None = setting(
        MODE, "strict asks for each call with side effects that no rule covers. Default standard."
    )
    allow: Sequence[PatternEntry] | None = setting(
        PATTERNS, 'Calls that are allowed: "tool", "tool(argument)" or "category:NAME"; * and ?.'
    )
    ask: Sequence[PatternEntry] | None = setting(PATTERNS, "Calls that the person is asked about.")
    deny: Sequence[PatternEntry] | None = setting(PATTERNS, "Calls that are never made.")
    categories: Mapping[str, Sequence[str]] | None = setting(
        CATEGORIES, "By plugin name: the permission categories that its tools may claim."
    )
    projects: Mapping[str, ProjectForm] | None = setting(
        PROJECTS, "By directory: rules for sessions in it."
    )


PERMISSIONS = Form(
    {"$ref": "#/$defs/permissions"}, lambda node, place: _read_rules(PermissionsForm, node, place)
)


@attrs.frozen(kw_only=True)
class JournalForm:
    """How long the journal keeps sessions; the oldest go first."""

    keep_days: int | None = setting(KEPT, "Days since the last record. Default 90.")
    keep_sessions: int | None = setting(KEPT, "How many at most. Default 5000.")


JOURNAL = Form(
    {"$ref": "#/$defs/journal"}, lambda node, place: read_object(JournalForm, node, place)
)


@attrs.frozen(kw_only=True)
class ConfigForm:
    """The configuration of tinyhost."""

    schema: Node | None = setting(ANY, "The JSON Schema that editors check against.", key="$schema")
    plugins: Sequence[PluginEntry] | None = setting(
        ENTRIES, 'Plugins to load, in this order: "name" or ["name", {options}].'
    )
    disabled_plugins: Sequence[PluginEntry] | None = setting(
        ENTRIES, "Plugins that must not be loaded; options are kept for when they are enabled."
    )
    compat: Sequence[str] | None = setting(
        COMPAT, "Other hosts whose plugins are looked for, or whose wire is spoken, too."
    )
    settings: Mapping[str, PluginForm] | None = setting(
        SETTINGS, 'How plugins are run: by plugin name, or "*" for all of them.'
    )
    hooks: Mapping[str, Sequence[ShellHook]] | None = setting(
        HOOKS, "Shell commands to run at hooks, by the hook's name; those of one run in order."
    )
    mcp_servers: Sequence[McpEntry] | None = setting(
        MCP_SERVERS, "MCP servers to use as plugins, by name, in the form that MCP clients share."
    )
    permissions: PermissionsForm | None = setting(PERMISSIONS, PermissionsForm.__doc__ or "")
    journal: JournalForm | None = setting(JOURNAL, JournalForm.__doc__ or "")
