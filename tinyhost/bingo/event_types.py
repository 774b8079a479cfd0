"""The frames of a session's record, which hooks at the point `event` are told."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

from .asking_types import Answer
from .forms import Choice, Uint32, Uint64, tagged
from .model_types import ContextUsage, Usage
from .session_types import Item, SessionSummary
from .state_types import (
    CloseReason,
    IntentOutcome,
    Interaction,
    QueueEntry,
    ResolvedBy,
    SessionConfig,
    TurnStatus,
)
from .types import Level


@tagged("type", "sessionUpdated")
@attrs.frozen(kw_only=True)
class EventSessionUpdated:
    """What is known of the session changed."""

    summary: SessionSummary


@tagged("type", "sessionClosed")
@attrs.frozen(kw_only=True)
class EventSessionClosed:
    """The session ended."""

    reason: CloseReason


@tagged("type", "turnStarted")
@attrs.frozen(kw_only=True)
class EventTurnStarted:
    """A turn began."""

    turn: str
    origin: str
    inputs: tuple[str, ...] = ()


@tagged("type", "turnRetrying")
@attrs.frozen(kw_only=True)
class EventTurnRetrying:
    """A turn is tried again."""

    turn: str
    attempt: Uint32
    max: Uint32
    delay_ms: Uint64
    reason: str
    dropped: tuple[str, ...] = ()


@tagged("type", "turnUsage")
@attrs.frozen(kw_only=True)
class EventTurnUsage:
    """What a round of a turn used."""

    turn: str
    usage: Usage
    context: ContextUsage | None = None


@tagged("type", "turnCompleted")
@attrs.frozen(kw_only=True)
class EventTurnCompleted:
    """A turn ended."""

    turn: str
    status: TurnStatus
    usage: Usage


@tagged("type", "itemStarted")
@attrs.frozen(kw_only=True)
class EventItemStarted:
    """An item is there."""

    item: Item


@tagged("type", "itemUpdated")
@attrs.frozen(kw_only=True)
class EventItemUpdated:
    """An item changed."""

    item: Item


@tagged("type", "itemCompleted")
@attrs.frozen(kw_only=True)
class EventItemCompleted:
    """An item is whole."""

    item: Item


@tagged("type", "itemDelta")
@attrs.frozen(kw_only=True)
class EventItemDelta:
    """More of an item."""

    item: str
    n: Uint32
    kind: str
    data: str


@tagged("type", "queueChanged")
@attrs.frozen(kw_only=True)
class EventQueueChanged:
    """Other inputs wait."""

    revision: Uint64
    entries: tuple[QueueEntry, ...] = ()


@tagged("type", "interactionOpened")
@attrs.frozen(kw_only=True)
class EventInteractionOpened:
    """The person is asked."""

    interaction: Interaction


@tagged("type", "interactionResolved")
@attrs.frozen(kw_only=True)
class EventInteractionResolved:
    """A question was answered."""

    id: str
    answer: Answer
    by: ResolvedBy


@tagged("type", "interactionCancelled")
@attrs.frozen(kw_only=True)
class EventInteractionCancelled:
    """A question is no longer asked."""

    id: str
    reason: str


@tagged("type", "intentAck")
@attrs.frozen(kw_only=True)
class EventIntentAck:
    """What became of an input."""

    intent: str
    outcome: IntentOutcome


@tagged("type", "compacted")
@attrs.frozen(kw_only=True)
class EventCompacted:
    """The conversation was shortened."""

    generation: Uint64
    boundary: str
    summary: str
    kept: tuple[str, ...] = ()


@tagged("type", "rewound")
@attrs.frozen(kw_only=True)
class EventRewound:
    """The conversation went back."""

    generation: Uint64
    to_turn: str
    dropped: tuple[str, ...] = ()
    files_restored: tuple[str, ...] = ()


@tagged("type", "configChanged")
@attrs.frozen(kw_only=True)
class EventConfigChanged:
    """The configuration changed."""

    config: SessionConfig


@tagged("type", "catalogChanged")
@attrs.frozen(kw_only=True)
class EventCatalogChanged:
    """One of the host's lists changed."""

    kind: str


@tagged("type", "notice")
@attrs.frozen(kw_only=True)
class EventNotice:
    """Something to know."""

    level: Level
    code: str
    text: str


@tagged("type", "extension")
@attrs.frozen(kw_only=True)
class EventExtension:
    """A plugin's own lasting state."""

    plugin: str
    kind: str
    payload: Any = None


@tagged("type", "signal")
@attrs.frozen(kw_only=True)
class EventSignal:
    """A plugin's own passing state."""

    plugin: str
    kind: str
    payload: Any = None


@tagged("type", "lagged")
@attrs.frozen(kw_only=True)
class EventLagged:
    """Frames were missed."""

    to: Uint64
    since: Uint64 = attrs.field(metadata={"key": "from"})


Event = Annotated[
    EventSessionUpdated
    | EventSessionClosed
    | EventTurnStarted
    | EventTurnRetrying
    | EventTurnUsage
    | EventTurnCompleted
    | EventItemStarted
    | EventItemUpdated
    | EventItemCompleted
    | EventItemDelta
    | EventQueueChanged
    | EventInteractionOpened
    | EventInteractionResolved
    | EventInteractionCancelled
    | EventIntentAck
    | EventCompacted
    | EventRewound
    | EventConfigChanged
    | EventCatalogChanged
    | EventNotice
    | EventExtension
    | EventSignal
    | EventLagged,
    Choice("Event"),
]


@attrs.frozen(kw_only=True)
class Frame:
    """One entry of a session's record; ts is RFC 3339, cause the input that it results from."""

    seq: Uint64
    ts: str
    session: str
    event: Event
    cause: str | None = None
