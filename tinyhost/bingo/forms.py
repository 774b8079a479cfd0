"""How attrs classes stand for JSON: reading, writing, and their JSON Schema.

A class is declared once. Its members are camelCase on the wire; a member with a default may
be missing or null; unknown members are ignored. Reading is strict about kinds and raises
ValueError with the path of what is wrong. `tagged` classes have a member that names them,
and a `Choice` of them is told apart by it.
"""

from __future__ import annotations

import enum
import functools
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, TypeVar, Union

import attrs

_T = TypeVar("_T")

Schema = dict[str, Any]
# Named parts of a schema document, filled as they are met.
Defs = dict[str, Schema]

_TAGS: dict[type, tuple[str, str]] = {}


@attrs.frozen
class Whole:
    """Marks whole numbers from low to high; format is what schemas call them."""

    low: int
    high: int
    format: str


Uint16 = Annotated[int, Whole(0, 2**16 - 1, "uint16")]
Uint32 = Annotated[int, Whole(0, 2**32 - 1, "uint32")]
Uint64 = Annotated[int, Whole(0, 2**64 - 1, "uint64")]
Int32 = Annotated[int, Whole(-(2**31), 2**31 - 1, "int32")]
Int64 = Annotated[int, Whole(-(2**63), 2**63 - 1, "int64")]


@attrs.frozen
class Choice:
    """Marks a union of tagged classes. otherwise: makes the value of one with another tag."""

    name: str
    otherwise: Callable[[dict[str, Any]], Any] | None = None


def tagged(tag: str, word: str) -> Callable[[type[_T]], type[_T]]:
    """A class whose objects have the member `tag` with the value `word`."""

    def mark(cls: type[_T]) -> type[_T]:
        _TAGS[cls] = (tag, word)
        return cls

    return mark


def omitted(default: Any) -> Any:
    """An attrs field that is not written when it has its default value.

    Other metadata of a field: key, its name on the wire; always, that None is written.
    """
    return attrs.field(default=default, metadata={"omit": True})


def camel(name: str) -> str:
    """in_this_way -> inThisWay"""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def read(kind: type[_T], value: Any, where: str = "") -> _T:
    """Read a value of JSON's kinds. Raises ValueError."""
    result: _T = codec_of(kind).read(value, where)
    return result


def read_any(kind: Any, value: Any, where: str = "") -> Any:
    """Like read, for annotations that are no classes, such as a Choice."""
    return codec_of(kind).read(value, where)


def write(value: Any) -> Any:
    """The JSON form of an object that was read, or made to be sent."""
    return codec_of(type(value)).write(value)


def schema(kind: Any, defs: Defs) -> Schema:
    """The JSON Schema of a class or annotation; what it refers to is put into defs."""
    return codec_of(kind).schema(defs)


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    kinds = {dict: "an object", list: "an array", str: "a string", bool: "true or false"}
    return "null" if value is None else kinds.get(type(value), "a number")


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


def _named(where: str) -> str:
    return where or "the value"


class Codec:
    """One kind of value. The base takes everything."""

    def read(self, value: Any, where: str) -> Any:
        """Check and convert. Raises ValueError."""
        del where
        return value

    def write(self, value: Any) -> Any:
        """The reverse."""
        return value

    def schema(self, defs: Defs) -> Schema:
        """What values look like."""
        del defs
        return {}


class _Plain(Codec):
    """A value of one of Python's own types."""

    def __init__(self, kinds: tuple[type, ...], words: str, schema: Schema) -> None:
        self._kinds, self._words, self._schema = kinds, words, schema

    def read(self, value: Any, where: str) -> Any:
        # By exact type: True is an int to isinstance.
        if type(value) not in self._kinds:
            raise ValueError(f"{_named(where)} is {kind_of(value)}, not {self._words}")
        return value

    def schema(self, defs: Defs) -> Schema:
        del defs
        return dict(self._schema)


