"""From a function's signature to a JSON Schema, and from checked arguments to a call.

Reads the code object itself: inspect and typing take longer to import than everything
else that a plugin needs to start. Forms that come from typing are recognised only where
the author's code has imported it.
"""

import sys

from .errors import DefinitionError, HandlerError
from .tool import ToolContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .tool import Execute

_UnionType = type(int | None)
_CALLED_BY_POSITION = "*args, **kwargs and positional-only parameters have no names to fill"


class BadArgument(HandlerError):
    """An argument does not fit; the text is for whoever made the call."""


class Kind:
    """One annotation: its schema, what it is in words, and a check that returns the value."""

    __slots__ = ("check", "schema", "what")

    def __init__(
        self, schema: "dict[str, Any]", what: str, check: "Callable[[Any, str], Any]"
    ) -> None:
        self.schema = schema
        self.what = what
        self.check = check


class Parameter:
    """One parameter that the caller fills."""

    __slots__ = ("kind", "name", "required")

    def __init__(self, name: str, kind: Kind, required: bool) -> None:
        self.name = name
        self.kind = kind
        self.required = required


def docstring(fn: "Any") -> str:
    """The function's docstring without its indentation, or ""."""
    lines = (getattr(fn, "__doc__", None) or "").strip().expandtabs().splitlines()
    margins = [len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()]
    margin = min(margins, default=0)
    return "\n".join(lines[:1] + [line[margin:].rstrip() for line in lines[1:]])


def adapt(fn: "Any", tool: str) -> "tuple[dict[str, Any], Execute]":
    """The schema of a function's arguments, and an execute() that checks and calls it.

    Raises DefinitionError for a signature that has no JSON form.
    """
    parameters, context_name = _parameters(fn, tool)
    properties = {parameter.name: parameter.kind.schema for parameter in parameters}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    required = [parameter.name for parameter in parameters if parameter.required]
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False

    def execute(args: "Any", context: ToolContext) -> "Any":
        values = _checked(args, parameters, tool)
        if context_name is not None:
            values[context_name] = context
        return fn(**values)

    return schema, execute


def _checked(args: "dict[str, Any]", parameters: "list[Parameter]", tool: str) -> "dict[str, Any]":
    values: dict[str, Any] = {}
    faults: list[str] = []
    for parameter in parameters:
        if parameter.name in args:
            try:
                values[parameter.name] = parameter.kind.check(args[parameter.name], parameter.name)
            except BadArgument as fault:
                # Many a model writes null for what it leaves out.
                if args[parameter.name] is not None or parameter.required:
                    faults.append(str(fault))
        elif parameter.required:
            faults.append(f"{parameter.name} is missing: it must be {parameter.kind.what}")
    known = [parameter.name for parameter in parameters]
    unknown = [f"{name:.80}" for name in args if name not in known]
    if unknown:
        there = f"the arguments are: {', '.join(known)}" if known else "there are none"
        faults.append(f"unknown argument {', '.join(unknown)}; {there}")
    if faults:
        raise BadArgument(f"wrong arguments for {tool}: {'; '.join(faults)}")
    return values


def _parameters(fn: "Any", tool: str) -> "tuple[list[Parameter], str | None]":
    function, bound = _plain_function(fn, tool)
    code = function.__code__
    if code.co_flags & 0x0C or code.co_posonlyargcount > bound:
        raise DefinitionError(f"tool {tool}: {_CALLED_BY_POSITION}; give parameters= instead")
    all_names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = function.__defaults__ or ()
    defaults = dict(
        zip(all_names[code.co_argcount - len(values) : code.co_argcount], values, strict=True)
    )
    defaults.update(function.__kwdefaults__ or {})
    parameters: list[Parameter] = []
    context_name: str | None = None
    for name in all_names[bound:]:
        annotation = _annotation(function, name, tool)
        if name == "context" or annotation is ToolContext:
            if context_name is not None:
                raise DefinitionError(
                    f"tool {tool}: {context_name} and {name} are both the context"
                )
            context_name = name
        else:
            kind = _kind(annotation, f"tool {tool}: parameter {name}")
            kind = _with_default(kind, defaults[name]) if name in defaults else kind
            parameters.append(Parameter(name, kind, name not in defaults))
    return parameters, context_name


def _plain_function(fn: "Any", tool: str) -> "tuple[Any, int]":
    """The function behind methods and decorators, and how many parameters are bound."""
    bound = 0 if getattr(fn, "__self__", None) is None else 1
    function = getattr(fn, "__func__", fn)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    if not hasattr(function, "__code__"):
        raise DefinitionError(f"tool {tool}: {fn!r:.80} has no signature; give parameters= instead")
    if function.__code__.co_flags & 0x2A0:
        raise DefinitionError(f"tool {tool} is asynchronous or a generator; use a plain function")
    return function, bound


def _annotation(function: "Any", name: str, tool: str) -> "Any":
    if name == "context":
        return ToolContext
    try:
        annotation = function.__annotations__.get(name, object)
        if isinstance(annotation, str):
            annotation = eval(annotation, function.__globals__)
    except Exception as error:
        raise DefinitionError(
            f"tool {tool}: the annotation of {name} has no value ({error});"
            " names in it must be defined at the top of the module"
        ) from None
    return annotation


def _with_default(kind: Kind, default: object) -> Kind:
    if type(default) not in (str, int, float, bool):
        return kind
    return Kind({**kind.schema, "default": default}, kind.what, kind.check)


