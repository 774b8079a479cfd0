"""What crosses bingo's wire: contents, declarations, contexts and commands.

Each type is declared once, here and in model_types, session_types, event_types, views and
messages; schema/plugin.json is made from them.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Annotated, Any

import attrs

from .forms import Choice, Int32, omitted, tagged
from .views import View

# --- contents


@tagged("type", "text")
@attrs.frozen(kw_only=True)
class PartText:
    """Text."""

    text: str


@tagged("type", "image")
@attrs.frozen(kw_only=True)
class PartImage:
    """A picture; data is base64."""

    media_type: str
    data: str
    path: str | None = None


@tagged("type", "toolUse")
@attrs.frozen(kw_only=True)
class PartToolUse:
    """The model calls a tool."""

    id: str
    name: str
    input: Any


@tagged("type", "toolResult")
@attrs.frozen(kw_only=True)
class PartToolResult:
    """What a tool answered the model."""

    tool_use_id: str
    parts: tuple[ContentPart, ...] = ()
    is_error: bool = False


@tagged("type", "reasoning")
@attrs.frozen(kw_only=True)
class PartReasoning:
    """The model's thoughts."""

    text: str
    provider_metadata: Any = None


ContentPart = Annotated[
    PartText | PartImage | PartToolUse | PartToolResult | PartReasoning, Choice("ContentPart")
]


@attrs.frozen(kw_only=True)
class ToolOutput:
    """A tool's answer: parts for the model, and a view for the person."""

    parts: tuple[ContentPart, ...]
    is_error: bool = omitted(False)
    display: View | None = None


@attrs.frozen(kw_only=True)
class ToolCall:
    """A call of a tool, as hooks see it."""

    call_id: str
    name: str
    input: Any


@attrs.frozen(kw_only=True)
class Image:
    """A picture beside a text; data is base64."""

    media_type: str
    data: str
    path: str | None = None


@attrs.frozen(kw_only=True)
class Origin:
    """Where an input came from."""

    surface: str
    principal: str | None = None
    conversation: str | None = None


class Delivery(enum.StrEnum):
    """Whether an input wakes a session."""

    WAKE = "wake"
    HOLD = "hold"


@tagged("kind", "text")
@attrs.frozen(kw_only=True)
class InputText:
    """Prose for the model."""

    text: str
    origin: Origin
    images: tuple[Image, ...] = omitted(())
    delivery: Delivery | None = None


@attrs.frozen(kw_only=True)
class NamedAction:
    """A command and its arguments."""

    name: str
    args: Any = attrs.field(default=None, metadata={"omit": True})


@tagged("kind", "action")
@attrs.frozen(kw_only=True)
class InputAction:
    """A command."""

    action: NamedAction


Input = Annotated[InputText | InputAction, Choice("Input")]


# --- declarations


@attrs.frozen(kw_only=True)
class ToolSpec:
    """A tool; what it says of itself is never believed."""

    name: str
    description: str
    input_schema: Any
    meta: Any = None


@tagged("kind", "none")
@attrs.frozen(kw_only=True)
class ArgNone:
    """No arguments."""


@tagged("kind", "free")
@attrs.frozen(kw_only=True)
class ArgFree:
    """Any text."""

    hint: str


@tagged("kind", "catalog")
@attrs.frozen(kw_only=True)
class ArgCatalog:
    """An entry of one of the host's lists."""

    source: str


ArgSpec = Annotated[ArgNone | ArgFree | ArgCatalog, Choice("ArgSpec")]


@attrs.frozen(kw_only=True)
class CommandSpec:
    """A command that a person types; instant ones may run while a turn does."""

    name: str
    hint: str
    args: ArgSpec
    family: str
    aliases: tuple[str, ...] = ()
    instant: bool = False


@tagged("kind", "system")
@attrs.frozen(kw_only=True)
class PlacementSystem:
    """In the system prompt; a lower order comes first."""

    order: Int32


@tagged("kind", "roundStart")
@attrs.frozen(kw_only=True)
class PlacementRoundStart:
    """Before each round."""


@tagged("kind", "barrier")
@attrs.frozen(kw_only=True)
class PlacementBarrier:
    """After tool results, before the next request."""


