"""Packages as JSON values and as facts. Imports the host: only inside commands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs

from tinyhost.config import Config
from tinyhost.present import camel
from tinyhost.zuno.discovery import Found, packages_of
from tinyhost.zuno.package import Agent, Package, ProcessRuntime
from tinyhost_cli.describe import first_line


def find_package(config: Config, name: str, path: str = "") -> Found | None:
    """The package of that name: the one at a path, else the first."""
    found = [package for package in packages_of(config) if package.name == name]
    at_path = [package for package in found if package.folder == path]
    # With a path, the name leads to something else that comes before the packages.
    return next(iter(at_path if path else found), None)


def package_row(found: Found) -> dict[str, Any]:
    """A package in the list of plugins."""
    return {
        "name": found.name,
        "state": "installed" if found.usable else "unusable",
        "path": found.folder if found.usable else None,
        "source": found.source,
        "problem": None if found.usable else f"{found.folder} {found.why_not}",
        "options": [],
    }


def package_value(found: Found) -> dict[str, Any]:
    """A package with all that it holds, as JSON."""
    value = {
        "folder": found.folder,
        "source": found.source,
        "usable": found.usable,
        "problems": [{"path": p.path, "reason": p.reason} for p in found.problems],
        "instead": found.instead or None,
    }
    return {**value, **(_contents(found.package) if found.package else {})}


def _contents(package: Package) -> dict[str, Any]:
    return {
        "id": package.id,
        "kind": package.kind,
        "description": package.description,
        "runtime": _plain(package.runtime) if package.runtime else None,
        "tools": [_plain(tool) for tool in package.tools],
        "agents": [_plain(agent) for agent in package.agents],
        "workflows": [_plain(workflow) for workflow in package.workflows],
        "skills": [_plain(skill) for skill in package.skills],
    }


def _plain(entry: attrs.AttrsInstance) -> dict[str, Any]:
    value = {field.name: getattr(entry, field.name) for field in attrs.fields(type(entry))}
    return {camel(name): _listed(item) for name, item in value.items() if item is not None}


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def package_facts(found: Found) -> dict[str, str | Sequence[str]]:
    """A package for people."""
    package = found.package
    state = {"state": "usable" if found.usable else found.why_not}
    if package is None:
        return {"folder": found.folder, **state}
    facts: dict[str, str | Sequence[str]] = {
        "folder": found.folder,
        **state,
        "kind": package.kind,
        "description": first_line(package.description),
    }
    if isinstance(package.runtime, ProcessRuntime):
        facts["runs"] = " ".join([package.runtime.command, *package.runtime.args])
        facts["time for a request"] = f"{package.runtime.timeout:g} s"
    described = {
        "tools": [(tool.name, tool.description) for tool in package.tools],
        "agents": [(agent.name, _agent_line(agent)) for agent in package.agents],
        "commands": [(each.name, each.description or each.prompt) for each in package.workflows],
        "skills": [(skill.name, skill.description) for skill in package.skills],
    }
    for kind, entries in described.items():
        if entries:
            facts[kind] = [f"{name}  {first_line(text)}".rstrip() for name, text in entries]
    return facts


def _agent_line(agent: Agent) -> str:
    mode = f" ({agent.mode})" if agent.mode else ""
    return f"{first_line(agent.description or '')}{mode}".strip()
