"""The OpenAPI 3.1 document of the HTTP API, made from the table of routes and the forms.

`python -m tinyhost.surfaces.http.openapi` prints it; a copy is docs/openapi.json.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from .app import TABLE
from .forms import FORMS, Error
from .routes import Query, Row
from .schema import form_schema, forms_in, schema_of

_INTRODUCTION = (
    "What a running tinyhost offers to programs on the same machine. Calls go the same guarded way"
    " as any other: rules and guards are asked, and what a person would be asked is denied."
)
_PATH_WORDS = {
    "id": "An id, or for a plugin its name.",
    "name": "The name of a hook, or of an event.",
    "session": "The session's id, or an unambiguous beginning of it.",
}


def build() -> dict[str, Any]:
    """Return the document as a value."""
    paths: dict[str, dict[str, Any]] = {}
    for row in TABLE:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row)
    token = {"type": "http", "scheme": "bearer", "description": "From the host's token file."}
    return {
        "openapi": "3.1.0",
        "info": {"title": "tinyhost", "version": "1", "description": _INTRODUCTION},
        "servers": [{"url": "http://127.0.0.1:4096"}],
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"token": token},
            "schemas": _used(paths),
            "responses": {
                str(status): _error(status)
                for status in sorted({status for row in TABLE for status in _statuses(row)})
            },
        },
    }


def _used(paths: Mapping[str, Any]) -> dict[str, Any]:
    """The forms that are referred to, and those that they refer to."""
    found: dict[str, Any] = {}
    todo = forms_in(paths) | {"Error"}
    while todo:
        name = todo.pop()
        found[name] = form_schema(FORMS[name])
        todo |= forms_in(found[name]) - found.keys()
    return dict(sorted(found.items()))


def _operation(row: Row) -> dict[str, Any]:
    names = re.findall(r"{(\w+)}", row.path)
    parameters = [*map(_path_parameter, names), *map(_query_parameter, row.query)]
    return {
        "operationId": _operation_id(row),
        "summary": row.summary,
        "tags": [row.path.split("/")[1].partition(".")[0]],
        **({"parameters": parameters} if parameters else {}),
        **({"requestBody": _body(row)} if row.body is not None else {}),
        "responses": {str(row.status): _answer(row)}
        | {str(one): {"$ref": f"#/components/responses/{one}"} for one in _statuses(row)},
        **({"security": []} if row.public else {}),
    }


def _operation_id(row: Row) -> str:
    words = re.findall(r"\w+", row.path)
    return row.method.lower() + "".join(word.title() for word in words)


def _path_parameter(name: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "path",
        "required": True,
        "description": _PATH_WORDS[name],
        "schema": {"type": "string", "minLength": 1, "pattern": "^[^/]+$"},
    }


def _query_parameter(query: Query) -> dict[str, Any]:
    schema = {"type": "array", "items": query.schema} if query.many else query.schema
    return {"name": query.name, "in": "query", "description": query.description, "schema": schema}


def _body(row: Row) -> dict[str, Any]:
    required = bool(form_schema(row.body).get("required"))
    return {"required": required, "content": {"application/json": {"schema": row.body_schema}}}


def _answer(row: Row) -> dict[str, Any]:
    words = HTTPStatus(row.status).phrase
    if row.answer is None:
        return {"description": words}
    return {"description": words, "content": {row.media: {"schema": schema_of(row.answer)}}}


def _statuses(row: Row) -> list[int]:
    """The statuses of the errors that a route may answer with."""
    own = {*row.errors, 421}
    if not row.public:
        own.add(401)
    if row.body is not None:
        own |= {400, 413}
    if row.query:
        own.add(400)
    if row.waits:
        own.add(503)
    return sorted(own)


def _error(status: int) -> dict[str, Any]:
    content = {"application/json": {"schema": schema_of(Error)}}
    return {"description": HTTPStatus(status).phrase, "content": content}


@functools.cache
def text() -> str:
    """Return the document as the text of the committed file."""
    return json.dumps(build(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    print(text(), end="")