def _kind(annotation: "Any", where: str) -> Kind:
    """Raises DefinitionError for what has no JSON form."""
    if annotation is None or annotation is type(None):
        return _NULL
    simple = _simple(annotation)
    if simple is not None:
        return simple
    if isinstance(annotation, str):
        raise DefinitionError(f"{where}: the nested annotation {annotation!r} is text; unquote it")
    if hasattr(annotation, "__metadata__"):
        return _described(annotation, where)
    typing = sys.modules.get("typing")
    origin = getattr(annotation, "__origin__", None)
    arguments: tuple[Any, ...] = getattr(annotation, "__args__", ())
    if isinstance(annotation, _UnionType) or (typing and origin is typing.Union):
        return _union([_kind(argument, where) for argument in arguments])
    if typing and origin is typing.Literal:
        return _literal(arguments)
    if origin is list:
        return _list(_kind(arguments[0], where))
    if origin is dict and arguments[0] is str:
        return _dict(_kind(arguments[1], where))
    if typing and annotation is typing.Any:
        return _ANY
    enum = sys.modules.get("enum")
    if enum and isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return _enum(annotation)
    raise DefinitionError(
        f"{where}: {annotation!r} has no JSON Schema; use str, int, float, bool, list[...],"
        " dict[str, ...], X | None, Literal, an Enum or Annotated, or give parameters="
    )


def _simple(annotation: "Any") -> "Kind | None":
    try:
        return _SIMPLE.get(annotation)
    except TypeError:  # not hashable
        return None


def _wrong(path: str, what: str, value: "Any") -> BadArgument:
    return BadArgument(f"{path} must be {what}, not {_NAMES.get(type(value), 'that')}")


def _typed(schema_type: str, what: str, kind: type) -> Kind:
    def check(value: "Any", path: str) -> "Any":
        if type(value) is not kind:
            raise _wrong(path, what, value)
        return value

    return Kind({"type": schema_type}, what, check)


def _check_integer(value: "Any", path: str) -> int:
    # To JSON, 3.0 is an integer.
    if type(value) is float and value.is_integer():
        return int(value)
    if type(value) is not int:
        raise _wrong(path, "an integer", value)
    return value


def _check_number(value: "Any", path: str) -> float:
    if type(value) is not int and type(value) is not float:
        raise _wrong(path, "a number", value)
    try:
        return float(value)
    except OverflowError:
        raise BadArgument(f"{path} is too large a number") from None


def _check_any(value: "Any", _path: str) -> "Any":
    return value


def _list(item: Kind) -> Kind:
    def check(value: "Any", path: str) -> "Any":
        if type(value) is not list:
            raise _wrong(path, "a list", value)
        return [item.check(element, f"{path}[{index}]") for index, element in enumerate(value)]

    return Kind({"type": "array", "items": item.schema}, "a list", check)


def _dict(item: Kind) -> Kind:
    def check(value: "Any", path: str) -> "Any":
        if type(value) is not dict:
            raise _wrong(path, "an object", value)
        return {key: item.check(element, f"{path}.{key}") for key, element in value.items()}

    return Kind({"type": "object", "additionalProperties": item.schema}, "an object", check)


def _union(kinds: "list[Kind]") -> Kind:
    what = " or ".join(kind.what for kind in kinds)

    def check(value: "Any", path: str) -> "Any":
        faults: list[BadArgument] = []
        for kind in kinds:
            try:
                return kind.check(value, path)
            except BadArgument as fault:
                faults.append(fault)
        # With one real alternative its own fault says more: which element, which value.
        real = [fault for kind, fault in zip(kinds, faults, strict=True) if kind is not _NULL]
        if len(real) == 1 and type(value) in (list, dict):
            raise real[0]
        raise _wrong(path, what, value)

    return Kind({"anyOf": [kind.schema for kind in kinds]}, what, check)


def _literal(values: "tuple[Any, ...]") -> Kind:
    what = "one of " + ", ".join(repr(value) for value in values)

    def check(value: "Any", path: str) -> "Any":
        for allowed in values:
            if type(allowed) is type(value) and allowed == value:
                return allowed
        raise BadArgument(f"{path} must be {what}, not {value!r:.80}")

    return Kind({"enum": list(values)}, what, check)


def _enum(enum: "Any") -> Kind:
    by_value = _literal(tuple(member.value for member in enum))

    def check(value: "Any", path: str) -> "Any":
        return enum(by_value.check(value, path))

    return Kind(by_value.schema, by_value.what, check)


def _described(annotation: "Any", where: str) -> Kind:
    kind = _kind(annotation.__origin__, where)
    texts = [text for text in annotation.__metadata__ if isinstance(text, str)]
    if not texts:
        return kind
    return Kind({**kind.schema, "description": "\n".join(texts)}, kind.what, kind.check)


_NAMES = {
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "a boolean",
    list: "a list",
    dict: "an object",
    type(None): "null",
}
_NULL = _typed("null", "null", type(None))
_ANY = Kind({}, "any value", _check_any)
_SIMPLE: "dict[Any, Kind]" = {
    str: _typed("string", "a string", str),
    int: Kind({"type": "integer"}, "an integer", _check_integer),
    float: Kind({"type": "number"}, "a number", _check_number),
    bool: _typed("boolean", "true or false", bool),
    list: _typed("array", "a list", list),
    dict: _typed("object", "an object", dict),
    object: _ANY,
}
