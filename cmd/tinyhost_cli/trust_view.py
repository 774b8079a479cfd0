"""What a project's .tinyhost would run, for the person who decides about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tinyhost import codec
from tinyhost.config import load_config
from tinyhost.config_hooks import HOOKS
from tinyhost.config_values import Place
from tinyhost.jsonc import Node
from tinyhost.layers import preview
from tinyhost_cli import output
from tinyhost_cli.common import resolver
from tinyhost_cli.describe import masked_options, program_of
from tinyhost_cli.setup import Setup

if TYPE_CHECKING:
    from tinyhost.config import Config
    from tinyhost.model import McpServer
    from tinyhost.resolve import Resolver
    from tinyhost.trust import Standing

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)")


def value(setup: Setup, found: Standing) -> dict[str, Any]:
    """All of it as JSON. Raises ConfigError for a configuration that cannot be used."""
    user = load_config(setup.config_file)
    config = preview(user, found)
    layer = config.layers[-1]
    assert found.contents is not None
    finder = resolver(config)
    added = config.specs[len(user.specs) :]
    return {
        "directory": found.project.root,
        "file": found.project.file,
        "state": found.state.value,
        "why": found.why or None,
        "sha256": found.contents.sha256,
        "plugins": [
            _plugin(spec.name, spec.options, config, finder)
            for spec in added
            if spec.server is None
        ],
        "hooks": _hooks(layer.file, layer.raw.get("hooks")),
        "mcpServers": [_server(s.name, s.server, config) for s in added if s.server is not None],
        "rules": _rules(user, config),
        "problems": [str(problem) for problem in config.problems[len(user.problems) :]],
        "files": [
            {
                "name": file.name,
                "mode": f"{file.mode:03o}",
                "size": file.size,
                "sha256": file.sha256,
                "target": file.target or None,
            }
            for file in found.contents.files
        ],
    }


def _plugin(
    name: str, options: Mapping[str, Any], config: Config, finder: Resolver
) -> dict[str, Any]:
    program = program_of(finder, name, config)
    target = ""
    if program.path and program.source != "launcher":
        target = next((c.target for c in finder.which_all(name) if c.path == program.path), "")
    return {
        "name": name,
        **program.value(),
        "target": target if target != program.path else None,
        "options": masked_options(options),
        "variables": _variables(name, config),
    }


def _variables(name: str, config: Config, server: McpServer | None = None) -> list[str]:
    """The person's variables that the project hands to its plugin."""
    form = config.project_forms.get(name)
    values = list((form.env or {}).values()) if form else []
    if server is not None:
        values += [*server.command, server.url, *server.headers.values()]
    named = {found for text in values for found in _REFERENCE.findall(text)}
    named.update((form.pass_env or ()) if form else ())
    return [*(["*"] if form and form.inherit_env else []), *sorted(named)]


def _hooks(file: str, node: Node | None) -> list[dict[str, Any]]:
    hooks = HOOKS.read(node, Place(file, [], "hooks")) if node else None
    return [
        {"event": event, "command": hook.command, "match": dict(hook.match)}
        for event, found in (hooks or {}).items()
        for hook in found
    ]


def _server(name: str, server: McpServer, config: Config) -> dict[str, Any]:
    """An MCP server, with what starts it or where it is; its headers are left out."""
    words = {"command": list(server.command), "url": server.url}
    masked = masked_options(words)
    return {
        "name": name,
        "start": shlex.join(masked["command"]) or masked["url"],
        "variables": _variables(name, config, server),
    }


def _rules(user: Config, config: Config) -> dict[str, Any]:
    old, new = user.permissions, config.permissions
    return {
        "deny": [rule.pattern.text for rule in (new.deny or ())[len(old.deny or ()) :]],
        "ask": [rule.pattern.text for rule in (new.ask or ())[len(old.ask or ()) :]],
        "mode": "strict" if new.mode == "strict" and old.mode != "strict" else None,
    }


# --- for people


def show(view: Mapping[str, Any]) -> None:
    """Print it, each entry on one line, so that none can pass for another."""
    files = view["files"]
    links = [f"{file['name']} -> {file['target']}" for file in files if file["target"]]
    size = sum(file["size"] for file in files)
    rules = view["rules"]
    facts: dict[str, str | Sequence[str]] = {
        "state": view["why"] or view["state"],
        "plugins": [line for plugin in view["plugins"] for line in _plugin_lines(plugin)],
        "hooks": [_hook_line(hook) for hook in view["hooks"]],
        "mcp servers": [line for server in view["mcpServers"] for line in _server_lines(server)],
        "rules": [
            *(f"{action} {rule}" for action in ("deny", "ask") for rule in rules[action]),
            *(["mode strict"] if rules["mode"] else []),
        ],
        "notes": view["problems"],
        "links": links,
        "files": f"{len(files)}, {size} bytes, sha256 {view['sha256']}",
    }
    output.facts(view["file"], {name: lines for name, lines in facts.items() if lines})


def _plugin_lines(plugin: Mapping[str, Any]) -> list[str]:
    where = plugin["path"] or plugin["problem"] or plugin["source"]
    if plugin["target"]:
        where += f" -> {plugin['target']}"
    source = f" ({plugin['source']})" if plugin["path"] else ""
    lines = [f"{plugin['name']}: {where}{source}"]
    if plugin["options"]:
        lines.append(f"{plugin['name']}: options {codec.dumps(plugin['options'])}")
    return lines + _variable_lines(plugin)


def _server_lines(server: Mapping[str, Any]) -> list[str]:
    return [f"{server['name']}: {server['start']}", *_variable_lines(server)]


def _variable_lines(one: Mapping[str, Any]) -> list[str]:
    """What it gets of the environment; "*" stands for all that does not look secret."""
    names = ", ".join(one["variables"])
    return [f"{one['name']}: gets your variables {names}"] if names else []


def _hook_line(hook: Mapping[str, Any]) -> str:
    match = "".join(f" [{key} {pattern}]" for key, pattern in hook["match"].items())
    return f"{hook['event']}{match}: {hook['command']}"
