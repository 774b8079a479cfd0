"""JSON Schemas of the types in `forms`: what requests are checked by, and what the document says.

A form is a TypedDict; a member's type is str, int, float, bool, Any, a list, a dict with text
keys, a Literal, another form, or one of these or None. `Annotated` adds words of JSON Schema.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union

Schema = dict[str, Any]

_FORMS = "#/components/schemas/"

_PLAIN: Mapping[Any, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
    Any: {},
}


def says(description: str = "", **words: Any) -> Schema:
    """For Annotated: a description, and further words of JSON Schema."""
    return {**({"description": description} if description else {}), **words}


def schema_of(kind: Any) -> Schema:
    """The schema of a type; forms in it are references to the document's components."""
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is None and kind in _PLAIN:
        return dict(_PLAIN[kind])
    if origin is Annotated:
        words: Schema = args[1]
        return schema_of(args[0]) | words
    if typing.is_typeddict(kind):
        return {"$ref": _FORMS + kind.__name__}
    if origin in (Required, NotRequired):
        return schema_of(args[0])
    if origin is Literal:
        return {"type": "string", "enum": list(args)}
    if origin is list:
        return {"type": "array", "items": schema_of(args[0])}
    if origin is dict:
        values = schema_of(args[1])
        return {"type": "object"} | ({"additionalProperties": values} if values else {})
    if origin in (Union, types.UnionType):
        return _either([schema_of(arg) for arg in args])
    raise TypeError(f"{kind!r} has no schema")


def _either(schemas: list[Schema]) -> Schema:
    plain = [one.get("type") for one in schemas]
    if all(isinstance(name, str) for name in plain) and len(schemas) == 2:
        first, second = schemas
        if second == {"type": "null"} and "enum" not in first:
            return {**first, "type": [first["type"], "null"]}
    return {"anyOf": schemas}


def form_schema(form: Any) -> Schema:
    """The schema of a form itself."""
    hints = typing.get_type_hints(form, include_extras=True)
    # __required_keys__ is wrong where annotations are postponed.
    required = [name for name, hint in hints.items() if typing.get_origin(hint) is not NotRequired]
    return {
        "type": "object",
        "description": " ".join((form.__doc__ or "").split()),
        "properties": {name: schema_of(hint) for name, hint in hints.items()},
        **({"required": required} if required else {}),
    }


def forms_in(schema: object) -> set[str]:
    """The names of the forms that a schema refers to."""
    if isinstance(schema, list):
        return set().union(*map(forms_in, schema))
    if not isinstance(schema, dict):
        return set()
    found: set[str] = set().union(*map(forms_in, schema.values()))
    reference = str(schema.get("$ref", ""))
    return found | ({reference.removeprefix(_FORMS)} if reference.startswith(_FORMS) else set())


def resolved(schema: Schema, forms: Mapping[str, Any]) -> Schema:
    """The schema by itself, for a validator: what it refers to stands in it."""
    text = {"$defs": {}, **schema}
    todo, done = forms_in(schema), set[str]()
    while todo:
        name = todo.pop()
        done.add(name)
        text["$defs"][name] = form_schema(forms[name])
        todo |= forms_in(text["$defs"][name]) - done
    moved: Schema = _moved(text)
    return moved


def _moved(part: Any) -> Any:
    if isinstance(part, list):
        return [_moved(item) for item in part]
    if not isinstance(part, dict):
        return part
    return {
        key: f"#/$defs/{value.rpartition('/')[2]}" if key == "$ref" else _moved(value)
        for key, value in part.items()
    }
