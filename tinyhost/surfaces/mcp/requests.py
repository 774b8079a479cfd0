"""What a client is asked: in the package's types, and in the words of a plugin.

A plugin's question becomes a request to the client of its call. What would reach further than
that call is left out of it.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias, TypeGuard

import mcp_types as types
from pydantic import ValidationError

from tinyhost_sdk import names

from ...dialects.mcp_answers import ELICITATION, ROOTS, SAMPLING
from ...dialects.mcp_callers import Question, Refused
from ...errors import cut
from .text import sound

Request: TypeAlias = types.ElicitRequest | types.CreateMessageRequest | types.ListRootsRequest
Answer: TypeAlias = (
    types.ElicitResult
    | types.CreateMessageResult
    | types.CreateMessageResultWithTools
    | types.ListRootsResult
)

# Puts requests to the client behind a call, and returns its answers by the same keys. Raises
# MCPError for what the client refuses.
Put = Callable[[Mapping[str, Request]], Awaitable[Mapping[str, Answer]]]

_LONGEST_URL = 2048
# Context of the client's other servers, and of the host's other plugins, is not for this one.
_SAMPLING = (
    "messages",
    "modelPreferences",
    "systemPrompt",
    "temperature",
    "maxTokens",
    "stopSequences",
    "metadata",
    "tools",
    "toolChoice",
)
_FORM = ("message", "requestedSchema")


def answers_of(request: Request) -> tuple[type[Answer], ...]:
    """The types of the answers that there are to a request."""
    if isinstance(request, types.ElicitRequest):
        return (types.ElicitResult,)
    if isinstance(request, types.ListRootsRequest):
        return (types.ListRootsResult,)
    if request.params.tools or request.params.tool_choice:
        return types.CreateMessageResult, types.CreateMessageResultWithTools
    return (types.CreateMessageResult,)


def offered_by(capabilities: types.ClientCapabilities | None) -> dict[str, Any]:
    """What plugins may ask of a client, as MCP's client capabilities."""
    found: dict[str, Any] = {}
    if capabilities is None:
        return found
    if capabilities.roots is not None:
        found["roots"] = {}
    if capabilities.sampling is not None:
        found["sampling"] = {} if capabilities.sampling.tools is None else {"tools": {}}
    if capabilities.elicitation is not None:
        modes = {
            "form": can_be_asked(capabilities),
            "url": capabilities.elicitation.url is not None,
        }
        found["elicitation"] = {mode: {} for mode, there in modes.items() if there}
    return found


def can_be_asked(capabilities: types.ClientCapabilities | None) -> bool:
    """Whether a client shows forms. An empty elicitation capability means that it does."""
    offered = capabilities.elicitation if capabilities else None
    return offered is not None and (offered.form is not None or offered.url is None)


def form_request(message: str, schema: Mapping[str, Any]) -> types.ElicitRequest:
    """A request that shows a form."""
    params = types.ElicitRequestFormParams(message=message, requested_schema=dict(schema))
    return types.ElicitRequest(params=params)


def request_of(
    plugin: str, question: Question, offered: Mapping[str, Any], *, modern: bool
) -> Request:
    """A plugin's question as a request to a client that offers this.

    The person is told who asks, so that no form can pass for the host's own question. Raises
    Refused for what the client does not offer or what is not of the right form.
    """
    kind, params = question.method, sound(question.params)
    if kind == ROOTS:
        return types.ListRootsRequest()
    try:
        if kind == SAMPLING:
            return _sampling(params, offered["sampling"])
        assert kind == ELICITATION
        return _elicitation(plugin, params, offered["elicitation"], modern=modern)
    except ValidationError as error:
        places = {".".join(map(str, found["loc"])) for found in error.errors()}
        reason = f"bad params of {kind}: {cut(', '.join(sorted(places)), 300)}"
        raise Refused(names.INVALID_PARAMS, reason) from None


def _sampling(params: Mapping[str, Any], offered: Mapping[str, Any]) -> Request:
    if ("tools" in params or "toolChoice" in params) and "tools" not in offered:
        reason = "whoever made the call does not offer tools in sampling"
        raise Refused(names.INVALID_PARAMS, reason)
    kept = {key: params[key] for key in _SAMPLING if key in params}
    asked = types.CreateMessageRequestParams.model_validate(kept)
    return types.CreateMessageRequest(params=asked)


def _elicitation(
    plugin: str, params: Mapping[str, Any], offered: Mapping[str, Any], *, modern: bool
) -> Request:
    mode = params.get("mode", "form")
    if mode not in ("form", "url") or mode not in offered:
        reason = f"whoever made the call does not offer elicitation of mode {mode!r:.40}"
        raise Refused(names.INVALID_PARAMS, reason)
    message = f"Plugin {plugin} asks: {cut(str(params.get('message', '')))}"
    if mode == "form":
        kept = {key: params[key] for key in _FORM if key in params}
        form = types.ElicitRequestFormParams.model_validate({**kept, "message": message})
        return types.ElicitRequest(params=form)
    url = params.get("url")
    if not _is_web_address(url):
        reason = "the url of an elicitation has to be a web address (https:// or http://)"
        raise Refused(names.INVALID_PARAMS, reason)
    # What the id is for ends with this host: the plugin hears of no other's.
    id = None if modern else str(params.get("elicitationId") or secrets.token_hex(8))
    asked = types.ElicitRequestURLParams(message=message, url=url, elicitation_id=id)
    return types.ElicitRequest(params=asked)


def _is_web_address(url: Any) -> TypeGuard[str]:
    return (
        type(url) is str
        and url.startswith(("https://", "http://"))
        and len(url) <= _LONGEST_URL
        and url.isascii()
        and url.isprintable()
        and " " not in url
    )
