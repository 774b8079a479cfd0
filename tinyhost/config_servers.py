"""mcpServers in config.json: MCP servers, in the form that MCP clients share.

{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]},
                "docs": {"type": "http", "url": "https://docs.example/mcp"}}}
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import attrs

from tinyhost import durations, names
from tinyhost.config_bounds import BOOLEAN
from tinyhost.config_object import read_object, setting
from tinyhost.config_values import ENV, TEXT, Form, Place, one_of, read_list
from tinyhost.jsonc import Member, Node
from tinyhost.model import McpServer

TYPES = ("stdio", "http", "streamable-http", "streamableHttp", "sse")
_SHORTEST = 1000  # milliseconds; less than that was meant as seconds
_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# The transport's own headers.
_RESERVED = re.compile(
    r"host|content-.*|transfer-encoding|connection|accept|last-event-id|mcp-.*", re.IGNORECASE
)


def _read_timeout(node: Node, place: Place) -> float | None:
    """Other clients count in milliseconds."""
    value = node.value
    if type(value) in (int, float) and value < _SHORTEST:
        place.error(
            node, f'a number counts milliseconds, at least {_SHORTEST}; write "60s" for seconds'
        )
        return None
    try:
        return durations.parse_duration(value / 1000 if type(value) in (int, float) else value)
    except ValueError as error:
        place.error(node, str(error))
        return None


def _read_args(node: Node, place: Place) -> list[str] | None:
    return read_list(node, place, _read_arg)


def _read_arg(node: Node, place: Place) -> str | None:
    if node.kind == "string" and "\0" not in node.value:
        return str(node.value)
    place.error(node, "must be a string")
    return None


def _read_headers(node: Node, place: Place) -> dict[str, str] | None:
    if node.kind != "object":
        place.error(node, 'must be an object such as {"Authorization": "Bearer ${TOKEN}"}')
        return None
    found = {}
    for member in node.members:
        name, value, at = member.key.value, member.value, place.at(member.key.value)
        if not re.fullmatch(_TOKEN, name):
            at.error(member.key, "is not the name of a header")
        elif _RESERVED.fullmatch(name):
            at.error(member.key, "is a header that the transport sets itself")
        elif value.kind != "string" or re.search(r"[\0\r\n]", value.value):
            at.error(value, "must be a string on one line")
        else:
            found[name] = value.value
    return found


def _read_url(node: Node, place: Place) -> str | None:
    text = node.value
    if node.kind != "string" or not re.match(r"https?://[^/?#]|\$\{", text):
        place.error(node, "must be an address that begins with https:// or http://")
    elif re.match(r"[^/]*//[^/?#]*@", text):
        place.error(node, "must hold no user or password; use headers for them")
    else:
        return str(text)
    return None


_TYPE = Form({"enum": list(TYPES)}, lambda node, place: one_of(TYPES, node, place))
_ARGS = Form({"type": "array", "items": {"type": "string"}}, _read_args)
_HEADERS = Form(
    {
        "type": "object",
        "propertyNames": {"pattern": f"^{_TOKEN}$"},
        "additionalProperties": {"type": "string"},
    },
    _read_headers,
)
_URL = Form({"type": "string", "pattern": r"^(https?://[^/?#]|\$\{)"}, _read_url)
_TIMEOUT = Form(
    {
        "anyOf": [
            {"type": "string", "pattern": f"^{durations.PATTERN}$"},
            {"type": "number", "minimum": _SHORTEST, "maximum": durations.LONGEST * 1000},
        ]
    },
    _read_timeout,
)


@attrs.frozen(kw_only=True)
class McpServerForm:
    """An MCP server: a command to start, or the address of one that runs. ${NAME} and
    ${NAME:-default} in texts stand for the host's variables."""

    type: str | None = setting(_TYPE, "The transport. Default: http with url, else stdio.")
    command: str | None = setting(TEXT, "The program to start: a path, or a name on PATH.")
    args: Sequence[str] | None = setting(_ARGS, "The program's arguments.")
    env: Mapping[str, str] | None = setting(ENV, "Variables set for the program.")
    cwd: str | None = setting(TEXT, "Where the program runs. Default: the project.")
    url: str | None = setting(_URL, "The address of a server that speaks streamable HTTP.")
    headers: Mapping[str, str] | None = setting(
        _HEADERS, "Headers of each request, such as Authorization."
    )
    timeout: float | None = setting(
        _TIMEOUT, 'How long a tool call may take: milliseconds, or "30s". Default 30s.'
    )
    disabled: bool | None = setting(BOOLEAN, "Do not load it.")


