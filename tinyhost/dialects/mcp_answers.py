"""What an MCP server may ask its host: for roots, a sampled message, or the person's input.

Roots are the project's directory. For the other two the host lends callbacks; without one
the server is told that there is none.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from tinyhost_sdk import names

from ..model import ClientCallbacks

_log = logging.getLogger(__name__)

PING = "ping"
ROOTS = "roots/list"
SAMPLING = "sampling/createMessage"
ELICITATION = "elicitation/create"
_ACTIONS = ("accept", "decline", "cancel")


class Refused(Exception):
    """A server's question that gets no answer: the JSON-RPC error `code`, and why."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


class Answers:
    """Answers the questions of one server."""

    def __init__(self, plugin: str, directory: str, callbacks: ClientCallbacks) -> None:
        self._plugin = plugin
        self._directory = directory
        self._callbacks = callbacks

    async def answer(self, method: str, params: Any) -> Mapping[str, Any]:
        """Answer a request of the server's. Raises Refused."""
        asked = params if type(params) is dict else {}
        if method == PING:
            return {}
        if method == ROOTS:
            path = PurePosixPath(self._directory)
            return {"roots": [{"uri": path.as_uri(), "name": path.name or "/"}]}
        if method == SAMPLING and self._callbacks.sampling is not None:
            return await self._ask(method, asked)
        if method == ELICITATION and self._callbacks.elicitation is not None:
            return _elicited(await self._ask(method, asked), asked)
        raise Refused(names.METHOD_NOT_FOUND, f"this host does not offer {method[:100]}")

    async def _ask(self, method: str, params: Mapping[str, Any]) -> Mapping[str, Any]:
        asked = self._callbacks.sampling if method == SAMPLING else self._callbacks.elicitation
        assert asked is not None
        try:
            given = await asked(self._plugin, params)
        except Exception as error:
            # The server learns nothing of what went wrong in here.
            _log.exception("the callback for %s of plugin %s failed", method, self._plugin)
            raise Refused(names.INTERNAL_ERROR, "the host could not answer") from error
        return given


def offered(callbacks: ClientCallbacks) -> dict[str, Any]:
    """The capabilities that a server is told of."""
    found: dict[str, Any] = {"roots": {}}
    if callbacks.sampling is not None:
        found["sampling"] = {}
    if callbacks.elicitation is not None:
        found["elicitation"] = {"form": {}, "url": {}}
    return found


def _elicited(given: Mapping[str, Any], asked: Mapping[str, Any]) -> Mapping[str, Any]:
    """The person's answer; fields of a form that they left out get their defaults."""
    if given.get("action") not in _ACTIONS:
        _log.error("an elicitation callback gave no action of %s", ", ".join(_ACTIONS))
        raise Refused(names.INTERNAL_ERROR, "the host could not answer")
    if given["action"] != "accept" or asked.get("mode", "form") != "form":
        return given
    return {**given, "content": {**_defaults(asked), **(given.get("content") or {})}}


def _defaults(asked: Mapping[str, Any]) -> dict[str, Any]:
    schema = asked.get("requestedSchema")
    fields = schema.get("properties") if type(schema) is dict else None
    if type(fields) is not dict:
        return {}
    return {
        name: field["default"]
        for name, field in fields.items()
        if type(field) is dict and "default" in field
    }
