"""The params and results of hook/decide and hook/observe."""

from __future__ import annotations

from typing import Annotated, Any

import attrs

from .event_types import Frame
from .forms import Choice, tagged
from .session_types import Item
from .types import HookPoint, Input, Phase, ToolCall, ToolOutput


@attrs.frozen(kw_only=True)
class HookSite:
    """Where a hook is asked."""

    session: str
    cwd: str
    turn: str | None = None
    model: str | None = None


@attrs.frozen(kw_only=True)
class PayloadSubmit:
    """An input that is about to be taken."""

    input: Input


@attrs.frozen(kw_only=True)
class PayloadBeforeTool:
    """A call that is about to be made."""

    call: ToolCall


@attrs.frozen(kw_only=True)
class PayloadAfterTool:
    """A call that was made."""

    call: ToolCall
    output: ToolOutput


@attrs.frozen(kw_only=True)
class PayloadTurn:
    """A turn begins or ends."""

    phase: Phase
    turn: str
    items: tuple[Item, ...] = ()


@attrs.frozen(kw_only=True)
class PayloadPhase:
    """A session, or a compaction, begins or ends."""

    phase: Phase


@attrs.frozen(kw_only=True)
class PayloadEvent:
    """Something was recorded."""

    frame: Frame


@attrs.frozen(kw_only=True)
class HookParams:
    """Ask or tell a hook; the point says which payload there is."""

    id: str
    site: HookSite
    point: HookPoint
    payload: Any = None


@tagged("kind", "continue")
@attrs.frozen(kw_only=True)
class HookContinue:
    """No objection."""


@tagged("kind", "deny")
@attrs.frozen(kw_only=True)
class HookDeny:
    """No."""

    reason: str


@tagged("kind", "ask")
@attrs.frozen(kw_only=True)
class HookAsk:
    """Ask the person."""

    reason: str


@tagged("kind", "block")
@attrs.frozen(kw_only=True)
class HookBlock:
    """Stop, or go on, whichever the point would not do."""

    reason: str


@tagged("kind", "redirect")
@attrs.frozen(kw_only=True)
class HookRedirect:
    """Give the input to another session."""

    session: str


# There is no word that allows: a hook can tighten, and never widen.
HookOutcome = Annotated[
    HookContinue | HookDeny | HookAsk | HookBlock | HookRedirect, Choice("HookOutcome")
]


@tagged("kind", "input")
@attrs.frozen(kw_only=True)
class HookValueInput:
    """The input as it is to be taken."""

    input: Input


@tagged("kind", "call")
@attrs.frozen(kw_only=True)
class HookValueCall:
    """The call as it is to be made."""

    call: ToolCall


HookValue = Annotated[HookValueInput | HookValueCall, Choice("HookValue")]


@attrs.frozen(kw_only=True)
class HookResult:
    """What a hook says, and what it makes of what it was shown."""

    outcome: HookOutcome
    value: HookValue | None = None
