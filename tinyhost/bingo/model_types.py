"""What crosses bingo's wire between a conversation and the model that answers it."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import attrs

from .forms import Choice, Uint16, Uint32, Uint64, tagged
from .types import ContentPart, ToolSpec


@attrs.frozen(kw_only=True)
class Usage:
    """Tokens; the kinds of input do not overlap."""

    input_tokens: Uint64
    output_tokens: Uint64
    cache_read_tokens: Uint64 = 0
    cache_write_tokens: Uint64 = 0
    reasoning_tokens: Uint64 = 0


NO_USAGE = Usage(input_tokens=0, output_tokens=0)


@attrs.frozen(kw_only=True)
class ContextUsage:
    """Tokens of the context window: used, all, and where compaction starts."""

    used: Uint64
    window: Uint64
    trigger: Uint64


@attrs.frozen(kw_only=True)
class ModelCapabilities:
    """What a model can do."""

    context_window: Uint64
    max_output: Uint64
    images: bool = False
    reasoning: bool = False
    count_tokens: bool = False
    caching: bool = False


class Effort(enum.StrEnum):
    """How much a model thinks."""

    MINIMAL = "minimal"
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    X_HIGH = "xHigh"
    MAX = "max"


@attrs.frozen(kw_only=True)
class SystemBlock:
    """A part of the system prompt."""

    text: str
    cache: bool = False


class Role(enum.StrEnum):
    """Who speaks."""

    USER = "user"
    ASSISTANT = "assistant"


@attrs.frozen(kw_only=True)
class Message:
    """One message of a conversation."""

    role: Role
    parts: tuple[ContentPart, ...]
    provider_options: Any = None


@attrs.frozen(kw_only=True)
class ModelRequest:
    """What a provider is asked for."""

    model: str
    max_tokens: Uint32
    system: tuple[SystemBlock, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    reasoning: Effort | None = None
    session: str | None = None
    provider_options: Any = None


@tagged("kind", "auth")
@attrs.frozen(kw_only=True)
class ErrorAuth:
    """The credentials are not accepted."""

    message: str


@tagged("kind", "rateLimited")
@attrs.frozen(kw_only=True)
class ErrorRateLimited:
    """Too many requests; when to try again, in milliseconds."""

    retry_after_ms: Uint64 | None = None


@tagged("kind", "contextOverflow")
@attrs.frozen(kw_only=True)
class ErrorContextOverflow:
    """The request is too long for the model."""

    message: str


@tagged("kind", "server")
@attrs.frozen(kw_only=True)
class ErrorServer:
    """The provider's server failed, with an HTTP status."""

    status: Uint16
    message: str


@tagged("kind", "request")
@attrs.frozen(kw_only=True)
class ErrorRequest:
    """The request is wrong."""

    message: str


@tagged("kind", "transport")
@attrs.frozen(kw_only=True)
class ErrorTransport:
    """The connection broke."""

    message: str


@tagged("kind", "stream")
@attrs.frozen(kw_only=True)
class ErrorStream:
    """The response is not what it should be."""

    message: str


@tagged("kind", "timeout")
@attrs.frozen(kw_only=True)
class ErrorTimeout:
    """Nothing came for too long."""


@tagged("kind", "unsupported")
@attrs.frozen(kw_only=True)
class ErrorUnsupported:
    """The provider cannot do that."""

    message: str


@tagged("kind", "config")
@attrs.frozen(kw_only=True)
class ErrorConfig:
    """The provider is not set up."""

    message: str


ProviderError = Annotated[
    ErrorAuth
    | ErrorRateLimited
    | ErrorContextOverflow
    | ErrorServer
    | ErrorRequest
    | ErrorTransport
    | ErrorStream
    | ErrorTimeout
    | ErrorUnsupported
    | ErrorConfig,
    Choice("ProviderError"),
]

# --- a response, event by event


@tagged("type", "streamStart")
@attrs.frozen(kw_only=True)
class ModelStreamStart:
    """The response begins."""

    warnings: tuple[Any, ...] = ()


@tagged("type", "responseMetadata")
@attrs.frozen(kw_only=True)
class ModelResponseMetadata:
    """What the provider calls the response, and the model that gives it."""

    id: str | None = None
    model: str | None = None


@tagged("type", "textStart")
@attrs.frozen(kw_only=True)
class ModelTextStart:
    """A text begins."""

    id: str


@tagged("type", "textDelta")
@attrs.frozen(kw_only=True)
class ModelTextDelta:
    """More of a text."""

    id: str
    delta: str


@tagged("type", "textEnd")
@attrs.frozen(kw_only=True)
class ModelTextEnd:
    """A text is whole."""

    id: str


@tagged("type", "reasoningStart")
@attrs.frozen(kw_only=True)
class ModelReasoningStart:
    """A thought begins."""

    id: str


@tagged("type", "reasoningDelta")
@attrs.frozen(kw_only=True)
class ModelReasoningDelta:
    """More of a thought."""

    id: str
    delta: str


@tagged("type", "reasoningEnd")
@attrs.frozen(kw_only=True)
class ModelReasoningEnd:
    """A thought is whole."""

    id: str
    provider_metadata: Any = None


@tagged("type", "toolInputStart")
@attrs.frozen(kw_only=True)
class ModelToolInputStart:
    """The input of a tool call begins."""

    id: str
    name: str


@tagged("type", "toolInputDelta")
@attrs.frozen(kw_only=True)
class ModelToolInputDelta:
    """More of a tool call's input."""

    id: str
    delta: str


@tagged("type", "toolInputEnd")
@attrs.frozen(kw_only=True)
class ModelToolInputEnd:
    """A tool call's input is whole."""

    id: str


@tagged("type", "toolCall")
@attrs.frozen(kw_only=True)
class ModelToolCall:
    """A tool call; input is JSON text."""

    id: str
    name: str
    input: str


class FinishWord(enum.StrEnum):
    """Why a response ended."""

    STOP = "stop"
    LENGTH = "length"
    TOOL_CALLS = "toolCalls"
    CONTENT_FILTER = "contentFilter"
    ERROR = "error"
    OTHER = "other"


@attrs.frozen(kw_only=True)
class FinishReason:
    """Why a response ended, in one of a few words and in the provider's own."""

    unified: FinishWord
    raw: str | None = None


@tagged("type", "finish")
@attrs.frozen(kw_only=True)
class ModelFinish:
    """The response is whole."""

    usage: Usage
    finish_reason: FinishReason


ModelEvent = Annotated[
    ModelStreamStart
    | ModelResponseMetadata
    | ModelTextStart
    | ModelTextDelta
    | ModelTextEnd
    | ModelReasoningStart
    | ModelReasoningDelta
    | ModelReasoningEnd
    | ModelToolInputStart
    | ModelToolInputDelta
    | ModelToolInputEnd
    | ModelToolCall
    | ModelFinish,
    Choice("ModelEvent"),
]
