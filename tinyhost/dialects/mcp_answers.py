"""What an MCP server may ask its host: for roots, a sampled message, or the person's input.

The client that made the call is asked where it offers that, and else the host's callbacks.
Without either the server is told that there is no such thing. Roots are the project's
directory, and for a server of 2026-07-28 those of the client that made the call.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from tinyhost_sdk import names

from ..model import ClientCallbacks
from .mcp_callers import Client, Question, Refused

_log = logging.getLogger(__name__)

PING = "ping"
ROOTS = "roots/list"
SAMPLING = "sampling/createMessage"
ELICITATION = "elicitation/create"
_ACTIONS = ("accept", "decline", "cancel")
_CAPABILITIES: Mapping[str, str] = {
    ROOTS: "roots",
    SAMPLING: "sampling",
    ELICITATION: "elicitation",
}


class Answers:
    """Answers the questions of one server."""

    def __init__(self, plugin: str, directory: str, callbacks: ClientCallbacks) -> None:
        self._plugin = plugin
        self._directory = directory
        self._callbacks = callbacks

    async def answer(self, question: Question, client: Client | None) -> Mapping[str, Any]:
        """Answer a request that the server sent. Raises Refused.

        Such a server keeps the roots that it is told of for all its calls, so that those of one
        client would be in force for another: it gets the project's directory.
        """
        if question.method != ROOTS and _offers(client, question.method):
            assert client is not None
            return (await client.ask(self._plugin, {"question": question}))["question"]  # type: ignore[no-any-return]
        return await self._answer_here(question)

    async def answer_all(
        self, questions: Mapping[str, Question], client: Client | None
    ) -> Mapping[str, Any]:
        """Answer what a call came back with, by the same keys. Raises Refused.

        What the client is asked it is asked at once.
        """
        for_client = {key: q for key, q in questions.items() if _offers(client, q.method)}
        # First what takes no time, so that nobody is asked for nothing.
        given = {
            key: await self._answer_here(question)
            for key, question in questions.items()
            if key not in for_client
        }
        if for_client:
            assert client is not None
            given.update(await client.ask(self._plugin, for_client))
        return given

    async def _answer_here(self, question: Question) -> Mapping[str, Any]:
        method, asked = question.method, question.params
        if method == PING:
            return {}
        if method == ROOTS:
            path = PurePosixPath(self._directory)
            return {"roots": [{"uri": path.as_uri(), "name": path.name or "/"}]}
        if method == SAMPLING and self._callbacks.sampling is not None:
            return await self._ask(method, asked)
        if method == ELICITATION and self._callbacks.elicitation is not None:
            return _elicited(await self._ask(method, asked), asked)
        if method in _CAPABILITIES and self._callbacks.clients:
            reason = f"whoever made the call does not offer {_CAPABILITIES[method]}"
            raise Refused(names.METHOD_NOT_FOUND, reason)
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


def _offers(client: Client | None, method: str) -> bool:
    return client is not None and _CAPABILITIES.get(method) in client.offered


def offered(callbacks: ClientCallbacks) -> dict[str, Any]:
    """The capabilities that a server is told of, for all its calls."""
    found: dict[str, Any] = {"roots": {}}
    if callbacks.sampling is not None:
        found["sampling"] = {}
    if callbacks.elicitation is not None:
        found["elicitation"] = {"form": {}, "url": {}}
    return found


def offered_in_handshake(callbacks: ClientCallbacks) -> dict[str, Any]:
    """The same for a server that asks but once, before any client has made a call."""
    found = offered(callbacks)
    if callbacks.clients:
        found.update(sampling={}, elicitation={"form": {}, "url": {}})
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
