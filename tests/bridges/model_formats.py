"""The APIs of models, as far as a scripted one has to speak them: requests in, streams out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

Request = Mapping[str, Any]


class ToolCall(NamedTuple):
    """One call the model asks for: the agent's own name of the tool, and its arguments."""

    name: str
    args: Mapping[str, Any]


class Format(Protocol):
    """One API."""

    def tools(self, request: Request) -> Iterator[str]:
        """The names of the tools that the agent offers."""

    def results(self, request: Request) -> Iterator[str]:
        """The text of each tool result in the conversation, oldest first."""

    def stream(self, reply: ToolCall | str, number: int) -> Iterator[str]:
        """The events of the answer: a call, which gets the number as its id, or a text."""


class Anthropic:
    """The Messages API."""

    def tools(self, request: Request) -> Iterator[str]:
        """See Format."""
        for tool in request.get("tools") or ():
            yield tool["name"]

    def results(self, request: Request) -> Iterator[str]:
        """See Format."""
        for message in request.get("messages", ()):
            content = message["content"]
            for block in content if isinstance(content, list) else ():
                if block.get("type") == "tool_result":
                    yield _text(block.get("content", ""))

    def stream(self, reply: ToolCall | str, number: int) -> Iterator[str]:
        """See Format."""
        if isinstance(reply, str):
            reason, start = "end_turn", {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": reply}
        else:
            reason = "tool_use"
            start = {"type": "tool_use", "id": f"toolu_{number}", "name": reply.name, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.args)}
        usage = {"input_tokens": 10, "output_tokens": 10}
        message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted"}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        stop = {"stop_reason": reason, "stop_sequence": None}
        for event in (
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": start},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 10}},
            {"type": "message_stop"},
        ):
            yield _named(event)


class OpenAi:
    """The Responses API."""

    def tools(self, request: Request) -> Iterator[str]:
        """See Format."""
        for tool in request.get("tools") or ():
            yield tool.get("name", "")

    def results(self, request: Request) -> Iterator[str]:
        """See Format."""
        for item in request["input"]:
            if item.get("type") == "function_call_output":
                yield _text(item["output"])

    def stream(self, reply: ToolCall | str, number: int) -> Iterator[str]:
        """See Format."""
        if isinstance(reply, str):
            content = [{"type": "output_text", "text": reply}]
            item = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        else:
            item = {"type": "function_call", "id": f"fc_{number}", "call_id": f"call_{number}"}
            item |= {"name": reply.name, "arguments": json.dumps(reply.args)}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        for event in (
            {"type": "response.created", "response": {"id": "resp_1"}},
            {"type": "response.output_item.done", "item": item},
            {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}},
        ):
            yield _named(event)


class Google:
    """streamGenerateContent of the Gemini API."""

    def tools(self, request: Request) -> Iterator[str]:
        """See Format."""
        for group in request.get("tools") or ():
            for tool in group.get("functionDeclarations") or ():
                yield tool["name"]

    def results(self, request: Request) -> Iterator[str]:
        """See Format."""
        for content in request["contents"]:
            for part in content["parts"]:
                if "functionResponse" in part:
                    response = part["functionResponse"]["response"]
                    yield response.get("output") or response.get("error") or ""

    def stream(self, reply: ToolCall | str, number: int) -> Iterator[str]:
        """See Format."""
        if isinstance(reply, str):
            part: dict[str, Any] = {"text": reply}
        else:
            part = {"functionCall": {"name": reply.name, "args": dict(reply.args)}}
        content = {"role": "model", "parts": [part]}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        candidate = {"content": content, "finishReason": "STOP", "index": number}
        yield f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\n\n"


def format_of(path: str) -> Format | None:
    """The API that a path belongs to."""
    if path.endswith("/messages"):
        return Anthropic()
    if path.endswith("/responses"):
        return OpenAi()
    if path.endswith(":streamGenerateContent"):
        return Google()
    return None


def _named(event: Mapping[str, Any]) -> str:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"


def _text(content: Any) -> str:
    """A string, or blocks with text."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)