Placement = Annotated[PlacementSystem | PlacementRoundStart | PlacementBarrier, Choice("Placement")]


@attrs.frozen(kw_only=True)
class ContributorSpec:
    """A source of context."""

    id: str
    placement: Placement


@attrs.frozen(kw_only=True)
class CompactorSpec:
    """A strategy that shortens a conversation."""

    id: str


@attrs.frozen(kw_only=True)
class ModelInfo:
    """A model of a provider."""

    id: str
    display: str | None = None


@attrs.frozen(kw_only=True)
class EndpointCapabilities:
    """What a provider can do; what is not said is false."""

    images: bool = False
    count_tokens: bool = False
    caching: bool = False


@attrs.frozen(kw_only=True)
class ProviderSpec:
    """A source of model responses."""

    id: str
    family: str | None = None
    models: tuple[ModelInfo, ...] = ()
    endpoint: EndpointCapabilities = attrs.field(factory=EndpointCapabilities)


class HookPoint(enum.StrEnum):
    """Where a hook is asked or told."""

    SUBMIT = "submit"
    BEFORE_TOOL = "beforeTool"
    AFTER_TOOL = "afterTool"
    STOP = "stop"
    TURN = "turn"
    COMPACT = "compact"
    SESSION = "session"
    EVENT = "event"


@attrs.frozen(kw_only=True)
class HookSpec:
    """A hook; no points means all of them. tool: a name, a prefix and "*", or a pattern."""

    id: str
    points: tuple[HookPoint, ...] = ()
    tool: str | None = None


@attrs.frozen(kw_only=True)
class ServiceSpec:
    """What other plugins can call; each method has a JSON Schema, for people."""

    methods: Mapping[str, Any] = attrs.field(factory=dict)


# --- contexts and commands


@tagged("kind", "system")
@attrs.frozen(kw_only=True)
class PieceSystem:
    """Text for the system prompt."""

    text: str
    cache: bool = False


@tagged("kind", "user")
@attrs.frozen(kw_only=True)
class PieceUser:
    """Parts that go in as if the user had sent them; label says what they are."""

    parts: tuple[ContentPart, ...]
    label: str


ContextPiece = Annotated[PieceSystem | PieceUser, Choice("ContextPiece")]


@attrs.frozen(kw_only=True)
class Completion:
    """One way to go on with what was typed."""

    value: str
    label: str | None = None


class ErrorCode(enum.StrEnum):
    """What kind of failure."""

    SESSION_NOT_FOUND = "SESSION_NOT_FOUND"
    SESSION_LOCKED = "SESSION_LOCKED"
    SESSION_CLOSED = "SESSION_CLOSED"
    INTERACTION_CLOSED = "INTERACTION_CLOSED"
    NOT_READY = "NOT_READY"
    STALE_GENERATION = "STALE_GENERATION"
    NOT_INITIALIZED = "NOT_INITIALIZED"
    INVALID_INPUT = "INVALID_INPUT"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    TOOL_NOT_FOUND = "TOOL_NOT_FOUND"
    TOOL_FAILED = "TOOL_FAILED"
    PROVIDER_UNAVAILABLE = "PROVIDER_UNAVAILABLE"
    AUTH_REQUIRED = "AUTH_REQUIRED"
    RATE_LIMITED = "RATE_LIMITED"
    CONTEXT_OVERFLOW = "CONTEXT_OVERFLOW"
    TIMEOUT = "TIMEOUT"
    OFFLINE = "OFFLINE"
    SERVER_ERROR = "SERVER_ERROR"
    TURN_LOST = "TURN_LOST"
    TURN_BUDGET_EXHAUSTED = "TURN_BUDGET_EXHAUSTED"
    INTERNAL = "INTERNAL"
    NOT_FOUND = "NOT_FOUND"
    STORAGE = "STORAGE"


@attrs.frozen(kw_only=True)
class KernelError:
    """A failure: its code, and its text for people."""

    code: ErrorCode
    message: str


class Level(enum.StrEnum):
    """How much a notice matters."""

    INFO = "info"
    WARN = "warn"
    ERROR = "error"


class Phase(enum.StrEnum):
    """Which end of something."""

    START = "start"
    END = "end"
