"""What the frames of a session's record speak of: ends, answers, and what waits."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Annotated, Any

import attrs

from .asking_types import InteractionKind
from .forms import Choice, Uint32, tagged
from .types import KernelError


@tagged("kind", "client")
@attrs.frozen(kw_only=True)
class CloseClient:
    """A client closed the session."""


@tagged("kind", "shutdown")
@attrs.frozen(kw_only=True)
class CloseShutdown:
    """The host ended."""


@tagged("kind", "deleted")
@attrs.frozen(kw_only=True)
class CloseDeleted:
    """The session was deleted."""


@tagged("kind", "error")
@attrs.frozen(kw_only=True)
class CloseError:
    """The session broke."""

    message: str


CloseReason = Annotated[
    CloseClient | CloseShutdown | CloseDeleted | CloseError, Choice("CloseReason")
]


class InterruptReason(enum.StrEnum):
    """Why a turn was interrupted."""

    USER_CANCEL = "userCancel"
    NEW_INPUT = "newInput"
    SHUTDOWN = "shutdown"
    BUDGET = "budget"


@tagged("kind", "completed")
@attrs.frozen(kw_only=True)
class TurnDone:
    """A turn ended."""


@tagged("kind", "failed")
@attrs.frozen(kw_only=True)
class TurnFailed:
    """A turn failed."""

    error: KernelError


@tagged("kind", "interrupted")
@attrs.frozen(kw_only=True)
class TurnInterrupted:
    """A turn was interrupted."""

    reason: InterruptReason


TurnStatus = Annotated[TurnDone | TurnFailed | TurnInterrupted, Choice("TurnStatus")]


@tagged("kind", "client")
@attrs.frozen(kw_only=True)
class ByClient:
    """A client answered."""

    name: str
    surface: str


@tagged("kind", "kernel")
@attrs.frozen(kw_only=True)
class ByKernel:
    """The host answered."""


@tagged("kind", "policy")
@attrs.frozen(kw_only=True)
class ByPolicy:
    """A rule answered."""


ResolvedBy = Annotated[ByClient | ByKernel | ByPolicy, Choice("ResolvedBy")]


@tagged("kind", "turnStarted")
@attrs.frozen(kw_only=True)
class AckTurnStarted:
    """A turn began with it."""

    turn: str


@tagged("kind", "queued")
@attrs.frozen(kw_only=True)
class AckQueued:
    """It waits."""

    position: Uint32


@tagged("kind", "applied")
@attrs.frozen(kw_only=True)
class AckApplied:
    """It is done."""

    result: Any = None


@tagged("kind", "rejected")
@attrs.frozen(kw_only=True)
class AckRejected:
    """It is refused."""

    error: KernelError


IntentOutcome = Annotated[
    AckTurnStarted | AckQueued | AckApplied | AckRejected, Choice("IntentOutcome")
]


@attrs.frozen(kw_only=True)
class QueueEntry:
    """An input that waits."""

    intent: str
    position: Uint32
    preview: str
    steerable: bool = False
    origin: Any = None


@attrs.frozen(kw_only=True)
class Interaction:
    """A question that is open; times are RFC 3339."""

    id: str
    session: str
    opened_at: str
    kind: InteractionKind
    answers: tuple[str, ...] = ()
    turn: str | None = None
    item: str | None = None
    guard_until: str | None = None
    expires_at: str | None = None


@attrs.frozen(kw_only=True)
class SessionConfig:
    """The configuration of a session."""

    kernel: Any = None
    plugins: Mapping[str, Any] = attrs.field(factory=dict)
