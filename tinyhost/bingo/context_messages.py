"""The params and results of context/contribute and compactor/compact."""

from __future__ import annotations

from typing import Annotated

import attrs

from .forms import Choice, Uint32, Uint64, tagged
from .model_types import NO_USAGE, ContextUsage, ModelCapabilities, ModelRequest, Usage
from .session_types import ContributeQuery, Item
from .types import ContextPiece, KernelError


@attrs.frozen(kw_only=True)
class ContributeParams:
    """Ask for context."""

    id: str
    query: ContributeQuery


@attrs.frozen(kw_only=True)
class ContributeResult:
    """The pieces."""

    pieces: tuple[ContextPiece, ...] = ()


@attrs.frozen(kw_only=True)
class CompactorContext:
    """What is to be shortened. failures: useless answers in a row; keepBudget: in tokens."""

    items: tuple[Item, ...]
    usage: ContextUsage
    capabilities: ModelCapabilities
    request: ModelRequest
    failures: Uint32
    keep_budget: Uint64


@attrs.frozen(kw_only=True)
class CompactorContext5:
    """The same in protocol 5, which carries the model alone and not the whole request."""

    items: tuple[Item, ...]
    usage: ContextUsage
    capabilities: ModelCapabilities
    model: str
    failures: Uint32
    keep_budget: Uint64


@tagged("kind", "threshold")
@attrs.frozen(kw_only=True)
class ReasonThreshold:
    """The context has grown to the trigger."""


@tagged("kind", "overflow")
@attrs.frozen(kw_only=True)
class ReasonOverflow:
    """The model refused the request as too long."""

    message: str


@tagged("kind", "manual")
@attrs.frozen(kw_only=True)
class ReasonManual:
    """The person wants it."""

    instructions: str | None = None


CompactReason = Annotated[ReasonThreshold | ReasonOverflow | ReasonManual, Choice("CompactReason")]


@attrs.frozen(kw_only=True)
class CompactParams:
    """Shorten a conversation."""

    id: str
    context: CompactorContext
    reason: CompactReason


@attrs.frozen(kw_only=True)
class CompactParams5:
    """The same in protocol 5."""

    id: str
    context: CompactorContext5
    reason: CompactReason


@attrs.frozen(kw_only=True)
class Compaction:
    """A summary of all up to boundary, and the items that stay; sizes in tokens."""

    summary: str
    boundary: str
    before: Uint64
    after: Uint64
    kept: tuple[str, ...] = ()
    usage: Usage = NO_USAGE


@attrs.frozen(kw_only=True)
class CompactError:
    """Why there is none, and what it used all the same."""

    error: KernelError
    usage: Usage


@tagged("kind", "completed")
@attrs.frozen(kw_only=True)
class CompactCompleted:
    """It is done."""

    compaction: Compaction


@tagged("kind", "failed")
@attrs.frozen(kw_only=True)
class CompactFailed:
    """It is not."""

    error: CompactError


CompactResult = Annotated[CompactCompleted | CompactFailed, Choice("CompactResult")]


@attrs.frozen(kw_only=True)
class CompactResult5:
    """The result in protocol 5, where a failure is an error answer."""

    compaction: Compaction
