"""context/contribute: what plugins add to a conversation."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

import attrs

from tinyhost import ids

from .context_messages import ContributeParams, ContributeResult
from .model_types import NO_USAGE, ContextUsage, ModelCapabilities
from .session_types import ContributeQuery, Driver, SessionSummary
from .talk import Talk
from .tools import text_of
from .types import ContextPiece, ContributorSpec, PieceSystem

CONTRIBUTE = "context/contribute"
# Where no model is known. A plugin may divide by these.
_WINDOW, _TRIGGER, _OUTPUT = 200_000, 160_000, 8_192


@attrs.frozen
class Contributor:
    """A source of context. It dies with its process: get it anew for each use."""

    spec: ContributorSpec
    _talk: Talk

    async def contribute(self, query: ContributeQuery) -> Sequence[ContextPiece]:
        """The pieces for a round. Raises PluginError."""
        talk = self._talk
        params = ContributeParams(id=self.spec.id, query=query)
        timeout = talk.deadlines.contribute
        return (await talk.call(CONTRIBUTE, params, ContributeResult, timeout=timeout)).pieces


def plain_query(session: str, directory: str) -> ContributeQuery:
    """What a host without a model of its own can say of a session."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    now = now.replace("+00:00", "Z")
    summary = SessionSummary(
        id=session,
        cwd=directory,
        created_at=now,
        updated_at=now,
        driver=Driver.MODEL,
        usage=NO_USAGE,
        busy=False,
    )
    return ContributeQuery(
        session=summary,
        turn=ids.new_id("trn"),
        round=0,
        usage=ContextUsage(used=0, window=_WINDOW, trigger=_TRIGGER),
        capabilities=ModelCapabilities(context_window=_WINDOW, max_output=_OUTPUT),
        cwd=directory,
    )


def piece_text(piece: ContextPiece) -> str:
    """A piece as one of the host's contexts."""
    if isinstance(piece, PieceSystem):
        return piece.text
    text = text_of(piece.parts)
    return f"{piece.label}: {text}" if piece.label else text