class _Number(Codec):
    def __init__(self, bounds: Whole) -> None:
        self._bounds = bounds

    def read(self, value: Any, where: str) -> Any:
        low, high = self._bounds.low, self._bounds.high
        if type(value) is not int or not low <= value <= high:
            raise ValueError(
                f"{_named(where)} is not a whole number from {low} to {high}: {value!r:.80}"
            )
        return value

    def schema(self, defs: Defs) -> Schema:
        del defs
        found: Schema = {"type": "integer", "format": self._bounds.format}
        return found | ({"minimum": 0} if self._bounds.low == 0 else {})


class _Word(Codec):
    def __init__(self, kind: type[enum.StrEnum]) -> None:
        self._kind = kind

    def read(self, value: Any, where: str) -> Any:
        try:
            return self._kind(value)
        except ValueError:
            words = ", ".join(self._kind)
            raise ValueError(f"{_named(where)}: {value!r:.80} is not one of {words}") from None

    def write(self, value: Any) -> Any:
        return str(value)

    def schema(self, defs: Defs) -> Schema:
        if self._kind.__name__ not in defs:
            defs[self._kind.__name__] = {"type": "string", "enum": [str(w) for w in self._kind]}
        return {"$ref": f"#/$defs/{self._kind.__name__}"}


class _Many(Codec):
    """An array. exactly: the number of its items, or None for any."""

    def __init__(self, item: Codec, exactly: int | None = None) -> None:
        self._item, self._exactly = item, exactly

    def read(self, value: Any, where: str) -> Any:
        if type(value) is not list:
            raise ValueError(f"{_named(where)} is {kind_of(value)}, not an array")
        if self._exactly is not None and len(value) != self._exactly:
            raise ValueError(f"{_named(where)} does not have {self._exactly} items")
        return tuple(self._item.read(item, f"{where}[{i}]") for i, item in enumerate(value))

    def write(self, value: Any) -> Any:
        return [self._item.write(item) for item in value]

    def schema(self, defs: Defs) -> Schema:
        found: Schema = {"type": "array", "items": self._item.schema(defs)}
        if self._exactly is not None:
            found |= {"minItems": self._exactly, "maxItems": self._exactly}
        return found


