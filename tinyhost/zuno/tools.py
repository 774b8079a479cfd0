"""Tools of a package as the host has them."""

from __future__ import annotations

import hashlib
import re

from ..dialects.zuno import plain
from ..model import ToolSpec
from .package import Package

_MAX_ID = 64


def tool_specs(package: Package) -> list[ToolSpec]:
    """The tools, in the manifest's order.

    Names here may hold what models do not accept in a tool's id, and may be longer: such ids
    are made of what is left and, where that is taken or too long, a hash of the name.
    """
    plainly = {tool.name: _plain_id(package.id, tool.name) for tool in package.tools}
    # Names that need no change first, so that no other takes their id.
    taken = {id for id, exact in plainly.values() if exact}
    specs = []
    for tool in package.tools:
        id, exact = plainly[tool.name]
        if not exact:
            id = _hashed_id(id, tool.name) if id in taken or len(id) > _MAX_ID else id
            taken.add(id)
        specs.append(
            ToolSpec(
                id=id,
                name=tool.name,
                plugin=package.id,
                description=plain(tool.description),
                input_schema={"type": "object", "properties": {}, **tool.parameters},
            )
        )
    return specs


def _plain_id(package: str, name: str) -> tuple[str, bool]:
    """The id, and whether it says the name exactly."""
    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
    id = f"plugin__{package.replace('.', '_')}__{safe}"
    return id, safe == name and len(id) <= _MAX_ID


def _hashed_id(id: str, name: str) -> str:
    mark = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{id[: _MAX_ID - 9]}_{mark}"
