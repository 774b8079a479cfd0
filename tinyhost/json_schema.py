"""JSON Schemas from plugins: checked when they are read, used to check values later.

Nothing is ever fetched: a reference has to lead to a place in the schema itself, or to one
of the published drafts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Check = Callable[[Any], Sequence[str]]

_MOST = 5  # problems told of one value
_CUT = 300  # characters of each
_MAX_DEPTH = 64
# Members that hold values, in which nothing is a reference, and those that hold schemas by name.
_VALUES = frozenset({"const", "enum", "default", "examples"})
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})


class BadSchema(ValueError):
    """`path` leads to the part that is wrong, dotted, "" for the whole."""

    def __init__(self, path: str, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}" if path else reason)


def compile_schema(schema: Mapping[str, Any]) -> Check:
    """Make a function that says what is wrong with a value: nothing, if it fits the schema.

    $schema names the draft; without it, or with one that is not known, 2020-12 counts. Raises
    BadSchema.
    """
    # Slow to import, and only needed where a schema is.
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]

    references = list(_references(schema, ""))
    try:
        kind = validator_for(schema, default=Draft202012Validator)
    except (AttributeError, TypeError, ValueError):
        raise BadSchema("$schema", "it is not the address of a draft") from None
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        path = ".".join(str(step) for step in error.absolute_path)
        raise BadSchema(path, error.message[:_CUT]) from None
    _check_references(schema, kind.ID_OF, references, REGISTRY)
    return _checker(kind(schema, registry=REGISTRY))


def _checker(validator: Any) -> Check:
    def check(value: Any) -> Sequence[str]:
        try:
            errors = sorted(validator.iter_errors(value), key=lambda error: str(error.json_path))
        except RecursionError:
            return ["it is nested too deeply"]
        found = [f"{error.json_path}: {error.message[:_CUT]}" for error in errors[:_MOST]]
        return [*found, f"and {len(errors) - _MOST} more"] if len(errors) > _MOST else found

    return check


def _references(schema: object, path: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Each reference, and the path of the part that it is in. Raises BadSchema."""
    if depth > _MAX_DEPTH:
        raise BadSchema(path[:_CUT], f"it is nested deeper than {_MAX_DEPTH}")
    if isinstance(schema, list):
        for index, part in enumerate(schema):
            yield from _references(part, _join(path, index), depth + 1)
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in ("$ref", "$dynamicRef") and isinstance(value, str):
            yield _join(path, key), value
        elif key in _BY_NAME and isinstance(value, dict):
            for name, part in value.items():
                yield from _references(part, _join(_join(path, key), name), depth + 1)
        elif key not in _VALUES:
            yield from _references(value, _join(path, key), depth + 1)


def _join(path: str, step: str | int) -> str:
    return f"{path}.{step}" if path else str(step)


def _check_references(
    schema: Mapping[str, Any],
    id_of: Callable[[Any], str | None],
    references: Sequence[tuple[str, str]],
    registry: Any,
) -> None:
    from referencing import Resource
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    if not references:
        return
    base = id_of(schema) or ""
    resource = Resource.from_contents(schema, default_specification=DRAFT202012)
    resolver = registry.with_resource(base, resource).resolver(base)
    for path, reference in references:
        try:
            resolver.lookup(reference)
        except Unresolvable:
            reason = f"the reference {reference[:_CUT]!r} leads nowhere; nothing is fetched for it"
            raise BadSchema(path, reason) from None
