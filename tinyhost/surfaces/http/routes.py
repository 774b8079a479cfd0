"""The table of routes: one row for each, which checks requests and makes the document.

A handler is put into the table by `route`. It gets a `Call` and returns what is answered: JSON
values, or a Response of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
from starlette.datastructures import QueryParams
from starlette.requests import Request

from tinyhost_sdk import names
from tinyhost_sdk.wire import deeper_than

from ...codec import loads
from ...errors import InvalidCall, cut
from ...json_schema import Check, compile_schema
from ...running import RunningHost
from .answers import Refused
from .forms import FORMS
from .schema import Schema, resolved, schema_of

_PROBLEMS = 1000  # characters of what is wrong with a body


@attrs.frozen(kw_only=True)
class Call:
    """A request that fits its row: what stands in the path, in the query and in the body."""

    running: RunningHost
    request: Request
    path: Mapping[str, str]
    query: Mapping[str, Any]
    body: Mapping[str, Any]


Handler = Callable[[Call], Awaitable[Any]]


@attrs.frozen(kw_only=True)
class Query:
    """A parameter of the query. many: it can be given several times."""

    name: str
    description: str
    schema: Schema = attrs.field(factory=lambda: {"type": "string"})
    many: bool = False


# A number of an event or a record, as large as JSON's readers are sure to keep.
SEQ: Schema = {"type": "integer", "minimum": 0, "maximum": 2**53 - 1}


@attrs.frozen(kw_only=True)
class Row:
    """One route.

    body: the form of what is sent; without a required member it may be left out. answer: the
    type of what is answered, None for nothing. media: of the answer. errors: the statuses of
    errors of its own. public: whether it needs no token. waits: until the configuration's
    plugins are loaded. abandons: whether it is broken off when the client goes away.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    body: Any = None
    answer: Any = None
    status: int = 200
    media: str = "application/json"
    errors: Sequence[int] = ()
    query: Sequence[Query] = ()
    public: bool = False
    waits: bool = False
    abandons: bool = False

    @property
    def body_schema(self) -> Schema:
        """The schema of the body."""
        return schema_of(self.body)


ROWS: list[Row] = []


def route(method: str, path: str, **more: Any) -> Callable[[Handler], Handler]:
    """Put a handler into the table; its docstring's first line is the summary."""

    def add(handler: Handler) -> Handler:
        summary = (handler.__doc__ or "").partition("\n")[0].rstrip(".")
        ROWS.append(Row(method=method, path=path, handler=handler, summary=summary, **more))
        return handler

    return add


async def read_call(row: Row, running: RunningHost, request: Request) -> Call:
    """What a request says, checked against its row. Raises Refused and InvalidCall."""
    return Call(
        running=running,
        request=request,
        path=request.path_params,
        query=_read_query(row, request.query_params),
        body=await _read_body(row, request) if row.body is not None else {},
    )


async def _read_body(row: Row, request: Request) -> Mapping[str, Any]:
    data = await request.body()
    if deeper_than(data, names.MAX_DEPTH):
        raise InvalidCall(f"the body is nested deeper than {names.MAX_DEPTH}")
    try:
        value = loads(data) if data.strip() or _needed(row) else {}
    except ValueError:
        raise InvalidCall("the body is not JSON") from None
    problems = _body_check(row.path)(value) if isinstance(value, dict) else ["it is not an object"]
    if problems:
        text = "; ".join(map(_plain, problems))  # with the values, which may be large
        raise InvalidCall(f"the body is not right: {cut(text, _PROBLEMS)}")
    assert isinstance(value, dict)
    return value


def _plain(problem: str) -> str:
    return problem.removeprefix("$: ").removeprefix("$.")


def _needed(row: Row) -> bool:
    from .schema import form_schema

    return bool(form_schema(row.body).get("required"))


@functools.cache
def _body_check(path: str) -> Check:
    [row] = [row for row in ROWS if row.path == path and row.body is not None]
    return compile_schema(resolved(row.body_schema, FORMS))


def _read_query(row: Row, given: QueryParams) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for parameter in row.query:
        texts = given.getlist(parameter.name)
        if not texts:
            continue
        if len(texts) > 1 and not parameter.many:
            raise InvalidCall(f"{parameter.name} can be given once")
        values = [_value(parameter, text) for text in texts]
        found[parameter.name] = values if parameter.many else values[0]
    return found


def _value(parameter: Query, text: str) -> Any:
    schema, name = parameter.schema, parameter.name
    if schema.get("enum") and text not in schema["enum"]:
        raise InvalidCall(f"{name} must be one of {', '.join(schema['enum'])}")
    if schema["type"] != "integer":
        return text
    if not (text.isascii() and text.isdigit() and len(text) < 17):
        raise InvalidCall(f"{name} must be a whole number")
    number = int(text)
    least, most = schema.get("minimum", 0), schema.get("maximum", number)
    if not least <= number <= most:
        raise InvalidCall(f"{name} must be from {least} to {most}")
    return number


def require(condition: object, status: int, message: str) -> None:
    """Raises Refused unless the condition holds."""
    if not condition:
        raise Refused(status, message)
