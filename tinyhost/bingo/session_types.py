"""What crosses bingo's wire of a session: its items, and what is known of it."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import attrs

from .forms import Choice, Int32, Uint32, Uint64, tagged
from .model_types import ContextUsage, ModelCapabilities, Usage
from .types import ContentPart, Level, Origin, ToolOutput


class ItemStatus(enum.StrEnum):
    """Where an item is in its life."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    INTERRUPTED = "interrupted"


class PermissionWord(enum.StrEnum):
    """How a permission was answered."""

    ALLOW = "allow"
    ALLOW_SESSION = "allowSession"
    DENY = "deny"


@tagged("kind", "user")
@attrs.frozen(kw_only=True)
class ItemUser:
    """What somebody said to the model."""

    parts: tuple[ContentPart, ...]
    origin: Origin


@tagged("kind", "assistant")
@attrs.frozen(kw_only=True)
class ItemAssistant:
    """What the model said."""

    text: str


@tagged("kind", "reasoning")
@attrs.frozen(kw_only=True)
class ItemReasoning:
    """What the model thought."""

    text: str
    provider_metadata: Any = None


@tagged("kind", "toolCall")
@attrs.frozen(kw_only=True)
class ItemToolCall:
    """A call of a tool, and what came of it."""

    call_id: str
    name: str
    input: Any
    output: ToolOutput | None = None
    progress: str | None = None
    duration_ms: Uint64 | None = None


@tagged("kind", "shell")
@attrs.frozen(kw_only=True)
class ItemShell:
    """A command of the person's."""

    command: str
    output: str
    cwd: str
    exit: Int32 | None = None


@tagged("kind", "action")
@attrs.frozen(kw_only=True)
class ItemAction:
    """A slash command."""

    name: str
    args: Any = None
    result: Any = None


@tagged("kind", "compaction")
@attrs.frozen(kw_only=True)
class ItemCompaction:
    """The conversation was shortened; sizes are in tokens."""

    summary: str
    before: Uint64
    after: Uint64
    replaced: Any = None
    duration_ms: Uint64 = 0


@tagged("kind", "rewind")
@attrs.frozen(kw_only=True)
class ItemRewind:
    """The conversation went back."""

    to_turn: str
    dropped: Any = None


@tagged("kind", "interruption")
@attrs.frozen(kw_only=True)
class ItemInterruption:
    """A turn was interrupted."""

    marker: str


@tagged("kind", "notice")
@attrs.frozen(kw_only=True)
class ItemNotice:
    """Something to know."""

    level: Level
    code: str
    text: str


@tagged("kind", "questionAnswer")
@attrs.frozen(kw_only=True)
class ItemQuestionAnswer:
    """A question and its answer."""

    interaction: str
    question: Any
    answer: Any


@tagged("kind", "permissionReceipt")
@attrs.frozen(kw_only=True)
class ItemPermissionReceipt:
    """How a permission was answered."""

    interaction: str
    tool: str
    decision: PermissionWord
    feedback: str | None = None


@tagged("kind", "asset")
@attrs.frozen(kw_only=True)
class ItemAsset:
    """Something that was made."""

    asset: Any
    label: str | None = None


ItemBody = Annotated[
    ItemUser
    | ItemAssistant
    | ItemReasoning
    | ItemToolCall
    | ItemShell
    | ItemAction
    | ItemCompaction
    | ItemRewind
    | ItemInterruption
    | ItemNotice
    | ItemQuestionAnswer
    | ItemPermissionReceipt
    | ItemAsset,
    Choice("ItemBody"),
]


@attrs.frozen(kw_only=True)
class Item:
    """One entry of a conversation; times are RFC 3339."""

    id: str
    status: ItemStatus
    started_at: str
    body: ItemBody
    turn: str | None = None
    round: Uint32 = 0
    completed_at: str | None = None
    intent: str | None = None
    meta: Any = None


# --- the session


class Driver(enum.StrEnum):
    """Who answers in a session: a model, or nobody."""

    MODEL = "model"
    LOG = "log"


@attrs.frozen(kw_only=True)
class ParentSession:
    """The session that started another, and the item that did."""

    session: str
    item: str | None = None


@attrs.frozen(kw_only=True)
class SessionSummary:
    """What is known of a session without reading it."""

    id: str
    cwd: str
    created_at: str
    updated_at: str
    driver: Driver
    usage: Usage
    busy: bool
    key: str | None = None
    title: str | None = None
    parent: ParentSession | None = None
    model: str | None = None
    system_extra: str | None = None
    tools: tuple[str, ...] | None = None
    provider: str | None = None
    messages: Uint64 | None = None


@attrs.frozen(kw_only=True)
class ContributeQuery:
    """What a contributor may know when it is asked for context."""

    session: SessionSummary
    turn: str
    round: Uint32
    usage: ContextUsage
    capabilities: ModelCapabilities
    cwd: str
    items: tuple[Item, ...] = ()