class _Table(Codec):
    def __init__(self, item: Codec) -> None:
        self._item = item

    def read(self, value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise ValueError(f"{_named(where)} is {kind_of(value)}, not an object")
        return {key: self._item.read(item, _at(where, key)) for key, item in value.items()}

    def write(self, value: Any) -> Any:
        return {key: self._item.write(item) for key, item in value.items()}

    def schema(self, defs: Defs) -> Schema:
        return {"type": "object", "additionalProperties": self._item.schema(defs)}


@attrs.frozen
class _Member:
    name: str
    key: str
    codec: Codec
    required: bool
    nullable: bool
    omit: bool
    default: Any


class _Record(Codec):
    """An object of an attrs class."""

    def __init__(self, cls: type) -> None:
        self._cls = cls
        self._tag = _TAGS.get(cls)

    @functools.cached_property
    def _members(self) -> Sequence[_Member]:
        # Not before it is needed: classes may refer to themselves and to later ones.
        hints = typing.get_type_hints(self._cls, include_extras=True)
        return [_member(field, hints[field.name]) for field in attrs.fields(self._cls)]

    def read(self, value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise ValueError(f"{_named(where)} is {kind_of(value)}, not an object")
        given: dict[str, Any] = {}
        for member in self._members:
            found = value.get(member.key)
            if found is not None:
                given[member.name] = member.codec.read(found, _at(where, member.key))
            elif member.required:
                # A member that may be anything may be null.
                if type(member.codec) is not Codec or member.key not in value:
                    state = "null" if member.key in value else "missing"
                    raise ValueError(f"{_at(where, member.key)} is {state}")
                given[member.name] = None
        return self._cls(**given)

    def write(self, value: Any) -> Any:
        found: dict[str, Any] = {} if self._tag is None else {self._tag[0]: self._tag[1]}
        for member in self._members:
            inner = getattr(value, member.name)
            if inner is None and (member.nullable or member.omit):
                continue
            if member.omit and inner == member.default:
                continue
            found[member.key] = None if inner is None else member.codec.write(inner)
        return found

    def schema(self, defs: Defs) -> Schema:
        name = self._cls.__name__
        if name not in defs:
            defs[name] = {}  # so that a class may hold itself
            defs[name] = self._own_schema(defs)
        return {"$ref": f"#/$defs/{name}"}

    def _own_schema(self, defs: Defs) -> Schema:
        properties: Schema = {}
        required = []
        if self._tag is not None:
            properties[self._tag[0]] = {"const": self._tag[1]}
            required.append(self._tag[0])
        for member in self._members:
            found = member.codec.schema(defs)
            if member.nullable and found:
                found = {"anyOf": [found, {"type": "null"}]}
            elif not member.required and isinstance(member.default, bool | int | str):
                found = {**found, "default": member.default}
            properties[member.key] = found
            if member.required:
                required.append(member.key)
        text = (self._cls.__doc__ or "").strip()
        about = {} if text.startswith("Method generated") or not text else {"description": text}
        return {"type": "object", **about, "properties": properties, "required": required}


def _member(field: attrs.Attribute[Any], hint: Any) -> _Member:
    inner = _without_none(hint)
    default: Any = field.default
    default = getattr(default, "factory", lambda: default)()
    return _Member(
        name=field.name,
        key=field.metadata.get("key") or camel(field.name),
        codec=codec_of(inner),
        required=field.default is attrs.NOTHING,
        nullable=not field.metadata.get("always")
        and (inner is not hint or (hint is Any and field.default is None)),
        omit=bool(field.metadata.get("omit")),
        default=default,
    )


class _Tagged(Codec):
    """One of several tagged classes."""

    def __init__(self, choice: Choice, classes: Sequence[type]) -> None:
        self._choice = choice
        self._tag = _TAGS[classes[0]][0]
        self._classes = {_TAGS[cls][1]: cls for cls in classes}

    def read(self, value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise ValueError(f"{_named(where)} is {kind_of(value)}, not an object")
        word = value.get(self._tag)
        if type(word) is not str:
            raise ValueError(f"{_at(where, self._tag)} is {kind_of(word)}, not a string")
        cls = self._classes.get(word)
        if cls is not None:
            return codec_of(cls).read(value, where)
        if self._choice.otherwise is not None:
            return self._choice.otherwise(value)
        words = ", ".join(self._classes)
        raise ValueError(f"{_at(where, self._tag)}: {word[:80]!r} is not one of {words}")

    def write(self, value: Any) -> Any:
        return write(value)

    def schema(self, defs: Defs) -> Schema:
        name = self._choice.name
        if name not in defs:
            defs[name] = {}
            defs[name] = {"oneOf": [schema(cls, defs) for cls in self._classes.values()]}
        return {"$ref": f"#/$defs/{name}"}


_PLAIN: Mapping[Any, Codec] = {
    Any: Codec(),
    str: _Plain((str,), "a string", {"type": "string"}),
    bool: _Plain((bool,), "true or false", {"type": "boolean"}),
    float: _Plain((int, float), "a number", {"type": "number"}),
}


def codec_of(kind: Any) -> Codec:
    """How values of an annotation cross. Raises TypeError for one that has no form."""
    return _codec_of(kind)


@functools.cache
def _codec_of(kind: Any) -> Codec:
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Annotated:
        return _annotated(args)
    if origin is tuple:
        several = args[-1] is Ellipsis
        return _Many(codec_of(args[0]), None if several else len(args))
    if origin is not None and issubclass(origin, Mapping):
        return _Table(codec_of(args[1]))
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return _Word(kind)
    if isinstance(kind, type) and attrs.has(kind):
        return _Record(kind)
    raise TypeError(f"{kind!r} has no form on the wire")


def _annotated(args: tuple[Any, ...]) -> Codec:
    inner, mark = args[0], args[1]
    if isinstance(mark, Whole):
        return _Number(mark)
    return _Tagged(mark, typing.get_args(inner))


def _without_none(hint: Any) -> Any:
    """What an optional annotation is of; any other as it is."""
    if typing.get_origin(hint) not in (Union, types.UnionType):
        return hint
    rest = [arg for arg in typing.get_args(hint) if arg is not types.NoneType]
    return rest[0] if len(rest) == 1 else hint
