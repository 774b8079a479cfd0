"""The JSON Schema (2020-12) of config.json, made from the classes that read it.

`python -m tinyhost.config_schema` prints it; a copy ships as tinyhost/data/config.schema.json.
"""

from __future__ import annotations

import json
from typing import Any

import attrs

from tinyhost.config_forms import (
    ConfigForm,
    JournalForm,
    LimitsForm,
    PermissionsForm,
    PluginForm,
    ProjectForm,
    SandboxForm,
    TimeoutsForm,
)
from tinyhost.config_hooks import ShellHookForm
from tinyhost.config_object import fields_by_key
from tinyhost.config_servers import McpServerForm
from tinyhost.config_values import NAME_SCHEMA


def build() -> dict[str, Any]:
    """Return the schema as a value."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tinyhost configuration",
        # Two keywords that editors know; a validator passes over them.
        "allowComments": True,
        "allowTrailingCommas": True,
        **_object_schema(ConfigForm),
        "$defs": {
            "pluginName": dict(NAME_SCHEMA),
            "plugin": _object_schema(PluginForm),
            "timeouts": _object_schema(TimeoutsForm),
            "limits": _object_schema(LimitsForm),
            "sandbox": _object_schema(SandboxForm),
            "permissions": _object_schema(PermissionsForm),
            "project": _object_schema(ProjectForm),
            "journal": _object_schema(JournalForm),
            "shellHook": _object_schema(ShellHookForm),
            "mcpServer": _object_schema(McpServerForm),
        },
    }


def text() -> str:
    """Return the schema as the text of the shipped file."""
    return json.dumps(build(), indent=2, ensure_ascii=False) + "\n"


def _object_schema(cls: type) -> dict[str, Any]:
    return {
        "type": "object",
        "description": " ".join((cls.__doc__ or "").split()),
        "properties": {key: _field_schema(field) for key, field in fields_by_key(cls).items()},
        "additionalProperties": False,
    }


def _field_schema(field: attrs.Attribute[Any]) -> dict[str, Any]:
    return {"description": field.metadata["description"], **field.metadata["form"].schema}


if __name__ == "__main__":
    print(text(), end="")