@attrs.frozen(kw_only=True)
class McpEntry:
    """One server that can be used. name: the plugin's. timeout: of tool calls, in seconds."""

    name: str
    server: McpServer
    node: Node
    key: str
    env: Mapping[str, str] = attrs.field(factory=dict)
    cwd: str | None = None
    timeout: float | None = None
    disabled: bool = False


def plugin_name(key: str) -> str | None:
    """The plugin name that a server's name becomes, or None if nothing is left of it."""
    name = re.sub(r"[^a-z0-9._-]+", "-", key.lower())
    name = re.sub(r"\.\.+", ".", name).lstrip("._-")[:64].rstrip("-")
    return None if names.name_problem(name) else name


def _read_servers(node: Node, place: Place) -> list[McpEntry] | None:
    if node.kind == "null":
        return []
    if node.kind != "object":
        place.error(node, 'must be an object such as {"time": {"command": "mcp-server-time"}}')
        return None
    members = {member.key.value: member for member in node.members}.values()
    taken = {member.key.value for member in members if not names.name_problem(member.key.value)}
    found = []
    for member in members:
        at = place.at(member.key.value)
        name = _name(member, at, taken)
        entry = _read_server(name, member, at) if name else None
        if entry is not None:
            found.append(entry)
    return found


def _name(member: Member, place: Place, taken: set[str]) -> str | None:
    key = member.key.value
    name = plugin_name(key) if names.name_problem(key) else key
    if name is None:
        place.error(member.key, names.name_problem(key) or "")
        return None
    if name in names.BUILTIN_NAMES:
        place.error(member.key, f"the name {name} is taken by what is built in; use another")
        return None
    if name != key:
        if name in taken:
            place.error(member.key, f"would be called {name} here, and there is one of that name")
            return None
        taken.add(name)
        place.warning(member.key, f"is called {name} here, as plugin names are plain")
    return name


def _read_server(name: str, member: Member, place: Place) -> McpEntry | None:
    node = member.value
    before = len(place.problems)
    form = read_object(McpServerForm, node, place)
    wrong = any(problem.severity == "error" for problem in place.problems[before:])
    if form is None or wrong or (problem := _transport_problem(form)):
        if form is not None and not wrong:
            place.error(node, problem)
        # A server that is not understood in every part could be another one.
        return None
    command = () if form.command is None else (form.command, *(form.args or ()))
    return McpEntry(
        name=name,
        server=McpServer(command=command, url=form.url or "", headers=form.headers or {}),
        node=member.key,
        key=place.key,
        env=form.env or {},
        cwd=form.cwd,
        timeout=form.timeout,
        disabled=form.disabled or False,
    )


def _transport_problem(form: McpServerForm) -> str:
    if form.type == "sse":
        return (
            "the transport sse, of 2024, is not spoken; most servers have another address for"
            ' streamable HTTP, to be used with "type": "http"'
        )
    if (form.command is None) == (form.url is None):
        return "needs either a command or a url"
    if form.type is not None and (form.type == "stdio") != (form.url is None):
        return f"the type {form.type} needs a {'command' if form.type == 'stdio' else 'url'}"
    return ""


MCP_SERVERS = Form(
    {
        "type": ["object", "null"],
        "additionalProperties": {"$ref": "#/$defs/mcpServer"},
    },
    _read_servers,
)
